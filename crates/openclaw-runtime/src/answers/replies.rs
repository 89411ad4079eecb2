//! Messages: answered by an agent, or without one where they are commands.

use std::sync::Arc;

use openclaw_content::{shown_line, workspace_text};
use openclaw_engine::{
    Audience, EngineFailure, Pending, ReplyEngine, ReplyEvent, ReplyPart, ReplyReport,
    ReplyRequest, ToolCallReport,
};
use openclaw_mcp::AgentPlan;
use openclaw_sessions::SessionKey;
use openclaw_slash::{McpAsked, Spoken, answer_mcp, help};

use crate::answers::skilled::{self, SkillCalled};
use crate::runtime::Runtime;
use crate::unknown;

/// How much of a name is shown.
const NAME: usize = 100;
/// What answers commands, in the place of a model.
const COMMANDS: &str = "builtin/commands";

impl ReplyEngine for Runtime {
    fn reply<'a>(
        &'a self,
        request: ReplyRequest,
        audience: &'a dyn Audience,
    ) -> Pending<'a, ReplyReport> {
        let answered = self.answer_reply(request, audience);
        Box::pin(self.telemetry.around(answered))
    }
}

/// A command that was answered.
struct Answered {
    text: String,
    calls: Vec<ToolCallReport>,
}

impl From<String> for Answered {
    fn from(text: String) -> Self {
        Self {
            text,
            calls: Vec::new(),
        }
    }
}

/// What a message that begins with a slash comes to.
enum Outcome {
    /// An answer, which is not kept.
    Answered(Answered),
    /// What the agent answered.
    Reply(ReplyReport),
}

impl Runtime {
    async fn answer_reply(
        &self,
        request: ReplyRequest,
        audience: &dyn Audience,
    ) -> Result<ReplyReport, EngineFailure> {
        if Spoken::read(&request.message).is_none() {
            let turn = self.observer.turn();
            return Ok(turn.went(self.agents.reply(request, audience).await)?);
        }
        let (plan, key) = self.agents.meant(&request)?;
        let spoken = Box::pin(self.spoken(request, &plan, &key, audience)).await;
        let answered = match spoken.map_err(harmless)? {
            Outcome::Reply(report) => return Ok(report),
            Outcome::Answered(answered) => answered,
        };
        let text = self.redactor.redact_learned(&answered.text).into_owned();
        audience.hear(ReplyEvent::Answer { text: text.clone() });
        Ok(ReplyReport {
            session_key: key.as_str().to_owned(),
            model: COMMANDS.to_owned(),
            reply: text.clone(),
            parts: vec![ReplyPart::Text { text }],
            tool_calls: answered.calls,
            usage: None,
            cut_off: false,
        })
    }

    /// Does what a message that begins with a slash says: a command of ours, a prompt of a server, a
    /// skill; whatever else it is, is for the model.
    async fn spoken(
        &self,
        request: ReplyRequest,
        plan: &Arc<AgentPlan>,
        key: &SessionKey,
        audience: &dyn Audience,
    ) -> Result<Outcome, EngineFailure> {
        let Some(spoken) = Spoken::read(&request.message) else {
            return self.told(request, audience).await;
        };
        match spoken.name.to_ascii_lowercase().as_str() {
            "mcp" => return self.manage(plan, key, spoken.rest, audience).await,
            "help" => {
                let commands = self.commands_of(plan, Some(key.as_str()));
                return Ok(Outcome::Answered(help(&commands).into()));
            }
            _ => {}
        }
        let prompted = self.prompted(plan, key, &spoken, &request.correlation);
        if let Some(beside) = Box::pin(prompted).await? {
            let request = ReplyRequest {
                message: beside.message,
                ..request
            };
            let reply = self.agents.reply_beside(request, beside.parts, audience);
            let turn = self.observer.turn();
            return Ok(Outcome::Reply(turn.went(Box::pin(reply).await)?));
        }
        match skilled::called(&self.agents, plan, spoken)? {
            None => {
                self.check_slip(plan, key, spoken)?;
                self.told(request, audience).await
            }
            Some(SkillCalled::Text(text)) => Ok(Outcome::Answered(text.into())),
            Some(SkillCalled::Mcp(rest)) => self.manage(plan, key, &rest, audience).await,
            Some(SkillCalled::Message(message)) => {
                let request = ReplyRequest { message, ..request };
                self.told(request, audience).await
            }
            Some(SkillCalled::Tool(command)) => {
                let dispatching =
                    skilled::dispatched(&self.agents, plan, key, &command, &request, audience);
                let (text, call) = Box::pin(dispatching).await;
                Ok(Outcome::Answered(Answered {
                    text,
                    calls: vec![call],
                }))
            }
        }
    }

    /// Refuses what is nearly a command: whoever types one does not want a model to read it, and what
    /// follows it may be a credential.
    fn check_slip(
        &self,
        plan: &AgentPlan,
        key: &SessionKey,
        spoken: Spoken<'_>,
    ) -> Result<(), EngineFailure> {
        if !spoken.looks_like_a_command() {
            return Ok(());
        }
        let commands = self.commands_of(plan, Some(key.as_str()));
        let names = commands.iter().map(|command| command.name.as_str());
        let Some(near) = unknown::slip(spoken.name, names) else {
            return Ok(());
        };
        let name = shown_line(spoken.name, NAME);
        let message = format!("there is no command `/{name}`");
        Err(
            EngineFailure::asker("unknown-command", message).hint(format!(
                "did you mean `/{near}`? Begin with a blank to send it as it is"
            )),
        )
    }

    /// Has the agent answer.
    async fn told(
        &self,
        request: ReplyRequest,
        audience: &dyn Audience,
    ) -> Result<Outcome, EngineFailure> {
        let reply = self.agents.reply(request, audience);
        let turn = self.observer.turn();
        Ok(Outcome::Reply(turn.went(Box::pin(reply).await)?))
    }

    /// Answers `/mcp …`. No model is offered this: it is for people.
    async fn manage(
        &self,
        plan: &AgentPlan,
        key: &SessionKey,
        rest: &str,
        audience: &dyn Audience,
    ) -> Result<Outcome, EngineFailure> {
        let asked = McpAsked {
            engine: self,
            agent: Some(whose(plan, key)),
            audience,
            rest,
        };
        let text = Box::pin(answer_mcp(asked)).await?;
        Ok(Outcome::Answered(text.into()))
    }
}

/// Whose servers are meant: the agent's, or its own in a session that some are lent to.
fn whose(plan: &AgentPlan, key: &SessionKey) -> String {
    if plan.servers().any(|server| server.is_lent()) {
        key.as_str().to_owned()
    } else {
        plan.agent.id.to_string()
    }
}

/// A failure whose words do a model no harm: whoever sent the command may be one, and servers may have
/// written parts of it.
fn harmless(failure: EngineFailure) -> EngineFailure {
    let clean = |text: &str| workspace_text(text, usize::MAX).into_string();
    EngineFailure {
        message: clean(&failure.message),
        hint: failure.hint.as_deref().map(clean),
        ..failure
    }
}
