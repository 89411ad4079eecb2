//! Which messages lead to which calls.

use serde_json::{Value, json};

use super::{ALL, DEMO, EVERYTHING, FETCH, FILES, TIME, asked, tools};
use crate::tools::ToolSet;

#[track_caller]
fn leads(tools: &ToolSet, text: &str, tool: &str, arguments: &Value) {
    let call = (tool.to_owned(), arguments.clone());
    assert_eq!(asked(text, tools), Ok(call), "{text}");
}

/// Each message, the tool that it leads to, and with what.
type Expected = [(&'static str, &'static str, Value)];

#[track_caller]
fn lead(expected: &Expected) {
    for (text, tool, arguments) in expected {
        leads(&ALL, text, &format!("mcp_{tool}"), arguments);
    }
}

#[test]
fn tools_are_called_by_any_of_their_names() {
    lead(&[
        ("echo hello", "everything_echo", json!({"message": "hello"})),
        (
            "echo: hello world",
            "everything_echo",
            json!({"message": "hello world"}),
        ),
        (
            "please echo hello",
            "everything_echo",
            json!({"message": "hello"}),
        ),
        (
            "echo \"hello, world\"",
            "everything_echo",
            json!({"message": "hello, world"}),
        ),
        (
            "everything/echo message=hi",
            "everything_echo",
            json!({"message": "hi"}),
        ),
        (
            "use `mcp_everything_echo` with {\"message\": \"a b\"}",
            "everything_echo",
            json!({"message": "a b"}),
        ),
        (
            "echo hello\nget-sum 1 2",
            "everything_echo",
            json!({"message": "hello\nget-sum 1 2"}),
        ),
    ]);
}

#[test]
fn numbers_times_and_zones_are_arguments() {
    lead(&[
        (
            "what time is it in Europe/Berlin?",
            "time_get_current_time",
            json!({"timezone": "Europe/Berlin"}),
        ),
        (
            "convert 14:30 from Europe/Berlin to Asia/Tokyo",
            "time_convert_time",
            json!({"source_timezone": "Europe/Berlin", "time": "14:30", "target_timezone": "Asia/Tokyo"}),
        ),
        (
            "convert_time target-timezone=UTC time: 9:00 --source_timezone Asia/Tokyo",
            "time_convert_time",
            json!({"source_timezone": "Asia/Tokyo", "time": "9:00", "target_timezone": "UTC"}),
        ),
        (
            "add 2 and 40",
            "everything_get-sum",
            json!({"a": 2, "b": 40}),
        ),
        (
            "what is the sum of 1.5 and -2?",
            "everything_get-sum",
            json!({"a": 1.5, "b": -2}),
        ),
        (
            "get-sum --b 3 --a 4",
            "everything_get-sum",
            json!({"a": 4, "b": 3}),
        ),
        (
            "get-sum b=3 a=4",
            "everything_get-sum",
            json!({"a": 4, "b": 3}),
        ),
    ]);
}

#[test]
fn paths_and_files_are_arguments() {
    lead(&[
        (
            "read /etc/hostname",
            "files_read_text_file",
            json!({"path": "/etc/hostname"}),
        ),
        (
            "read /home/me/cat.PNG",
            "files_read_media_file",
            json!({"path": "/home/me/cat.PNG"}),
        ),
        (
            "read_file notes",
            "files_read_file",
            json!({"path": "notes"}),
        ),
        (
            "show the first lines of README.md with read_text_file, head 5",
            "files_read_text_file",
            json!({"path": "README.md", "head": 5}),
        ),
        (
            "read the files /a.txt, /b.txt",
            "files_read_multiple_files",
            json!({"paths": ["/a.txt", "/b.txt"]}),
        ),
        (
            "list the directory /tmp",
            "files_list_directory",
            json!({"path": "/tmp"}),
        ),
        (
            "show what is in the folder ~/music?",
            "files_list_directory",
            json!({"path": "~/music"}),
        ),
        (
            "list directory with sizes /tmp sorted by SIZE",
            "files_list_directory_with_sizes",
            json!({"path": "/tmp", "sortBy": "size"}),
        ),
        (
            "move /a to /b",
            "files_move_file",
            json!({"source": "/a", "destination": "/b"}),
        ),
        (
            "write_file ./x.txt 'some words'",
            "files_write_file",
            json!({"path": "./x.txt", "content": "some words"}),
        ),
        (
            "write_file path=./x.txt with hello world",
            "files_write_file",
            json!({"path": "./x.txt", "content": "hello world"}),
        ),
        (
            "search files in /src for '*.rs'",
            "files_search_files",
            json!({"path": "/src", "pattern": "*.rs"}),
        ),
        (
            "which directories are allowed?",
            "files_list_allowed_directories",
            json!({}),
        ),
    ]);
}

