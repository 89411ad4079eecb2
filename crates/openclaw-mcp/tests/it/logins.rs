//! Servers that one has to log in to, looked after like all others.

mod becoming_ready;
mod ending;
mod trouble;

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use http::Request;
use http::header::LOCATION;
use openclaw_http::{Http, HttpSettings};
use openclaw_mcp::{CallEnd, PlannedServer, ServerState, StartMode, Status, ToolOutcome};
use openclaw_oauth::{Arrival, LoggedIn};
use openclaw_secrets::Secret;
use openclaw_testkit::fake_login::FakeLogin;
use openclaw_testkit::leaks::eventually;
use serde_json::{Value, json};

use crate::house::{House, text};
use crate::lab::SOON;

/// Sooner than a server is asked by itself whether it is alive.
const BEFORE_THE_HEARTBEAT: Duration = Duration::from_secs(20);

/// One server to log in to, and those who use it.
struct Protected {
    fake: FakeLogin,
    config: Value,
    house: House,
}

impl Protected {
    /// A server that is looked after, as a gateway does. Flags are those of the fake one.
    fn new(flags: &str) -> Self {
        let fake = FakeLogin::start(flags).unwrap();
        let entry = json!({ "url": fake.url(), "type": "http" });
        Self::with(fake, &entry)
    }

    fn with(fake: FakeLogin, entry: &Value) -> Self {
        let config = json!({ "mcp": { "servers": { "docs": entry } } });
        let house = House::new(StartMode::Eager, &config, &[]);
        Self {
            fake,
            config,
            house,
        }
    }

    /// Another process on the same machine, as a command is.
    fn elsewhere(&self) -> House {
        self.house.again(StartMode::OnDemand, &self.config)
    }

    /// Logs in from another process.
    async fn log_in(&self) -> LoggedIn {
        let house = self.elsewhere();
        let server = docs(&house);
        let begun = house.servers.begin_login(&server, Arrival::Here);
        let running = Box::pin(begun).await.unwrap();
        let brought = visit(running.begun().url.as_str()).await;
        let finished = house.servers.finish_login(&server, &brought).await;
        house.finish().await;
        finished.unwrap()
    }

    /// Logs out from another process.
    async fn log_out(&self) {
        let house = self.elsewhere();
        house.servers.log_out(&docs(&house)).await.unwrap();
        house.finish().await;
    }

    fn state(&self) -> ServerState {
        state(&self.house)
    }

    /// Waits until the server is like this, and before it is ever asked whether it is alive.
    async fn until(&self, status: Status) -> ServerState {
        let is_like = || self.state().status == status;
        let became = eventually(BEFORE_THE_HEARTBEAT, is_like).await;
        let state = self.state();
        assert!(became, "{:?}: {:?}", state.status, state.reason);
        state
    }

    async fn echo(&self) -> ToolOutcome {
        echo(&self.house).await
    }

    async fn finish(self) {
        self.house.finish().await;
    }
}

fn docs(house: &House) -> Arc<PlannedServer> {
    Arc::clone(house.main().server("docs").unwrap())
}

fn state(house: &House) -> ServerState {
    let view = house.servers.view_one(&house.main(), &docs(house));
    view.state.unwrap()
}

async fn echo(house: &House) -> ToolOutcome {
    house.call("docs/echo", json!({ "message": "hello" })).await
}

/// What a person's browser brings back that agrees to everything.
async fn visit(url: &str) -> Secret {
    let http = Http::new(HttpSettings::default());
    let request = Request::get(url).body(Bytes::new()).unwrap();
    let answer = Box::pin(http.send(request)).await.unwrap();
    assert!(answer.status().is_redirection(), "{}", answer.status());
    Secret::new(answer.headers()[LOCATION].to_str().unwrap())
}

/// What a model is told that has to wait for a person: it is ours, and names the command.
fn assert_needs_login(outcome: &ToolOutcome) {
    let told = text(outcome);
    assert_eq!(outcome.end, CallEnd::NeedsLogin, "{told}");
    assert!(told.contains("`openclaw mcp auth docs`"), "{told}");
    assert!(!told.contains("EXTERNAL_UNTRUSTED_CONTENT"), "{told}");
    let for_people = outcome.problem.as_deref().unwrap();
    assert!(
        for_people.contains("`openclaw mcp auth docs`"),
        "{for_people}"
    );
}

fn milliseconds() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    u64::try_from(since.as_millis()).unwrap()
}

/// Waits until a token has expired.
async fn until_expired(logged_in: &LoggedIn) {
    let at = logged_in.expires_at.unwrap();
    assert!(eventually(SOON, || milliseconds() > at).await);
}
