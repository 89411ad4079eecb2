//! Servers that wait for a person, and notice that there was one.

use openclaw_mcp::{Approval, Call, ToolChoice};

use super::*;
use crate::house::object;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_needs_a_login_is_ready_soon_after_somebody_logged_in_elsewhere() {
    let protected = Protected::new("");
    let state = protected.until(Status::NeedsAuth).await;
    let reason = state.reason.unwrap();
    assert!(reason.contains("`openclaw mcp auth docs`"), "{reason}");
    assert!(protected.house.names(&protected.house.main()).is_empty());
    assert_eq!(protected.fake.counters().token_requests, 0);
    protected.log_in().await;
    protected.until(Status::Ready).await;
    let names = protected.house.names(&protected.house.main());
    assert!(names.iter().any(|name| name.ends_with("echo")), "{names:?}");
    assert_eq!(protected.echo().await.end, CallEnd::Ok);
    assert_eq!(protected.state().failures, 0);
    protected.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_sessions_that_wait_for_a_login_none_misses_what_the_other_sees() {
    let fake = FakeLogin::start("").unwrap();
    let entry = json!({ "url": fake.url(), "type": "http", "scope": "session" });
    let protected = Protected::with(fake, &entry);
    let (house, agent) = (&protected.house, protected.house.main());
    let call = async |session: &'static str| {
        let call = Call {
            agent: &agent,
            session: Some(session),
            tool: ToolChoice::Spelling("docs/echo"),
            arguments: object(json!({ "message": "hello" })),
            correlation: "c0ffee",
            persons: None,
            approval: Approval::Given,
            progress: None,
            for_model: true,
        };
        house.servers.call(call).await.end
    };
    for session in ["first", "second"] {
        house.servers.start_for(&agent, session).await;
    }
    protected.log_in().await;
    // One of them is asked for at once and finds the login; then somebody needs the other.
    house.servers.end_session("second").await;
    for session in ["second", "first"] {
        house.servers.start_for(&agent, session).await;
    }
    assert_eq!(call("second").await, CallEnd::Ok);
    let until = tokio::time::Instant::now() + BEFORE_THE_HEARTBEAT;
    while call("first").await != CallEnd::Ok {
        assert!(tokio::time::Instant::now() < until, "it missed the login");
        tokio::task::yield_now().await;
    }
    protected.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn beginning_a_login_is_not_yet_one() {
    let protected = Protected::new("");
    protected.until(Status::NeedsAuth).await;
    let house = protected.elsewhere();
    let server = docs(&house);
    let begun = house.servers.begin_login(&server, Arrival::Here);
    let running = Box::pin(begun).await.unwrap();
    let asked = protected.fake.counters().unauthorized;
    // It looks, finds nothing, and waits on.
    let looked = || protected.fake.counters().unauthorized > asked;
    assert!(eventually(BEFORE_THE_HEARTBEAT, looked).await);
    protected.until(Status::NeedsAuth).await;
    let brought = visit(running.begun().url.as_str()).await;
    house.servers.finish_login(&server, &brought).await.unwrap();
    protected.until(Status::Ready).await;
    house.finish().await;
    protected.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_greets_everybody_needs_a_login_for_its_tools() {
    for era in ["legacy", "modern"] {
        let protected = Protected::new(&format!("--public greeting -- --era {era}"));
        let state = protected.until(Status::NeedsAuth).await;
        let reason = state.reason.unwrap();
        assert!(
            reason.contains("`openclaw mcp auth docs`"),
            "{era}: {reason}"
        );
        // Whoever asks to log in is not told that there is no need.
        protected.log_in().await;
        protected.until(Status::Ready).await;
        assert_eq!(protected.echo().await.end, CallEnd::Ok, "{era}");
        protected.finish().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_server_does_for_everybody_goes_on_when_something_else_needs_a_login() {
    let protected = Protected::new("--public tools");
    protected.until(Status::Ready).await;
    assert_eq!(protected.echo().await.end, CallEnd::Ok);
    assert_needs_login(&protected.house.call("docs/admin", json!({})).await);
    assert_eq!(protected.echo().await.end, CallEnd::Ok);
    assert_eq!(protected.state().status, Status::Ready);
    let house = protected.elsewhere();
    let server = docs(&house);
    let begun = house.servers.begin_login(&server, Arrival::Here);
    let running = Box::pin(begun).await.unwrap();
    let brought = visit(running.begun().url.as_str()).await;
    house.servers.finish_login(&server, &brought).await.unwrap();
    house.finish().await;
    // The same connection shows the login from now on.
    assert_eq!(protected.echo().await.end, CallEnd::Ok);
    assert_eq!(protected.state().restarts, 0);
    protected.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_older_transport_is_protected_as_well() {
    let fake = FakeLogin::start("--origin-resource -- --both").unwrap();
    let entry = json!({ "url": fake.sse_url(), "type": "sse" });
    let protected = Protected::with(fake, &entry);
    protected.until(Status::NeedsAuth).await;
    protected.log_in().await;
    protected.until(Status::Ready).await;
    assert_eq!(protected.echo().await.end, CallEnd::Ok);
    // The stream stays, and what is sent goes with a new token.
    protected.fake.revoke_access();
    assert_eq!(protected.echo().await.end, CallEnd::Ok);
    assert_eq!(protected.fake.counters().refreshes, 1);
    protected.fake.revoke_all();
    assert_needs_login(&protected.echo().await);
    protected.until(Status::NeedsAuth).await;
    protected.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_on_its_own_account_needs_nobody() {
    let fake = FakeLogin::start("--client robot:the-secret-of-the-robot").unwrap();
    let entry = json!({
        "url": fake.url(),
        "type": "http",
        "auth": {
            "grantType": "client_credentials",
            "clientId": "robot",
            "clientSecret": "the-secret-of-the-robot",
        },
    });
    let protected = Protected::with(fake, &entry);
    protected.until(Status::Ready).await;
    assert_eq!(protected.echo().await.end, CallEnd::Ok);
    protected.fake.revoke_all();
    assert_eq!(protected.echo().await.end, CallEnd::Ok);
    let admin = protected.house.call("docs/admin", json!({})).await;
    assert_eq!(admin.end, CallEnd::Ok, "{}", text(&admin));
    assert_eq!(protected.fake.counters().client_credentials, 3);
    protected.finish().await;
}
