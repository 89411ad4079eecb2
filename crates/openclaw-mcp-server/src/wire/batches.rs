//! Batches of messages: taken apart on their way in, answered together on their way out.

use std::collections::{HashMap, HashSet};

use rmcp::model::{
    ClientJsonRpcMessage, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
};
use serde_json::Value;

use super::answered;
use super::reading::{Read, read};
use super::writer::Outgoing;
use crate::intake::Luggage;

/// How many messages a batch may have.
const MOST: usize = 64;

/// The batches that are not answered yet.
#[derive(Default)]
pub(super) struct Batches {
    open: Vec<Batch>,
    /// Which batch a request belongs to.
    members: HashMap<RequestId, u64>,
    next: u64,
}

struct Batch {
    number: u64,
    missing: usize,
    answers: Vec<ServerJsonRpcMessage>,
}

impl Batches {
    /// Takes a batch apart. Where there is nothing in it to be carried out, it is answered at once.
    pub(super) fn open(
        &mut self,
        values: Vec<Value>,
        luggage: &Luggage,
        in_flight: &mut HashSet<RequestId>,
    ) -> Result<Vec<ClientJsonRpcMessage>, Outgoing> {
        if values.is_empty() || values.len() > MOST {
            let message = format!("a batch has between 1 and {MOST} messages");
            let error = ErrorData::invalid_request(message, None);
            return Err(ServerJsonRpcMessage::error(error, None).into());
        }
        let number = self.next;
        self.next += 1;
        let mut messages = Vec::with_capacity(values.len());
        let mut answers = Vec::new();
        let mut missing = 0;
        for value in values {
            match read(&value, luggage).unless_in_flight(in_flight) {
                Read::Wrong(id, error) => answers.push(ServerJsonRpcMessage::error(error, id)),
                Read::Message(message) => {
                    if let JsonRpcMessage::Request(request) = &*message {
                        self.members.insert(request.id.clone(), number);
                        missing += 1;
                    }
                    messages.push(*message);
                }
            }
        }
        if missing == 0 && !answers.is_empty() {
            return Err(Outgoing::Batch(answers));
        }
        if missing > 0 {
            self.open.push(Batch {
                number,
                missing,
                answers,
            });
        }
        Ok(messages)
    }

    /// Takes a message that goes out, and says what is to be written: nothing where other answers of
    /// its batch are still to come.
    pub(super) fn close(&mut self, message: ServerJsonRpcMessage) -> Option<Outgoing> {
        let Some(place) = answered(&message).cloned().and_then(|id| self.leave(&id)) else {
            return Some(message.into());
        };
        if let Some(batch) = self.open.get_mut(place) {
            batch.answers.push(message);
        }
        self.complete(place)
    }

    /// Takes a request out of its batch that will not be answered, and says what is to be written: the
    /// others may have waited for it.
    pub(super) fn give_up(&mut self, id: &RequestId) -> Option<Outgoing> {
        let place = self.leave(id)?;
        self.complete(place)
    }

    /// Takes a request out of its batch, and says where that is.
    fn leave(&mut self, id: &RequestId) -> Option<usize> {
        let number = self.members.remove(id)?;
        let place = self.open.iter().position(|batch| batch.number == number)?;
        let batch = self.open.get_mut(place)?;
        batch.missing = batch.missing.saturating_sub(1);
        Some(place)
    }

    /// The answers of a batch, if they are all there.
    fn complete(&mut self, place: usize) -> Option<Outgoing> {
        if self.open.get(place)?.missing > 0 {
            return None;
        }
        let answers = self.open.swap_remove(place).answers;
        (!answers.is_empty()).then_some(Outgoing::Batch(answers))
    }
}
