//! Logins, begun and ended in one process or in several.

mod clients;
mod elsewhere;
mod failing;
mod giving_up;
mod waiting;

use openclaw_secrets::Secret;

use super::*;
use crate::challenge::Challenge;
use crate::error::{OAuthError, Remedy};
use crate::resource::{Grant, Redirect};
use crate::testing::place::{Place, Process, SOON, START, get, visit};

const MINUTE: u64 = 60_000;

/// Begins a login that is expected not to begin.
async fn not_begun(process: &Process, arrival: Arrival) -> OAuthError {
    let challenge = Challenge::default();
    let begun = Box::pin(process.desk.begin(&challenge, arrival, true)).await;
    begun.map(|_| ()).unwrap_err()
}

/// The port that the browser is sent to.
fn port(running: &RunningLogin) -> u16 {
    let url: Url = running.begun().redirect_uri.parse().unwrap();
    url.port().unwrap()
}

/// The same address with another value of one parameter.
fn with(url: &Url, name: &str, value: &str) -> Url {
    let pairs: Vec<(String, String)> = url.query_pairs().into_owned().collect();
    let mut changed = url.clone();
    changed.query_pairs_mut().clear().extend_pairs(
        pairs
            .iter()
            .map(|(own, old)| (own, if own == name { value } else { old })),
    );
    changed
}
