//! Several models as one: when one can't answer, the next is asked.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::ModelError;
use crate::model::{Model, ModelEvent, ModelFacts, ModelListener, ModelRequest, PendingReply};

/// A model and those that stand in for it.
pub(crate) struct Fallback {
    first: Arc<dyn Model>,
    others: Vec<Arc<dyn Model>>,
    /// What holds whichever of them answers.
    facts: ModelFacts,
    /// The place of the one that answered last, the first being 0. The next question goes to it:
    /// whoever could not answer a moment ago would be waited for in every round of a turn.
    answered: AtomicUsize,
}

impl Fallback {
    /// A model and those that stand in for it.
    pub(crate) fn new(first: Arc<dyn Model>, others: Vec<Arc<dyn Model>>) -> Self {
        let all = || std::iter::once(&first).chain(&others);
        let least = |fact: fn(&ModelFacts) -> u64| {
            let facts = all().map(|model| fact(model.facts()));
            facts.min().unwrap_or_default()
        };
        let facts = ModelFacts {
            context_window: least(|facts| facts.context_window),
            max_tokens: least(|facts| facts.max_tokens),
            // Each names what it does not take.
            takes_images: first.facts().takes_images,
            // A document is worth much more as a text than as a name, and the text is made only for
            // those who can't take the document. Whoever makes such a chain tells each of them.
            takes_documents: all().all(|model| model.facts().takes_documents),
            most_tools: all().filter_map(|model| model.facts().most_tools).min(),
        };
        Self {
            first,
            others,
            facts,
            answered: AtomicUsize::new(0),
        }
    }

    /// All of them from this place on, with their places, and then those before it.
    fn from(&self, start: usize) -> impl Iterator<Item = (usize, &dyn Model)> {
        let all = || std::iter::once(&self.first).chain(&self.others).enumerate();
        let (later, earlier) = (all().skip(start), all().take(start));
        later.chain(earlier).map(|(place, model)| (place, &**model))
    }
}

impl Model for Fallback {
    fn name(&self) -> &str {
        self.first.name()
    }

    fn facts(&self) -> &ModelFacts {
        &self.facts
    }

    fn reply<'a>(
        &'a self,
        request: ModelRequest<'a>,
        listener: &'a mut ModelListener<'_>,
    ) -> PendingReply<'a> {
        Box::pin(async move {
            let mut failures: Vec<(&str, ModelError)> = Vec::new();
            // How much those held that could not hold the conversation.
            let mut too_small: Option<u64> = None;
            let mut models = self.from(self.answered.load(Ordering::Relaxed));
            let mut next = models.next();
            while let Some((place, model)) = next {
                let error = match model.reply(request, listener).await {
                    Ok(reply) => {
                        self.answered.store(place, Ordering::Relaxed);
                        return Ok(reply);
                    }
                    Err(error) => error,
                };
                if let ModelError::TooLong { .. } = error {
                    too_small = too_small.max(Some(model.facts().context_window));
                }
                next = models.find(|(_, model)| Some(model.facts().context_window) > too_small);
                if let Some((_, next)) = next {
                    let (failed, next) = (model.name(), next.name());
                    tracing::warn!(model = failed, next, %error, "another model is asked");
                    // Said in any case: somebody may have chosen the first one with care.
                    let reason = format!("{error}; {next} is asked");
                    listener(ModelEvent::Retracted { reason });
                }
                failures.push((model.name(), error));
            }
            // Whoever made the conversation can make it shorter.
            let is_too_long = |(_, error): &(_, _)| matches!(error, ModelError::TooLong { .. });
            if let Some(place) = failures.iter().position(is_too_long) {
                return Err(failures.swap_remove(place).1);
            }
            Err(summary(failures))
        })
    }
}

/// The error of the first, which names the others.
fn summary(failures: Vec<(&str, ModelError)>) -> ModelError {
    let mut failures = failures.into_iter();
    let Some((_, first)) = failures.next() else {
        return ModelError::UnknownModel {
            message: "there is no model".to_owned(),
            hint: String::new(),
        };
    };
    let others: Vec<String> = failures
        .map(|(name, error)| format!("{name}: {}", error.code()))
        .collect();
    if others.is_empty() {
        return first;
    }
    first.noting(&format!("fallbacks failed, too ({})", others.join(", ")))
}

#[cfg(test)]
mod tests;
