//! What was said before, made fit for a model.

use std::collections::{HashMap, HashSet};

use openclaw_content::{ModelText, note};
use openclaw_conversation::{AnswerPart, Blob, Media, Message, ToolAnswer, ToolCall, UserPart};
use openclaw_models::ModelFacts;
use openclaw_sessions::{KeptMessage, SessionError, SessionStore, TurnState};

/// How many images and documents of earlier turns a model is sent at once, those of this turn counted.
const MOST_MEDIA: usize = 20;
/// How many bytes they may have together.
const MOST_MEDIA_BYTES: u64 = 20 * 1024 * 1024;
/// How many tools a model is taken to know.
const MOST_KNOWN: usize = 256;

/// Which files a model takes as they are. Of others it reads the text, or what they are called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) images: bool,
    pub(crate) documents: bool,
    /// What the documents of a message count for at most, in tokens.
    pub(crate) document_tokens: u64,
}

impl Taken {
    /// Those that this model takes.
    pub(crate) fn by(facts: &ModelFacts) -> Self {
        Self {
            images: facts.takes_images,
            documents: facts.takes_documents,
            // How many pages they have is a guess, and it must not crowd out everything else.
            document_tokens: facts.context_window / 4,
        }
    }

    /// Whether this is one of them.
    pub(crate) fn includes(self, media: &Media) -> bool {
        (self.images && media.is_image()) || (self.documents && media.is_document())
    }

    /// Whether this is sent as it is: its bytes have to be here.
    pub(crate) fn sends(self, media: &Media) -> bool {
        self.includes(media) && matches!(media.blob, Blob::Here(_))
    }
}

/// A conversation as a model reads it, and where each message of it is kept.
#[derive(Debug, Default)]
pub(crate) struct Conversation {
    messages: Vec<Message>,
    /// The number of each message in its session; of what we put in ourselves, that of the message
    /// before.
    numbers: Vec<u64>,
    /// Which files the model takes.
    taken: Taken,
}

impl Conversation {
    /// One in which nothing was said yet.
    pub(crate) fn new(taken: Taken) -> Self {
        Self {
            taken,
            ..Self::default()
        }
    }

    /// What was said before, without what a model can't make sense of.
    pub(crate) fn of(kept: Vec<KeptMessage>, taken: Taken) -> Self {
        let mut conversation = Self::new(taken);
        let mut kept = kept.into_iter().peekable();
        // A summary comes first, whenever it was made: it stands for everything before what follows.
        while let Some(summary) = kept.next_if(|it| matches!(it.message, Message::Summary { .. })) {
            let next = kept.peek().map(|next| next.number.saturating_sub(1));
            conversation.push(summary.message, next.unwrap_or(summary.number));
        }
        while let Some(first) = kept.next() {
            let (turn, state) = (first.turn, first.state);
            let mut messages = vec![first];
            while let Some(next) = kept.next_if(|next| next.turn == turn) {
                messages.push(next);
            }
            conversation.add_turn(messages, state);
        }
        conversation
    }

    fn add_turn(&mut self, mut messages: Vec<KeptMessage>, state: TurnState) {
        // Before what a person said in it may stand what was said before elsewhere.
        let is_said = |kept: &KeptMessage| matches!(kept.message, Message::User { .. });
        let asked = messages.iter().rposition(is_said).unwrap_or_default();
        let was_answered = messages.iter().skip(asked).any(|kept| match &kept.message {
            Message::Assistant(said) => !said.text().trim().is_empty() || said.calls().count() > 0,
            Message::User { .. } | Message::Tool(_) | Message::Summary { .. } => false,
        });
        // What no model took must not stand in the way of what is asked now.
        if state == TurnState::Failed && !was_answered {
            messages.truncate(asked);
        }
        let from = self.len();
        for kept in messages {
            self.push(kept.message, kept.number);
        }
        self.close_calls(from);
        if state == TurnState::Interrupted {
            let text = note(
                "The turn before was cut off here. Calls in it may have had effects.",
                &[],
            );
            let parts = vec![UserPart::Foreign { text }];
            self.push(Message::User { parts }, self.last_number());
        }
    }

    /// Adds a message that is kept under this number.
    pub(crate) fn push(&mut self, message: Message, number: u64) {
        self.messages.push(message);
        self.numbers.push(number);
    }

    /// From this message on, puts the answers to calls into the order of the calls, and answers those
    /// that have none: services refuse a call without an answer, and an answer without a call.
    pub(crate) fn close_calls(&mut self, from: usize) {
        let messages = self.messages.split_off(from.min(self.len()));
        let numbers = self.numbers.split_off(self.messages.len());
        let mut rest = messages.into_iter().zip(numbers).peekable();
        while let Some((message, number)) = rest.next() {
            let calls: Vec<ToolCall> = match &message {
                Message::Assistant(asking) => asking.calls().cloned().collect(),
                Message::Tool(_) => continue,
                Message::User { .. } | Message::Summary { .. } => Vec::new(),
            };
            self.push(message, number);
            if calls.is_empty() {
                continue;
            }
            let mut answers: HashMap<String, (ToolAnswer, u64)> = HashMap::new();
            while let Some((message, number)) =
                rest.next_if(|(message, _)| matches!(message, Message::Tool(_)))
            {
                if let Message::Tool(answer) = message {
                    answers.insert(answer.call.clone(), (answer, number));
                }
            }
            for call in &calls {
                let (answer, number) = answers
                    .remove(&call.id)
                    .unwrap_or_else(|| (unanswered(call), number));
                self.push(Message::Tool(answer), number);
            }
        }
    }

