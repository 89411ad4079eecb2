//! Asking again, where that helps.

use std::time::Duration;

use http::HeaderMap;
use http::header::RETRY_AFTER;
use tokio::time::{Instant, sleep, timeout_at};

use crate::error::SecretError;

/// How often a store is asked at most.
const MOST_ATTEMPTS: u32 = 6;
/// How long it is waited after the first attempt; every further wait is twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(200);
/// How much earlier than whoever waits we give up, so that our words are heard.
const MARGIN: Duration = Duration::from_millis(100);

/// What came of an attempt.
pub(crate) enum Attempt<T, E = SecretError> {
    /// It is decided.
    Done(Result<T, E>),
    /// It may be different the next time, after as long as the store asks for.
    Again(E, Option<Duration>),
}

impl<T, E> Attempt<T, E> {
    /// The same with what was asked for as something else.
    pub(crate) fn map<U>(self, change: impl FnOnce(T) -> U) -> Attempt<U, E> {
        match self {
            Self::Done(result) => Attempt::Done(result.map(change)),
            Self::Again(error, asked) => Attempt::Again(error, asked),
        }
    }
}

/// Asks until it is decided, or until there is no time left: then what was wrong the last time is
/// the answer, or `silent` where the first attempt takes all the time that there is.
///
/// The answer is there shortly before `until`, when whoever waits gives up.
pub(crate) async fn patiently<T, E, F: Future<Output = Attempt<T, E>>>(
    until: Instant,
    silent: impl FnOnce() -> E,
    mut attempt: impl FnMut() -> F,
) -> Result<T, E> {
    let until = until.checked_sub(MARGIN).unwrap_or(until);
    let mut number = 1;
    let mut wait = FIRST_WAIT;
    let mut last = None;
    loop {
        let (error, asked) = match timeout_at(until, attempt()).await {
            Ok(Attempt::Done(result)) => return result,
            Ok(Attempt::Again(error, asked)) => (error, asked),
            Err(_) => return Err(last.unwrap_or_else(silent)),
        };
        let pause = asked.unwrap_or_default().max(scattered(wait));
        if number == MOST_ATTEMPTS || Instant::now() + pause >= until {
            return Err(error);
        }
        sleep(pause).await;
        wait *= 2;
        number += 1;
        last = Some(error);
    }
}

/// A store that says nothing, in words.
pub(crate) fn silent(store: &str) -> SecretError {
    SecretError::unavailable(format!("{store} did not answer in time"))
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
