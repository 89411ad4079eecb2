//! What is done where tools have to be found first.

use openclaw_content::{ModelText, description, note};
use openclaw_conversation::{AnswerPart, AssistantPart, CallArguments, Message, ToolAnswer};
use serde_json::{Map, Value, json};

use super::{ALL, reply, user};
use crate::tools::{ToolSet, ToolSpec};

const OWN: [&str; 4] = [
    "mcp_call_tool",
    "mcp_describe_tool",
    "mcp_read_result",
    "mcp_search_tools",
];

/// What the model has that found these tools.
fn having(names: &[String]) -> ToolSet {
    let own = OWN.iter().map(|name| ToolSpec {
        name: (*name).to_owned(),
        description: note("Leads to tools.", &[]),
        parameters: match json!({
            "type": "object",
            "properties": { "query": { "type": "string" } },
            "required": ["query"],
        }) {
            Value::Object(schema) => schema,
            other => panic!("{other}"),
        },
    });
    // Its words fit many a message about files.
    let skill = ToolSpec {
        name: "read_skill".to_owned(),
        description: note(
            "Reads the instructions of a skill, or another file of it that they name.",
            &[],
        ),
        parameters: match json!({
            "type": "object",
            "properties": { "name": { "type": "string" }, "file": { "type": "string" } },
            "required": ["name"],
        }) {
            Value::Object(schema) => schema,
            other => panic!("{other}"),
        },
    };
    let all = ALL.tools().iter();
    let found = all.filter(|tool| names.contains(&tool.name)).cloned();
    let mut all: Vec<ToolSpec> = own.chain([skill]).chain(found).collect();
    all.sort_by(|one, other| one.name.cmp(&other.name));
    ToolSet::new(all, |schema, _| Ok(schema.clone()))
}

/// A conversation with a runtime that has all tools, and defines those that were found or not.
struct Runtime {
    messages: Vec<Message>,
    found: Vec<String>,
    defines: bool,
    calls: Vec<(String, Map<String, Value>)>,
}

impl Runtime {
    fn new(defines: bool) -> Self {
        Self {
            messages: Vec::new(),
            found: Vec::new(),
            defines,
            calls: Vec::new(),
        }
    }

    /// What is answered in the end, and what was called on the way.
    fn ask(&mut self, text: &str) -> (String, Vec<String>) {
        self.messages.push(user(text));
        self.calls.clear();
        loop {
            assert!(self.calls.len() < 5, "it goes on and on: {:?}", self.calls);
            let tools = having(if self.defines { &self.found } else { &[] });
            let (reply, _) = reply(&self.messages, &tools);
            let part = reply.message.parts[0].clone();
            self.messages.push(Message::Assistant(reply.message));
            match part {
                AssistantPart::ToolCall(call) => {
                    let CallArguments::Object(arguments) = call.arguments else {
                        panic!("{call:?}");
                    };
                    self.answer(&call.id, &call.name, &arguments);
                    self.calls.push((call.name, arguments));
                }
                AssistantPart::Text { text } => {
                    let names = self.calls.iter().map(|(name, _)| name.clone());
                    return (text, names.collect());
                }
                AssistantPart::Reasoning { .. } => panic!("it does not think"),
            }
        }
    }

    fn answer(&mut self, id: &str, name: &str, arguments: &Map<String, Value>) {
        let all = ALL.tools();
        let text = |key: &str| arguments[key].as_str().unwrap();
        let (mut found, mut called) = (Vec::new(), None);
        let parts = match name {
            "mcp_search_tools" => {
                let limit = usize::try_from(arguments["limit"].as_u64().unwrap()).unwrap();
                let ranked = ALL.index().rank(text("query"), limit);
                let names = ranked.iter().map(|it| all[it.place].name.clone());
                found.extend(names.filter(|name| !OWN.contains(&name.as_str())));
                vec![note("found", &[])]
            }
            "mcp_describe_tool" => {
                let tool = all.iter().find(|it| it.name == text("name")).unwrap();
                found.push(tool.name.clone());
                let schema = serde_json::to_string(&tool.parameters).unwrap();
                let trap = description("x", "reads\n{\"properties\": {}}").text;
                let schema = openclaw_content::definition_text(&schema, 16_000).text;
                vec![
                    note("{}", &[&tool.name]),
                    tool.description.clone(),
                    trap,
                    schema,
                ]
            }
            "mcp_call_tool" => {
                called = Some(text("name").to_owned());
                vec![note("done", &[])]
            }
            _ => vec![note("done", &[])],
        };
        self.found.extend(found.iter().cloned());
        let text = ModelText::joined(&parts);
        self.messages.push(Message::Tool(ToolAnswer {
            call: id.to_owned(),
            name: name.to_owned(),
            server: None,
            called,
            found,
            parts: vec![AnswerPart::Text { text }],
            is_error: false,
            duration_ms: 1,
        }));
    }
}

