//! The client side of the official conformance suite: `scripts/conformance` runs it.
//!
//! The suite starts it with the address of a test server as its last argument and names the
//! scenario in `MCP_CONFORMANCE_SCENARIO`. It does with our engine what a person would have it do:
//! connect, look at what the server offers, use it, disconnect. Where the server asks for a login, it
//! makes one, as a person with a browser would.

mod login;

use std::env;
use std::process::ExitCode;
use std::sync::Arc;

use openclaw_mcp_client::{
    AddressTarget, Authorization, CallOptions, ConnectError, Connection, Connector, Elicitation,
    ElicitationAnswer, Endpoint, FirstTransport, PendingAnswer, Person, Protocol, RequestError,
    Target, Timeouts, TlsSettings, Tool,
};
use openclaw_process::{GuardianProgram, Launcher};
use serde_json::{Map, Value, json};
use url::Url;

use self::login::Login;

/// How often a person would log in for one thing.
const MOST_LOGINS: u32 = 2;

type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let outcome = runtime
        .map_err(Failure::from)
        .and_then(|runtime| runtime.block_on(run()));
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report(&error.to_string());
            ExitCode::FAILURE
        }
    }
}

#[expect(clippy::print_stderr, reason = "the suite keeps what is written there")]
fn report(text: &str) {
    eprintln!("{text}");
}

async fn run() -> Result<(), Failure> {
    let url: Url = env::args().next_back().ok_or("no address given")?.parse()?;
    let scenario = env::var("MCP_CONFORMANCE_SCENARIO").unwrap_or_default();
    let context = match env::var("MCP_CONFORMANCE_CONTEXT") {
        Ok(context) => serde_json::from_str(&context)?,
        Err(_) => Value::Null,
    };
    let login = Login::new(&url, &scenario, &context)?;
    let target = Target {
        name: "conformance".to_owned(),
        fingerprint: None,
        endpoint: Endpoint::Address(Box::new(AddressTarget {
            url,
            first: FirstTransport::Streamable,
            headers: Vec::new(),
            authorization: Authorization::Asked(login.authorizer()),
            tls: TlsSettings::default(),
        })),
        protocol: Protocol::Auto,
        timeouts: Timeouts::default(),
        parallel_calls: true,
        roots: None,
    };
    let connector = Connector::new(
        Arc::new(Launcher::new(GuardianProgram::this_program())),
        env::vars_os().collect(),
        env::current_dir()?,
        None,
    );
    let mut logins = 0;
    let connection = loop {
        match connector.connect(&target).await {
            Err(ConnectError::Unauthorized(refused)) if logins < MOST_LOGINS => {
                logins += 1;
                login.log_in(&refused).await?;
            }
            other => break other?,
        }
    };
    let outcome = use_server(&connection, &login, &scenario, &context).await;
    connection.close().await;
    outcome
}

async fn use_server(
    connection: &Connection,
    login: &Login,
    scenario: &str,
    context: &Value,
) -> Result<(), Failure> {
    let tools = list(connection, login).await?;
    if scenario == "json-schema-2020-12-preservation" {
        return echo_schema(connection, &tools).await;
    }
    let mut calls = calls_of(context);
    if calls.is_empty() {
        calls = tools
            .iter()
            .map(|tool| (tool.name.clone(), arguments(tool)))
            .collect();
    }
    for (name, arguments) in calls {
        call(connection, login, &name, arguments).await?;
    }
    let capabilities = connection.server().capabilities;
    if capabilities.resources {
        for resource in connection.list_resources().await?.items {
            connection.read_resource(&resource.uri, None).await?;
        }
    }
    if capabilities.prompts {
        for prompt in connection.list_prompts().await?.items {
            connection
                .get_prompt(&prompt.name, Map::new(), None)
                .await?;
        }
    }
    Ok(())
}

async fn list(connection: &Connection, login: &Login) -> Result<Vec<Tool>, Failure> {
    let mut logins = 0;
    loop {
        match connection.list_tools().await {
            Err(RequestError::Unauthorized(refused)) if logins < MOST_LOGINS => {
                logins += 1;
                login.log_in(&refused).await?;
            }
            other => return Ok(other?.items),
        }
    }
}

async fn call(
    connection: &Connection,
    login: &Login,
    name: &str,
    arguments: Map<String, Value>,
) -> Result<(), Failure> {
    let mut logins = 0;
    loop {
        let options = CallOptions {
            person: Some(Arc::new(Agreeable)),
            ..CallOptions::default()
        };
        match connection.call_tool(name, arguments.clone(), options).await {
            Err(RequestError::Unauthorized(refused)) if logins < MOST_LOGINS => {
                logins += 1;
                login.log_in(&refused).await?;
            }
            Err(error) => {
                // One scenario lists a tool that it does not let be called.
                report(&format!("{name}: {error}"));
                return Ok(());
            }
            Ok(_) => return Ok(()),
        }
    }
}

/// Sends a schema back as it was received.
async fn echo_schema(connection: &Connection, tools: &[Tool]) -> Result<(), Failure> {
    let tool = tools
        .iter()
        .find(|tool| tool.name == "json_schema_2020_12_tool");
    let schema = tool.ok_or("the tool is not there")?.input_schema.clone();
    let arguments = Map::from_iter([("schema".to_owned(), Value::Object(schema))]);
    let call = connection.call_tool("json_schema_echo", arguments, CallOptions::default());
    call.await?;
    Ok(())
}

fn calls_of(context: &Value) -> Vec<(String, Map<String, Value>)> {
    let calls = context["toolCalls"].as_array().cloned().unwrap_or_default();
    let call = |call: Value| {
        let name = call["name"].as_str()?.to_owned();
        let arguments = call["arguments"].as_object().cloned().unwrap_or_default();
        Some((name, arguments))
    };
    calls.into_iter().filter_map(call).collect()
}

/// Something for every parameter.
fn arguments(tool: &Tool) -> Map<String, Value> {
    let properties = tool
        .input_schema
        .get("properties")
        .and_then(Value::as_object);
    properties
        .into_iter()
        .flatten()
        .filter_map(|(name, schema)| Some((name.clone(), example(schema)?)))
        .collect()
}

fn example(schema: &Value) -> Option<Value> {
    if let Some(default) = schema.get("default") {
        return Some(default.clone());
    }
    match schema["type"].as_str()? {
        "string" => Some(
            schema["enum"]
                .get(0)
                .cloned()
                .unwrap_or_else(|| json!("text")),
        ),
        "number" => Some(json!(2.5)),
        "integer" => Some(json!(2)),
        "boolean" => Some(json!(true)),
        "array" => Some(json!([])),
        "object" => Some(json!({})),
        _ => None,
    }
}

/// Fills in every form with what it suggests.
struct Agreeable;

impl Person for Agreeable {
    fn elicit(&self, question: Elicitation) -> PendingAnswer<'_> {
        Box::pin(async move {
            match question {
                Elicitation::Form { schema, .. } => {
                    let properties = schema["properties"].as_object().cloned();
                    let fields = properties.unwrap_or_default();
                    let content = fields
                        .into_iter()
                        .filter_map(|(name, schema)| Some((name, example(&schema)?)))
                        .collect();
                    ElicitationAnswer::Accept(Some(content))
                }
                Elicitation::Visit { .. } => ElicitationAnswer::Decline,
            }
        })
    }
}
