//! Turns of an agent: what is asked, what is heard meanwhile, what comes of it.

use std::fs::File;
use std::pin::Pin;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::engine::Pending;
use crate::questions::{ServerAnswer, ServerQuestion};

/// Answers messages with an agent.
pub trait ReplyEngine: Send + Sync {
    /// Has an agent answer a message. Dropping the answer stops the turn and the calls in it.
    fn reply<'a>(
        &'a self,
        request: ReplyRequest,
        audience: &'a dyn Audience,
    ) -> Pending<'a, ReplyReport>;
}

/// Who asks an agent: hears of the turn, and may be asked.
pub trait Audience: Send + Sync {
    /// Something happened. Must not wait for anything: whoever passes events on to somebody slow
    /// keeps only as much as it can bear.
    fn hear(&self, event: ReplyEvent);
    /// Whether somebody is there who can be asked.
    fn can_answer(&self) -> bool;
    /// Asks whether a tool may run. The question is withdrawn when this is dropped.
    fn approve(
        &self,
        question: ToolQuestion,
    ) -> Pin<Box<dyn Future<Output = ToolConsent> + Send + '_>>;
    /// Asks what a server wants to know. The question is withdrawn when this is dropped. Whoever has
    /// no way to show questions declines them.
    fn answer(
        &self,
        _question: ServerQuestion,
    ) -> Pin<Box<dyn Future<Output = ServerAnswer> + Send + '_>> {
        Box::pin(std::future::ready(ServerAnswer::Decline))
    }
}

/// Asks an agent.
#[derive(Clone, Debug, Default)]
pub struct ReplyRequest {
    /// The agent; the one of the session, or the default one, if none is named.
    pub agent: Option<String>,
    /// Which conversation it belongs to.
    pub session: SessionChoice,
    /// The message, as it was written.
    pub message: String,
    /// What comes with it.
    pub attachments: Vec<Attachment>,
    /// What was said before, for a session that has nothing yet: it is kept there as if it had been said
    /// in it. A session that has something goes on from that.
    pub earlier: Vec<EarlierMessage>,
    /// What the agent is told for this turn beside its own instructions.
    pub instructions: Option<String>,
    /// Another model than the agent's, as `provider/model`.
    pub model: Option<String>,
    /// Whether every tool may run without a question.
    pub approved: bool,
    /// What ties it to lines of the log.
    pub correlation: String,
}

/// Something that was said before, elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EarlierMessage {
    /// Who said it.
    pub speaker: EarlierSpeaker,
    /// What was said.
    pub text: String,
}

/// Who said something before, elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum EarlierSpeaker {
    /// The person.
    User,
    /// The agent.
    Assistant,
}

/// Which conversation a message belongs to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SessionChoice {
    /// The one that the agent goes on with.
    #[default]
    Main,
    /// The one of this name.
    Key(String),
    /// A new one, whose name begins like this.
    Fresh(String),
    /// The one that an editor knows by this identifier.
    Editor(String),
}

/// Something that comes with a message.
#[derive(Clone, Debug)]
pub struct Attachment {
    /// Its name, where it has one.
    pub name: Option<String>,
    /// Its type, as `image/png`.
    pub mime_type: String,
    /// Its bytes.
    pub data: AttachmentData,
}

/// The bytes of something that comes with a message.
#[derive(Clone, Debug)]
pub enum AttachmentData {
    /// Here, in base64.
    Base64(String),
    /// In a file that nobody else has: one without a name, which is gone with its last handle.
    File(Arc<File>),
}

