//! Asking again, where that helps.

use std::time::Duration;

use http::HeaderMap;
use http::header::RETRY_AFTER;
use tokio::time::{Instant, sleep};

use crate::error::SecretError;

/// How often a store is asked at most.
const MOST_ATTEMPTS: u32 = 6;
/// How long it is waited after the first attempt; every further wait is twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(200);

/// What came of an attempt.
pub(crate) enum Attempt<T> {
    /// It is decided.
    Done(Result<T, SecretError>),
    /// It may be different the next time, after as long as the store asks for.
    Again(SecretError, Option<Duration>),
}

/// Asks until it is decided, or until there is no time left for another attempt: then what was wrong
/// the last time is the answer.
pub(crate) async fn patiently<T, F: Future<Output = Attempt<T>>>(
    until: Instant,
    mut attempt: impl FnMut() -> F,
) -> Result<T, SecretError> {
    let mut number = 1;
    let mut wait = FIRST_WAIT;
    loop {
        match attempt().await {
            Attempt::Done(result) => return result,
            Attempt::Again(error, _) if number == MOST_ATTEMPTS => return Err(error),
            Attempt::Again(error, asked) => {
                let pause = asked.unwrap_or_default().max(scattered(wait));
                if Instant::now() + pause >= until {
                    return Err(error);
                }
                sleep(pause).await;
                wait *= 2;
                number += 1;
            }
        }
    }
}

/// What an answer's `Retry-After` says, in seconds; a date is not used by any store that we ask.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?;
    let seconds: u32 = value.trim().parse().ok()?;
    Some(Duration::from_secs(seconds.into()))
}

/// A wait between a half and the whole of another: those who were refused at the same time should
/// not come back at the same time.
fn scattered(wait: Duration) -> Duration {
    use ring::rand::SecureRandom as _;
    let mut byte = [0];
    // Without randomness the wait is the whole.
    let share = match ring::rand::SystemRandom::new().fill(&mut byte) {
        Ok(()) => f64::from(byte[0]) / f64::from(u8::MAX),
        Err(_) => 1.0,
    };
    wait.mul_f64(0.5 + share / 2.0)
}

#[cfg(test)]
mod tests;