#[test]
fn addresses_choices_and_lists_are_arguments() {
    lead(&[
        (
            "fetch https://example.com/a?b=1.",
            "fetch_fetch",
            json!({"url": "https://example.com/a?b=1"}),
        ),
        (
            "download the website https://example.com",
            "fetch_fetch",
            json!({"url": "https://example.com"}),
        ),
        (
            "fetch https://example.com with a max length of 500, raw: yes",
            "fetch_fetch",
            json!({"url": "https://example.com", "max_length": 500, "raw": true}),
        ),
        (
            "fetch url=https://example.com --raw --max_length 1,000",
            "fetch_fetch",
            json!({"url": "https://example.com", "max_length": 1000, "raw": true}),
        ),
        (
            "fetch --raw please url=https://example.com",
            "fetch_fetch",
            json!({"url": "https://example.com", "raw": true}),
        ),
        (
            "show the environment variables",
            "everything_get-env",
            json!({}),
        ),
        (
            "weather in new york: get structured content",
            "everything_get-structured-content",
            json!({"location": "New York"}),
        ),
        (
            "get-annotated-message debug include image: true",
            "everything_get-annotated-message",
            json!({"messageType": "debug", "includeImage": true}),
        ),
        ("read the knowledge graph", "memory_read_graph", json!({})),
        (
            "search nodes about rust async",
            "memory_search_nodes",
            json!({"query": "rust async"}),
        ),
        (
            "delete_entities Ada, Bob",
            "memory_delete_entities",
            json!({"entityNames": ["Ada", "Bob"]}),
        ),
        (
            "delete the entities \"Ada\" and \"Bob\" from the graph",
            "memory_delete_entities",
            json!({"entityNames": ["Ada", "Bob"]}),
        ),
    ]);
}

#[test]
fn the_demo_is_understood() {
    let demo = tools(&[("demo", DEMO)]);
    for (text, tool, arguments) in [
        ("add 19 and 23", "add", json!({"a": 19, "b": 23})),
        ("What is 19 plus 23?", "add", json!({"a": 19, "b": 23})),
        (
            "how many words are in 'the quick brown fox'?",
            "count_words",
            json!({"text": "the quick brown fox"}),
        ),
        ("reverse hello", "reverse_text", json!({"text": "hello"})),
        (
            "reverse the text hello world",
            "reverse_text",
            json!({"text": "hello world"}),
        ),
        (
            "roll 3 dice with 20 sides",
            "roll_dice",
            json!({"sides": 20, "count": 3}),
        ),
        ("roll dice", "roll_dice", json!({})),
    ] {
        leads(&demo, text, &format!("mcp_demo_{tool}"), &arguments);
    }
}

#[test]
fn a_tool_of_several_servers_is_the_one_that_fits() {
    let two = tools(&[("a", FILES), ("b", FETCH), ("c", TIME), ("z", EVERYTHING)]);
    leads(&two, "z/echo x", "mcp_z_echo", &json!({"message": "x"}));
    leads(
        &two,
        "a read_text_file /x",
        "mcp_a_read_text_file",
        &json!({"path": "/x"}),
    );
}

#[test]
fn what_is_missing_is_asked_for() {
    for (text, tool, missing) in [
        (
            "what time is it?",
            "mcp_time_get_current_time",
            "- `timezone` (text): An IANA timezone",
        ),
        (
            "get-sum 5",
            "mcp_everything_get-sum",
            "- `b` (number): Second number",
        ),
        (
            "read my diary",
            "mcp_files_read_text_file",
            "- `path` (text)",
        ),
        ("edit_file /x", "mcp_files_edit_file", "- `edits` (JSON)"),
        (
            "get structured content",
            "mcp_everything_get-structured-content",
            "one of New York, Chicago, Los Angeles",
        ),
    ] {
        let said = asked(text, &ALL).unwrap_err();
        assert!(
            said.contains(&format!("The tool `{tool}` fits")),
            "{text}: {said}"
        );
        assert!(said.contains(missing), "{text}: {said}");
        assert!(said.contains("Say it like this: `mcp_"), "{text}: {said}");
    }
}

#[test]
fn what_has_to_do_with_no_tool_calls_none() {
    for text in [
        "hello",
        "tell me a joke",
        "what is the capital of France?",
        "",
        "¿qué tal?",
        "42",
        "{}",
    ] {
        let said = asked(text, &ALL).unwrap_err();
        assert!(said.starts_with("No tool clearly fits"), "{text}: {said}");
        assert!(
            said.contains("There are 35 tools, among them:\n- `mcp_"),
            "{text}: {said}"
        );
        assert_eq!(said.matches("\n- `").count(), 5, "{said}");
        assert!(!said.contains("mcp_read_result"), "{said}");
    }
    let said = asked("echo hello", &ToolSet::none()).unwrap_err();
    assert!(said.contains("openclaw mcp connect"), "{said}");
}

#[test]
fn tools_that_lead_on_are_only_called_by_name() {
    let said = asked("read on in the long result", &ALL);
    assert!(!said.is_ok_and(|(tool, _)| tool == "mcp_read_result"));
    leads(&ALL, "mcp_read_result", "mcp_read_result", &json!({}));
}

#[test]
fn what_is_quoted_names_no_tool() {
    leads(
        &ALL,
        "echo 'mcp_files_write_file'",
        "mcp_everything_echo",
        &json!({"message": "mcp_files_write_file"}),
    );
}

#[test]
fn a_long_message_is_passed_on_whole() {
    let text = "lorem ipsum ".repeat(1_000_000);
    let call = asked(&format!("echo {text}"), &ALL).unwrap();
    assert_eq!(call.1["message"], text.trim());
    let before = format!("{text} echo hello");
    assert!(asked(&before, &ALL).is_err());
}
