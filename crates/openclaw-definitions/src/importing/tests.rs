use std::fs;
use std::path::Path;

use serde_json::json;

use super::*;
use crate::attendant::Nobody;
use crate::testing::definitions;

const TOKEN: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

/// What Cursor has: two servers, one of them with a credential, and one that is none.
fn cursor(home: &Path) {
    fs::create_dir(home.join(".cursor")).unwrap();
    let servers = json!({ "mcpServers": {
        "files": { "command": "serve-files", "args": ["--all"] },
        "github": { "url": "https://example.com/mcp", "headers": { "Authorization": format!("Bearer {TOKEN}") } },
        "nothing": {},
    } });
    fs::write(home.join(".cursor/mcp.json"), servers.to_string()).unwrap();
}

fn everything() -> ImportRequest {
    ImportRequest {
        servers: None,
        rehearse: false,
        replace: false,
        keyring: true,
    }
}

async fn imported(definitions: &Definitions, request: &ImportRequest) -> Imports {
    let found = definitions.found(Source::All).await.unwrap();
    let known = definitions.usable().await.unwrap();
    let mut nobody = Nobody;
    let imports = definitions.import(&found, known, request, &mut nobody);
    imports.await.unwrap()
}

fn outcomes(imports: &Imports) -> Vec<(&str, &ImportOutcome)> {
    let servers = imports.report.files.iter().flat_map(|file| &file.servers);
    servers.map(|it| (it.name.as_str(), &it.outcome)).collect()
}

async fn names(definitions: &Definitions) -> Vec<String> {
    let config = definitions.usable().await.unwrap();
    config.servers().map(|it| it.name.to_string()).collect()
}

#[tokio::test]
async fn what_is_only_rehearsed_is_told_and_not_written() {
    let home = tempfile::tempdir().unwrap();
    cursor(home.path());
    let definitions = definitions(home.path());
    let request = ImportRequest {
        rehearse: true,
        ..everything()
    };
    let imports = imported(&definitions, &request).await;
    let [file] = imports.report.files.as_slice() else {
        panic!("{imports:?}");
    };
    assert_eq!(file.client, "Cursor");
    assert_eq!(file.problems.len(), 1, "{file:?}");
    let taken = ImportOutcome::Taken {
        target: "serve-files --all".to_owned(),
        notes: Vec::new(),
        stored: Vec::new(),
        present: false,
        written: false,
    };
    assert_eq!(outcomes(&imports)[0], ("files", &taken));
    assert!(!format!("{:?}", imports.report).contains("ghp_"));
    assert!(!home.path().join("openclaw.json").exists());
}

#[tokio::test]
async fn only_those_are_taken_over_that_are_named() {
    let home = tempfile::tempdir().unwrap();
    cursor(home.path());
    let definitions = definitions(home.path());
    let request = ImportRequest {
        servers: Some(vec!["github".to_owned(), "unheard-of".to_owned()]),
        ..everything()
    };
    let imports = imported(&definitions, &request).await;
    let [("github", ImportOutcome::Taken { written: true, .. })] = outcomes(&imports)[..] else {
        panic!("{imports:?}");
    };
    assert_eq!(names(&definitions).await, ["github"]);
    // There is no keyring, which is said, and the credential is not repeated with it.
    let warnings = imports.report.warnings.join("\n");
    assert!(warnings.contains("no keyring"), "{warnings}");
    assert!(warnings.contains("plaintext"), "{warnings}");
    assert!(!warnings.contains("ghp_"), "{warnings}");
}

#[tokio::test]
async fn what_is_there_already_is_not_written_and_what_is_another_only_if_asked_for() {
    let home = tempfile::tempdir().unwrap();
    cursor(home.path());
    let definitions = definitions(home.path());
    let own = json!({ "mcp": { "servers": {
        "files": { "command": "serve-files", "args": ["--all"] },
        "github": { "command": "another" },
    } } });
    fs::write(home.path().join("openclaw.json"), own.to_string()).unwrap();
    let imports = imported(&definitions, &everything()).await;
    let [
        (
            "files",
            ImportOutcome::Taken {
                present: true,
                written: false,
                ..
            },
        ),
        ("github", ImportOutcome::Skipped { reason }),
    ] = outcomes(&imports)[..]
    else {
        panic!("{imports:?}");
    };
    assert!(reason.contains("another server of this name"), "{reason}");
    let request = ImportRequest {
        replace: true,
        ..everything()
    };
    let imports = imported(&definitions, &request).await;
    let [_, ("github", ImportOutcome::Taken { written: true, .. })] = outcomes(&imports)[..] else {
        panic!("{imports:?}");
    };
    let text = fs::read_to_string(home.path().join("openclaw.json")).unwrap();
    assert!(text.contains("https://example.com/mcp"), "{text}");
}
