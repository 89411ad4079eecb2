//! `openclaw agent`
//!
//! | module | owns |
//! |---|---|
//! | `message` | the message: its text, and what comes with it |

mod message;

use std::io::{IsTerminal as _, stdin};

use openclaw_engine::{Engine, ReplyRequest, SessionChoice};

use crate::browser::Browser;
use crate::cli::AgentOptions;
use crate::commands::Session;
use crate::commands::engine::with_engine;
use crate::commands::turn::{Answers, Manner, Outcome, Setting, hear};
use crate::commands::typed::Typed;
use crate::failure::{Exit, Failure, Signal};
use crate::render;
use message::Input;

pub(super) use message::{MOST_FILES, MOST_IMAGES, file, image};

/// How the keys of sessions begin that are begun here.
pub(super) const FRESH: &str = "cli";

/// Has an agent answer a message.
pub(super) fn run(session: &mut Session<'_>, options: AgentOptions) -> Result<Exit, Failure> {
    let input = Input {
        stream: stdin().lock(),
        is_terminal: stdin().is_terminal(),
    };
    let (message, attachments) = message::compose(&options, input)?;
    let request = ReplyRequest {
        agent: options.agent,
        session: match options.session_key {
            Some(key) => SessionChoice::Key(key),
            None if options.new => SessionChoice::Fresh(FRESH.to_owned()),
            None => SessionChoice::Main,
        },
        message,
        attachments,
        model: options.model,
        approved: options.yes,
        correlation: session.operation.to_string(),
        ..ReplyRequest::default()
    };
    let json = options.json.wanted;
    let can_answer = stdin().is_terminal() && session.output.is_watched();
    with_engine(session, async |engine, session| {
        ask(engine, session, request, can_answer, json).await
    })
}

async fn ask(
    engine: &dyn Engine,
    session: &mut Session<'_>,
    request: ReplyRequest,
    can_answer: bool,
    json: bool,
) -> Result<Exit, Failure> {
    let is_fresh = matches!(request.session, SessionChoice::Fresh(_));
    let setting = Setting {
        manner: if json { Manner::Silent } else { Manner::Plain },
        answers: can_answer.then(|| Answers::Typed(Typed::here())),
        browser: &Browser::of(|name| std::env::var_os(name)),
        known_lost: &[],
    };
    let turn = hear(engine, session.output, request, setting, None);
    let report = match Box::pin(turn).await?.outcome {
        Outcome::Replied(report) => report,
        Outcome::Failed(failure) => return Err(failure),
        Outcome::Stopped => return Err(Failure::Interrupted(Signal::Interrupt)),
    };
    if json {
        session.output.print_report(&report)?;
    } else if is_fresh && session.output.is_watched() {
        let key = render::session_word(&report.session_key);
        let words = format!("(to go on with this session: `--session-key {key}`)\n");
        session.output.explain(&words)?;
    }
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests;
