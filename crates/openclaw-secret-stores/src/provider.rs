//! What every store is asked and answers.

use std::fmt;
use std::path::PathBuf;
use std::pin::Pin;

use openclaw_secrets::{Secret, SecretReference};
use tokio::sync::Semaphore;
use tokio::time::Instant;

use crate::error::SecretError;

/// How many secrets one store is asked for at the same time: a hundred servers that start at once
/// should not be throttled.
const AT_ONCE: usize = 16;

/// A place that secrets are kept in.
///
/// A provider is asked for all that is needed of it at once: some, like a password manager that
/// wants a fingerprint, should not be asked for each secret by itself.
pub(crate) trait SecretProvider: Send + Sync {
    /// Gets secrets. There is one answer for each reference, in their order, and what is wrong with
    /// one does not keep the others from being answered.
    ///
    /// At `until` the caller gives up. Who asks a store again and again knows from it when to stop,
    /// so that the answer is what the store said and not that time is up.
    fn fetch<'p>(&'p self, references: &'p [SecretReference], until: Instant) -> Fetching<'p>;
}

/// Secrets that are being fetched. Whoever drops it has given up, and nothing goes on.
pub(crate) type Fetching<'p> = Pin<Box<dyn Future<Output = Vec<Fetched>> + Send + 'p>>;

/// One secret, or why there is none.
pub(crate) type Fetched = Result<Found, SecretError>;

/// A secret as its store gave it.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) value: Secret,
    pub(crate) remark: Option<Remark>,
}

impl From<Secret> for Found {
    fn from(value: Secret) -> Self {
        Self {
            value,
            remark: None,
        }
    }
}

/// What a person should know about a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remark {
    /// It is in a file that other users of the machine can read.
    OpenFile {
        /// The file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// It is too short or too common to be hidden where it appears.
    NotHidden,
}

impl fmt::Display for Remark {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OpenFile { path, mode } => write!(
                formatter,
                "other users can read {} (mode {mode:03o})",
                path.display()
            ),
            Self::NotHidden => formatter.write_str(
                "it is so short or so common that it can't be hidden in logs and results",
            ),
        }
    }
}

impl Remark {
    /// What to do about it.
    pub fn fix(&self) -> String {
        match self {
            Self::OpenFile { path, .. } => format!("run `chmod 600 {}`", path.display()),
            Self::NotHidden => "choose a longer one".to_owned(),
        }
    }
}

/// Sees to it that a store is not asked for too much at once.
pub(crate) struct Turns(Semaphore);

impl Default for Turns {
    fn default() -> Self {
        Self(Semaphore::new(AT_ONCE))
    }
}

impl Turns {
    /// Does something when it is our turn. That should be one request: whoever waits before asking
    /// again keeps nobody else from asking.
    pub(crate) async fn take<F: Future>(&self, task: F) -> F::Output {
        // An error would mean that the semaphore is closed.
        let _turn = self.0.acquire().await;
        task.await
    }
}

/// The same answer for all.
pub(crate) fn all_failed<T>(
    references: &[SecretReference],
    error: &SecretError,
) -> Vec<Result<T, SecretError>> {
    references.iter().map(|_| Err(error.clone())).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use futures_util::future::join_all;
    use tokio::time::sleep;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_few_at_a_time_and_every_answer_in_its_place() {
        let (turns, now, most) = (Turns::default(), AtomicUsize::new(0), AtomicUsize::new(0));
        // The first ones take longest, so that none is done in its order.
        let tasks = (0..100_u64).map(async |number| {
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            sleep(Duration::from_millis(200 - number)).await;
            now.fetch_sub(1, Ordering::SeqCst);
            number
        });
        let answers = join_all(tasks.map(|task| turns.take(task))).await;
        assert_eq!(answers, (0..100).collect::<Vec<_>>());
        assert_eq!(most.into_inner(), AT_ONCE);
    }

    #[tokio::test(start_paused = true)]
    async fn turns_are_shared_by_all_who_ask() {
        let (turns, now, most) = (Turns::default(), AtomicUsize::new(0), AtomicUsize::new(0));
        let task = async || {
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            sleep(Duration::from_millis(10)).await;
            now.fetch_sub(1, Ordering::SeqCst);
        };
        let asking = || join_all((0..20).map(|_| turns.take(task())));
        tokio::join!(asking(), asking());
        assert_eq!(most.into_inner(), AT_ONCE);
    }

    #[tokio::test(start_paused = true)]
    async fn who_gives_up_gives_the_turn_back() {
        let turns = Turns::default();
        let for_ever = (0..AT_ONCE * 2).map(|_| turns.take(std::future::pending::<()>()));
        let waiting = join_all(for_ever);
        let given_up = tokio::time::timeout(Duration::from_secs(1), waiting).await;
        assert!(given_up.is_err());
        let answers = join_all((1..3).map(|number| turns.take(async move { number })));
        let answers = tokio::time::timeout(Duration::from_secs(1), answers).await;
        assert_eq!(answers.unwrap(), [1, 2]);
    }
}
