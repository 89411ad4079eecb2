//! Which addresses may be connected to, as a rule and as a schema.

use serde_json::{Value as Json, json};
use thiserror::Error;
use url::{Host, Url};

/// Who can read along on the way to an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Nobody: the connection is encrypted.
    Encrypted,
    /// Nobody: it stays on this machine.
    Loopback,
    /// Nobody, but the address hides that it stays on this machine.
    Disguised,
    /// Everybody in between.
    Readable,
}

/// Why a text is not the address of a server.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub(crate) enum AddressError {
    #[error("this is not an address: {0}")]
    Syntax(url::ParseError),
    #[error("an address begins with `https://`, or with `http://` for this machine")]
    Scheme,
    #[error("an address has no blanks, no `\\` and at most one `@` before its path")]
    Character,
}

/// Reads an address and finds out who can read along.
pub(crate) fn parse_address(text: &str) -> Result<(Url, Reach), AddressError> {
    let (scheme, rest) = text.split_once("://").ok_or(AddressError::Scheme)?;
    let encrypted = scheme.eq_ignore_ascii_case("https");
    if !encrypted && !scheme.eq_ignore_ascii_case("http") {
        return Err(AddressError::Scheme);
    }
    // The parser of addresses passes over these, and others read them in other ways.
    if text.contains(|c: char| c.is_whitespace() || c.is_control() || c == '\\') {
        return Err(AddressError::Character);
    }
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.matches('@').count() > 1 {
        return Err(AddressError::Character);
    }
    if rest.is_empty() || rest.starts_with(['/', '?', '#']) {
        return Err(AddressError::Syntax(url::ParseError::EmptyHost));
    }
    let url = Url::parse(text).map_err(AddressError::Syntax)?;
    let reach = match (encrypted, is_loopback(&url), is_plain(&url, rest)) {
        (true, ..) => Reach::Encrypted,
        (false, true, true) => Reach::Loopback,
        (false, true, false) => Reach::Disguised,
        (false, false, _) => Reach::Readable,
    };
    Ok((url, reach))
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// Whether the host is written as it is meant.
///
/// Spellings such as `http://2130706433/` are loopback as well, but only somebody who wants to
/// hide that writes them.
fn is_plain(url: &Url, rest: &str) -> bool {
    let written = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let written = written.rsplit('@').next().unwrap_or_default();
    url.host_str().is_some_and(|host| {
        let tail = written
            .get(..host.len())
            .filter(|start| start.eq_ignore_ascii_case(host))
            .map(|_| &written[host.len()..]);
        tail.is_some_and(|tail| tail.is_empty() || tail.starts_with(':'))
    })
}

/// A value with variables is judged after they were put in, which a schema can't do.
const HAS_VARIABLE: &str = "\\$\\{[A-Z_][A-Z0-9_]*\\}";
const USER: &str = "([^/?#@\\s]*@)?";
const HOST: &str = "(\\[[0-9A-Fa-f:.]+\\]|[^/?#@:\\[\\]\\\\\\s]+)";
const LOOPBACK_HOST: &str = "([lL][oO][cC][aA][lL][hH][oO][sS][tT]\
    |127(\\.(0|[1-9][0-9]?|1[0-9][0-9]|2[0-4][0-9]|25[0-5])){3}|\\[::1\\])";
const PORT: &str = "(:(0*([0-9]{1,4}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]\
    |6553[0-5]))?)?([/?#][^\\s\\\\]*)?$";

/// The patterns of addresses that reach where they may.
pub(crate) fn address_pattern(accepted: &[Reach]) -> Json {
    let pattern = |reach: &Reach| match reach {
        Reach::Encrypted => format!("^[hH][tT][tT][pP][sS]://{USER}{HOST}{PORT}"),
        Reach::Loopback => format!("^[hH][tT][tT][pP]://{USER}{LOOPBACK_HOST}{PORT}"),
        Reach::Disguised | Reach::Readable => {
            format!("^[hH][tT][tT][pP][sS]?://{USER}{HOST}{PORT}")
        }
    };
    let patterns = accepted.iter().map(pattern);
    let alternatives: Vec<Json> = patterns
        .chain([HAS_VARIABLE.to_owned()])
        .map(|pattern| json!({ "pattern": pattern }))
        .collect();
    Json::Array(alternatives)
}

/// What holds for every server, also where its definition is only a part.
pub(crate) fn address_schema() -> Json {
    let insecure = json!({
        "required": ["allowInsecureHttp"],
        "properties": { "allowInsecureHttp": { "const": true } },
    });
    let addresses = |accepted: &[Reach]| json!({ "properties": { "url": { "anyOf": address_pattern(accepted) } } });
    let refused = |field: &str| json!({ "not": { "required": [field] } });
    json!({
        "not": { "required": ["command", "url"] },
        "if": insecure,
        "then": addresses(&[Reach::Readable]),
        "else": addresses(&[Reach::Encrypted, Reach::Loopback]),
        "allOf": [by_transport(&refused("url"), &refused("command"))],
    })
}

/// What a definition needs that stands for itself.
pub(crate) fn whole_schema() -> Json {
    let needed = |field: &str| json!({ "required": [field] });
    json!({
        "if": { "not": { "required": ["$include"] } },
        "then": {
            "anyOf": [needed("command"), needed("url")],
            "dependentRequired": { "clientKey": ["clientCert"] },
            "allOf": [by_transport(&needed("command"), &needed("url"))],
        },
    })
}

/// A rule for programs and one for addresses, where the transport says which it is.
fn by_transport(program: &Json, address: &Json) -> Json {
    let rules = |field: &str| {
        let rule = |words: Json, then: &Json| {
            json!({
                "if": { "required": [field], "properties": { field: { "enum": words } } },
                "then": then,
            })
        };
        json!([
            rule(json!(["stdio"]), program),
            rule(json!(["http", "streamable-http", "sse"]), address),
        ])
    };
    json!({
        "if": { "required": ["transport"] },
        "then": { "allOf": rules("transport") },
        "else": { "allOf": rules("type") },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_spellings_of_this_machine_may_do_without_encryption() {
        let reach = |text| parse_address(text).unwrap().1;
        assert_eq!(reach("https://example.com/mcp"), Reach::Encrypted);
        assert_eq!(reach("HTTPS://EXAMPLE.COM"), Reach::Encrypted);
        for local in [
            "http://localhost:3000/mcp",
            "http://LOCALHOST",
            "http://127.0.0.1/",
            "http://127.1.2.3:80",
            "http://[::1]:9/x",
            "http://user@localhost/",
        ] {
            assert_eq!(reach(local), Reach::Loopback, "{local}");
        }
        for other in [
            "http://example.com",
            "http://localhost@example.com/",
            "http://localhost.example.com",
            "http://127.0.0.1.example.com",
            "http://0.0.0.0/",
            "http://192.168.1.2/",
            "http://[::ffff:127.0.0.1]/",
        ] {
            assert_eq!(reach(other), Reach::Readable, "{other}");
        }
    }

    #[test]
    fn other_spellings_of_this_machine_are_told_apart() {
        for hidden in [
            "http://2130706433/",
            "http://127.1/",
            "http://[0:0:0:0:0:0:0:1]/",
        ] {
            assert_eq!(
                parse_address(hidden).unwrap().1,
                Reach::Disguised,
                "{hidden}"
            );
        }
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for text in [
            "",
            "example.com",
            "ftp://x",
            "https:/x",
            "https://",
            "https:///x",
            "//x",
            "https://a b/",
        ] {
            assert!(parse_address(text).is_err(), "{text}");
        }
    }
}
