//! `openclaw agent`
//!
//! | module | owns |
//! |---|---|
//! | `message` | the message: its text, and what comes with it |
//! | `audience` | where the turn is heard and asked from |
//! | `stage` | what a person sees of the turn |
//! | `flow` | text that arrives in pieces, fit for a terminal |
//! | `approval` | asking the person whether a tool may run |

mod approval;
mod audience;
mod flow;
mod message;
mod stage;

use std::io::{IsTerminal as _, stdin};
use std::time::Duration;

use openclaw_engine::{Engine, ReplyReport, ReplyRequest, SessionChoice};
use tokio::time::MissedTickBehavior;

use crate::cli::AgentOptions;
use crate::commands::Session;
use crate::commands::engine::with_engine;
use crate::commands::typed::Typed;
use crate::failure::{Exit, Failure};
use crate::render;
use approval::{Approval, Said};
use audience::Seat;
use message::Input;
use stage::Stage;

/// How often what is going on is said anew.
const TICK: Duration = Duration::from_millis(100);
/// How the keys of sessions begin that are begun here.
const FRESH: &str = "cli";

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
    let report = Box::pin(heard(engine, session, request, can_answer, json)).await?;
    if json {
        session.output.print_report(&report)?;
    } else if is_fresh && session.output.is_watched() {
        let key = render::session_word(&report.session_key);
        let words = format!("(to go on with this session: `--session-key {key}`)\n");
        session.output.explain(&words)?;
    }
    Ok(Exit::Done)
}

/// Waits for the end of a turn, shows what happens meanwhile, and asks what has to be asked.
async fn heard(
    engine: &dyn Engine,
    session: &mut Session<'_>,
    request: ReplyRequest,
    can_answer: bool,
    json: bool,
) -> Result<ReplyReport, Failure> {
    let output = &mut *session.output;
    let mut stage = Stage::new(output, json);
    let (seat, mut questions) = Seat::new(can_answer);
    let mut turn = engine.reply(request, &seat);
    let mut ticks = tokio::time::interval(TICK);
    // What was not said while a question stood is not made up for.
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut standing: Option<Approval> = None;
    let result = loop {
        tokio::select! {
            biased;
            // What is said while a question stands waits until it is answered.
            () = seat.rung(), if standing.is_none() => {
                for event in seat.take() {
                    stage.show(event, output)?;
                }
            }
            Some(asked) = questions.recv(), if standing.is_none() => {
                stage.pause(output)?;
                standing = Some(Approval::put(asked, output)?);
            }
            said = said(&mut standing) => {
                if let Some(approval) = standing.take() {
                    standing = approval.settle(said, output)?;
                }
                // What was said meanwhile is shown now.
                if standing.is_none() {
                    for event in seat.take() {
                        stage.show(event, output)?;
                    }
                }
            }
            result = &mut turn => break result,
            _ = ticks.tick(), if output.is_watched() && standing.is_none() => stage.tick(output),
        }
    };
    drop(turn);
    output.progress(None);
    if standing.is_some() {
        output.explain("\n")?;
    }
    for event in seat.take() {
        stage.show(event, output)?;
    }
    match result {
        Ok(report) => {
            stage.conclude(&report.reply, output)?;
            Ok(report)
        }
        Err(failure) => {
            stage.pause(output)?;
            Err(failure.into())
        }
    }
}

/// What comes of the question that stands; nothing ever, where none does.
async fn said(standing: &mut Option<Approval>) -> Said {
    match standing {
        Some(approval) => approval.said(Typed::here()).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests;
