//! Messages that do not mean what a part of them seems to say.

use serde_json::{Value, json};

use super::{ALL, DEMO, EVERYTHING, FILES, MEMORY, asked, tools};
use crate::tools::ToolSet;

#[track_caller]
fn calls(tools: &ToolSet, text: &str, tool: &str, arguments: &Value) {
    let call = (format!("mcp_{tool}"), arguments.clone());
    assert_eq!(asked(text, tools), Ok(call), "{text}");
}

/// What is said instead of a call.
#[track_caller]
fn refused(tools: &ToolSet, text: &str) -> String {
    match asked(text, tools) {
        Ok(call) => panic!("{text}: {call:?}"),
        Err(said) => said,
    }
}

#[test]
fn what_is_said_not_to_be_done_is_not_done() {
    let demo = tools(&[("demo", DEMO), ("memory", MEMORY), ("files", FILES)]);
    for (text, tool, word) in [
        (
            "don't delete the entity Ada",
            "memory_delete_entities",
            "don't",
        ),
        (
            "don’t delete the entity Ada",
            "memory_delete_entities",
            "don’t",
        ),
        (
            "do not delete entities Ada, Bob",
            "memory_delete_entities",
            "not",
        ),
        (
            "delete the entity \"Ada\"? never!",
            "memory_delete_entities",
            "never",
        ),
        (
            "delete entities Ada, not Bob",
            "memory_delete_entities",
            "not",
        ),
        (
            "please never delete_entities Ada",
            "memory_delete_entities",
            "never",
        ),
        (
            "Careful. Do not. delete_entities Ada",
            "memory_delete_entities",
            "not",
        ),
        ("don't roll the dice", "demo_roll_dice", "don't"),
        ("Dont roll dice", "demo_roll_dice", "Dont"),
        ("there is no need to add 1 and 2", "demo_add", "no need"),
        (
            "without reading the file /etc/hostname, go on",
            "files_read_text_file",
            "without",
        ),
        (
            "you must not read /etc/hostname",
            "files_read_text_file",
            "not",
        ),
        (
            "don't call mcp_memory_delete_entities entityNames=Ada",
            "memory_delete_entities",
            "don't",
        ),
    ] {
        let said = refused(&demo, text);
        assert!(
            said.starts_with("Nothing is called, because"),
            "{text}: {said}"
        );
        assert!(said.contains(&format!("says `{word}`")), "{text}: {said}");
        assert!(said.contains(&format!("`mcp_{tool}`")), "{text}: {said}");
    }
}

#[test]
fn a_negation_of_something_else_is_none() {
    calls(
        &ALL,
        "echo do not disturb",
        "everything_echo",
        &json!({"message": "do not disturb"}),
    );
    calls(
        &ALL,
        "Do not worry. echo x",
        "everything_echo",
        &json!({"message": "x"}),
    );
    calls(
        &ALL,
        "echo 'never'",
        "everything_echo",
        &json!({"message": "never"}),
    );
    calls(
        &ALL,
        "I do not know what else to do, so mcp_everything_echo x",
        "everything_echo",
        &json!({"message": "x"}),
    );
    calls(
        &ALL,
        "memory/delete_entities Notus, never",
        "memory_delete_entities",
        &json!({"entityNames": ["Notus", "never"]}),
    );
}

#[test]
fn a_part_of_a_name_calls_nothing() {
    for text in [
        "delete all files in /tmp",
        "delete all entities named \"Ada\"",
        "remove the file /tmp/x.txt",
        "the file /tmp/x.txt should be deleted",
        "delete /tmp/x.txt",
        "delete the meeting with Ada",
        "remove echo from the list",
        "compile the file /src/main.c",
        "run the file /tmp/x.sh",
        "upload /etc/hostname",
        "read it",
        "list",
        "open",
        "open the door",
        "search for cats",
        "the echo in this room is bad",
        "create a picture of a cat",
        "write to Bob that 'I am late'",
        "read /a.txt and delete /b.txt",
        "open /x with the node Ada",
        "compress /tmp/a.txt",
        "fetch /etc/hostname",
        "read_file https://example.com",
    ] {
        let said = refused(&ALL, text);
        assert!(said.contains("`mcp_"), "{text}: {said}");
    }
}

