//! A turn of an agent, shown and asked at this terminal.
//!
//! | module | owns |
//! |---|---|
//! | `audience` | where the turn is heard and asked from |
//! | `answers` | where the answers of the person come from |
//! | `stage` | what a person sees of the turn |
//! | `flow` | text that arrives in pieces, fit for a terminal |
//! | `markdown` | the same with a look |
//! | `question` | a question that stands, whatever it is about |
//! | `approval` | asking the person whether a tool may run |
//! | `form` | asking the person what a server wants to know |
//! | `visit` | addresses for the person to open |

mod answers;
mod approval;
mod audience;
mod flow;
mod form;
mod markdown;
mod question;
mod stage;
mod visit;

use std::time::Duration;

use openclaw_engine::{Engine, ReplyReport, ReplyRequest};
use tokio::time::MissedTickBehavior;

use crate::browser::Browser;
use crate::failure::Failure;
use crate::output::Output;
use crate::signals::Diverted;

pub(super) use answers::{Answers, yes_or_no};
pub(super) use stage::Manner;
pub(super) use visit::show_address;

use answers::Said;
use audience::{Query, Seat};
use question::Standing;
use stage::Stage;

/// How often what is going on is said anew.
const TICK: Duration = Duration::from_millis(100);

/// How a turn is shown, and who can be asked.
pub(super) struct Setting<'a> {
    /// How texts are shown.
    pub(super) manner: Manner,
    /// Where answers come from; none, if nobody can be asked.
    pub(super) answers: Option<Answers<'a>>,
    /// What opens addresses.
    pub(super) browser: &'a Browser,
    /// The servers that the person knows can't be used, as that was said.
    pub(super) known_lost: &'a [String],
}

/// How a turn ended.
pub(super) struct Ended {
    /// The session, if it came so far.
    pub(super) session_key: Option<String>,
    /// Whether a call was under way in the end.
    pub(super) was_calling: bool,
    /// The servers that can't be used, as that was said.
    pub(super) lost: Vec<String>,
    pub(super) outcome: Outcome,
}

/// What came of a turn.
pub(super) enum Outcome {
    /// A reply, which was shown.
    Replied(Box<ReplyReport>),
    /// The person stopped it.
    Stopped,
    /// It failed; nobody has been told.
    Failed(Failure),
}

/// Waits for the end of a turn, shows what happens meanwhile, and asks what has to be asked.
pub(super) async fn hear(
    engine: &dyn Engine,
    output: &mut Output,
    request: ReplyRequest,
    setting: Setting<'_>,
    interrupts: Option<&mut Diverted>,
) -> Result<Ended, Failure> {
    let mut stage = Stage::new(output, setting.manner, setting.known_lost);
    let (seat, mut questions) = Seat::new(setting.answers.is_some());
    let mut turn = engine.reply(request, &seat);
    let mut stopping = std::pin::pin!(interrupted(interrupts));
    let mut ticks = tokio::time::interval(TICK);
    // What was not said while a question stood is not made up for.
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut standing: Option<Standing> = None;
    let result = loop {
        tokio::select! {
            biased;
            () = &mut stopping => break None,
            // What is said while a question stands waits until it is answered.
            () = seat.rung(), if standing.is_none() => {
                show(&seat, &mut stage, &setting, output).await?;
            }
            Some(query) = questions.recv(), if standing.is_none() => {
                if let Some(answers) = setting.answers {
                    stage.pause(output)?;
                    standing = Standing::put(query, answers, output)?;
                }
            }
            said = said(&mut standing, setting.answers) => {
                if said == Said::Stop {
                    break None;
                }
                if let (Some(question), Some(answers)) = (standing.take(), setting.answers) {
                    let settled = question.settle(said, answers, setting.browser, output);
                    standing = Box::pin(settled).await?;
                }
                // What was said meanwhile is shown now.
                if standing.is_none() {
                    show(&seat, &mut stage, &setting, output).await?;
                }
            }
            result = &mut turn => break Some(result),
            _ = ticks.tick(), if output.is_watched() && standing.is_none() => stage.tick(output),
        }
    };
    drop(turn);
    output.progress(None);
    // What somebody would have had to allow has not begun.
    let mut unasked = usize::from(standing.as_ref().is_some_and(Standing::is_approval));
    while let Ok(query) = questions.try_recv() {
        unasked += usize::from(matches!(query, Query::Tool(_)));
    }
    if let (Some(question), Some(answers)) = (standing.take(), setting.answers) {
        if result.is_some() {
            question.withdraw(answers, output).await?;
        } else {
            answers.rest().await;
            output.explain("\n")?;
        }
    }
    show(&seat, &mut stage, &setting, output).await?;
    let outcome = match result {
        Some(Ok(report)) => {
            stage.conclude(&report.reply, output)?;
            Outcome::Replied(Box::new(report))
        }
        Some(Err(failure)) => Outcome::Failed(failure.into()),
        None => Outcome::Stopped,
    };
    stage.pause(output)?;
    Ok(Ended {
        session_key: stage.session_key().map(str::to_owned),
        was_calling: stage.running() > unasked,
        lost: stage.into_lost(),
        outcome,
    })
}

/// Shows what has happened.
async fn show(
    seat: &Seat,
    stage: &mut Stage,
    setting: &Setting<'_>,
    output: &mut Output,
) -> Result<(), Failure> {
    for event in seat.take() {
        stage.show(event, output)?;
        for visit in stage.take_visits() {
            visit::show_visit(&visit.url, &visit.why, setting.browser, output).await?;
        }
    }
    Ok(())
}

/// What comes of the question that stands; nothing ever, where none does.
async fn said(standing: &mut Option<Standing>, answers: Option<Answers<'_>>) -> Said {
    match (standing, answers) {
        (Some(question), Some(answers)) => question.said(answers).await,
        _ => std::future::pending().await,
    }
}

/// Waits until the person wants the turn to stop.
async fn interrupted(interrupts: Option<&mut Diverted>) {
    match interrupts {
        Some(interrupts) => interrupts.next().await,
        None => std::future::pending().await,
    }
}