    /// Fetches the images and documents that the model takes, the last ones first and within bounds: of
    /// the others the model reads the text, or what they are called. Those of this turn are here.
    pub(crate) async fn fetch_media(
        &mut self,
        store: &dyn SessionStore,
    ) -> Result<(), SessionError> {
        let taken = self.taken;
        let (mut count, mut bytes) = (0, 0);
        for message in self.messages.iter_mut().rev() {
            for media in media_of(message) {
                if !taken.includes(media) {
                    continue;
                }
                count += 1;
                bytes += media.bytes;
                if count > MOST_MEDIA || bytes > MOST_MEDIA_BYTES {
                    return Ok(());
                }
                if let Blob::Kept(id) = &media.blob
                    && let Some(data) = store.blob(id).await?
                {
                    media.blob = Blob::Here(data.into());
                }
            }
        }
        Ok(())
    }

    /// The images and documents of the first messages of which the model gets nothing but the name,
    /// though there is more, or was for another model.
    pub(crate) fn named_files(&self, count: usize) -> impl Iterator<Item = &Media> {
        let taken = self.taken;
        let media = self.messages.iter().take(count).flat_map(Message::media);
        media.filter(move |media| {
            let is_file = media.is_document() || taken.includes(media);
            is_file && media.text.is_none() && !taken.sends(media)
        })
    }

    /// Puts something before what a person said last, for as long as the conversation is in memory.
    pub(crate) fn put_before_last(&mut self, foreign: impl IntoIterator<Item = ModelText>) {
        if let Some(Message::User { parts }) = self.messages.last_mut() {
            let foreign = foreign.into_iter();
            let foreign = foreign.map(|text| UserPart::Foreign { text });
            parts.splice(..0, foreign);
        }
    }

    /// Which files the model takes.
    pub(crate) fn taken(&self) -> Taken {
        self.taken
    }

    pub(crate) fn messages(&self) -> &[Message] {
        &self.messages
    }

    pub(crate) fn messages_mut(&mut self) -> &mut [Message] {
        &mut self.messages
    }

    pub(crate) fn len(&self) -> usize {
        self.messages.len()
    }

    /// Puts a message into the place of the first ones.
    pub(crate) fn replace_first(&mut self, count: usize, message: Message) {
        let number = self.number_before(count);
        self.messages.splice(..count, [message]);
        self.numbers.splice(..count, [number]);
    }

    /// The number of the last of the first messages.
    pub(crate) fn number_before(&self, count: usize) -> u64 {
        let numbers = self.numbers.get(..count).unwrap_or(&self.numbers);
        numbers.iter().copied().max().unwrap_or_default()
    }

    fn last_number(&self) -> u64 {
        self.numbers.last().copied().unwrap_or_default()
    }

    /// The tools that a model has come to know in the first messages by a search, a description or a
    /// call, the last first. Some may be gone.
    pub(crate) fn known_tools(&self, count: usize) -> Vec<String> {
        let mut seen: HashSet<&str> = HashSet::new();
        let mut known = Vec::new();
        let messages = self.messages.get(..count).unwrap_or(&self.messages);
        for message in messages.iter().rev() {
            let (used, found): (&[&str], &[String]) = match message {
                Message::Tool(answer) => (
                    &[answer.called.as_ref().unwrap_or(&answer.name).as_str()],
                    &answer.found,
                ),
                Message::Summary { tools, .. } => (&[], tools),
                Message::User { .. } | Message::Assistant(_) => continue,
            };
            let names = used.iter().copied().chain(found.iter().map(String::as_str));
            for name in names {
                if known.len() == MOST_KNOWN {
                    return known;
                }
                if seen.insert(name) {
                    known.push(name.to_owned());
                }
            }
        }
        known
    }

    /// The identifiers of all calls.
    pub(crate) fn call_ids(&self) -> impl Iterator<Item = &str> {
        let messages = self.messages.iter();
        let asking = messages.filter_map(|message| match message {
            Message::Assistant(asking) => Some(asking),
            _ => None,
        });
        asking.flat_map(|asking| asking.calls().map(|call| call.id.as_str()))
    }
}

/// What stands for an answer that never came.
fn unanswered(call: &ToolCall) -> ToolAnswer {
    let text = note(
        "The turn was cut off before the call had a result. It is not known whether it was carried \
         out; it must not simply be repeated.",
        &[],
    );
    ToolAnswer {
        call: call.id.clone(),
        name: call.name.clone(),
        server: None,
        parts: vec![AnswerPart::Text { text }],
        is_error: true,
        duration_ms: 0,
        called: None,
        found: Vec::new(),
    }
}

/// All media of a message.
fn media_of(message: &mut Message) -> impl Iterator<Item = &mut Media> {
    let (of_user, of_tool) = match message {
        Message::User { parts } => (Some(parts), None),
        Message::Tool(answer) => (None, Some(&mut answer.parts)),
        Message::Assistant(_) | Message::Summary { .. } => (None, None),
    };
    let of_user = of_user.into_iter().flatten().filter_map(|part| match part {
        UserPart::Media(media) => Some(media),
        UserPart::Text { .. } | UserPart::Foreign { .. } => None,
    });
    let of_tool = of_tool.into_iter().flatten().filter_map(|part| match part {
        AnswerPart::Media(media) => Some(media),
        AnswerPart::Text { .. } => None,
    });
    of_user.chain(of_tool)
}

#[cfg(test)]
pub(crate) mod tests;
