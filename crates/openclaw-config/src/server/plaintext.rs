//! Credentials that stand in the configuration itself.

use openclaw_secrets::{is_credential_name, is_credential_value, looks_like_credential};

use crate::arguments::named_credential;
use crate::expand::{GAP, Text};
use crate::path::JsonPath;
use crate::raw::{Argument, ConfigValue};
use crate::report::{Kind, Problem};
use crate::server::validate::Candidate;
use crate::source::Span;

/// Where such a credential stands.
#[derive(Clone, Copy)]
pub(super) enum Spot {
    /// Where a reference can stand instead.
    Value,
    /// Among the arguments of a program.
    Arguments,
    /// In an address.
    Address,
}

/// Whether a value is a credential that stands in the file itself.
pub(crate) fn is_plaintext(name: &str, value: &ConfigValue) -> bool {
    match value {
        ConfigValue::Plain {
            value,
            variables,
            written,
        } => {
            if variables.is_empty() {
                looks_like_credential(name, value.expose())
            } else {
                is_written(written.expose())
                    || (is_credential_name(name) && is_random(written.expose()))
            }
        }
        ConfigValue::Reference { .. } => false,
    }
}

/// Whether a text around variables has a credential in it by its looks.
fn is_written(written: &str) -> bool {
    is_credential_value(&written.replace(GAP, "variable"))
}

/// Whether what stands around variables is more than words: some of the credential itself.
fn is_random(written: &str) -> bool {
    written.split([GAP, ' ']).any(|part| {
        let has = |kind: fn(&char) -> bool| part.chars().any(|c| kind(&c));
        part.len() >= 12 && has(char::is_ascii_digit) && has(char::is_ascii_alphabetic)
    })
}

/// Whether a text is, or holds, a credential that stands in the file itself.
pub(super) fn is_plaintext_text(text: &Text) -> bool {
    if text.variables.is_empty() {
        is_credential_value(&text.value)
    } else {
        is_written(&text.written)
    }
}

/// Whether one of a program's arguments is such a credential.
pub(crate) fn is_in_arguments(arguments: &[Argument]) -> bool {
    let mut before = "";
    arguments.iter().any(|argument| {
        let text = argument.0.value.as_str();
        let before = std::mem::replace(&mut before, text);
        let named = named_credential(before, text)
            .is_some_and(|(name, value)| looks_like_credential(name, value.trim()));
        (named && argument.0.variables.is_empty()) || is_plaintext_text(&argument.0)
    })
}

impl Candidate<'_> {
    /// The warning about such a credential, which is given once per server.
    pub(super) fn plaintext_problem(&self, spot: Spot, path: &JsonPath, span: Span) -> Problem {
        let message = format!(
            "MCP server '{}' has plaintext credentials in config — consider using secret:// \
             references",
            self.name
        );
        let reference = if self.environment.has_google_credentials() {
            "secret://gcp/NAME"
        } else {
            "secret://keyring/SERVICE/ACCOUNT"
        };
        let help = match spot {
            Spot::Value => format!("write `\"{reference}\"`, or `\"${{NAME}}\"` for a variable"),
            Spot::Arguments => {
                "pass it in `env`, where a reference can stand, or write `${NAME}` for a variable".to_owned()
            }
            Spot::Address => {
                "put it into `headers`, where a reference can stand, or write `${NAME}` for a variable".to_owned()
            }
        };
        Problem::warning(Kind::PlaintextCredential, path, message)
            .at(span)
            .help(help)
    }
}