#[test]
fn an_address_is_opened_only_by_what_takes_addresses() {
    let text = "open https://example.com";
    calls(
        &ALL,
        text,
        "fetch_fetch",
        &json!({"url": "https://example.com"}),
    );
    calls(
        &ALL,
        "open /etc/hostname",
        "files_read_text_file",
        &json!({"path": "/etc/hostname"}),
    );
    let others = tools(&[("memory", MEMORY), ("files", FILES), ("all", EVERYTHING)]);
    refused(&others, text);
}

#[test]
fn what_changes_something_is_called_if_it_is_asked_for_clearly() {
    for (text, tool, arguments) in [
        (
            "please delete the entity \"Ada\"",
            "memory_delete_entities",
            json!({"entityNames": ["Ada"]}),
        ),
        (
            "remove entity 'Ada'",
            "memory_delete_entities",
            json!({"entityNames": ["Ada"]}),
        ),
        (
            "rename /a to /b",
            "files_move_file",
            json!({"source": "/a", "destination": "/b"}),
        ),
        (
            "save 'x y' to /tmp/a.txt",
            "files_write_file",
            json!({"path": "/tmp/a.txt", "content": "x y"}),
        ),
        (
            "create the directory /tmp/x",
            "files_create_directory",
            json!({"path": "/tmp/x"}),
        ),
    ] {
        calls(&ALL, text, tool, &arguments);
    }
}

#[test]
fn everything_that_is_stated_is_used() {
    let demo = tools(&[("demo", DEMO), ("files", FILES), ("everything", EVERYTHING)]);
    for (text, tool, arguments) in [
        ("roll 5 dice", "demo_roll_dice", json!({"count": 5})),
        ("roll a die", "demo_roll_dice", json!({})),
        ("roll two dice", "demo_roll_dice", json!({"count": 2})),
        (
            "roll 3 dice with 20 sides",
            "demo_roll_dice",
            json!({"count": 3, "sides": 20}),
        ),
        (
            "roll dice: 2 dice, sides=8",
            "demo_roll_dice",
            json!({"count": 2, "sides": 8}),
        ),
        (
            "read the first 10 lines of /a.txt",
            "files_read_text_file",
            json!({"path": "/a.txt", "head": 10}),
        ),
        (
            "show the last ten lines of the file a.txt",
            "files_read_text_file",
            json!({"path": "a.txt", "tail": 10}),
        ),
        (
            "get 5 resource links",
            "everything_get-resource-links",
            json!({"count": 5}),
        ),
        (
            "trigger the long running operation for 3 seconds in 2 steps",
            "everything_trigger-long-running-operation",
            json!({"duration": 3, "steps": 2}),
        ),
    ] {
        calls(&demo, text, tool, &arguments);
    }
}

#[test]
fn what_no_argument_takes_is_told_and_nothing_is_called() {
    let demo = tools(&[("demo", DEMO), ("everything", EVERYTHING)]);
    for (text, tool, unused) in [
        ("add 1, 2 and 3", "demo_add", "Not used: `3`."),
        (
            "get-sum 1 2 3 4",
            "everything_get-sum",
            "Not used: `3`, `4`.",
        ),
        ("roll the dice 5", "demo_roll_dice", "Not used: `5`."),
        ("roll dice 5", "demo_roll_dice", "Not used: `5`."),
        ("roll dice like a d20", "demo_roll_dice", "Not used: `d20`."),
        (
            "count the words in 'a b' and 'c'",
            "demo_count_words",
            "Not used: `'c'`.",
        ),
        (
            "compress /tmp/a.txt",
            "everything_gzip-file-as-resource",
            "Not used: `/tmp/a.txt`.",
        ),
        ("echo \"x\" 3 times", "everything_echo", "Not used: `3`."),
    ] {
        let said = refused(&demo, text);
        assert!(
            said.starts_with(&format!("The tool `mcp_{tool}` fits best")),
            "{text}: {said}"
        );
        assert!(said.contains(unused), "{text}: {said}");
    }
    let said = refused(&demo, "count the words of notes.txt");
    assert!(said.contains("Not used: `notes.txt`."), "{said}");
    let said = refused(&demo, "add 1, 2 and 3");
    assert!(
        said.contains("say it like this: `mcp_demo_add a=1 b=2`"),
        "{said}"
    );
}
