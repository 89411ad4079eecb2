//! Who said what.

use openclaw_content::ModelText;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::call::{AnswerPart, ToolAnswer, ToolCall};
use crate::media::Media;
use crate::usage::Usage;

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "camelCase")]
pub enum Message {
    /// What a person said.
    User {
        /// Its parts, in their order.
        parts: Vec<UserPart>,
    },
    /// What a model said.
    Assistant(AssistantMessage),
    /// The answer to one call of a tool. Those of one message of a model follow it, in the order in
    /// which they came.
    Tool(ToolAnswer),
    /// What stands for everything before it.
    Summary {
        /// The summary.
        text: ModelText,
        /// The tools that the model had come to know in what it stands for, the last first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tools: Vec<String>,
    },
}

impl Message {
    /// The images and other files in it.
    pub fn media(&self) -> impl Iterator<Item = &Media> {
        let (of_user, of_tool): (&[UserPart], &[AnswerPart]) = match self {
            Self::User { parts } => (parts, &[]),
            Self::Tool(answer) => (&[], &answer.parts),
            Self::Assistant(_) | Self::Summary { .. } => (&[], &[]),
        };
        let of_user = of_user.iter().filter_map(|part| match part {
            UserPart::Media(media) => Some(media),
            UserPart::Text { .. } | UserPart::Foreign { .. } => None,
        });
        let of_tool = of_tool.iter().filter_map(|part| match part {
            AnswerPart::Media(media) => Some(media),
            AnswerPart::Text { .. } => None,
        });
        of_user.chain(of_tool)
    }
}

/// A part of what a person said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum UserPart {
    /// In their own words.
    Text {
        /// The words.
        text: String,
    },
    /// In the words of others: a file, a resource.
    Foreign {
        /// The words, framed.
        text: ModelText,
    },
    /// An image or another file.
    Media(Media),
}

/// What a model said.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AssistantMessage {
    /// Its parts, in their order.
    pub parts: Vec<AssistantPart>,
    /// Which model, as `provider/model`.
    pub model: String,
    /// What it cost, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

impl AssistantMessage {
    /// The calls that it asks for.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.parts.iter().filter_map(|part| match part {
            AssistantPart::ToolCall(call) => Some(call),
            AssistantPart::Text { .. } | AssistantPart::Reasoning { .. } => None,
        })
    }

    /// All that it says, one part after the other.
    pub fn text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            AssistantPart::Text { text } => Some(text.as_str()),
            AssistantPart::ToolCall(_) | AssistantPart::Reasoning { .. } => None,
        });
        texts.collect()
    }
}

/// A part of what a model said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum AssistantPart {
    /// What it says.
    Text {
        /// The words.
        text: String,
    },
    /// What it thinks.
    Reasoning {
        /// The words, as far as the service shows them.
        text: String,
        /// What the service wants to have back with them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        opaque: Option<Opaque>,
    },
    /// A call that it asks for.
    ToolCall(ToolCall),
}

/// Something of a service that only that service understands, and that it wants to have back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Opaque {
    /// Whose it is: the protocol of the service, and the model. It is sent to no other.
    pub owner: String,
    /// What it is.
    pub data: Value,
}
