//! Servers of other clients, taken over while everything runs.

use openclaw_engine::{Engine, ImportOutcome, ImportReport, ImportRequest, ShownState};
use serde_json::json;

use crate::house::{House, entry, fake, servers};

fn outcomes(report: &ImportReport) -> Vec<(&str, &ImportOutcome)> {
    let servers = report.files.iter().flat_map(|file| &file.servers);
    servers.map(|it| (it.name.as_str(), &it.outcome)).collect()
}

#[tokio::test]
async fn what_is_taken_over_runs_at_once() {
    let house = House::of_gateway(&servers(&json!({})));
    let other = json!({ "mcpServers": {
        "wanted": entry(&fake("")),
        "unwanted": { "command": "never-started" },
    } });
    std::fs::create_dir(house.path().join(".cursor")).unwrap();
    std::fs::write(house.path().join(".cursor/mcp.json"), other.to_string()).unwrap();
    let mut request = ImportRequest {
        servers: None,
        rehearse: true,
        replace: false,
        keyring: false,
    };
    let report = house.engine.import(request.clone()).await.unwrap();
    let [("wanted", _), ("unwanted", _)] = outcomes(&report)[..] else {
        panic!("{report:?}");
    };
    assert_eq!(house.engine.overview().await.unwrap().servers, []);

    request.servers = Some(vec!["wanted".to_owned()]);
    request.rehearse = false;
    let report = house.engine.import(request).await.unwrap();
    let [("wanted", ImportOutcome::Taken { written: true, .. })] = outcomes(&report)[..] else {
        panic!("{report:?}");
    };
    house.echo("wanted").await.unwrap();
    assert_eq!(house.seen("wanted").await.state, ShownState::Ready);
    assert!(!house.text().contains("never-started"));
    house.engine.close().await;
}

#[tokio::test]
async fn a_file_that_can_not_be_used_is_not_written_to() {
    let house = House::of_gateway(&servers(&json!({})));
    std::fs::create_dir(house.path().join(".cursor")).unwrap();
    let other = json!({ "mcpServers": { "one": { "command": "never-started" } } });
    std::fs::write(house.path().join(".cursor/mcp.json"), other.to_string()).unwrap();
    house.write("{ mcp: ");
    let request = ImportRequest {
        servers: None,
        rehearse: false,
        replace: false,
        keyring: false,
    };
    let failure = house.engine.import(request).await.unwrap_err();
    assert_eq!(failure.code, "config");
    assert_eq!(house.text(), "{ mcp: ");
    house.engine.close().await;
}
