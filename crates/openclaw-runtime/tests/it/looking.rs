//! What can be seen without starting anything.

use openclaw_engine::{Engine, LookQuery, ShownState};
use openclaw_runtime::Life;
use openclaw_testkit::leaks::processes_with_argument;
use serde_json::json;

use crate::house::{House, SOON, entry, fake, servers};

#[tokio::test]
async fn whoever_looks_starts_nothing_and_waits_for_nothing() {
    let (lazy, mute) = (fake(""), fake("--mute"));
    let mut resting = entry(&lazy);
    resting["lazy"] = json!(true);
    let house = House::of_gateway(&servers(&json!({ "lazy": resting, "mute": entry(&mute) })));
    let begun = async {
        while house.seen("mute").await.state != ShownState::Connecting {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(SOON, begun).await.unwrap();
    let look = async |query: LookQuery| house.engine.look(query).await.unwrap();
    let report = look(LookQuery {
        tools: true,
        ..LookQuery::default()
    });
    let report = report.await;
    let states: Vec<_> = report.servers.iter().map(|it| it.state).collect();
    assert_eq!(states, [ShownState::Stopped, ShownState::Connecting]);
    assert_eq!(report.tools.unwrap().tools, []);
    assert_eq!((report.server, report.log), (None, None));
    let one = LookQuery {
        server: Some("lazy".to_owned()),
        ..LookQuery::default()
    };
    let report = look(one.clone()).await;
    assert_eq!(report.server.unwrap().report.state, ShownState::Stopped);
    assert_eq!((report.servers.len(), report.log), (1, None));
    let after = Some(0);
    let report = look(LookQuery { after, ..one }).await;
    assert_eq!(report.log.unwrap().lines, Vec::<String>::new());
    assert_eq!((report.servers, report.server), (Vec::new(), None));
    assert_eq!(processes_with_argument(lazy.marker()).len(), 0);

    // What is known of one that has run is seen.
    house.echo("lazy").await.unwrap();
    let report = look(LookQuery {
        server: Some("lazy".to_owned()),
        tools: true,
        ..LookQuery::default()
    });
    let report = report.await;
    assert_eq!(report.servers[0].state, ShownState::Ready);
    let tools = report.tools.unwrap().tools;
    assert!(tools.iter().any(|it| it.name == "mcp_lazy_echo"));
    house.finish(&[&lazy, &mute]).await;
}

#[tokio::test]
async fn a_server_that_is_not_there_is_told() {
    let house = House::without_file(Life::Gateway);
    let query = LookQuery {
        server: Some("nothing".to_owned()),
        ..LookQuery::default()
    };
    let failure = house.engine.look(query).await.unwrap_err();
    assert_eq!(failure.code, "unknown-server");
    house.finish(&[]).await;
}
