//! Credentials that stand in the configuration itself.

use openclaw_secrets::{is_credential_value, looks_like_credential};

use crate::arguments::named_credential;
use crate::path::JsonPath;
use crate::raw::{Argument, ConfigValue};
use crate::report::{Kind, Problem};
use crate::server::validate::Candidate;
use crate::source::Span;

/// Whether a value is a credential that stands in the file itself.
pub(super) fn is_plaintext(name: &str, value: &ConfigValue) -> bool {
    match value {
        ConfigValue::Plain { value, variables } => {
            variables.is_empty() && looks_like_credential(name, value.expose())
        }
        ConfigValue::Reference { .. } => false,
    }
}

/// Whether one of a program's arguments is such a credential.
pub(super) fn is_in_arguments(arguments: &[Argument]) -> bool {
    let mut before = "";
    arguments.iter().any(|argument| {
        let text = argument.0.value.as_str();
        let before = std::mem::replace(&mut before, text);
        let named = named_credential(before, text)
            .is_some_and(|(name, value)| looks_like_credential(name, value.trim()));
        (named || is_credential_value(text)) && argument.0.variables.is_empty()
    })
}

impl Candidate<'_> {
    /// The warning about such a credential, which is given once per server.
    pub(super) fn plaintext_problem(&self, path: &JsonPath, span: Span) -> Problem {
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
        Problem::warning(Kind::PlaintextCredential, path, message)
            .at(span)
            .help(format!(
                "write `\"{reference}\"`, or `\"${{NAME}}\"` for a variable"
            ))
    }
}
