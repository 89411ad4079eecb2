//! Sessions: which there are, and what was said in them.

use std::collections::HashMap;
use std::time::Duration;

use openclaw_agent::TurnError;
use openclaw_conversation::{
    AnswerPart, CallArguments, Media, Message, ToolAnswer, ToolCall, UserPart,
};
use openclaw_engine::{
    AskedCall, DeletedSession, EngineFailure, MediaReport, MessageReport, OneSession,
    SessionReport, SessionTranscript, SessionsQuery, SessionsReport, Speaker, ToolCallReport,
};
use openclaw_mcp::written_moment;
use openclaw_sessions::{
    KeptMessage, SessionFilter, SessionKey, SessionSummary, TurnState, stores_set_aside,
};
use serde_json::Value;

use crate::runtime::Runtime;
use crate::unknown::nearest;

/// How long a turn that runs may hold up the deletion of its session.
const PATIENCE: Duration = Duration::from_secs(10);

impl Runtime {
    pub(super) async fn answer_sessions(
        &self,
        query: SessionsQuery,
    ) -> Result<SessionsReport, EngineFailure> {
        let agent = match query.agent.as_deref() {
            Some(name) => Some(self.agent(Some(name))?.agent.id.clone()),
            None => None,
        };
        let found = self.sessions.list(SessionFilter { agent }).await;
        let found = found.map_err(TurnError::from)?;
        let set_aside = stores_set_aside(self.state.path()).into_iter();
        let set_aside = set_aside.map(|path| path.display().to_string());
        Ok(SessionsReport {
            sessions: found.iter().map(summary).collect(),
            problems: self.sessions.remarks(),
            set_aside: set_aside.collect(),
        })
    }

    pub(super) async fn answer_session(
        &self,
        query: OneSession,
    ) -> Result<SessionTranscript, EngineFailure> {
        let key = self.session_key(&query)?;
        let kept = self.sessions.show(&key).await;
        match kept.map_err(TurnError::from)? {
            Some(messages) => Ok(SessionTranscript {
                key: key.as_str().to_owned(),
                messages: transcript(messages),
            }),
            None => Err(self.no_session(&key).await),
        }
    }

    pub(super) async fn answer_delete_session(
        &self,
        query: OneSession,
    ) -> Result<DeletedSession, EngineFailure> {
        let key = self.session_key(&query)?;
        let deleted = self.sessions.delete(&key, PATIENCE).await;
        if !deleted.map_err(TurnError::from)? {
            return Err(self.no_session(&key).await);
        }
        Ok(DeletedSession {
            key: key.as_str().to_owned(),
        })
    }

    /// The session that is meant. One of an agent that is gone can still be looked at.
    fn session_key(&self, query: &OneSession) -> Result<SessionKey, EngineFailure> {
        let agent = self.agent(query.agent.as_deref())?;
        let key = SessionKey::parse_existing(&query.key, &agent.agent.id);
        let key = key.map_err(TurnError::from)?;
        if query.agent.is_some() && *key.agent() != agent.agent.id {
            return Err(EngineFailure::from(TurnError::OtherAgent {
                owner: key.agent().to_string(),
                asked: agent.agent.id.to_string(),
            }));
        }
        Ok(key)
    }

    async fn no_session(&self, key: &SessionKey) -> EngineFailure {
        let message = format!("there is no session `{}`", key.as_str());
        let known = self.sessions.list(SessionFilter::default()).await;
        let known = known.unwrap_or_default();
        // All keys of an agent begin alike, which would make all of them near.
        let prefix = format!("agent:{}:", key.agent());
        let rests = known
            .iter()
            .filter_map(|it| it.key.as_str().strip_prefix(&prefix));
        let rest = key.as_str().strip_prefix(&prefix).unwrap_or_default();
        let hint = match nearest(rest, rests) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`openclaw sessions` lists them".to_owned(),
        };
        let remarks = self.sessions.remarks();
        let hint = match remarks.first() {
            Some(remark) => format!("{hint}; {remark}"),
            None => hint,
        };
        EngineFailure::asker("unknown-session", message).hint(hint)
    }
}

fn summary(found: &SessionSummary) -> SessionReport {
    SessionReport {
        key: found.key.as_str().to_owned(),
        agent: found.key.agent().to_string(),
        messages: found.messages,
        created_at: written_moment(found.created),
        updated_at: written_moment(found.updated),
    }
}

fn transcript(kept: Vec<KeptMessage>) -> Vec<MessageReport> {
    // Identifiers of calls are unique in a turn; over many of them services repeat theirs.
    let mut outcomes: HashMap<(u64, String), ToolCallReport> = HashMap::new();
    for kept in &kept {
        if let Message::Tool(answer) = &kept.message {
            outcomes.insert((kept.turn, answer.call.clone()), outcome(answer));
        }
    }
    kept.into_iter()
        .map(|kept| {
            let outcome = |id: &str| outcomes.get(&(kept.turn, id.to_owned())).cloned();
            let mut report = message(kept.message, &outcome);
            report.interrupted = kept.state == TurnState::Interrupted;
            report.failed = kept.state == TurnState::Failed;
            report.running = kept.state == TurnState::Running;
            report.time = written_moment(kept.time);
            report
        })
        .collect()
}

fn message(message: Message, outcome: &dyn Fn(&str) -> Option<ToolCallReport>) -> MessageReport {
    match message {
        Message::User { parts } => {
            let (mut texts, mut media) = (Vec::new(), Vec::new());
            for part in parts {
                match part {
                    UserPart::Text { text } => texts.push(text),
                    UserPart::Foreign { text } => texts.push(text.into_string()),
                    UserPart::Media(it) => media.push(media_report(&it)),
                }
            }
            MessageReport {
                media,
                ..MessageReport::said(Speaker::User, texts.join("\n"))
            }
        }
        Message::Assistant(message) => MessageReport {
            tool_calls: message.calls().map(|call| asked(call, outcome)).collect(),
            model: Some(message.model.clone()),
            ..MessageReport::said(Speaker::Assistant, message.text())
        },
        Message::Tool(answer) => {
            let (mut texts, mut media) = (Vec::new(), Vec::new());
            for part in &answer.parts {
                match part {
                    AnswerPart::Text { text } => texts.push(text.as_str()),
                    AnswerPart::Media(it) => media.push(media_report(it)),
                }
            }
            MessageReport {
                call: Some(answer.call.clone()),
                tool_name: Some(answer.name.clone()),
                is_error: Some(answer.is_error),
                media,
                ..MessageReport::said(Speaker::Tool, texts.join("\n"))
            }
        }
        Message::Summary { text, .. } => MessageReport::said(Speaker::Summary, text.into_string()),
    }
}

fn asked(call: &ToolCall, outcome: &dyn Fn(&str) -> Option<ToolCallReport>) -> AskedCall {
    AskedCall {
        id: call.id.clone(),
        name: call.name.clone(),
        arguments: match &call.arguments {
            CallArguments::Object(object) => Value::Object(object.clone()),
            CallArguments::Broken { text, .. } => Value::String(text.clone()),
        },
        outcome: outcome(&call.id),
    }
}

fn outcome(answer: &ToolAnswer) -> ToolCallReport {
    ToolCallReport {
        name: answer.name.clone(),
        server: answer.server.clone(),
        is_error: answer.is_error,
        duration_ms: answer.duration_ms,
    }
}

fn media_report(media: &Media) -> MediaReport {
    MediaReport {
        mime_type: media.mime_type.clone(),
        name: media.name.clone(),
        bytes: media.bytes,
    }
}
