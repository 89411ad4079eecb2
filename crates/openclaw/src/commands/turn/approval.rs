//! Asking the person in front of the terminal whether a tool may run.

use openclaw_content::shown_line;
use openclaw_engine::{ToolConsent, ToolQuestion};

use crate::commands::turn::answers::yes_or_no;
use crate::commands::turn::audience::Asked;
use crate::failure::Failure;
use crate::output::Output;
use crate::render::{count, name};

/// How often somebody is asked who answers with something else.
const TRIES: u32 = 5;
/// How much of an argument or a description is shown.
const SHOWN: usize = 300;
/// What the line that is typed stands behind.
pub(super) const PROMPT: &str = "Allow it? [y]es, [n]o, [a]lways: ";

/// The question whether a tool may run.
pub(super) struct Approval {
    asked: Asked<ToolQuestion, ToolConsent>,
    tries: u32,
}

impl Approval {
    /// Puts a question.
    pub(super) fn put(
        asked: Asked<ToolQuestion, ToolConsent>,
        output: &mut Output,
    ) -> Result<Self, Failure> {
        output.explain(&words(&asked.question))?;
        Ok(Self { asked, tries: 0 })
    }

    /// Waits until nobody wants to know any more.
    pub(super) async fn withdrawn(&mut self) {
        self.asked.answer.closed().await;
    }

    /// Takes a line, none if no more will come; gives the question back if it still stands.
    pub(super) fn settle(
        mut self,
        line: Option<&str>,
        output: &mut Output,
    ) -> Result<Option<Self>, Failure> {
        self.tries += 1;
        let consent = match line.map(consent) {
            Some(Some(consent)) => consent,
            Some(None) if self.tries < TRIES => return Ok(Some(self)),
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
    match yes_or_no(line) {
        Some(true) => Some(ToolConsent::Once),
        Some(false) => Some(ToolConsent::No),
        None => {
            let line = line.trim().to_lowercase();
            matches!(line.as_str(), "a" | "always").then_some(ToolConsent::Always)
        }
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
