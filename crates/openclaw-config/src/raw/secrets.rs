//! Where secrets are.

use serde_json::{Value as Json, json};

use crate::expand::Text;
use crate::raw::entries::Entries;
use crate::shape::{
    Context, Definitions, Milliseconds, Named, NonEmpty, Shape, Whole, choices, object, reference,
};
use crate::tree::Node;

choices! {
    /// The kind of a secret provider.
    pub(crate) enum ProviderSource {
        /// Environment variables.
        Environment = "env",
        /// A file.
        File = "file",
        /// A program.
        Exec = "exec",
    }
}

choices! {
    /// What a file of secrets holds.
    pub enum FileMode {
        /// JSON; identifiers are pointers into it.
        Json = "json",
        /// One secret.
        SingleValue = "singleValue",
    }
}

object! {
    /// Where secrets are.
    open RawSecrets as "secrets" {
        /// How long a store may take to answer, in milliseconds; programs have their own limits.
        timeout: Milliseconds = "timeoutMs", default 10000;
        /// The providers that references name.
        providers: SecretProviders = "providers";
    }
}

object! {
    /// A provider of secrets.
    open RawSecretProvider as "secretProvider" {
        /// The kind of the provider.
        source: ProviderSource = "source";
        /// The variables that may be read (`env`); without it all.
        allowlist: Vec<NonEmpty> = "allowlist";
        /// The file (`file`).
        path: NonEmpty = "path";
        /// What the file holds (`file`).
        mode: FileMode = "mode", default "json";
        /// The program, as an absolute path (`exec`).
        command: NonEmpty = "command";
        /// Its arguments (`exec`).
        args: Vec<Text> = "args";
        /// Variables for its environment (`exec`).
        env: Named<Text> = "env";
        /// Names of our own variables that it gets (`exec`).
        pass_env: Vec<NonEmpty> = "passEnv";
        /// How long it may take, in milliseconds (`exec`).
        timeout: Milliseconds = "timeoutMs", default 5000;
        /// How many bytes it may answer with (`exec`).
        max_output_bytes: Whole<1, 67_108_864> = "maxOutputBytes", default 1_048_576;
    }
}

/// Providers, with what each kind needs.
#[derive(Clone, Debug, Default)]
pub(crate) struct SecretProviders(pub(crate) Entries<RawSecretProvider>);

impl Shape for SecretProviders {
    fn decode(node: &Node, context: &mut Context<'_>) -> Option<Self> {
        Entries::decode(node, context).map(Self)
    }

    fn schema(definitions: &mut Definitions) -> Json {
        RawSecretProvider::schema(definitions);
        let needs = |source: &str, more: Json| json!({ "if": { "properties": { "source": { "const": source } } }, "then": more });
        let absolute = "^(/|~|[A-Za-z]:[\\\\/])|\\$\\{[A-Z_][A-Z0-9_]*\\}";
        json!({
            "type": "object",
            "additionalProperties": { "allOf": [
                reference("secretProvider"),
                { "if": { "not": { "required": ["$include"] } }, "then": { "required": ["source"] } },
                needs("file", json!({ "required": ["path"] })),
                needs("exec", json!({
                    "required": ["command"],
                    "properties": { "command": { "pattern": absolute } },
                })),
            ] },
        })
    }
}
