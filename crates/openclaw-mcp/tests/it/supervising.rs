//! One server that is looked after.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use openclaw_mcp::{
    ManagedServer, Pace, PendingTarget, ServerSetup, ServerState, Status, TargetSource, Unresolved,
};
use openclaw_mcp_client::{
    CallOptions, Connector, Endpoint, ProgramTarget, Protocol, Target, Timeouts,
};
use openclaw_process::{GuardianProgram, Inherited, Launcher};
use openclaw_testkit::FakeServer;
use openclaw_testkit::leaks::{eventually, processes_with_argument};
use serde_json::{Map, Value};
use tokio::time::{Instant, timeout};

const SOON: Duration = Duration::from_secs(10);

fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().unwrap().parent().unwrap();
    profile.join("examples/fake_mcp_server")
}

/// A source that counts how often it was asked.
struct Source {
    target: Result<Target, Unresolved>,
    asked: AtomicUsize,
}

impl TargetSource for Source {
    fn target(&self) -> PendingTarget<'_> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        Box::pin(async { self.target.clone() })
    }
}

struct Lab {
    fake: FakeServer,
    source: Arc<Source>,
    server: ManagedServer,
}

fn pace(restarts: u32) -> Pace {
    Pace {
        first: Duration::from_millis(20),
        longest: Duration::from_millis(80),
        healthy: Duration::from_mins(1),
        heartbeat: Duration::from_mins(1),
        heartbeat_patience: Duration::from_millis(300),
        restarts: Some(restarts),
    }
}

fn target(fake: &FakeServer) -> Target {
    let arguments = fake.arguments().into_iter();
    Target {
        name: "fake".to_owned(),
        fingerprint: None,
        endpoint: Endpoint::Program(ProgramTarget {
            command: fake.program().to_str().unwrap().to_owned(),
            arguments: arguments.map(|it| it.into_string().unwrap()).collect(),
            environment: Vec::new(),
            inherited: Inherited::Nothing,
            directory: None,
        }),
        protocol: Protocol::Legacy,
        timeouts: Timeouts {
            connection: Duration::from_secs(10),
            request: Duration::from_secs(5),
            total: Duration::from_secs(10),
        },
        parallel_calls: true,
        roots: None,
    }
}

fn lab_with(flags: &str, pace: Pace, change: impl FnOnce(&mut ServerSetup)) -> Lab {
    let fake = FakeServer::at(&program()).flags(flags);
    let source = Arc::new(Source {
        target: Ok(target(&fake)),
        asked: AtomicUsize::new(0),
    });
    let connector = Connector::new(
        Launcher::new(GuardianProgram::at(&program())),
        std::env::vars_os().collect(),
        std::env::current_dir().unwrap(),
        None,
    );
    let mut setup = ServerSetup {
        name: "fake".to_owned(),
        source: source.clone(),
        connector: Arc::new(connector),
        pace,
        idle_timeout: None,
        discovery_interval: None,
    };
    change(&mut setup);
    Lab {
        server: ManagedServer::new(setup),
        fake,
        source,
    }
}

fn lab(flags: &str, restarts: u32) -> Lab {
    lab_with(flags, pace(restarts), |_| {})
}

impl Lab {
    async fn until(&self, like: impl FnMut(&ServerState) -> bool) -> ServerState {
        let mut watch = self.server.watch();
        let found = timeout(SOON, watch.wait_for(like)).await;
        found.expect("in time").unwrap().clone()
    }

    async fn call(&self, tool: &str, arguments: Value) -> bool {
        let connection = self.server.connection().unwrap();
        let Value::Object(arguments) = arguments else {
            panic!("not an object")
        };
        let call = connection.call_tool(tool, arguments, CallOptions::default());
        call.await.is_ok()
    }

    async fn finish(self) {
        let marker = self.fake.marker().to_owned();
        drop(self.server);
        let is_gone = || processes_with_argument(&marker).is_empty();
        assert!(eventually(SOON, is_gone).await, "a process is left");
    }
}

#[tokio::test]
async fn a_server_is_started_when_it_is_asked_for() {
    let lab = lab("stdio", 5);
    assert_eq!(lab.server.state().status, Status::Stopped);
    assert_eq!(lab.source.asked.load(Ordering::Relaxed), 0);
    let state = lab.server.start().await;
    assert_eq!(state.status, Status::Ready);
    let catalog = &state.catalog;
    assert!(!catalog.tools.is_empty() && !catalog.resources.is_empty());
    assert!(!catalog.templates.is_empty() && !catalog.prompts.is_empty());
    assert!(
        lab.call("echo", serde_json::json!({"message": "hello"}))
            .await
    );
    // Asking again changes nothing.
    let pid = state.connection.unwrap().diagnostics().pid;
    let again = lab.server.start().await.connection.unwrap();
    assert_eq!(again.diagnostics().pid, pid);
    drop(again);
    lab.server.stop("enough").await;
    let state = lab.server.state();
    assert_eq!(state.status, Status::Stopped);
    assert_eq!(state.reason.as_deref(), Some("enough"));
    assert!(processes_with_argument(lab.fake.marker()).is_empty());
    assert_eq!(lab.server.start().await.status, Status::Ready);
    lab.finish().await;
}

