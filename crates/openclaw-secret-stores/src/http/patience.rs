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
pub(crate) async fn patiently<T>(
    until: Instant,
    mut attempt: impl AsyncFnMut() -> Attempt<T>,
) -> Result<T, SecretError> {
    let mut patience = Patience::new(until);
    loop {
        match attempt().await {
            Attempt::Done(result) => return result,
            Attempt::Again(error, asked) => patience.wait(error, asked).await?,
        }
    }
}

/// The same for those who ask in a loop of their own: a closure that borrows something makes a
/// future of which the compiler can't see that it may go from thread to thread.
pub(crate) struct Patience {
    until: Instant,
    number: u32,
    wait: Duration,
}

impl Patience {
    pub(crate) fn new(until: Instant) -> Self {
        Self {
            until,
            number: 1,
            wait: FIRST_WAIT,
        }
    }

    /// Waits before the next attempt. If there is none, what was wrong is the answer.
    pub(crate) async fn wait(
        &mut self,
        error: SecretError,
        asked: Option<Duration>,
    ) -> Result<(), SecretError> {
        let pause = asked.unwrap_or_default().max(scattered(self.wait));
        if self.number == MOST_ATTEMPTS || Instant::now() + pause >= self.until {
            return Err(error);
        }
        sleep(pause).await;
        self.wait *= 2;
        self.number += 1;
        Ok(())
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
