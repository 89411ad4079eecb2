//! A turn from its beginning to its end.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use agent_client_protocol::Client;
use agent_client_protocol::v1::ConnectionTo;
use openclaw_engine::{EngineFailure, Pending, ReplyReport, ReplyRequest};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::audience::Person;
use super::news::News;
use super::outbox::Outbox;
use super::telling::Telling;
use crate::flow::PATIENCE;
use crate::office::Office;
use crate::sessions::Session;

/// How long an editor may take to read what is left of a turn that was stopped.
const FAREWELL: Duration = Duration::from_millis(500);

/// How a turn ended.
pub(super) enum Outcome {
    /// By itself.
    Ended(Result<ReplyReport, EngineFailure>),
    /// The person stopped it, or nobody read what was told.
    Cancelled,
}

/// A turn.
pub(super) struct Turn<'a> {
    office: &'a Office,
    person: Person,
}

impl<'a> Turn<'a> {
    pub(super) fn new(
        office: &'a Office,
        session: &Arc<Session>,
        connection: &ConnectionTo<Client>,
    ) -> Self {
        let name = office.next_turn();
        let telling = Telling::new(&name, &session.directory, office.shows_notices());
        let shows = office.client().elicitation.clone().unwrap_or_default();
        let person = Person {
            session: Arc::clone(session),
            connection: connection.clone(),
            outbox: Outbox::default(),
            shows,
            telling: Mutex::new(telling),
            news: News::default(),
        };
        Self { office, person }
    }

    /// Something was learned of the session.
    pub(super) fn learned(&self) {
        self.person.news.learned();
    }

    /// Has the agent answer, and tells the editor what it says.
    pub(super) async fn run(
        &self,
        request: ReplyRequest,
        cancelled: &CancellationToken,
    ) -> Outcome {
        let outbox = &self.person.outbox;
        let (connection, name) = (&self.person.connection, &self.person.session.name);
        let mut passing_on = pin!(outbox.pass_on(&self.office.flow, connection, name));
        let (news, session) = (&self.person.news, &self.person.session);
        let mut keeping = pin!(news.keep(self.office, session));
        let mut reply = self.office.engine.reply(request, &self.person);
        let outcome = loop {
            tokio::select! {
                biased;
                () = cancelled.cancelled() => break Outcome::Cancelled,
                ended = unless_full(&mut reply, outbox) => if let Some(ended) = ended {
                    break Outcome::Ended(ended);
                },
                () = &mut passing_on => {}
                () = &mut keeping => {}
            }
            // The agent waits until the editor has read something.
            tokio::select! {
                biased;
                () = cancelled.cancelled() => break Outcome::Cancelled,
                () = outbox.more_told() => {}
                () = &mut passing_on => {}
                () = sleep(PATIENCE) => {
                    tracing::warn!("the editor does not read what it is told");
                    break Outcome::Cancelled;
                }
            }
        };
        // Stops it, if it has not ended.
        drop(reply);
        let rest = async {
            match outcome {
                Outcome::Ended(ended) if self.told_in_peace(cancelled).await => {
                    Outcome::Ended(ended)
                }
                // Something of the answer is missing, so that it has not ended for the editor.
                Outcome::Ended(_) => Outcome::Cancelled,
                Outcome::Cancelled => {
                    let _ = timeout(FAREWELL, outbox.all_told()).await;
                    Outcome::Cancelled
                }
            }
        };
        let rest = async { tokio::join!(rest, news.all_kept()).0 };
        // The others never end.
        tokio::select! {
            outcome = rest => outcome,
            () = &mut passing_on => Outcome::Cancelled,
            () = &mut keeping => Outcome::Cancelled,
        }
    }

    /// Waits until the editor was told everything, for as long as it reads. Returns whether it was.
    async fn told_in_peace(&self, cancelled: &CancellationToken) -> bool {
        let outbox = &self.person.outbox;
        loop {
            tokio::select! {
                biased;
                () = outbox.all_told() => return true,
                () = cancelled.cancelled() => return false,
                more = timeout(PATIENCE, outbox.more_told()) => if more.is_err() {
                    return false;
                },
            }
        }
    }
}

/// Goes on with a turn, for as long as there is room for what it says. Then it stands still: its events come
/// while it is looked after, and not otherwise.
async fn unless_full(
    reply: &mut Pending<'_, ReplyReport>,
    outbox: &Outbox,
) -> Option<Result<ReplyReport, EngineFailure>> {
    poll_fn(|context| {
        if outbox.is_full() {
            return Poll::Ready(None);
        }
        match Pin::new(&mut *reply).poll(context) {
            Poll::Ready(ended) => Poll::Ready(Some(ended)),
            Poll::Pending if outbox.is_full() => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}
