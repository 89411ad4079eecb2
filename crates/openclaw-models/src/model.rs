//! What a model is asked, and what it answers.

use std::pin::Pin;

use openclaw_conversation::{AssistantMessage, Message};

use crate::error::ModelError;
use crate::tools::ToolSet;

/// What a model is asked.
#[derive(Clone, Copy, Debug)]
pub struct ModelRequest<'a> {
    /// What it is to be.
    pub system: SystemPrompt<'a>,
    /// What was said so far; the last message is what it answers.
    pub messages: &'a [Message],
    /// What it may call.
    pub tools: &'a ToolSet,
    /// How many tokens it may answer with, where that is less than it could.
    pub max_tokens: Option<u64>,
}

/// What a model is to be.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemPrompt<'a> {
    /// What stays the same from turn to turn, so that services can keep it.
    pub stable: &'a str,
    /// What may be different the next time; it follows.
    pub current: &'a str,
}

/// What is heard of an answer while it comes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelEvent {
    /// More of its text.
    Text(String),
    /// More of what it thinks.
    Reasoning(String),
    /// What was heard since the request was made does not count: it is asked again, or another model
    /// is.
    Retracted {
        /// Why, in one sentence.
        reason: String,
    },
    /// Something that a person should know; the answer goes on.
    Notice {
        /// In one sentence.
        text: String,
    },
}

/// Who hears of an answer while it comes; must not wait for anything.
pub type ModelListener<'l> = dyn FnMut(ModelEvent) + Send + 'l;

/// Why a model stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It had said everything.
    Done,
    /// It wants tools to be called.
    Calls,
    /// It may not say more: there is a limit on tokens.
    Length,
    /// The service does not let it answer this.
    Refused,
}

/// An answer, which is whole: what breaks off is an error.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelReply {
    /// What the model said.
    pub message: AssistantMessage,
    /// Why it stopped.
    pub stop: Stop,
}

/// An answer that is still to come. Dropping it gives it up.
pub type PendingReply<'a> =
    Pin<Box<dyn Future<Output = Result<ModelReply, ModelError>> + Send + 'a>>;

/// What is known about a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelFacts {
    /// How many tokens it can hold.
    pub context_window: u64,
    /// How many tokens it may answer with.
    pub max_tokens: u64,
    /// Whether it takes images.
    pub takes_images: bool,
    /// Whether it takes documents, which are PDF.
    pub takes_documents: bool,
    /// How many tools its service takes, where there is a limit.
    pub most_tools: Option<usize>,
}

/// A model.
pub trait Model: Send + Sync {
    /// What it is called: `provider/model`.
    fn name(&self) -> &str;
    /// What is known about it.
    fn facts(&self) -> &ModelFacts;
    /// Asks it. Of images and other files that it does not take, the text is sent, or what they are
    /// called.
    fn reply<'a>(
        &'a self,
        request: ModelRequest<'a>,
        listener: &'a mut ModelListener<'_>,
    ) -> PendingReply<'a>;
}
