//! What the tools look like in a list.

use serde_json::{Value, json};

use crate::fake_server::server::Server;

/// All tools, with those that were generated or added.
pub(crate) fn list(server: &Server) -> Vec<Value> {
    let mut tools = own();
    let only = &server.options.only_tools;
    if !only.is_empty() {
        tools.retain(|tool| only.iter().any(|name| tool["name"] == json!(name)));
    }
    let also = server.options.also_tools.iter();
    tools.extend(also.map(|name| tool(name, "Gives its arguments back", &[])));
    let generated = (0..server.options.tools).map(|index| {
        let description = format!("Generated tool number {index}");
        tool(&format!("generated_{index}"), &description, &[])
    });
    tools.extend(generated);
    let added = (1..=server.added_tools()).map(|number| {
        let description = "Was added while the server ran";
        tool(&format!("added_{number}"), description, &[])
    });
    tools.extend(added);
    tools
}

/// The parameters of a tool that go into headers, too: argument and header.
pub(crate) fn header_parameters(name: &str) -> &'static [(&'static str, &'static str)] {
    match name {
        "region" => &[
            ("region", "Region"),
            ("count", "Count"),
            ("urgent", "Urgent"),
        ],
        _ => &[],
    }
}

/// A tool whose parameters are `name: type`, with a `?` after the type of those it can do without.
fn tool(name: &str, description: &str, parameters: &[(&str, &str)]) -> Value {
    let mut properties = json!({});
    let mut required = Vec::new();
    for (parameter, kind) in parameters {
        let optional = kind.strip_suffix('?');
        properties[*parameter] = json!({"type": optional.unwrap_or(kind)});
        if optional.is_none() {
            required.push(*parameter);
        }
    }
    let mut schema = json!({"type": "object", "properties": properties});
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    json!({"name": name, "description": description, "inputSchema": schema})
}

fn own() -> Vec<Value> {
    let mut tools = vec![
        tool("echo", "Gives its message back", &[("message", "string")]),
        add(),
        tool("sleep", "Answers after so long", &[("ms", "integer")]),
        tool(
            "slow",
            "Answers after so long, telling its progress in so many steps",
            &[("ms", "integer"), ("steps", "integer")],
        ),
        tool(
            "big",
            "Gives a text of so many bytes",
            &[("bytes", "integer")],
        ),
        tool("log", "Sends a log message", &[("level", "string?")]),
        tool(
            "elicit",
            "Asks the user for a name, in so many rounds",
            &[("rounds", "integer?"), ("stateless", "boolean?")],
        ),
        region(),
    ];
    tools.push(tool(
        "image",
        "Gives a picture, which may have so many bytes",
        &[("bytes", "integer?")],
    ));
    let plain = [
        ("audio", "Gives a sound"),
        ("document", "Gives a document"),
        ("resource", "Gives two resources"),
        ("link", "Gives a link to a resource"),
        (
            "mixed",
            "Gives content of every type, and of one that nobody knows",
        ),
        ("fail", "Fails, as a tool does"),
        ("protocol_error", "Fails, as the protocol does"),
        ("elicit_url", "Asks the user to visit an address"),
        ("roots", "Asks for the roots"),
        ("sample", "Asks for a completion of a model"),
        ("ping_client", "Asks whether the client is there"),
        ("change_tools", "Adds a tool and tells everybody"),
        ("touch_resource", "Changes a resource and tells everybody"),
        (
            "end_subscriptions",
            "Ends the subscriptions of modern clients",
        ),
        ("headers", "Gives the headers that the request came with"),
        (
            "environment",
            "Gives the names of its environment variables",
        ),
        ("directory", "Gives its working directory"),
        ("crash", "Ends the server in the middle of the call"),
        ("spawn_child", "Starts a process that ignores SIGTERM"),
    ];
    tools.extend(plain.map(|(name, description)| tool(name, description, &[])));
    tools
}

fn add() -> Value {
    let mut tool = tool(
        "add",
        "Adds two numbers",
        &[("a", "number"), ("b", "number")],
    );
    tool["title"] = json!("Addition");
    tool["annotations"] = json!({"readOnlyHint": true, "idempotentHint": true});
    tool["outputSchema"] = json!({
        "type": "object",
        "properties": {"sum": {"type": "number"}},
        "required": ["sum"],
    });
    tool
}

/// A tool whose arguments modern clients repeat in headers.
fn region() -> Value {
    let mut tool = tool(
        "region",
        "Gives the headers that the request came with",
        &[
            ("region", "string"),
            ("count", "integer?"),
            ("urgent", "boolean?"),
        ],
    );
    for (argument, header) in header_parameters("region") {
        tool["inputSchema"]["properties"][*argument]["x-mcp-header"] = json!(header);
    }
    tool
}
