use std::ffi::OsString;

use super::*;

fn filled(client: Client, text: &str) -> (String, Vec<String>) {
    let inputs = BTreeMap::from([("api-key".to_owned(), "The key".to_owned())]);
    let variables = Variables::new(|name| (name == "SET").then(|| OsString::from("x")));
    let origin = Origin {
        client,
        scope: Scope::User,
        workspace: Path::new("/srv/site"),
        home: Path::new("/home/ada"),
        inputs: &inputs,
        variables: &variables,
    };
    let mut notes = Messages::default();
    let template = origin.fill(text, "env.X", &mut notes);
    (template.render(), notes.into_list())
}

#[test]
fn claude_code_has_variables_and_defaults() {
    let render = |text| filled(Client::ClaudeCode, text).0;
    assert_eq!(render("Bearer ${TOKEN}"), "Bearer ${TOKEN}");
    assert_eq!(
        render("${BASE:-https://api.example}/mcp"),
        "https://api.example/mcp"
    );
    assert_eq!(render("${SET:-https://api.example}/mcp"), "${SET}/mcp");
    assert_eq!(render("${lower}"), "${LOWER}");
    assert_eq!(render("${env:X} ${1} ${"), "${env:X} ${1} ${");
    let (_, notes) = filled(Client::ClaudeCode, "${lower}");
    assert_eq!(
        notes,
        ["`env.X`: openclaw's variables are in upper case: set LOWER to what `lower` holds"]
    );
    assert!(filled(Client::ClaudeCode, "${TOKEN}").1.is_empty());
}

#[test]
fn editors_have_kinds_and_places() {
    let render = |text| filled(Client::Cursor, text).0;
    assert_eq!(render("${env:TOKEN}"), "${TOKEN}");
    assert_eq!(
        render("${userHome}/a:${workspaceFolder}${/}b"),
        format!("/home/ada/a:/srv/site{MAIN_SEPARATOR_STR}b")
    );
    assert_eq!(render("${workspaceFolderBasename}"), "site");
    assert_eq!(render("${foo}"), "${foo}");
    let (text, notes) = filled(Client::VsCode, "Bearer ${input:api-key}");
    assert_eq!(text, "Bearer ${INPUT_API_KEY}");
    assert_eq!(
        notes,
        [
            "`env.X`: VS Code asks for `api-key` (The key): set INPUT_API_KEY, or put a value in \
             place of `${INPUT_API_KEY}`"
        ]
    );
    let (text, notes) = filled(Client::Windsurf, "x${file:/run/token}");
    assert_eq!(text, "x${FILE__RUN_TOKEN}");
    assert_eq!(notes.len(), 1);
}

#[test]
fn what_a_client_takes_as_text_stays_text() {
    for client in [Client::ClaudeDesktop, Client::Codex] {
        let (text, notes) = filled(client, "echo ${HOME} $${A} ${a} $HOME");
        assert_eq!(text, "echo $${HOME} $$${A} ${a} $HOME");
        assert_eq!(notes.len(), 1, "{notes:?}");
    }
    assert_eq!(filled(Client::Cursor, "${TOKEN}").0, "$${TOKEN}");
}

#[test]
fn no_variable_arises_where_two_texts_meet() {
    assert_eq!(filled(Client::ClaudeCode, "$${X:-{A}}").0, "$${A}");
}

#[test]
fn a_dollar_before_a_variable_is_said_to_change_it() {
    let (text, notes) = filled(Client::Cursor, "$${env:A}");
    assert_eq!(text, "$${A}");
    assert_eq!(notes.len(), 1);
}
