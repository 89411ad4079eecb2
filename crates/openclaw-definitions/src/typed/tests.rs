use super::*;

/// What somebody typed, word by word.
fn typed(words: &[&str]) -> Typed {
    let mut typed = Typed::default();
    let mut words = words.iter().map(|word| (*word).to_owned());
    while let Some(word) = words.next() {
        let mut value = || words.next().unwrap();
        match word.as_str() {
            "-H" => typed.headers.push(value()),
            "-e" => typed.variables.push(value()),
            "--arg" => typed.arguments.push(value()),
            "--name" => typed.name = Some(value()),
            "--url" => typed.url = Some(value()),
            "--command" => typed.command = Some(value()),
            "--transport" => typed.transport = Some(value().parse().unwrap()),
            "--force" => typed.force = true,
            "--" => typed.program = words.by_ref().collect(),
            _ => typed.target = Some(word),
        }
    }
    typed
}

fn read(words: &[&str]) -> Result<Wanted, String> {
    wanted(&typed(words)).map_err(|failure| failure.message)
}

fn new(arguments: &[&str]) -> (String, Json) {
    match read(arguments).unwrap() {
        Wanted::New(server) => (server.name.to_string(), Json::Object(server.entry.0)),
        Wanted::Configured(name) => panic!("{name}"),
    }
}

#[test]
fn an_address_becomes_an_entry() {
    let (name, entry) = new(&["https://mcp.tavily.com/mcp", "-H", "X-Key=${TAVILY}"]);
    assert_eq!(name, "tavily");
    let expected = json!({
        "url": "https://mcp.tavily.com/mcp",
        "headers": { "X-Key": "${TAVILY}" },
    });
    assert_eq!(entry, expected);
    let (name, entry) = new(&["https://x.example", "--name", "y", "--transport", "sse"]);
    assert_eq!(name, "y");
    assert_eq!(
        entry,
        json!({ "url": "https://x.example", "transport": "sse" })
    );
}

#[test]
fn a_reference_behind_a_scheme_is_written_in_its_own_form() {
    let header = |text: &str| {
        let (_, entry) = new(&["https://x.example", "-H", text]);
        entry["headers"]["Authorization"].clone()
    };
    assert_eq!(
        header("Authorization=Bearer secret://env/X"),
        json!({ "prefix": "Bearer ", "secret": "secret://env/X" })
    );
    assert_eq!(
        header("Authorization: Token SECRET://env/X"),
        json!({ "prefix": "Token ", "secret": "SECRET://env/X" })
    );
    // For the configuration to complain about, or to understand.
    for text in ["secret://env/X", "Bearer secret://nowhere"] {
        assert_eq!(header(&format!("Authorization={text}")), text);
    }
}

#[test]
fn a_program_becomes_an_entry() {
    let line = [
        "-e",
        "A=1",
        "--",
        "npx",
        "-y",
        "@modelcontextprotocol/server-everything",
    ];
    let (name, entry) = new(&line);
    assert_eq!(name, "everything");
    let expected = json!({
        "command": "npx",
        "args": ["-y", "@modelcontextprotocol/server-everything"],
        "env": { "A": "1" },
    });
    assert_eq!(entry, expected);
    let (name, entry) = new(&["mine", "--", "prog"]);
    assert_eq!(
        (name.as_str(), entry),
        ("mine", json!({ "command": "prog" }))
    );
}

#[test]
fn the_other_openclaw_s_way_of_saying_it_is_understood() {
    let (name, entry) = new(&["docs", "--command", "npx", "--arg", "-y", "--arg", "x"]);
    assert_eq!(name, "docs");
    assert_eq!(entry, json!({ "command": "npx", "args": ["-y", "x"] }));
    let line = [
        "docs",
        "--url",
        "https://x.example",
        "--transport",
        "streamable-http",
    ];
    let (name, entry) = new(&line);
    assert_eq!(name, "docs");
    assert_eq!(
        entry,
        json!({ "url": "https://x.example", "transport": "http" })
    );
}

#[test]
fn a_name_alone_is_a_configured_server() {
    assert!(matches!(read(&["github"]), Ok(Wanted::Configured(name)) if name == "github"));
    assert_eq!(
        read(&["github", "--force"]).unwrap_err(),
        "there is nothing to add"
    );
}

#[test]
fn what_does_not_go_together_is_refused_without_values() {
    for (arguments, message) in [
        (
            &["https://x.example", "-e", "K=hunter2"][..],
            "`--env` is for programs: use `--header`",
        ),
        (
            &["-H", "K=hunter2", "--", "x"],
            "`--header` is for addresses: use `--env`",
        ),
        (
            &["https://x.example", "--transport", "stdio"],
            "an address is not reached over stdio",
        ),
        (
            &["--transport", "sse", "--", "x"],
            "a program is reached over stdio",
        ),
        (
            &["https://x.example", "--", "x"],
            "give an address or a program, not both",
        ),
        (
            &["a", "--name", "b", "--", "x"],
            "the name is given twice: leave out `--name`",
        ),
        (
            &["https://u:hunter2@"],
            "the address is not valid: empty host",
        ),
    ] {
        assert_eq!(read(arguments).unwrap_err(), message);
    }
    let refused = read(&["--name", "a/\u{1b}[0m", "--", "x"]).unwrap_err();
    assert_eq!(
        refused,
        "\"a/\" cannot name a server: a name has no control characters and no `/`"
    );
}

#[test]
fn how_to_speak_is_one_of_three_words() {
    for word in [
        TransportWord::Stdio,
        TransportWord::Http,
        TransportWord::Sse,
    ] {
        assert_eq!(word.as_str().parse(), Ok(word));
    }
    assert_eq!("streamable-http".parse(), Ok(TransportWord::Http));
    let refused = "carrier pigeon".parse::<TransportWord>().unwrap_err();
    assert_eq!(refused.code, "usage");
}

#[test]
fn what_was_typed_is_not_shown() {
    let typed = typed(&["-e", "TOKEN=hunter2hunter2", "--", "x"]);
    let wanted = wanted(&typed).unwrap();
    let shown = format!("{typed:?} {wanted:?}");
    assert!(!shown.contains("hunter2"), "{shown}");
}
