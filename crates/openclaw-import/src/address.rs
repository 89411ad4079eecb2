//! The fields of a server at an address.

use serde_json::{Map, Value};
use url::{Host, Url};

use crate::authorization;
use crate::draft::{Draft, Refusal};
use crate::fields::{Fields, kind};
use crate::printable::printable;
use crate::variables::Template;

/// Fields that only a program has.
const OF_PROGRAMS: [&str; 6] = ["args", "env", "env_vars", "cwd", "envFile", "env_file"];

/// Reads the fields of a server at an address.
pub(crate) fn address(
    draft: &mut Draft<'_>,
    fields: &mut Fields,
    (url, transport): (&Value, &str),
) -> Result<(), Refusal> {
    let url = draft.needed_text(url, "url")?;
    let is_readable = is_readable(&url)?;
    draft.set("transport", transport);
    draft.set("url", url.render());
    let headers = headers(draft, fields)?;
    draft.set_filled("headers", headers);
    authorization::login(draft, fields);
    if is_readable {
        draft.set("allowInsecureHttp", true);
        draft.note(
            "the address is not encrypted: everybody between can read along, which \
             `allowInsecureHttp` permits",
        );
    }
    if fields.take("headersHelper").is_some() {
        draft.note(
            "`headersHelper` is left out: openclaw runs no program for headers; put them into \
             `headers`, with `secret://exec/…` for those that change",
        );
    }
    for field in OF_PROGRAMS {
        if fields.take(field).is_some() {
            draft.note(format!(
                "`{field}` has no effect on an address and is left out"
            ));
        }
    }
    Ok(())
}

/// Whether others can read along on the way to an address; an error where it is none.
///
/// What an address with variables becomes shows only when they are filled in, so only its form
/// is looked at, as far as it is known.
fn is_readable(template: &Template) -> Result<bool, Refusal> {
    if template.begins_with_variable() {
        return Ok(false);
    }
    let text = template.sample();
    let no_address = || "`url` is not an `https://` or `http://` address".to_owned();
    let (scheme, rest) = text.split_once("://").ok_or_else(no_address)?;
    let encrypted = scheme.eq_ignore_ascii_case("https");
    if !encrypted && !scheme.eq_ignore_ascii_case("http") {
        return Err(no_address());
    }
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    // Others read addresses with these in other ways, so openclaw refuses them.
    let is_ambiguous = text.contains(|c: char| c.is_whitespace() || c.is_control() || c == '\\')
        || authority.matches('@').count() > 1;
    if authority.is_empty() || is_ambiguous {
        return Err(no_address());
    }
    let url = Url::parse(&text).map_err(|_| no_address())?;
    Ok(!encrypted && !is_plainly_local(&url, authority))
}

/// Whether an address means this machine and says so.
fn is_plainly_local(url: &Url, authority: &str) -> bool {
    let is_local = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    let written = authority.rsplit('@').next().unwrap_or_default();
    let host = url.host_str().unwrap_or_default();
    let tail = written
        .get(..host.len())
        .filter(|start| start.eq_ignore_ascii_case(host))
        .map(|_| &written[host.len()..]);
    is_local && tail.is_some_and(|tail| tail.is_empty() || tail.starts_with(':'))
}

fn headers(draft: &mut Draft<'_>, fields: &mut Fields) -> Result<Map<String, Value>, Refusal> {
    let mut headers = Map::new();
    for field in ["headers", "http_headers"] {
        for (name, value) in object(fields.take(field), field)? {
            let label = format!("{field}.{}", printable(&name));
            if let Some(value) = draft.credential(&value, &label) {
                add_header(draft, &mut headers, (name, &label, value));
            }
        }
    }
    let field = "env_http_headers";
    for (name, value) in object(fields.take(field), field)? {
        let label = format!("{field}.{}", printable(&name));
        let Some(variable) = value.as_str().filter(|text| !text.is_empty()) else {
            draft.note_type(&label, "the name of a variable", &value);
            continue;
        };
        let variable = Template::variable(variable, &label, &mut draft.notes);
        let value = Value::String(variable.render());
        add_header(draft, &mut headers, (name, &label, value));
    }
    bearer(draft, fields, &mut headers);
    Ok(headers)
}

/// The token that Codex names the variable of.
fn bearer(draft: &mut Draft<'_>, fields: &mut Fields, headers: &mut Map<String, Value>) {
    let field = "bearer_token_env_var";
    match fields.take(field) {
        None => {}
        Some(Value::String(name)) if !name.is_empty() => {
            let variable = Template::variable(&name, field, &mut draft.notes);
            let value = format!("Bearer {}", variable.render());
            let header = ("Authorization".to_owned(), field, Value::String(value));
            add_header(draft, headers, header);
        }
        Some(other) => draft.note_type(field, "the name of a variable", &other),
    }
    if fields.take("bearer_token").is_some() {
        draft.note(
            "`bearer_token` is left out, as Codex refuses it too: run `openclaw mcp add` with the \
             token, or put it into `apiKey`",
        );
    }
}

fn object(value: Option<Value>, field: &str) -> Result<Map<String, Value>, Refusal> {
    match value {
        None => Ok(Map::new()),
        Some(Value::Object(entries)) => Ok(entries),
        Some(other) => Err(format!("`{field}` is {}, not an object", kind(&other))),
    }
}

fn add_header(
    draft: &mut Draft<'_>,
    headers: &mut Map<String, Value>,
    (name, label, value): (String, &str, Value),
) {
    // RFC 9110 §5.6.2; `$include` would stand for a file.
    let is_name = !name.is_empty()
        && name != "$include"
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte));
    // RFC 9110 §5.5
    let is_value = !value
        .as_str()
        .unwrap_or_default()
        .chars()
        .any(|c| c.is_ascii_control() && c != '\t');
    let is_new = !headers
        .keys()
        .any(|known| known.eq_ignore_ascii_case(&name));
    let fault = match (is_name, is_value, is_new) {
        (false, ..) => "this is no name of a header",
        (_, false, _) => "its value has line breaks or control characters",
        (.., false) => "there is this header already",
        _ => {
            headers.insert(name, value);
            return;
        }
    };
    draft.note(format!("`{label}` is left out: {fault}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_spellings_of_this_machine_need_no_permission() {
        let readable = |text: &str| is_readable(&Template::literal(text));
        for fine in [
            "https://example.com/mcp",
            "HTTPS://example.com",
            "http://localhost:3000/mcp",
            "http://127.0.0.1",
            "http://[::1]:9/x",
            "http://user@localhost/",
        ] {
            assert_eq!(readable(fine), Ok(false), "{fine}");
        }
        for open in [
            "http://192.168.1.2/mcp",
            "http://example.com",
            "http://localhost.example.com",
            "http://2130706433/",
            "http://127.1/",
        ] {
            assert_eq!(readable(open), Ok(true), "{open}");
        }
        for none in [
            "",
            "example.com",
            "ftp://x",
            "https://",
            "https:///x",
            "https://a b/",
        ] {
            assert!(readable(none).is_err(), "{none}");
        }
    }
}
