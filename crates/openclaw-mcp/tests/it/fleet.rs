//! Many servers together.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use openclaw_mcp::{Fleet, ManagedServer, Reconciled, ServerSetup, Status, Wanted};
use openclaw_mcp_client::{CallOptions, Connector};
use openclaw_testkit::FakeServer;
use openclaw_testkit::leaks::{eventually, processes_with_argument};
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use crate::lab::{SOON, Source, connector, pace, program, target};

/// A server that is told to behave so.
fn wanted(
    key: usize,
    flags: &str,
    connector: &Arc<Connector>,
    fakes: &mut Vec<FakeServer>,
) -> Wanted<usize> {
    let fake = FakeServer::at(&program()).flags(flags);
    let source = Source {
        target: Ok(target(&fake)),
        asked: AtomicUsize::new(0),
    };
    fakes.push(fake);
    Wanted {
        key,
        setup: ServerSetup {
            name: format!("server {key}"),
            source: Arc::new(source),
            connector: connector.clone(),
            pace: pace(2),
            idle_timeout: None,
            discovery_interval: None,
            drain: SOON,
            redactor: openclaw_secrets::Redactor::new(),
            listener: None,
        },
        lazy: false,
        has_room: true,
        catalog: Arc::default(),
    }
}

fn pid(server: &ManagedServer) -> Option<u32> {
    server.state().connection?.diagnostics().pid
}

async fn ready(fleet: &Fleet<usize>, key: usize) -> Arc<ManagedServer> {
    let server = fleet.get(&key).unwrap();
    let mut state = server.watch();
    let is_ready = state.wait_for(|state| state.status == Status::Ready);
    tokio::time::timeout(SOON, is_ready).await.unwrap().unwrap();
    server
}

async fn nothing_is_left(fakes: &[FakeServer]) {
    let left = || -> Vec<u32> {
        let markers = fakes.iter().map(FakeServer::marker);
        markers.flat_map(processes_with_argument).collect()
    };
    assert!(eventually(SOON, || left().is_empty()).await, "{:?}", left());
}

#[tokio::test]
async fn what_does_not_change_is_not_touched_and_calls_finish_on_what_does() {
    let (connector, mut fakes) = (connector(), Vec::new());
    let fleet = Fleet::default();
    let first = vec![
        wanted(1, "stdio", &connector, &mut fakes),
        wanted(2, "stdio", &connector, &mut fakes),
    ];
    let reconciled = fleet.reconcile(first);
    assert_eq!(
        reconciled,
        Reconciled {
            added: 2,
            kept: 0,
            removed: 0
        }
    );
    let (one, two) = (ready(&fleet, 1).await, ready(&fleet, 2).await);
    let pid_of_one = pid(&one);
    // A call is under way on a server that is no longer wanted.
    let connection = two.connection().unwrap();
    let call = tokio::spawn(async move {
        let Value::Object(arguments) = json!({"ms": 600}) else {
            return false;
        };
        let call = connection.call_tool("sleep", arguments, CallOptions::default());
        call.await.is_ok()
    });
    let is_called = || {
        two.state()
            .connection
            .is_some_and(|it| it.diagnostics().in_flight > 0)
    };
    assert!(eventually(SOON, is_called).await);
    drop(two);
    let second = vec![
        wanted(1, "stdio", &connector, &mut fakes),
        wanted(3, "stdio", &connector, &mut fakes),
    ];
    let reconciled = fleet.reconcile(second);
    assert_eq!(
        reconciled,
        Reconciled {
            added: 1,
            kept: 1,
            removed: 1
        }
    );
    assert!(fleet.get(&2).is_none());
    ready(&fleet, 3).await;
    assert_eq!(pid(&one), pid_of_one, "it was not touched");
    assert!(call.await.unwrap(), "the call was finished");
    let marker = fakes[1].marker().to_owned();
    assert!(eventually(SOON, || processes_with_argument(&marker).is_empty()).await);
    drop(one);
    fleet.shutdown().await;
    drop((fleet, connector));
    nothing_is_left(&fakes).await;
}

#[tokio::test]
async fn the_same_server_is_started_once_however_many_want_it() {
    let (connector, mut fakes) = (connector(), Vec::new());
    let fleet = Fleet::default();
    let all: Vec<_> = (0..50)
        .map(|number| wanted(number % 5, "stdio", &connector, &mut fakes))
        .collect();
    assert_eq!(fleet.reconcile(all).added, 5);
    let mut pids = BTreeSet::new();
    for key in 0..5 {
        pids.insert(pid(&*ready(&fleet, key).await));
    }
    assert_eq!(pids.len(), 5);
    let running = fakes
        .iter()
        .map(FakeServer::marker)
        .flat_map(processes_with_argument);
    assert_eq!(running.count(), 5);
    fleet.shutdown().await;
    drop((fleet, connector));
    nothing_is_left(&fakes).await;
}

#[tokio::test]
async fn a_hundred_servers_of_which_thirty_crash_in_loops() {
    let (connector, mut fakes) = (connector(), Vec::new());
    let fleet = Fleet::default();
    let all: Vec<_> = (0..100)
        .map(|number| {
            let flags = if number % 10 < 3 {
                "stdio --exit-after-initialize"
            } else {
                "stdio"
            };
            wanted(number, flags, &connector, &mut fakes)
        })
        .collect();
    let started = Instant::now();
    fleet.reconcile(all);
    assert!(
        started.elapsed() < Duration::from_millis(200),
        "nothing is waited for"
    );
    let count = |status: Status| {
        let all = fleet.all();
        all.iter()
            .filter(|(_, server)| server.state().status == status)
            .count()
    };
    let settled = || count(Status::Ready) == 70 && count(Status::Failed) == 30;
    assert!(
        eventually(Duration::from_mins(1), settled).await,
        "{} ready, {} failed",
        count(Status::Ready),
        count(Status::Failed)
    );
    for (key, server) in fleet.all() {
        if let Some(connection) = server.connection() {
            let arguments = Map::from_iter([("message".to_owned(), key.to_string().into())]);
            let call = connection.call_tool("echo", arguments, CallOptions::default());
            assert!(call.await.is_ok(), "{key}");
        }
    }
    let started = Instant::now();
    fleet.shutdown().await;
    assert!(started.elapsed() < Duration::from_secs(6));
    drop((fleet, connector));
    nothing_is_left(&fakes).await;
}

#[tokio::test]
async fn everything_stops_in_time_whatever_the_servers_do() {
    let (connector, mut fakes) = (connector(), Vec::new());
    let fleet = Fleet::default();
    let all: Vec<_> = (0..12)
        .map(|number| {
            let flags = "stdio --ignore-term --ignore-eof --grandchild --grandchild-setsid";
            wanted(number, flags, &connector, &mut fakes)
        })
        .collect();
    fleet.reconcile(all);
    for key in 0..12 {
        ready(&fleet, key).await;
    }
    let started = Instant::now();
    fleet.shutdown().await;
    assert!(started.elapsed() < Duration::from_millis(6_500));
    drop((fleet, connector));
    nothing_is_left(&fakes).await;
}
