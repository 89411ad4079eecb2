//! One server, from the fields of its client to an entry.

use serde_json::Value;

use crate::address::address;
use crate::common::common;
use crate::draft::{Draft, Refusal};
use crate::fields::{Fields, kind};
use crate::find::ImportedServer;
use crate::name::cleaned;
use crate::printable::printable;
use crate::program::program;
use crate::variables::Origin;

/// How a client says that it speaks to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Transport {
    Stdio,
    Http,
    Sse,
}

/// Makes an entry of a server, or says why it can't be one.
pub(crate) fn translate(
    name: &str,
    value: &Value,
    origin: Origin<'_>,
) -> Result<ImportedServer, Refusal> {
    let Value::Object(fields) = value else {
        return Err(format!("it is {}, not an object", kind(value)));
    };
    let mut fields = Fields::new(fields);
    let mut draft = Draft::new(origin);
    let own_name = cleaned(name);
    if own_name != name {
        draft.note(format!(
            "its name `{}` is none that openclaw takes",
            printable(name)
        ));
    }
    let transport = transport(&mut draft, &mut fields)?;
    let command = fields.take("command");
    let url = fields.take_any(&["url", "serverUrl", "httpUrl"]);
    match (transport, command, url) {
        (None | Some(Transport::Stdio), Some(command), url) => {
            if url.is_some() {
                draft.note("`url` is left out: a server has `command` or `url`, not both");
            }
            program(&mut draft, &mut fields, &command)?;
        }
        (None | Some(Transport::Http | Transport::Sse), command, Some((_, url))) => {
            if command.is_some() {
                draft.note("`command` is left out: a server has `command` or `url`, not both");
            }
            let word = match transport {
                Some(Transport::Sse) => "sse",
                _ => "http",
            };
            address(&mut draft, &mut fields, (&url, word))?;
        }
        (Some(Transport::Stdio), None, _) => return Err("it has no `command`".to_owned()),
        (Some(_), _, None) => return Err("it has no `url`".to_owned()),
        (None, None, None) => return Err("it has neither `command` nor `url`".to_owned()),
    }
    common(&mut draft, &mut fields);
    Ok(ImportedServer {
        name: own_name,
        entry: draft.entry,
        notes: draft.notes.into_list(),
    })
}

/// What `type` and `transport` say; VS Code has both, and the narrower one counts.
fn transport(draft: &mut Draft<'_>, fields: &mut Fields) -> Result<Option<Transport>, Refusal> {
    let mut found = None;
    for field in ["type", "transport"] {
        let word = match fields.take(field) {
            None => continue,
            Some(Value::String(word)) => word,
            Some(other) => {
                draft.note_type(field, "a string", &other);
                continue;
            }
        };
        let compact: String = word.chars().filter(char::is_ascii_alphabetic).collect();
        let transport = match compact.to_ascii_lowercase().as_str() {
            "stdio" | "local" => Transport::Stdio,
            "http" | "streamablehttp" | "remote" => Transport::Http,
            "sse" => Transport::Sse,
            _ => {
                return Err(format!(
                    "openclaw does not speak its transport `{}`",
                    printable(&word)
                ));
            }
        };
        if found != Some(Transport::Sse) {
            found = Some(transport);
        }
    }
    Ok(found)
}
