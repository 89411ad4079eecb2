//! What a token costs each request: `cargo bench -p openclaw-oauth`. The program fails if a budget is
//! not kept.

#![expect(
    clippy::expect_used,
    reason = "a benchmark that can't be set up has nothing to say"
)]

use std::fs;
use std::hint::black_box;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::Request;
use http::header::LOCATION;
use openclaw_config::Environment;
use openclaw_http::{Http, HttpSettings};
use openclaw_oauth::{
    Arrival, Challenge, Clock, ConfiguredKeys, Grant, Keeper, KeysSource, LoginDesk, LoginStore,
    PendingKeys, Redirect, Resource,
};
use openclaw_secret_stores::Keyring;
use openclaw_secrets::{Redactor, Secret};
use openclaw_state::StateDirectory;
use openclaw_testkit::fake_login::FakeLogin;
use openclaw_testkit::figures::{Report, median, micros};
use tokio::runtime::Builder;

/// What a token at hand may cost.
const BUDGET: Duration = Duration::from_micros(5);
/// How often it is measured, and how many times it is done each time.
const TIMES: (usize, u32) = (200, 500);

struct NoKeys;

impl KeysSource for NoKeys {
    fn keys(&self) -> PendingKeys<'_> {
        Box::pin(async { Ok(ConfiguredKeys::default()) })
    }
}

fn main() -> ExitCode {
    let mut report = Report::default();
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(measure(&mut report));
    if report.is_kept() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

async fn measure(report: &mut Report) {
    let fake = FakeLogin::start("").expect("a server to log in to");
    let directory = tempfile::tempdir().expect("a directory");
    let keeper = logged_in(&fake, directory.path()).await;
    let started = Instant::now();
    let token = keeper.token().await.expect("a token");
    let first = micros(started.elapsed());
    Report::say("a token, for the first time", &first);
    assert!(token.is_some(), "somebody has logged in");
    let file = fs::read_dir(directory.path().join("state/mcp/tokens"))
        .expect("the directory of logins")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.extension().is_some_and(|it| it == "json"))
        .expect("the file of the login");
    let look = each(|| drop(black_box(fs::metadata(&file))));
    Report::say("a look at a file", &micros(look));
    let took = each(|| {
        assert!(black_box(keeper.at_hand()).is_some(), "it is at hand");
    });
    let budget = micros(BUDGET);
    let figure = micros(took);
    report.judge("a token at hand", &figure, &budget, took <= BUDGET);
}

/// What doing something costs, once.
fn each(mut action: impl FnMut()) -> Duration {
    let (times, count) = TIMES;
    let once = (0..times).map(|_| {
        let started = Instant::now();
        for _ in 0..count {
            action();
        }
        started.elapsed() / count
    });
    median(once.collect())
}

/// The keeper of a login.
async fn logged_in(fake: &FakeLogin, directory: &std::path::Path) -> Arc<Keeper> {
    let resource = Resource {
        server: "docs".to_owned(),
        url: fake.url().parse().expect("an address"),
        grant: Grant::AuthorizationCode,
        client_id: None,
        key_id: None,
        client_metadata_url: None,
        authorization_server: None,
        scopes: None,
        redirect: Redirect::default(),
        authorities: None,
        verify: true,
        identity: None,
    };
    let state = StateDirectory::open(&directory.join("state")).expect("a state directory");
    let keyring = Keyring::new(&Environment::new([], None, directory));
    let store = LoginStore::new(state, keyring);
    let (redactor, clock) = (Redactor::new(), Clock::system());
    let desk = LoginDesk::new(
        resource.clone(),
        &store,
        Arc::new(NoKeys),
        redactor.clone(),
        clock.clone(),
    );
    let challenge = Challenge::default();
    let begun = Box::pin(desk.begin(&challenge, Arrival::Here, true));
    let running = begun.await.expect("a login that was begun");
    let request = Request::get(running.begun().url.as_str()).body(Bytes::new());
    let http = Http::new(HttpSettings::default());
    let answer = Box::pin(http.send(request.expect("a request"))).await;
    let answer = answer.expect("an answer");
    let location = answer.headers().get(LOCATION).expect("a way back");
    let brought = Secret::new(location.to_str().expect("an address"));
    desk.finish(&brought).await.expect("a login");
    let logins = store.of(&resource.server, &resource.url);
    Keeper::new(resource, logins, Arc::new(NoKeys), redactor, clock)
}
