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
}

/// Reads an address and finds out who can read along.
pub(crate) fn parse(text: &str) -> Result<(Url, Reach), AddressError> {
    let (scheme, rest) = text.split_once("://").ok_or(AddressError::Scheme)?;
    let encrypted = scheme.eq_ignore_ascii_case("https");
    if !encrypted && !scheme.eq_ignore_ascii_case("http") {
        return Err(AddressError::Scheme);
    }
    if rest.is_empty() || rest.starts_with(['/', '?', '#', '\\']) {
        return Err(AddressError::Syntax(url::ParseError::EmptyHost));
    }
    let url = Url::parse(text).map_err(AddressError::Syntax)?;
    let reach = match (encrypted, is_loopback(&url, rest)) {
        (true, _) => Reach::Encrypted,
        (false, true) => Reach::Loopback,
        (false, false) => Reach::Readable,
    };
    Ok((url, reach))
}

/// Reads an address of which it does not matter here who reads along.
pub(crate) fn parse_address(text: &str) -> Result<Url, String> {
    parse(text)
        .map(|(url, _)| url)
        .map_err(|error| error.to_string())
}

/// Whether an address leads to this machine and says so plainly.
///
/// Spellings such as `http://2130706433/` are loopback as well, but only somebody who wants to
/// hide that writes them.
fn is_loopback(url: &Url, rest: &str) -> bool {
    let loopback = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    let written = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let written = written.rsplit('@').next().unwrap_or_default();
    let plain = url.host_str().is_some_and(|host| {
        let tail = written
            .get(..host.len())
            .filter(|start| start.eq_ignore_ascii_case(host))
            .map(|_| &written[host.len()..]);
        tail.is_some_and(|tail| tail.is_empty() || tail.starts_with(':'))
    });
    loopback && plain
}

/// A value with variables is judged after they were put in, which a schema can't do.
const HAS_VARIABLE: &str = "\\$\\{[A-Z_][A-Z0-9_]*\\}";
const ADDRESS: &str = "^[hH][tT][tT][pP][sS]?://[^/?#\\\\\\s]+";
const ENCRYPTED: &str = "^[hH][tT][tT][pP][sS]://";
const LOOPBACK: &str = "^[hH][tT][tT][pP]://([^/?#]*@)?\
    ([lL][oO][cC][aA][lL][hH][oO][sS][tT]|127\\.[0-9]+\\.[0-9]+\\.[0-9]+|\\[::1\\])\
    (:[0-9]*)?([/?#]|$)";

/// What holds for the address of every server, also where its definition is only a part.
pub(crate) fn address_schema() -> Json {
    let insecure = json!({
        "required": ["allowInsecureHttp"],
        "properties": { "allowInsecureHttp": { "const": true } },
    });
    let addresses = |patterns: &[&str]| {
        let alternatives: Vec<Json> = patterns
            .iter()
            .map(|pattern| json!({ "pattern": pattern }))
            .collect();
        json!({ "properties": { "url": { "anyOf": alternatives } } })
    };
    json!({
        "not": { "required": ["command", "url"] },
        "if": insecure,
        "then": addresses(&[HAS_VARIABLE, ADDRESS]),
        "else": { "allOf": [
            addresses(&[HAS_VARIABLE, ADDRESS]),
            addresses(&[HAS_VARIABLE, ENCRYPTED, LOOPBACK]),
        ] },
    })
}

/// What a definition needs that stands for itself.
pub(crate) fn whole_schema() -> Json {
    let remote = json!(["http", "streamable-http", "sse"]);
    let rule = |field: &str, words: Json, needs: &str| {
        json!({
            "if": { "required": [field], "properties": { field: { "enum": words } } },
            "then": { "required": [needs] },
        })
    };
    json!({
        "if": { "not": { "required": ["$include"] } },
        "then": {
            "anyOf": [{ "required": ["command"] }, { "required": ["url"] }],
            "dependentRequired": { "clientKey": ["clientCert"] },
            "if": { "required": ["transport"] },
            "then": { "allOf": [
                rule("transport", json!(["stdio"]), "command"),
                rule("transport", remote.clone(), "url"),
            ] },
            "else": { "allOf": [
                rule("type", json!(["stdio"]), "command"),
                rule("type", remote, "url"),
            ] },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_spellings_of_this_machine_may_do_without_encryption() {
        let reach = |text| parse(text).unwrap().1;
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
            "http://2130706433/",
            "http://127.1/",
            "http://0.0.0.0/",
            "http://192.168.1.2/",
            "http://[::ffff:127.0.0.1]/",
        ] {
            assert_eq!(reach(other), Reach::Readable, "{other}");
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
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
