//! Tools as servers have them.

use openclaw_ranking::{Document, Index, Named};

/// Name, own name, description, parameters.
const TOOLS: &[(&str, &str, &str, &[&str])] = &[
    (
        "mcp_everything_echo",
        "echo",
        "Echoes back the input string",
        &["message"],
    ),
    (
        "mcp_everything_get-sum",
        "get-sum",
        "Returns the sum of two numbers",
        &["a", "b"],
    ),
    (
        "mcp_everything_get-env",
        "get-env",
        "Returns all environment variables",
        &[],
    ),
    (
        "mcp_files_list_directory",
        "list_directory",
        "Get a listing of all files and directories in a path",
        &["path"],
    ),
    (
        "mcp_files_list_directory_with_sizes",
        "list_directory_with_sizes",
        "Get a listing of all files and directories in a path, including sizes",
        &["path", "sortBy"],
    ),
    (
        "mcp_files_read_text_file",
        "read_text_file",
        "Read the complete contents of a file as text",
        &["path", "head", "tail"],
    ),
    (
        "mcp_files_write_file",
        "write_file",
        "Create a new file or overwrite an existing one with new content",
        &["path", "content"],
    ),
    ("mcp_loud_echo", "echo", "Shouts", &["text"]),
    (
        "mcp_time_convert_time",
        "convert_time",
        "Convert time between timezones",
        &["source_timezone", "time", "target_timezone"],
    ),
    (
        "mcp_time_get_current_time",
        "get_current_time",
        "Get current time in a specific timezone",
        &["timezone"],
    ),
];

fn index() -> Index {
    let aliases: Vec<_> = TOOLS
        .iter()
        .map(|(name, own, ..)| {
            let server = name
                .trim_start_matches("mcp_")
                .trim_end_matches(own)
                .trim_end_matches('_');
            [format!("{server}/{own}"), format!("{server}__{own}")]
        })
        .collect();
    let aliases: Vec<_> = aliases
        .iter()
        .map(|both| both.each_ref().map(String::as_str))
        .collect();
    let documents: Vec<_> = TOOLS
        .iter()
        .zip(&aliases)
        .map(
            |((name, own_name, description, parameters), aliases)| Document {
                name,
                own_name,
                aliases,
                description,
                parameters,
            },
        )
        .collect();
    Index::new(&documents)
}

fn best(text: &str) -> &'static str {
    let ranked = index().rank(text, 1);
    ranked
        .first()
        .map_or("nothing", |ranked| TOOLS[ranked.place].0)
}

#[test]
fn words_lead_to_tools() {
    for (text, tool) in [
        ("add these numbers", "mcp_everything_get-sum"),
        (
            "which environment variables are set?",
            "mcp_everything_get-env",
        ),
        ("show me what is in the folder", "mcp_files_list_directory"),
        ("reading a text file", "mcp_files_read_text_file"),
        ("save content to a new file", "mcp_files_write_file"),
        ("converting between timezones", "mcp_time_convert_time"),
        ("what is the current time?", "mcp_time_get_current_time"),
        ("Satz ohne Treffer", "nothing"),
        ("", "nothing"),
    ] {
        assert_eq!(best(text), tool, "{text}");
    }
}

#[test]
fn every_spelling_of_a_name_counts_as_named() {
    for spelling in [
        "mcp_everything_echo",
        "everything/echo",
        "everything__echo",
        "Everything Echo",
        "echo",
        "please ECHO.",
        "`echo`",
    ] {
        let ranked = index().rank(&format!("current contents: {spelling}"), 1)[0];
        assert!(ranked.is_named(), "{spelling}");
        assert_eq!(TOOLS[ranked.place].0, "mcp_everything_echo", "{spelling}");
    }
    assert_eq!(best("mcp_loud_echo"), "mcp_loud_echo");
    assert_eq!(best("loud/echo and everything else"), "mcp_loud_echo");
}

#[test]
fn a_part_of_a_word_names_nothing() {
    for text in [
        "echoes",
        "my_echo_file",
        "/bin/echo",
        "echo.txt",
        "anecho",
        "echoFoo",
    ] {
        let ranked = index().rank(text, 10);
        assert!(ranked.iter().all(|ranked| !ranked.is_named()), "{text}");
    }
}

#[test]
fn the_surest_name_comes_first_then_the_earliest_then_the_longest() {
    assert_eq!(best("echo mcp_files_write_file"), "mcp_files_write_file");
    assert_eq!(best("write_file or convert_time"), "mcp_files_write_file");
    assert_eq!(best("convert_time\nwrite_file"), "mcp_time_convert_time");
    assert_eq!(
        best("list directory with sizes /"),
        "mcp_files_list_directory_with_sizes"
    );
    assert_eq!(best("list_directory /"), "mcp_files_list_directory");
}

#[test]
fn it_is_told_where_a_name_stands() {
    let ranked = index().rank("now: everything/echo hello", 1)[0];
    assert_eq!(ranked.named, Some(Named { start: 5, end: 20 }));
}

#[test]
fn it_is_told_how_much_of_a_text_fits() {
    let share = |text: &str| index().rank(text, 1)[0].share;
    assert!((share("the current time") - 1.0).abs() < 1e-6);
    assert!((share("the current weather time story") - 0.5).abs() < 1e-6);
    assert!(
        (share("add") - 0.5).abs() < 1e-6,
        "a related word counts half"
    );
}