#[tokio::test]
async fn a_server_that_crashes_comes_back() {
    let lab = lab("stdio", 5);
    let first = lab.server.start().await;
    let pid = first.connection.unwrap().diagnostics().pid;
    assert!(!lab.call("crash", Value::Object(Map::new())).await);
    let state = lab.until(|it| it.status == Status::Restarting).await;
    assert!(state.connection.is_none());
    assert!(!state.catalog.tools.is_empty(), "its tools stay listed");
    assert!(state.reason.unwrap().contains("its program ended"));
    let state = lab.until(|it| it.status == Status::Ready).await;
    assert_eq!((state.restarts, state.failures), (1, 1));
    assert_ne!(state.connection.unwrap().diagnostics().pid, pid);
    assert!(
        lab.call("echo", serde_json::json!({"message": "hello"}))
            .await
    );
    lab.finish().await;
}

#[tokio::test]
async fn health_makes_earlier_failures_forgotten() {
    let mut pace = pace(2);
    pace.healthy = Duration::from_millis(200);
    let lab = lab_with("stdio", pace, |_| {});
    lab.server.start().await;
    for _ in 0..5 {
        lab.until(|it| it.status == Status::Ready && it.failures == 0)
            .await;
        assert!(!lab.call("crash", Value::Object(Map::new())).await);
        lab.until(|it| it.failures == 1).await;
    }
    lab.until(|it| it.status == Status::Ready).await;
    lab.finish().await;
}

#[tokio::test]
async fn a_server_that_crashes_in_a_loop_is_given_up_on_until_somebody_asks() {
    let lab = lab("stdio --exit-after-initialize", 3);
    let started = Instant::now();
    lab.server.start().await;
    let state = lab.until(|it| it.status == Status::Failed).await;
    assert_eq!((state.restarts, state.failures), (3, 4));
    assert_eq!(lab.source.asked.load(Ordering::Relaxed), 4);
    assert!(started.elapsed() >= Duration::from_millis(20 + 40 + 80));
    lab.server.refresh().await;
    lab.until(|it| it.status == Status::Failed && it.failures == 4)
        .await;
    assert_eq!(lab.source.asked.load(Ordering::Relaxed), 8);
    lab.finish().await;
}

#[tokio::test]
async fn without_restarts_the_first_crash_is_a_failure() {
    let lab = lab("stdio", 0);
    lab.server.start().await;
    assert!(!lab.call("crash", Value::Object(Map::new())).await);
    let state = lab.until(|it| it.status == Status::Failed).await;
    assert_eq!(state.restarts, 0);
    lab.finish().await;
}

#[tokio::test]
async fn what_can_not_work_is_not_tried_again() {
    let mut fake = None;
    for broken in ["program", "definition"] {
        let lab = lab_with("stdio", pace(5), |setup| {
            let server = FakeServer::at(&program());
            let mut target = target(&server);
            if let Endpoint::Program(program) = &mut target.endpoint {
                program.command = "no-such-program".to_owned();
            }
            let target = match broken {
                "program" => Ok(target),
                _ => Err(Unresolved("the variable `TOKEN` is not set".to_owned())),
            };
            setup.source = Arc::new(Source {
                target,
                asked: AtomicUsize::new(0),
            });
            fake = Some(server);
        });
        let state = lab.server.start().await;
        assert_eq!(state.status, Status::Failed, "{broken}");
        assert_eq!(state.restarts, 0, "{broken}");
        let reason = state.reason.unwrap();
        assert!(
            reason.contains("no-such-program") || reason.contains("`TOKEN`"),
            "{reason}"
        );
        lab.finish().await;
    }
}

#[tokio::test]
async fn what_a_server_offers_is_kept_up_to_date() {
    let lab = lab("stdio", 5);
    let before = lab.server.start().await.catalog.tools.len();
    assert!(lab.call("change_tools", Value::Object(Map::new())).await);
    lab.until(|it| it.catalog.tools.len() > before).await;
    lab.finish().await;
}

#[tokio::test]
async fn a_server_that_gives_no_sign_of_life_is_started_again() {
    let mut pace = pace(5);
    pace.heartbeat = Duration::from_millis(200);
    // Six messages: the handshake and the lists.
    let lab = lab_with("stdio --era legacy --stop-reading-after 6", pace, |_| {});
    lab.server.start().await;
    let state = lab.until(|it| it.status == Status::Restarting).await;
    assert!(state.reason.unwrap().contains("no sign of life"));
    lab.until(|it| it.status == Status::Ready).await;
    lab.finish().await;
}

#[tokio::test]
async fn a_server_that_nobody_uses_is_stopped_where_that_is_wanted() {
    let lab = lab_with("stdio", pace(5), |setup| {
        setup.idle_timeout = Some(Duration::from_millis(500));
    });
    lab.server.start().await;
    let used_until = Instant::now() + Duration::from_millis(900);
    while Instant::now() < used_until {
        assert!(lab.call("sleep", serde_json::json!({"ms": 50})).await);
    }
    let state = lab.until(|it| it.status == Status::Stopped).await;
    assert_eq!(state.reason.as_deref(), Some("it was not used"));
    lab.finish().await;
}

#[tokio::test]
async fn stopping_does_not_wait_for_a_start() {
    let lab = lab("stdio --mute", 5);
    let starting = lab.server.start();
    let stopping = async {
        lab.until(|it| it.status == Status::Connecting).await;
        let started = Instant::now();
        lab.server.stop("never mind").await;
        assert!(started.elapsed() < Duration::from_secs(1));
    };
    let (state, ()) = tokio::join!(starting, stopping);
    assert_eq!(state.status, Status::Stopped);
    lab.finish().await;
}
