use std::fs;

use openclaw_engine::{AuthKind, ServerReport, TransportKind};
use serde_json::{Value as Json, json};

use super::*;
use crate::attendant::Nobody;
use crate::testing::definitions;
use crate::typed::{NewServer, server_name};

fn server(name: &str, entry: Json) -> NewServer {
    NewServer {
        name: server_name(name).unwrap(),
        entry: serde_json::from_value(entry).unwrap(),
    }
}

async fn added(
    definitions: &Definitions,
    server: NewServer,
    replace: bool,
) -> Result<Written, EngineFailure> {
    let known = definitions.usable().await?;
    let prepared = definitions.prepare(server, known, replace).await?;
    Ok(prepared.write(true, &mut Nobody).await?)
}

#[tokio::test]
async fn a_server_is_written_once_and_replaced_only_where_that_is_wanted() {
    let home = tempfile::tempdir().unwrap();
    let definitions = definitions(home.path());
    let one = server("a", json!({ "command": "one" }));
    let written = added(&definitions, one, false).await.unwrap();
    assert_eq!(
        written.config,
        home.path().join("openclaw.json").display().to_string()
    );
    assert_eq!(written.warnings, Vec::<String>::new());
    let two = server("a", json!({ "command": "two" }));
    let again = added(&definitions, two.clone(), false).await.unwrap_err();
    assert_eq!(again.code, "exists");
    added(&definitions, two, true).await.unwrap();
    let text = fs::read_to_string(home.path().join("openclaw.json")).unwrap();
    assert!(text.contains("two") && !text.contains("one"), "{text}");
}

#[tokio::test]
async fn without_a_keyring_a_credential_is_written_warned_about_and_not_repeated() {
    let home = tempfile::tempdir().unwrap();
    let definitions = definitions(home.path());
    let entry = json!({ "command": "x", "env": { "GITHUB_TOKEN": "hunter2hunter2" } });
    let known = definitions.usable().await.unwrap();
    let prepared = definitions.prepare(server("a", entry), known, false);
    let prepared = prepared.await.unwrap();
    let shown = format!("{prepared:?}");
    assert!(!shown.contains("hunter2"), "{shown}");
    let written = prepared.write(true, &mut Nobody).await.unwrap();
    let shown = format!("{written:?}");
    assert!(!shown.contains("hunter2"), "{shown}");
    assert_eq!(written.stored, []);
    let [plain, absent] = &written.warnings[..] else {
        panic!("{:?}", written.warnings);
    };
    assert!(plain.contains("plaintext credentials"), "FR-5: {plain}");
    assert!(absent.starts_with("no keyring: "), "{absent}");
    let text = fs::read_to_string(home.path().join("openclaw.json")).unwrap();
    assert!(text.contains("hunter2hunter2"), "{text}");
    let known = definitions.usable().await.unwrap();
    let agent = known.agents.values().next().unwrap();
    let report = crate::definitions::shown(&known, agent, Some("a"), definitions.redactor());
    let shown = format!("{:?}", report.unwrap());
    assert!(!shown.contains("hunter2"), "{shown}");
}

#[tokio::test]
async fn a_definition_with_mistakes_is_refused_and_leaves_nothing() {
    let home = tempfile::tempdir().unwrap();
    let definitions = definitions(home.path());
    let entry = json!({ "url": "http://192.0.2.1/mcp" });
    let failure = added(&definitions, server("a", entry), false).await;
    let failure = failure.unwrap_err();
    assert_eq!(failure.code, "config");
    assert!(failure.message.starts_with("url: "), "{failure}");
    let left: Vec<_> = fs::read_dir(home.path()).unwrap().collect();
    assert!(left.is_empty(), "a look makes no state directory: {left:?}");
}

#[tokio::test]
async fn what_is_set_is_replaced_and_warned_about() {
    let home = tempfile::tempdir().unwrap();
    let definitions = definitions(home.path());
    let entry = json!({ "command": "x", "env": { "A_TOKEN": "hunter2hunter2" } });
    let written = definitions.set(&server("a", entry)).await.unwrap();
    let [warning] = &written.warnings[..] else {
        panic!("{:?}", written.warnings);
    };
    assert!(warning.contains("(env.A_TOKEN)"), "{warning}");
    let plain = server("a", json!({ "command": "y" }));
    let written = definitions.set(&plain).await.unwrap();
    assert_eq!(written.warnings, Vec::<String>::new());
    let known = definitions.usable().await.unwrap();
    let gone = definitions.remove(&server_name("a").unwrap(), &known).await;
    assert!(gone.unwrap().leftovers.is_empty());
    let again = definitions.remove(&server_name("a").unwrap(), &known).await;
    let again = again.unwrap_err();
    assert_eq!(again.code, "unknown-server");
    assert_eq!(again.hint.as_deref(), Some("the servers are: a"));
}

#[test]
fn a_server_that_wants_a_login_counts_as_reached() {
    let with = |state| ServerDetails {
        report: ServerReport {
            name: "x".to_owned(),
            transport: Some(TransportKind::Stdio),
            target: "x".to_owned(),
            enabled: true,
            state,
            auth: AuthKind::None,
            tools: 0,
            resources: 0,
            prompts: 0,
            pid: None,
            protocol_version: None,
            restarts: 0,
            error: Some("it ended with code 1".to_owned()),
        },
        server_info: None,
        session_id: None,
        token_expires_at: None,
        token_renewable: None,
        scopes: None,
        issuer: None,
        last_heartbeat: None,
        stderr: vec!["cannot find module\u{1b}[2J".to_owned()],
        resolved_command: None,
        passed_over: 0,
    };
    assert!(reached(with(ShownState::Ready)).is_ok());
    assert!(reached(with(ShownState::NeedsAuth)).is_ok());
    let failure = reached(with(ShownState::Failed)).unwrap_err();
    assert_eq!(
        failure.message,
        "cannot connect x: it ended with code 1\n  cannot find module"
    );
}
