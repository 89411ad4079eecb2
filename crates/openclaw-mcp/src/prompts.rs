//! Prompts of servers, filled in for a model: with the same care as a result of a tool.

use std::sync::Arc;

use openclaw_content::Origin;
use openclaw_mcp_client::{Content, Embedded, PromptResult, ToolResult};
use serde_json::{Map, Value};
use thiserror::Error;

use crate::call::{Approval, Call, Part, ResultOf, ToolChoice};
use crate::redaction::hide_result;
use crate::servers::{AgentPlan, PlannedServer, Servers};

/// How many images and other files of a prompt a model gets.
const MEDIA: usize = 10;

/// A prompt that is to be filled in.
pub struct PromptCall<'a> {
    /// For whom.
    pub agent: &'a AgentPlan,
    /// The session.
    pub session: &'a str,
    /// Its server.
    pub server: &'a Arc<PlannedServer>,
    /// Its name.
    pub name: &'a str,
    /// What it is filled in with.
    pub arguments: Map<String, Value>,
    /// What ties it to lines of the log.
    pub correlation: &'a str,
}

/// Why a prompt was not filled in, in words for people that may hold words of others.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{problem}")]
pub struct PromptError {
    problem: String,
    /// Whether a person has to log in first.
    pub needs_login: bool,
}

impl Servers {
    /// What a model gets of a prompt: its messages in one frame, within the limits of the server, and
    /// then what is not text. A server that rests is started.
    pub async fn prompt(&self, asked: PromptCall<'_>) -> Result<Vec<Part>, PromptError> {
        let connection = self.ready(asked.server, Some(asked.session)).await;
        let connection = connection.map_err(|not_ready| PromptError {
            problem: if not_ready.reason.is_empty() {
                not_ready.told.to_owned()
            } else {
                format!("{}: {}", not_ready.told, self.hidden(&not_ready.reason))
            },
            needs_login: not_ready.needs_login,
        })?;
        let filled = connection.get_prompt(asked.name, asked.arguments, None);
        let filled = filled.await.map_err(|error| PromptError {
            problem: self.hidden(&error.to_string()),
            needs_login: false,
        })?;
        let mut result = as_result(filled);
        hide_result(&mut result, &self.redactor);
        let call = Call {
            agent: asked.agent,
            session: Some(asked.session),
            tool: ToolChoice::Name(asked.name),
            arguments: Map::new(),
            correlation: asked.correlation,
            persons: None,
            approval: Approval::Given,
            progress: None,
            for_model: true,
        };
        let of = ResultOf {
            server: asked.server,
            item: asked.name,
            output: None,
        };
        let origin = Origin::new(asked.server.name(), asked.name);
        Ok(self.present(&call, &of, &origin, &result).await)
    }

    fn hidden(&self, text: &str) -> String {
        self.redactor.redact_learned(text).into_owned()
    }
}

/// The messages of a prompt one after the other; who says each is told where it is not the person.
fn as_result(prompt: PromptResult) -> ToolResult {
    let mut content = Vec::new();
    let mut media = 0_usize;
    for message in prompt.messages {
        if message.role != "user" {
            content.push(text(format!("(said by {})", message.role)));
        }
        let is_media = matches!(
            &message.content,
            Content::Image { .. }
                | Content::Audio { .. }
                | Content::Resource(Embedded { blob: Some(_), .. })
        );
        media += usize::from(is_media);
        if is_media && media > MEDIA {
            continue;
        }
        content.push(message.content);
    }
    if media > MEDIA {
        content.push(text(format!("({} more files are left out)", media - MEDIA)));
    }
    ToolResult {
        content,
        ..ToolResult::default()
    }
}

fn text(text: String) -> Content {
    Content::Text {
        text,
        annotations: None,
    }
}
