//! A question that stands on the terminal, whatever it is about.

use std::time::Instant;

use openclaw_engine::Asks;

use crate::browser::Browser;
use crate::commands::turn::answers::{Answers, Said};
use crate::commands::turn::approval::{self, Approval};
use crate::commands::turn::audience::Query;
use crate::commands::turn::form::Form;
use crate::commands::turn::visit::{self, VisitQuestion};
use crate::failure::Failure;
use crate::output::Output;

/// A question that stands on the terminal.
pub(super) struct Standing {
    matter: Matter,
    since: Instant,
}

/// What a question is about.
enum Matter {
    Approval(Approval),
    Form(Form),
    Visit(VisitQuestion),
}

impl Standing {
    /// Puts a question.
    pub(super) fn put(
        query: Query,
        answers: Answers<'_>,
        output: &mut Output,
    ) -> Result<Option<Self>, Failure> {
        let matter = match query {
            Query::Tool(asked) => Some(Matter::Approval(Approval::put(asked, output)?)),
            Query::Server(asked) => match &asked.question.asks {
                Asks::Form { .. } => Some(Matter::Form(Form::put(asked, output)?)),
                Asks::Visit { .. } => VisitQuestion::put(asked, output)?.map(Matter::Visit),
            },
        };
        let Some(matter) = matter else {
            return Ok(None);
        };
        answers.forget();
        Self::stand(matter, answers, output).map(Some)
    }

    fn stand(matter: Matter, answers: Answers<'_>, output: &mut Output) -> Result<Self, Failure> {
        let standing = Self {
            matter,
            since: Instant::now(),
        };
        answers.prompt(&standing.prompt(), output)?;
        Ok(standing)
    }

    /// Whether a call waits for it.
    pub(super) fn is_approval(&self) -> bool {
        matches!(self.matter, Matter::Approval(_))
    }

    fn prompt(&self) -> String {
        match &self.matter {
            Matter::Approval(_) => approval::PROMPT.to_owned(),
            Matter::Form(form) => form.prompt(),
            Matter::Visit(_) => visit::PROMPT.to_owned(),
        }
    }

    /// Waits until something comes of it.
    pub(super) async fn said(&mut self, answers: Answers<'_>) -> Said {
        let prompt = self.prompt();
        let since = self.since;
        let withdrawn = async {
            match &mut self.matter {
                Matter::Approval(approval) => approval.withdrawn().await,
                Matter::Form(form) => form.withdrawn().await,
                Matter::Visit(visit) => visit.withdrawn().await,
            }
        };
        tokio::select! {
            biased;
            () = withdrawn => Said::Withdrawn,
            said = answers.next(&prompt, since) => said,
        }
    }

    /// Takes the question away, of which nobody wants to know any more. Whoever was about to answer is told
    /// so, and what they typed goes nowhere.
    pub(super) async fn withdraw(
        self,
        answers: Answers<'_>,
        output: &mut Output,
    ) -> Result<(), Failure> {
        answers.rest().await;
        answers.forget();
        output.explain("\n(no longer asked)\n")
    }

    /// Takes what came of it; gives the question back if it still stands.
    pub(super) async fn settle(
        self,
        said: Said,
        answers: Answers<'_>,
        browser: &Browser,
        output: &mut Output,
    ) -> Result<Option<Self>, Failure> {
        let line = match said {
            Said::Withdrawn => {
                self.withdraw(answers, output).await?;
                return Ok(None);
            }
            Said::Line(line) => Some(line),
            Said::Nothing | Said::Stop => None,
        };
        let line = line.as_deref();
        let matter = match self.matter {
            Matter::Approval(it) => it.settle(line, output)?.map(Matter::Approval),
            Matter::Form(it) => it.settle(line, output)?.map(Matter::Form),
            Matter::Visit(it) => {
                let standing = it.settle(line, browser, output).await?;
                standing.map(Matter::Visit)
            }
        };
        match matter {
            Some(matter) => Self::stand(matter, answers, output).map(Some),
            None => Ok(None),
        }
    }
}
