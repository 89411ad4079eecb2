//! One server that is looked after.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use openclaw_mcp::{Pace, PendingTarget, Remedy, Status, TargetSource, Unresolved};
use openclaw_mcp_client::{Endpoint, Target};
use openclaw_testkit::FakeServer;
use openclaw_testkit::leaks::{eventually, open_descriptors, processes_with_argument};
use serde_json::{Map, Value};
use tokio::time::{Instant, timeout};

use crate::lab::{SOON, Source, lab, lab_with, pace, program, target};

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
                _ => Err(Unresolved::lasting("the variable `TOKEN` is not set")),
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

/// A source whose secrets can't be had for a while.
struct Hindered {
    target: Target,
    gets_nothing: AtomicBool,
    remedy: Remedy,
}

impl TargetSource for Hindered {
    fn target(&self) -> PendingTarget<'_> {
        let gets_nothing = self.gets_nothing.load(Ordering::Relaxed);
        let target = if gets_nothing {
            Err(Unresolved {
                reason: "the store does not answer".to_owned(),
                remedy: self.remedy,
            })
        } else {
            Ok(self.target.clone())
        };
        Box::pin(async { target })
    }
}

#[tokio::test]
async fn nobody_waits_for_as_long_as_a_server_gets_nothing_and_it_comes_back() {
    let server = FakeServer::at(&program());
    let source = Arc::new(Hindered {
        target: target(&server),
        gets_nothing: AtomicBool::new(false),
        remedy: Remedy::Answer,
    });
    let lab = lab_with("stdio", pace(1), |setup| setup.source = source.clone());
    assert_eq!(lab.server.start().await.status, Status::Ready);
    lab.server.stop("enough").await;
    source.gets_nothing.store(true, Ordering::Relaxed);
    for _ in 0..2 {
        let needed = timeout(SOON, lab.server.need()).await;
        let state = needed.expect("it does not wait");
        assert_eq!(state.status, Status::Restarting);
        let reason = state.reason.unwrap();
        assert_eq!(&*reason, "the store does not answer");
    }
    assert_eq!(lab.server.state().failures, 0);
    source.gets_nothing.store(false, Ordering::Relaxed);
    lab.until(|it| it.status == Status::Ready).await;
    lab.finish().await;
    let is_gone = || processes_with_argument(server.marker()).is_empty();
    assert!(eventually(SOON, is_gone).await);
}

#[tokio::test]
async fn a_server_comes_back_from_a_shortage_whether_or_not_it_was_ready_before() {
    let server = FakeServer::at(&program());
    let source = Arc::new(Hindered {
        target: target(&server),
        gets_nothing: AtomicBool::new(true),
        remedy: Remedy::Room,
    });
    let lab = lab_with("stdio", pace(1), |setup| setup.source = source.clone());
    assert_eq!(lab.server.start().await.status, Status::Restarting);
    source.gets_nothing.store(false, Ordering::Relaxed);
    lab.until(|it| it.status == Status::Ready).await;
    lab.finish().await;
}

#[tokio::test]
async fn whoever_has_to_give_a_secret_is_not_asked_for_ever() {
    // Nor where the server itself would be waited for without end.
    for (restarts, tries) in [(Some(2), 2), (None, 5)] {
        let server = FakeServer::at(&program());
        let source = Arc::new(Hindered {
            target: target(&server),
            gets_nothing: AtomicBool::new(false),
            remedy: Remedy::Consent,
        });
        let pace = Pace {
            restarts,
            ..pace(2)
        };
        let lab = lab_with("stdio", pace, |setup| setup.source = source.clone());
        assert_eq!(lab.server.start().await.status, Status::Ready);
        source.gets_nothing.store(true, Ordering::Relaxed);
        lab.call("crash", Value::Object(Map::new())).await;
        let state = lab.until(|it| it.status == Status::Failed).await;
        assert_eq!(state.reason.as_deref(), Some("the store does not answer"));
        assert_eq!(state.restarts, tries);
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
async fn an_idle_server_is_asked_again_and_again_and_its_last_answer_is_known() {
    let mut pace = pace(5);
    pace.heartbeat = Duration::from_millis(100);
    let lab = lab_with("stdio", pace, |_| {});
    lab.server.start().await;
    let first = lab.until(|it| it.alive_at.is_some()).await.alive_at;
    let later = lab.until(|it| it.alive_at > first).await;
    assert_eq!((later.status, later.restarts), (Status::Ready, 0));
    // Whoever knows how it is holds its connection.
    drop(later);
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
async fn a_server_that_is_used_now_and_then_is_not_idle() {
    let lab = lab_with("stdio", pace(5), |setup| {
        setup.idle_timeout = Some(Duration::from_millis(400));
    });
    lab.server.start().await;
    for _ in 0..15 {
        assert!(lab.call("echo", serde_json::json!({"message": "x"})).await);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(lab.server.status(), Status::Ready);
    lab.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reconnecting_ends_the_old_connection_first() {
    let lab = lab("stdio", 5);
    let mut before = lab
        .server
        .start()
        .await
        .connection
        .unwrap()
        .diagnostics()
        .pid;
    for _ in 0..20 {
        let state = lab.server.reconnect().await;
        let now = state.connection.unwrap().diagnostics().pid;
        assert_ne!(now, before);
        before = now;
    }
    lab.finish().await;
}

#[tokio::test]
async fn what_a_person_stopped_is_not_started_by_those_who_need_it() {
    let lab = lab("stdio", 5);
    lab.server.start().await;
    lab.server.hold("enough").await;
    assert_eq!(lab.server.need().await.status, Status::Stopped);
    assert_eq!(lab.server.start().await.status, Status::Ready);
    lab.server.stop("not now").await;
    assert_eq!(lab.server.need().await.status, Status::Ready);
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

/// A figure of this process, in bytes.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS"))
        .unwrap();
    let digits: String = line.chars().filter(char::is_ascii_digit).collect();
    digits.parse::<usize>().unwrap() * 1_024
}

#[tokio::test]
async fn a_server_that_dies_again_and_again_costs_nothing_that_stays() {
    let is_full = std::env::var("OPENCLAW_TEST_SCALE").is_ok_and(|scale| scale == "full");
    let cycles = if is_full { 10_000 } else { 150 };
    let mut pace = pace(0);
    pace.first = Duration::from_millis(1);
    pace.longest = Duration::from_millis(1);
    pace.restarts = None;
    let lab = lab_with("stdio --exit-after-initialize", pace, |_| {});
    lab.server.start().await;
    let cycle = |number: usize| lab.source.asked.load(Ordering::Relaxed) >= number;
    let warm = cycles / 10;
    assert!(eventually(Duration::from_mins(30), || cycle(warm)).await);
    let (descriptors, memory) = (open_descriptors().len(), resident());
    let tasks = tokio::runtime::Handle::current()
        .metrics()
        .num_alive_tasks();
    assert!(eventually(Duration::from_mins(30), || cycle(cycles)).await);
    lab.server.stop("enough").await;
    // One program may have been running when it was counted, or not.
    assert!(
        open_descriptors().len() <= descriptors + 3,
        "{:?}",
        open_descriptors()
    );
    let now = tokio::runtime::Handle::current()
        .metrics()
        .num_alive_tasks();
    assert!(now <= tasks + 2, "{tasks} tasks, then {now}");
    let grown = resident().saturating_sub(memory);
    assert!(grown < 4_000_000, "{grown} bytes");
    lab.finish().await;
}
