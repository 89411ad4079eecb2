//! What waits for the editor, within limits.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use agent_client_protocol::Client;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    ContentBlock, ContentChunk, SessionId, SessionUpdate, ToolCall,
};
use tokio::sync::{Notify, watch};

use super::places::Places;
use crate::flow::Flow;

/// How many bytes may wait before the turn does.
const LIMIT: usize = 16 * 1024 * 1024;
/// How long a text may be to which the next is added.
const TOGETHER: usize = 64 * 1024;

/// Something to be told.
#[derive(Debug)]
pub(super) struct Item {
    update: SessionUpdate,
    /// Where the call is at work that begins with it.
    places: Places,
    /// About how many bytes it has.
    bytes: usize,
}

impl Item {
    /// Something of about so many bytes.
    pub(super) fn new(update: SessionUpdate, bytes: usize) -> Self {
        Self {
            update,
            places: Places::default(),
            bytes,
        }
    }

    /// A call that is at work at some places.
    pub(super) fn call(call: ToolCall, places: Places, bytes: usize) -> Self {
        Self {
            update: SessionUpdate::ToolCall(call),
            places,
            bytes,
        }
    }

    /// It, as the editor is told.
    pub(super) async fn told(self) -> (SessionUpdate, usize) {
        let mut update = self.update;
        if let SessionUpdate::ToolCall(call) = &mut update {
            call.locations = self.places.found().await;
        }
        (update, self.bytes)
    }

    /// Adds a text that goes on with this one. Returns how many bytes that were, or nothing if it does not.
    fn join(&mut self, next: &Self) -> Option<usize> {
        let ((SessionUpdate::AgentMessageChunk(mine), SessionUpdate::AgentMessageChunk(more))
        | (SessionUpdate::AgentThoughtChunk(mine), SessionUpdate::AgentThoughtChunk(more))) =
            (&mut self.update, &next.update)
        else {
            return None;
        };
        if mine.message_id.is_none() || mine.message_id != more.message_id {
            return None;
        }
        let ContentBlock::Text(more) = &more.content else {
            return None;
        };
        let mine = text_of(mine).filter(|mine| mine.len() < TOGETHER)?;
        mine.push_str(&more.text);
        self.bytes += more.text.len();
        Some(more.text.len())
    }
}

fn text_of(chunk: &mut ContentChunk) -> Option<&mut String> {
    match &mut chunk.content {
        ContentBlock::Text(text) => Some(&mut text.text),
        _ => None,
    }
}

/// What waits for the editor.
pub(super) struct Outbox {
    queue: Mutex<Queue>,
    news: Notify,
    /// How many items were told.
    told: watch::Sender<u64>,
}

#[derive(Default)]
struct Queue {
    items: VecDeque<Item>,
    bytes: usize,
    /// How many items were ever put here.
    count: u64,
}

impl Default for Outbox {
    fn default() -> Self {
        Self {
            queue: Mutex::default(),
            news: Notify::new(),
            told: watch::Sender::new(0),
        }
    }
}

impl Outbox {
    /// Puts something behind all that waits. Waits for nothing.
    pub(super) fn put(&self, item: Item) {
        let mut queue = self.queue();
        let joined = queue.items.back_mut().and_then(|last| last.join(&item));
        if let Some(bytes) = joined {
            queue.bytes += bytes;
            return;
        }
        queue.bytes += item.bytes;
        queue.count += 1;
        queue.items.push_back(item);
        drop(queue);
        self.news.notify_one();
    }

    /// Whether more waits than should.
    pub(super) fn is_full(&self) -> bool {
        self.queue().bytes >= LIMIT
    }

    /// Tells the editor, as fast as it reads. This never ends by itself.
    pub(super) async fn pass_on(
        &self,
        flow: &Flow,
        connection: &ConnectionTo<Client>,
        session: &SessionId,
    ) {
        loop {
            let Some(item) = self.take() else {
                self.news.notified().await;
                continue;
            };
            let (update, bytes) = item.told().await;
            let sent = flow.send_at_leisure(connection, session, update, bytes);
            if sent.await.is_err() {
                // Nobody is there; whoever waits for this learns it elsewhere.
                std::future::pending::<()>().await;
            }
            self.told.send_modify(|count| *count += 1);
        }
    }

    /// Waits until everything is told that is here now.
    pub(super) async fn all_told(&self) {
        let count = self.queue().count;
        let mut told = self.told.subscribe();
        // It is never closed: the other end is ours.
        let _ = told.wait_for(|told| *told >= count).await;
    }

    /// Waits until something more is told.
    pub(super) async fn more_told(&self) {
        let _ = self.told.subscribe().changed().await;
    }

    fn take(&self) -> Option<Item> {
        let mut queue = self.queue();
        let item = queue.items.pop_front()?;
        queue.bytes -= item.bytes.min(queue.bytes);
        Some(item)
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notices::chunk;

    fn text(text: &str, id: &'static str) -> Item {
        let chunk = chunk(text).message_id(agent_client_protocol::v1::schema::MessageId::new(id));
        Item::new(SessionUpdate::AgentMessageChunk(chunk), text.len())
    }

    #[test]
    fn texts_that_wait_become_one_and_others_do_not() {
        let outbox = Outbox::default();
        for (words, id) in [("a", "1"), ("b", "1"), ("c", "2"), ("d", "2")] {
            outbox.put(text(words, id));
        }
        assert_eq!(outbox.queue().items.len(), 2);
        assert_eq!(outbox.queue().bytes, 4);
        let first = serde_json::to_value(outbox.take().unwrap().update).unwrap();
        assert_eq!(first["content"]["text"], "ab");
        assert_eq!(outbox.queue().bytes, 2);
    }

    #[test]
    fn it_is_full_by_bytes() {
        let outbox = Outbox::default();
        let long = "x".repeat(LIMIT / 4);
        for number in 0..4 {
            assert!(!outbox.is_full(), "{number}");
            outbox.put(text(&long, "1"));
        }
        assert!(outbox.is_full());
        outbox.take();
        assert!(!outbox.is_full());
    }
}
