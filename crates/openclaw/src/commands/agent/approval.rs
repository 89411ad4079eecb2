//! Asking the person in front of the terminal whether a tool may run.

use std::time::Instant;

use openclaw_content::shown_line;
use openclaw_engine::{ToolConsent, ToolQuestion};

use crate::commands::agent::audience::Asked;
use crate::commands::typed::Typed;
use crate::failure::Failure;
use crate::output::Output;
use crate::render::{count, name};

/// How often somebody is asked who answers with something else.
const TRIES: u32 = 5;
/// How much of an argument or a description is shown.
const SHOWN: usize = 300;
const PROMPT: &str = "Allow it? [y]es, [n]o, [a]lways: ";

/// A question that stands on the terminal.
pub(super) struct Approval {
    asked: Asked,
    /// What was typed before the question could be read is no answer to it.
    since: Instant,
    tries: u32,
}

/// What came of a question.
pub(super) enum Said {
    /// A line was typed; none, if no more will be.
    Line(Option<String>),
    /// Nobody wants to know any more.
    Withdrawn,
}

impl Approval {
    /// Puts a question.
    pub(super) fn put(asked: Asked, output: &mut Output) -> Result<Self, Failure> {
        let text = words(&asked.question);
        Typed::forget();
        output.explain(&format!("{text}{PROMPT}"))?;
        Ok(Self {
            asked,
            since: Instant::now(),
            tries: 0,
        })
    }

    /// Waits until something comes of it.
    pub(super) async fn said(&mut self, typed: &Typed) -> Said {
        tokio::select! {
            biased;
            () = self.asked.answer.closed() => Said::Withdrawn,
            line = typed.next_since(self.since) => Said::Line(line),
        }
    }

    /// Takes what came of it; gives the question back if it still stands.
    pub(super) fn settle(
        mut self,
        said: Said,
        output: &mut Output,
    ) -> Result<Option<Self>, Failure> {
        let line = match said {
            Said::Withdrawn => {
                output.explain("\n(no longer asked)\n")?;
                return Ok(None);
            }
            Said::Line(line) => line,
        };
        self.tries += 1;
        let consent = match line.as_deref().map(consent) {
            Some(Some(consent)) => consent,
            Some(None) if self.tries < TRIES => {
                output.explain(PROMPT)?;
                return Ok(Some(self));
            }
            // Whoever closes the input, or never answers, has not agreed.
            Some(None) | None => {
                output.explain("\nnot allowed\n")?;
                ToolConsent::No
            }
        };
        // It may have been withdrawn meanwhile.
        let _ = self.asked.answer.send(consent);
        Ok(None)
    }
}

fn consent(line: &str) -> Option<ToolConsent> {
    match line.trim().to_lowercase().as_str() {
        "y" | "yes" => Some(ToolConsent::Once),
        "a" | "always" => Some(ToolConsent::Always),
        "n" | "no" => Some(ToolConsent::No),
        _ => None,
    }
}

/// The question. Servers and models wrote parts of it.
fn words(question: &ToolQuestion) -> String {
    let mut text = format!(
        "{} wants to call {} of the server {}",
        name(&question.agent),
        name(&question.tool),
        name(&question.server)
    );
    if question.arguments.is_empty() && question.more_arguments == 0 {
        text.push_str(", without arguments\n");
    } else {
        text.push_str(":\n");
    }
    for (argument, value) in &question.arguments {
        let value = shown_line(value, SHOWN);
        text.push_str(&format!("  {}: {value}\n", name(argument)));
    }
    if question.more_arguments > 0 {
        let more = count(question.more_arguments, "more argument");
        text.push_str(&format!("  … and {more}\n"));
    }
    if let Some(description) = &question.description {
        let description = shown_line(description, SHOWN);
        text.push_str(&format!("  (the server says: {description})\n"));
    }
    text
}

#[cfg(test)]
mod tests;
