//! Asks again when what went wrong may have passed.

use std::sync::Arc;
use std::time::Duration;

use crate::chance::Chance;
use crate::error::{ModelError, WAITED_FOR};
use crate::model::{Model, ModelEvent, ModelFacts, ModelListener, ModelRequest, PendingReply};

/// How long is waited before each further attempt, where the service does not say.
const WAITS: [Duration; 3] = [
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(4),
];
/// Of longer waits people are told.
const UNNOTICED: Duration = Duration::from_secs(2);

/// A model that is asked again.
pub(crate) struct Retry {
    pub(crate) inner: Arc<dyn Model>,
    /// How often it is asked again, at most three times.
    pub(crate) times: usize,
    pub(crate) chance: Arc<dyn Chance>,
}

impl Model for Retry {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn facts(&self) -> &ModelFacts {
        self.inner.facts()
    }

    fn reply<'a>(
        &'a self,
        request: ModelRequest<'a>,
        listener: &'a mut ModelListener<'_>,
    ) -> PendingReply<'a> {
        Box::pin(async move {
            let mut waits = WAITS.into_iter().take(self.times);
            loop {
                let mut is_heard = false;
                let mut hear = |event: ModelEvent| {
                    is_heard |= !matches!(event, ModelEvent::Notice { .. });
                    listener(event);
                };
                let error = match self.inner.reply(request, &mut hear).await {
                    Ok(reply) => return Ok(reply),
                    Err(error) => error,
                };
                let wait = match (waits.next(), error.retry_after()) {
                    _ if !error.is_passing() => return Err(error),
                    (None, _) => return Err(error),
                    (Some(_), Some(said)) if said > WAITED_FOR => return Err(error),
                    (Some(_), Some(said)) => said,
                    (Some(usual), None) => self.about(usual),
                };
                tracing::debug!(model = self.name(), %error, ?wait, "the model is asked again");
                if is_heard {
                    listener(ModelEvent::Retracted {
                        reason: error.to_string(),
                    });
                }
                if wait > UNNOTICED {
                    let text = waiting(&error, self.name(), wait);
                    listener(ModelEvent::Notice { text });
                }
                tokio::time::sleep(wait).await;
            }
        })
    }
}

impl Retry {
    /// About so long, so that those who failed together do not come back together.
    fn about(&self, wait: Duration) -> Duration {
        let percent = 80 + u32::try_from(self.chance.number() % 41).unwrap_or_default();
        wait * percent / 100
    }
}

/// What is said before a wait.
fn waiting(error: &ModelError, model: &str, wait: Duration) -> String {
    let why = match error {
        ModelError::Busy { .. } => "is asked too often",
        _ => "can't answer now",
    };
    let seconds = wait.as_millis().div_ceil(1000);
    format!("{model} {why}; it is asked again in {seconds} s")
}

#[cfg(test)]
mod tests;