/// Something that happened in a turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum ReplyEvent {
    /// The turn has begun.
    Started {
        /// The session.
        session_key: String,
        /// The model.
        model: String,
    },
    /// More of a text; the whole of it follows as a block or as the end.
    Partial {
        /// What is new.
        text: String,
    },
    /// More of what the model thinks.
    Reasoning {
        /// What is new.
        text: String,
    },
    /// Partials since the last block or the beginning don't count: the model is asked again.
    Retracted {
        /// Why.
        reason: String,
    },
    /// A whole text before the model went on.
    Block {
        /// The text.
        text: String,
    },
    /// A tool is called.
    ToolStarted {
        /// What its result refers to.
        id: String,
        /// The tool, as the model names it.
        name: String,
        /// Its server; none for tools of ours, and where there is no such tool.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        server: Option<String>,
        /// What the server calls it for people, in one line.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// What the server says about its effects.
        #[serde(default)]
        effect: ToolEffect,
        /// What it is called with.
        #[serde(default)]
        arguments: serde_json::Map<String, serde_json::Value>,
    },
    /// A call goes on.
    ToolProgress {
        /// Which one.
        id: String,
        /// How far it is, in the server's words.
        text: String,
    },
    /// A call has ended.
    ToolResult {
        /// Which one.
        id: String,
        /// How it ended.
        call: ToolCallReport,
        /// What the model reads: foreign text in its frame.
        text: String,
    },
    /// An image, or something else that is not text, from a tool.
    Media {
        /// What it is.
        part: ReplyPart,
    },
    /// An address for a person to open, in a browser on any machine.
    Visit {
        /// The address.
        url: String,
        /// What it is for, in one sentence.
        why: String,
    },
    /// Something a person should know.
    Notice {
        /// In one sentence.
        text: String,
    },
    /// What a command answers, to be shown as it is: no model wrote it.
    Answer {
        /// The text.
        text: String,
    },
    /// The last text of the turn.
    Final {
        /// The text.
        text: String,
    },
}

impl ReplyEvent {
    /// A tool is called, and no more is known about it.
    pub fn tool_started(id: impl Into<String>, name: impl Into<String>) -> Self {
        Self::ToolStarted {
            id: id.into(),
            name: name.into(),
            server: None,
            title: None,
            effect: ToolEffect::Unknown,
            arguments: serde_json::Map::new(),
        }
    }
}

/// What a tool does to the world, as far as its server says so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ToolEffect {
    /// It looks for something among what it knows.
    Searches,
    /// It only reads.
    Reads,
    /// It may change something, or its server does not say.
    #[default]
    Unknown,
}

/// A call of a tool in a turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCallReport {
    /// The tool, by the name that models use, also where it was called through another one.
    pub name: String,
    /// Its server; none if there is no such tool.
    pub server: Option<String>,
    /// Whether it failed.
    pub is_error: bool,
    /// How long it took.
    pub duration_ms: u64,
}

/// A part of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum ReplyPart {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// An image.
    Image {
        /// Its type.
        mime_type: String,
        /// Its bytes in base64.
        data: Arc<str>,
    },
    /// Sound.
    Audio {
        /// Its type.
        mime_type: String,
        /// Its bytes in base64.
        data: Arc<str>,
    },
    /// Any other file.
    Resource {
        /// Its name.
        name: String,
        /// Its type.
        mime_type: String,
        /// Its bytes in base64.
        data: Arc<str>,
    },
}

/// How many tokens a turn cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UsageReport {
    /// Read by the model, those from a cache included.
    pub input_tokens: u64,
    /// Written by the model.
    pub output_tokens: u64,
    /// Of those that it read, taken from a cache.
    pub cached_tokens: u64,
}

/// What came of a turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplyReport {
    /// The session.
    pub session_key: String,
    /// The model that had the last word, as `provider/model`.
    pub model: String,
    /// The last text.
    pub reply: String,
    /// All texts and media of the turn, in their order.
    pub parts: Vec<ReplyPart>,
    /// The calls, in their order.
    pub tool_calls: Vec<ToolCallReport>,
    /// What it cost, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<UsageReport>,
    /// Whether the last text ends where it does because the model may not say more at once.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut_off: bool,
}

/// Asks a person whether a tool may run. Every text is one line that does a terminal no harm; servers
/// and models wrote them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolQuestion {
    /// The call that it is about, as events name it.
    #[serde(default)]
    pub id: String,
    /// The agent that wants it.
    pub agent: String,
    /// The server.
    pub server: String,
    /// The tool, by its name at the server.
    pub tool: String,
    /// The tool, by the name that models use.
    pub name: String,
    /// What the server calls the tool for people.
    pub title: Option<String>,
    /// What the server says that the tool does.
    pub description: Option<String>,
    /// What it will be called with, the beginning of it: names and values as JSON.
    pub arguments: Vec<(String, String)>,
    /// How many arguments are not shown.
    pub more_arguments: usize,
}

/// What a person says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToolConsent {
    /// This once.
    Once,
    /// This time and from now on.
    Always,
    /// No.
    No,
}
