//! Logins that are renewed, end, or do not allow enough, while a server runs.

use super::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_running_connection_goes_over_to_a_token_that_another_process_got() {
    let protected = Protected::new("");
    protected.log_in().await;
    protected.until(Status::Ready).await;
    assert_eq!(protected.echo().await.end, CallEnd::Ok);
    // Another process notices that the token is refused, and renews it.
    protected.fake.revoke_access();
    let elsewhere = protected.elsewhere();
    assert_eq!(echo(&elsewhere).await.end, CallEnd::Ok);
    elsewhere.finish().await;
    let before = protected.fake.counters();
    assert_eq!(before.refreshes, 1);
    // This one shows the new token at once, without being refused first.
    assert_eq!(protected.echo().await.end, CallEnd::Ok);
    let after = protected.fake.counters();
    assert_eq!(after.unauthorized, before.unauthorized);
    assert_eq!(after.refreshes, 1);
    assert_eq!(protected.state().status, Status::Ready);
    protected.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_that_is_refused_is_renewed_and_the_call_is_made() {
    let protected = Protected::new("");
    protected.log_in().await;
    protected.until(Status::Ready).await;
    for round in 1..=3 {
        protected.fake.revoke_access();
        assert_eq!(protected.echo().await.end, CallEnd::Ok);
        assert_eq!(protected.fake.counters().refreshes, round);
    }
    let state = protected.state();
    assert_eq!((state.status, state.restarts), (Status::Ready, 0));
    protected.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn when_a_login_ends_the_server_needs_one_at_once_and_its_tools_stay_listed() {
    let protected = Protected::new("");
    protected.log_in().await;
    protected.until(Status::Ready).await;
    let names = protected.house.names(&protected.house.main());
    assert!(!names.is_empty());
    protected.fake.revoke_all();
    assert_needs_login(&protected.echo().await);
    let state = protected.until(Status::NeedsAuth).await;
    let reason = state.reason.unwrap();
    assert!(reason.contains("`openclaw mcp auth docs`"), "{reason}");
    assert_eq!(protected.house.names(&protected.house.main()), names);
    assert_needs_login(&protected.echo().await);
    // It is not tried again and again.
    assert_eq!(protected.fake.counters().refreshes_arrived, 1);
    protected.log_in().await;
    protected.until(Status::Ready).await;
    assert_eq!(protected.echo().await.end, CallEnd::Ok);
    protected.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn when_somebody_logs_out_elsewhere_the_server_needs_a_login() {
    let protected = Protected::new("");
    protected.log_in().await;
    protected.until(Status::Ready).await;
    protected.log_out().await;
    assert_needs_login(&protected.echo().await);
    protected.until(Status::NeedsAuth).await;
    protected.log_in().await;
    protected.until(Status::Ready).await;
    protected.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_needs_more_says_so_and_the_server_goes_on() {
    let protected = Protected::new("");
    protected.log_in().await;
    protected.until(Status::Ready).await;
    let admin = protected.house.call("docs/admin", json!({})).await;
    assert_needs_login(&admin);
    assert_eq!(protected.fake.counters().forbidden, 1);
    assert_eq!(protected.echo().await.end, CallEnd::Ok);
    assert_eq!(protected.state().status, Status::Ready);
    let logged_in = protected.log_in().await;
    assert_eq!(logged_in.scopes, ["tools", "admin"]);
    let admin = protected.house.call("docs/admin", json!({})).await;
    assert_eq!(admin.end, CallEnd::Ok, "{}", text(&admin));
    let state = protected.state();
    assert_eq!((state.status, state.restarts), (Status::Ready, 0));
    protected.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_token_is_seen_by_anybody() {
    let protected = Protected::new("");
    protected.log_in().await;
    protected.until(Status::Ready).await;
    // The tool says which headers it was called with.
    let headers = protected.house.call("docs/headers", json!({})).await;
    let told = text(&headers);
    assert_eq!(headers.end, CallEnd::Ok, "{told}");
    assert!(told.to_lowercase().contains("authorization"), "{told}");
    assert!(!told.contains("access-"), "{told}");
    assert!(told.contains("[REDACTED]"), "{told}");
    protected.finish().await;
}
