//! Posting to a server that asks to be asked later.

use std::sync::Arc;
use std::time::Duration;

use http::HeaderMap;
use tokio::time::sleep;

use super::Outgoing;
use crate::http::{Answer, HttpEndpoint, HttpError, HttpFailure};
use crate::time::until;
use crate::traffic::Pulse;

/// How long it is waited where the server does not say.
const PAUSE: Duration = Duration::from_secs(1);
/// How often a request is repeated.
const ATTEMPTS: u32 = 8;

/// Posts a request; 429 and 503 mean that it was not done, and are waited out as the server says,
/// within the time that the request has.
pub(super) async fn post_patiently(
    endpoint: &HttpEndpoint,
    headers: &Arc<HeaderMap>,
    message: &Outgoing,
    pulse: &Pulse,
) -> Result<Answer, HttpError> {
    let mut attempt = 0;
    loop {
        // Whoever waits for the request keeps the time.
        match endpoint.post_untimed(headers, &message.body).await {
            Err(HttpError::Status(failure)) if attempt < ATTEMPTS => {
                let Some(pause) = pause(&failure, attempt) else {
                    return Err(HttpError::Status(failure));
                };
                if until(message.until) <= pause {
                    return Err(HttpError::Status(failure));
                }
                attempt += 1;
                let _hold = pulse.hold();
                sleep(pause).await;
            }
            other => return other,
        }
    }
}

/// How long to wait before a request is repeated, if that is what the status asks for. A 503 that
/// does not say when may come from something that had already passed the request on.
fn pause(failure: &HttpFailure, attempt: u32) -> Option<Duration> {
    match (failure.status.as_u16(), failure.retry_after) {
        (429 | 503, Some(pause)) => Some(pause),
        (429, None) => Some(PAUSE * (1 << attempt)),
        _ => None,
    }
}
