//! A server in a few lines of shell, for words that the fake server does not say.

use serde_json::{Value as Json, json};

use crate::lab::Lab;

/// What the server answers, each a result in JSON; what it does not know is an error.
pub(crate) struct Script<'a> {
    pub(crate) info: Json,
    pub(crate) tools: Json,
    pub(crate) resources: Json,
    pub(crate) prompts: Json,
    /// What every call gives.
    pub(crate) result: Json,
    /// What it writes to its standard error, as `printf` takes it.
    pub(crate) stderr: &'a str,
}

impl Default for Script<'_> {
    fn default() -> Self {
        Self {
            info: json!({ "name": "scripted", "version": "1" }),
            tools: json!([tool("echo", "Gives its message back")]),
            resources: json!([]),
            prompts: json!([]),
            result: json!({ "content": [{ "type": "text", "text": "hello" }] }),
            stderr: "",
        }
    }
}

/// A tool without arguments.
pub(crate) fn tool(name: &str, description: &str) -> Json {
    json!({ "name": name, "description": description, "inputSchema": { "type": "object" } })
}

impl Script<'_> {
    /// Writes the server into the home directory, where the file can be changed between two runs.
    pub(crate) fn write(&self, lab: &Lab) {
        let hello = json!({
            "protocolVersion": "2025-06-18",
            "capabilities": { "tools": {}, "resources": {}, "prompts": {} },
            "serverInfo": self.info,
        });
        let answers = [
            ("initialize", hello),
            ("ping", json!({})),
            ("tools/list", json!({ "tools": self.tools })),
            ("tools/call", self.result.clone()),
            ("resources/list", json!({ "resources": self.resources })),
            (
                "resources/templates/list",
                json!({ "resourceTemplates": [] }),
            ),
            ("prompts/list", json!({ "prompts": self.prompts })),
        ];
        let mut text = format!("printf '{}' >&2\n", self.stderr);
        text.push_str("while read -r line; do\n");
        text.push_str("  id=$(printf '%s' \"$line\" | sed -n 's/.*\"id\":\\([0-9]*\\).*/\\1/p')\n");
        text.push_str("  [ -n \"$id\" ] || continue\n  case $line in\n");
        for (method, result) in answers {
            text.push_str(&format!(
                "  *'\"{method}\"'*) cat <<END\n{{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{}}}\nEND\n  ;;\n",
                in_ascii(&result).replace('\\', "\\\\")
            ));
        }
        text.push_str("  esac\ndone\n");
        lab.home.write("server.sh", &text);
    }
}

/// JSON with an escape for everything that is not ASCII.
fn in_ascii(value: &Json) -> String {
    let mut text = String::new();
    for character in value.to_string().chars() {
        if character.is_ascii() && !character.is_ascii_control() {
            text.push(character);
        } else {
            for unit in character.encode_utf16(&mut [0; 2]) {
                text.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    text
}

/// A lab with the scripted server, which is called `scripted`.
pub(crate) fn lab(script: &Script<'_>, more: &Json) -> Lab {
    let lab = Lab::empty();
    script.write(&lab);
    let path = lab.home.path().join("server.sh");
    let entry = json!({ "command": "sh", "args": [path], "protocol": "legacy" });
    lab.settings(json!({ "mcp": { "servers": { "scripted": entry } } }))
        .settings(json!({ "mcp": { "servers": { "scripted": more } } }))
}
