//! The cost of writing requests: `cargo bench -p openclaw-models`.

use std::path::Path;
use std::sync::Arc;

use divan::{Bencher, black_box};
use openclaw_config::{Environment, Location, load};
use openclaw_content::note;
use openclaw_conversation::{
    AnswerPart, AssistantMessage, AssistantPart, CallArguments, Message, ToolAnswer, ToolCall,
    UserPart,
};
use openclaw_models::{ModelRequest, Models, ModelsSetup, SystemPrompt, ToolSet, ToolSpec};
use openclaw_process::{GuardianProgram, Launcher};
use openclaw_secret_stores::{SecretResolver, Surroundings};
use openclaw_secrets::Redactor;
use serde_json::json;

fn main() {
    divan::main();
}

/// One model of each protocol.
const NAMES: [&str; 5] = [
    "anthropic/claude-sonnet-4-5",
    "openrouter/some/model",
    "openai/gpt-5",
    "google/gemini-2.5-flash",
    "ollama/qwen3",
];

fn models() -> Models {
    let nowhere = Path::new("/nowhere");
    let location = Location {
        config: nowhere.join("openclaw.json"),
        state: nowhere.join("state"),
        profile: None,
        named: false,
    };
    let environment = Environment::new([], None, nowhere);
    let Some(config) = load(&location, &environment).config else {
        std::process::abort();
    };
    let config = Arc::new(config);
    let redactor = Redactor::new();
    let resolver = SecretResolver::new(Surroundings {
        environment: Arc::clone(&config.environment),
        launcher: Arc::new(Launcher::new(GuardianProgram::at(nowhere))),
        redactor: redactor.clone(),
    });
    Models::new(ModelsSetup {
        config,
        resolver: Arc::new(resolver),
        redactor,
    })
}

fn tools(count: usize) -> ToolSet {
    let schema = json!({ "type": "object", "required": ["owner", "repository"], "properties": {
        "owner": { "type": "string", "description": "The owner of the repository" },
        "repository": { "type": "string", "description": "The name of the repository" },
        "state": { "type": "string", "enum": ["open", "closed", "all"], "description": "Which" },
        "labels": { "type": "array", "items": { "type": "string" }, "description": "With these" },
        "page": { "type": "integer", "description": "Where to go on" },
    } });
    let parameters = schema.as_object().cloned().unwrap_or_default();
    let tools = (0..count).map(|number| ToolSpec {
        name: format!("mcp_server_{number:04}_list_issues"),
        description: note("Lists the issues of a repository, the newest first.", &[]),
        parameters: parameters.clone(),
    });
    ToolSet::new(tools.collect(), |schema, _| Ok(schema.clone()))
}

/// Ten messages: a question, and calls with their answers.
fn messages() -> Vec<Message> {
    let mut messages = vec![Message::User {
        parts: vec![UserPart::Text {
            text: "What is new?".repeat(20),
        }],
    }];
    for number in 0..4 {
        messages.push(Message::Assistant(AssistantMessage {
            parts: vec![AssistantPart::ToolCall(ToolCall {
                id: format!("call_{number}"),
                name: "mcp_server_0001_list_issues".to_owned(),
                arguments: CallArguments::parse(r#"{"owner":"o","repository":"r"}"#),
                opaque: None,
            })],
            model: "m".to_owned(),
            usage: None,
        }));
        messages.push(Message::Tool(ToolAnswer {
            call: format!("call_{number}"),
            name: "mcp_server_0001_list_issues".to_owned(),
            server: None,
            parts: vec![AnswerPart::Text {
                text: note("There are no issues, and that is good to know.", &[]),
            }],
            is_error: false,
            duration_ms: 1,
            called: None,
            found: Vec::new(),
        }));
    }
    messages.push(Message::User {
        parts: vec![UserPart::Text {
            text: "And now?".to_owned(),
        }],
    });
    messages
}

/// A request with 1,000 tools that were written before.
#[divan::bench(args = NAMES)]
fn thousand_tools(bencher: Bencher<'_, '_>, name: &str) {
    let (models, tools, messages) = (models(), tools(1000), messages());
    let request = ModelRequest {
        system: SystemPrompt {
            stable: "You are an agent.",
            current: "It is noon.",
        },
        messages: &messages,
        tools: &tools,
        max_tokens: None,
    };
    bencher.bench(|| black_box(models.written(name, &request)));
}

/// The tools themselves, written for the first time.
#[divan::bench(args = NAMES)]
fn thousand_tools_for_the_first_time(bencher: Bencher<'_, '_>, name: &str) {
    let (models, messages) = (models(), messages());
    bencher.with_inputs(|| tools(1000)).bench_refs(|tools| {
        let request = ModelRequest {
            system: SystemPrompt::default(),
            messages: &messages,
            tools,
            max_tokens: None,
        };
        black_box(models.written(name, &request))
    });
}