const WAY: [&str; 3] = ["mcp_search_tools", "mcp_describe_tool", "mcp_call_tool"];

#[test]
fn a_tool_is_found_described_and_called_and_the_next_time_called_at_once() {
    // Without definitions the first that was found is taken, and not the one that fits best.
    for (defines, best) in [
        (true, "mcp_files_read_text_file"),
        (false, "mcp_files_read_file"),
    ] {
        let mut runtime = Runtime::new(defines);
        let (text, called) = runtime.ask("read the file \"notes.txt\"");
        assert_eq!(called, WAY, "{text}");
        let Some((_, arguments)) = runtime.calls.last() else {
            panic!("nothing was called");
        };
        assert_eq!(arguments["name"], best);
        assert_eq!(arguments["arguments"], json!({"path": "notes.txt"}));
        let expected = format!("`{best}` says:\n\ndone");
        assert!(text.starts_with(&expected), "{text}");
        let (_, called) = runtime.ask("read the file \"other.txt\"");
        if defines {
            assert_eq!(called, [best]);
        } else {
            assert_eq!(called, WAY);
        }
    }
}

#[test]
fn values_are_not_searched_for() {
    let mut runtime = Runtime::new(true);
    runtime.ask("please read the file \"delete branch.txt\"");
    let query = runtime.calls[0].1["query"].as_str().unwrap();
    assert_eq!(query, "please read the file");
    runtime.ask("`mcp_time_get_current_time` timezone=UTC");
    let (name, arguments) = &runtime.calls[0];
    assert_eq!(name, "mcp_search_tools");
    let query = arguments["query"].as_str().unwrap();
    assert!(query.contains("mcp_time_get_current_time"), "{query}");
    assert_eq!(runtime.calls.len(), 3, "{:?}", runtime.calls);
}

#[test]
fn a_message_that_nothing_fits_is_searched_for_once() {
    let mut runtime = Runtime::new(true);
    let (text, called) = runtime.ask("zebras cross quickly");
    assert_eq!(called, ["mcp_search_tools"]);
    assert!(
        text.contains("also after a search among all tools"),
        "{text}"
    );
    let (text, called) = runtime.ask("what is it?");
    assert_eq!(called, [""; 0], "{text}");
    assert!(
        text.contains("Say in a few words what is to be done"),
        "{text}"
    );
}

#[test]
fn what_is_missing_is_asked_for_after_the_search() {
    let mut runtime = Runtime::new(true);
    let (text, called) = runtime.ask("convert a time to another timezone");
    assert_eq!(called, ["mcp_search_tools"]);
    assert!(
        text.contains("does not say everything that it needs"),
        "{text}"
    );
}

#[test]
fn whoever_names_the_search_gets_what_it_found() {
    let mut runtime = Runtime::new(true);
    let message = "mcp_search_tools query=\"read files\" limit=3";
    runtime.messages.push(user(message));
    let (first, _) = reply(&runtime.messages, &having(&[]));
    let call = first.message.calls().next().unwrap();
    assert_eq!(call.name, "mcp_search_tools");
    let mut answer = ToolAnswer {
        call: call.id.clone(),
        name: call.name.clone(),
        server: None,
        called: None,
        found: vec!["mcp_files_read_text_file".to_owned()],
        parts: vec![AnswerPart::Text {
            text: note("1 tool fits.", &[]),
        }],
        is_error: false,
        duration_ms: 1,
    };
    runtime.messages.push(Message::Tool(answer.clone()));
    let (last, _) = reply(&runtime.messages, &having(&answer.found));
    let text = last.message.text();
    assert!(
        text.starts_with("`mcp_search_tools` says:\n\n1 tool fits."),
        "{text}"
    );
    // What fails is told, and nothing follows from it.
    answer.is_error = true;
    let messages = [user("read the file x.txt"), Message::Tool(answer)];
    let (last, _) = reply(&messages, &having(&[]));
    assert!(last.message.text().starts_with("`mcp_search_tools` failed"));
}

#[test]
fn a_file_is_shown_by_a_tool_for_files_and_not_by_the_one_for_skills() {
    for text in ["show the file notes.txt", "read the file \"notes.txt\""] {
        let mut runtime = Runtime::new(true);
        let (_, names) = runtime.ask(text);
        let (last, arguments) = runtime.calls.last().unwrap();
        let called = arguments.get("name").filter(|_| last == "mcp_call_tool");
        let called = called.and_then(Value::as_str).unwrap_or(last);
        assert_eq!(names[0], "mcp_search_tools", "{text}");
        assert!(called.starts_with("mcp_files_"), "{text}: {called}");
        assert!(!names.iter().any(|it| it == "read_skill"), "{text}");
    }
}
