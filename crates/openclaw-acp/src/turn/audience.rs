//! What the engine says and asks while an agent works, passed on to the editor.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent_client_protocol::Client;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::ElicitationCapabilities;
use openclaw_engine::{
    Audience, ReplyEvent, ServerAnswer, ServerQuestion, ToolConsent, ToolQuestion,
};

use super::news::News;
use super::outbox::Outbox;
use super::telling::Telling;
use crate::questions::{self, Answered};
use crate::sessions::{Mode, Session};

/// The person behind an editor.
pub(super) struct Person {
    pub(super) session: Arc<Session>,
    pub(super) connection: ConnectionTo<Client>,
    pub(super) outbox: Outbox,
    /// Which questions the editor shows.
    pub(super) shows: ElicitationCapabilities,
    pub(super) telling: Mutex<Telling>,
    /// What was learned of the session, and is to be kept.
    pub(super) news: News,
}

impl Person {
    fn telling(&self) -> MutexGuard<'_, Telling> {
        self.telling.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Audience for Person {
    fn hear(&self, event: ReplyEvent) {
        if let ReplyEvent::Started { session_key, .. } = &event
            && self.session.learn_key(session_key)
        {
            self.news.learned();
        }
        // Both under one lock: what is told keeps its order.
        let mut telling = self.telling();
        if let Some(item) = telling.hear(event) {
            self.outbox.put(item);
        }
    }

    fn can_answer(&self) -> bool {
        true
    }

    fn approve(
        &self,
        question: ToolQuestion,
    ) -> Pin<Box<dyn Future<Output = ToolConsent> + Send + '_>> {
        Box::pin(async move {
            // The mode of now, and not the one that the turn began with.
            if self.session.mode() == Mode::AllowAll {
                return ToolConsent::Once;
            }
            let call = self.telling().asked(&question);
            // The editor knows the call before it is asked about it.
            self.outbox.all_told().await;
            let consent = questions::consent(&self.connection, &self.session.name, call).await;
            if consent != ToolConsent::No {
                let item = self.telling().allowed(&question);
                self.outbox.put(item);
            }
            consent
        })
    }

    fn answer(
        &self,
        question: ServerQuestion,
    ) -> Pin<Box<dyn Future<Output = ServerAnswer> + Send + '_>> {
        Box::pin(async move {
            self.outbox.all_told().await;
            let name = &self.session.name;
            let answered = questions::ask(&self.connection, name, &self.shows, question).await;
            match answered {
                Answered::Fits(answer) => answer,
                Answered::Unfit(text) => {
                    self.hear(ReplyEvent::Notice { text });
                    ServerAnswer::Cancel
                }
            }
        })
    }
}
