//! Authorization servers that are away for a while.

use super::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_whose_login_can_not_be_renewed_for_a_while_is_tried_again() {
    let protected = Protected::new("--lifetime 2");
    protected.until(Status::NeedsAuth).await;
    let logged_in = protected.log_in().await;
    protected.fake.set_flags("--fail-refresh 503").unwrap();
    until_expired(&logged_in).await;
    let house = protected.house.again(StartMode::Eager, &protected.config);
    let is_restarting = || state(&house).status == Status::Restarting;
    assert!(eventually(BEFORE_THE_HEARTBEAT, is_restarting).await);
    let reason = state(&house).reason.unwrap();
    assert!(reason.contains("can't be renewed now"), "{reason}");
    let outcome = echo(&house).await;
    assert_ne!(outcome.end, CallEnd::NeedsLogin, "{}", text(&outcome));
    protected.fake.set_flags("").unwrap();
    let mut seen = Vec::new();
    let is_ready = || {
        seen.push(state(&house).status);
        seen.last() == Some(&Status::Ready)
    };
    assert!(eventually(BEFORE_THE_HEARTBEAT, is_ready).await);
    assert!(!seen.contains(&Status::NeedsAuth), "{seen:?}");
    assert_eq!(echo(&house).await.end, CallEnd::Ok);
    house.finish().await;
    protected.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_running_server_whose_login_can_not_be_renewed_for_a_while_goes_on() {
    let protected = Protected::new("--lifetime 3");
    let logged_in = protected.log_in().await;
    protected.until(Status::Ready).await;
    protected.fake.set_flags("--fail-refresh 503").unwrap();
    until_expired(&logged_in).await;
    let outcome = protected.echo().await;
    assert_eq!(outcome.end, CallEnd::NotDone, "{}", text(&outcome));
    let problem = outcome.problem.unwrap();
    assert!(problem.contains("can't be renewed now"), "{problem}");
    assert_ne!(protected.state().status, Status::NeedsAuth);
    protected.fake.set_flags("").unwrap();
    // It is asked less and less often, so that this takes a few seconds.
    let until = tokio::time::Instant::now() + BEFORE_THE_HEARTBEAT;
    while protected.echo().await.end != CallEnd::Ok {
        assert_ne!(protected.state().status, Status::NeedsAuth);
        assert!(
            tokio::time::Instant::now() < until,
            "{:?}",
            protected.state()
        );
        tokio::task::yield_now().await;
    }
    protected.finish().await;
}
