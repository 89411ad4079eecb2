//! The transport below the protocol: messages from the intake, messages to the writer.
//!
//! It keeps from the protocol what that would die of or answer badly: lines that are no messages,
//! notifications before anything has begun, batches.

mod batches;
mod reading;
mod writer;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::{HashSet, VecDeque};
use std::io::{self, Write};

use openclaw_content::shown_line;
use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorCode, ErrorData, JsonRpcMessage,
    ProtocolVersion, RequestId, ServerJsonRpcMessage, ServerResult,
};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::intake::{Incoming, Luggage, Problem};
use batches::Batches;
use reading::{Read, identifier, read};
use writer::{Outgoing, Writer};

/// How much of what a client wrote is repeated in the log, in characters.
const SHOWN: usize = 100;

/// The streams of a client, as rmcp wants to have them.
pub(crate) struct Wire {
    incoming: mpsc::Receiver<Incoming>,
    /// What is left of a batch.
    rest: VecDeque<ClientJsonRpcMessage>,
    writer: Writer,
    batches: Batches,
    /// The revision that was agreed on.
    revision: Option<ProtocolVersion>,
    /// Whether the client has said how it wants to talk.
    has_begun: bool,
    /// The requests that are not answered yet.
    in_flight: HashSet<RequestId>,
    /// Told when nothing more will come in.
    ended: CancellationToken,
}

/// What goes out, for whoever waits for the end of it.
pub(crate) struct Output(Writer);

impl Output {
    /// Waits until everything is written, or can't be.
    pub(crate) async fn drained(&self) {
        // Nobody is left who could be told.
        let _ = self.0.drained().await;
    }
}

/// Nothing can be written any more.
#[derive(Debug, thiserror::Error)]
#[error("the client does not listen any more: {0}")]
pub(crate) struct Deaf(#[from] io::Error);

impl Wire {
    /// Puts a client's streams together. Whoever holds `ended` is told when nothing more comes in, and
    /// `deaf` when nothing more can go out.
    pub(crate) fn new(
        incoming: mpsc::Receiver<Incoming>,
        output: Box<dyn Write + Send>,
        ended: CancellationToken,
        deaf: CancellationToken,
    ) -> io::Result<Self> {
        Ok(Self {
            incoming,
            rest: VecDeque::new(),
            writer: Writer::start(output, deaf)?,
            batches: Batches::default(),
            revision: None,
            has_begun: false,
            in_flight: HashSet::new(),
            ended,
        })
    }

    /// What goes out.
    pub(crate) fn output(&self) -> Output {
        Output(self.writer.clone())
    }

    /// The next message for the protocol. What is not for it is answered or dropped here.
    async fn next(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if let Some(message) = self.rest.pop_front() {
                self.note_cancelled(&message);
                return Some(message);
            }
            // Whoever does not read what we write is not listened to: else it would pile up.
            self.writer.has_room(&self.ended).await;
            if self.writer.is_broken() {
                return None;
            }
            match self.incoming.recv().await? {
                Incoming::Refused { id, problem } => self.refuse(id.as_ref(), &problem),
                Incoming::Message { value, spooled } => {
                    self.take(value, &Luggage::new(spooled));
                }
            }
        }
    }

    fn take(&mut self, value: Value, luggage: &Luggage) {
        let Value::Array(batch) = value else {
            let read = read(&value, luggage).unless_in_flight(&mut self.in_flight);
            self.take_one(read);
            return;
        };
        if self.revision != Some(ProtocolVersion::V_2025_03_26) {
            let message = "batches are only for protocol version 2025-03-26";
            self.answer(None, ErrorData::invalid_request(message, None));
            return;
        }
        match self.batches.open(batch, luggage, &mut self.in_flight) {
            Ok(messages) => self.rest.extend(messages),
            Err(answers) => self.put(answers),
        }
    }

    fn take_one(&mut self, read: Read) {
        match read {
            Read::Wrong(id, error) => self.answer(id, error),
            Read::Message(message) => {
                let is_request = match &*message {
                    JsonRpcMessage::Request(request) => {
                        let method = shown_line(request.request.method(), SHOWN);
                        tracing::debug!(id = %request.id, method, "a request");
                        true
                    }
                    _ => false,
                };
                self.has_begun |= begins(&message);
                // The protocol would end over a notification that comes too early.
                if self.has_begun || is_request {
                    self.rest.push_back(*message);
                }
            }
        }
    }

    /// A request that is cancelled gets no answer, which the others of its batch must not wait for.
    fn note_cancelled(&mut self, message: &ClientJsonRpcMessage) {
        if let JsonRpcMessage::Notification(notification) = message
            && let ClientNotification::CancelledNotification(cancelled) = &notification.notification
            && let Some(id) = &cancelled.params.request_id
        {
            self.in_flight.remove(id);
            if let Some(answers) = self.batches.give_up(id) {
                self.put(answers);
            }
        }
    }

    fn refuse(&self, id: Option<&Value>, problem: &Problem) {
        let code = match problem {
            Problem::NotJson(_) => ErrorCode::PARSE_ERROR,
            Problem::TooLarge { .. } | Problem::TooManyValues { .. } => ErrorCode::INVALID_REQUEST,
        };
        tracing::debug!(%problem, "a line can't be used");
        let error = ErrorData::new(code, problem.to_string(), None);
        self.answer(id.and_then(identifier), error);
    }

    fn answer(&self, id: Option<RequestId>, error: ErrorData) {
        self.put(ServerJsonRpcMessage::error(error, id).into());
    }

    /// Writes something that nobody waits for.
    fn put(&self, outgoing: Outgoing) {
        drop(self.writer.write(outgoing));
    }
}

/// The request that a message answers.
fn answered(message: &ServerJsonRpcMessage) -> Option<&RequestId> {
    match message {
        JsonRpcMessage::Response(response) => Some(&response.id),
        JsonRpcMessage::Error(error) => error.id.as_ref(),
        JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
    }
}

/// Whether a message says how the client wants to talk.
fn begins(message: &ClientJsonRpcMessage) -> bool {
    let JsonRpcMessage::Request(request) = message else {
        return false;
    };
    match &request.request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        other => reading::is_self_contained(other),
    }
}

impl Transport<RoleServer> for Wire {
    type Error = Deaf;

    fn name() -> Cow<'static, str> {
        Cow::Borrowed("stdio")
    }

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Deaf>> + Send + 'static {
        if let JsonRpcMessage::Response(response) = &message
            && let ServerResult::InitializeResult(agreed) = &response.result
        {
            let revision = agreed.protocol_version.clone();
            tracing::debug!(%revision, "agreed on a revision of the protocol");
            self.revision = Some(revision);
        }
        if let Some(id) = answered(&message) {
            self.in_flight.remove(id);
        }
        // In its place in the queue from now on, whoever waits for it first.
        let outgoing = self.batches.close(message);
        let written = outgoing.map(|outgoing| self.writer.write(outgoing));
        async move {
            match written {
                Some(written) => Ok(written.await?),
                None => Ok(()),
            }
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        let message = self.next().await;
        if message.is_none() {
            self.ended.cancel();
        }
        message
    }

    async fn close(&mut self) -> Result<(), Deaf> {
        self.ended.cancel();
        Ok(())
    }
}
