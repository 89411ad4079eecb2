//! Skills that people call.

use openclaw_agent::{Agents, Dispatched};
use openclaw_content::shown_line;
use openclaw_conversation::{AnswerPart, ToolAnswer};
use openclaw_engine::{
    Audience, EngineFailure, ReplyEvent, ReplyRequest, SkillReport, SkillsReport, ToolCallReport,
};
use openclaw_mcp::AgentPlan;
use openclaw_render as render;
use openclaw_sessions::SessionKey;
use openclaw_skills::{Skill, Standing};
use openclaw_slash::Spoken;

use crate::unknown::nearest;

/// The tool that answers `/mcp`, by the name that skills give it.
pub(super) const MANAGE: &str = "mcp_manage";

/// What calling a skill means.
pub(super) enum SkillCalled {
    /// A message to the model.
    Message(String),
    /// What follows `/mcp`.
    Mcp(String),
    /// A call of a tool.
    Tool(ToolCommand),
    /// A text for the person.
    Text(String),
}

/// A tool that a command calls.
pub(super) struct ToolCommand {
    tool: String,
    /// What was typed behind the command.
    typed: String,
    command: String,
    skill: String,
}

/// What a message that begins with a slash asks of a skill; none if it names none.
pub(super) fn called(
    agents: &Agents,
    plan: &AgentPlan,
    spoken: Spoken<'_>,
) -> Result<Option<SkillCalled>, EngineFailure> {
    let skills = agents.skills(plan);
    if !spoken.name.eq_ignore_ascii_case("skill") {
        let skill = skills.of_command(spoken.name);
        return skill
            .map(|skill| invoked(skill, spoken.name, spoken.rest))
            .transpose();
    }
    let (name, rest) = match spoken.rest.split_once(char::is_whitespace) {
        Some((name, rest)) => (name, rest.trim()),
        None => (spoken.rest, ""),
    };
    if name.is_empty() {
        return Ok(Some(SkillCalled::Text(listed(agents, plan))));
    }
    let skill = skills.get(name).or_else(|| skills.of_command(name));
    match skill {
        Some(skill) => invoked(skill, "skill", rest).map(Some),
        None => {
            let shown = shown_line(name, 100);
            let failure =
                EngineFailure::asker("unknown-skill", format!("there is no skill `{shown}`"));
            let names = skills.skills.iter().map(|skill| skill.name.as_str());
            Err(match nearest(name, names) {
                Some(near) => failure.hint(format!("did you mean `/skill {near}`?")),
                None => failure.hint("`/skill` lists them"),
            })
        }
    }
}

fn invoked(skill: &Skill, command: &str, rest: &str) -> Result<SkillCalled, EngineFailure> {
    let name = &skill.name;
    if !skill.user_invocable {
        let message = format!("the skill `{name}` is not for people to call");
        return Err(EngineFailure::asker("skill", message));
    }
    if let Standing::NotNow(obstacles) = &skill.standing {
        let reasons: Vec<String> = obstacles.iter().map(ToString::to_string).collect();
        let message = format!("the skill `{name}` can't be used: {}", reasons.join("; "));
        return Err(EngineFailure::operation("skill", message));
    }
    if let Some(dispatch) = &skill.dispatch {
        if dispatch.tool == MANAGE {
            return Ok(SkillCalled::Mcp(rest.to_owned()));
        }
        return Ok(SkillCalled::Tool(ToolCommand {
            tool: dispatch.tool.clone(),
            typed: rest.to_owned(),
            command: command.to_owned(),
            skill: name.clone(),
        }));
    }
    let text = skill
        .text()
        .map_err(|error| EngineFailure::operation("skill", error.to_string()))?;
    let mut message = format!("Do as the skill `{name}` says:\n\n{}", text.as_str());
    if !rest.is_empty() {
        message.push_str("\n\n");
        message.push_str(rest);
    }
    Ok(SkillCalled::Message(message))
}

/// The skills of an agent, as data.
pub(super) fn report(agents: &Agents, plan: &AgentPlan) -> SkillsReport {
    let found = agents.skills(plan);
    SkillsReport {
        skills: found.skills.iter().map(one).collect(),
        problems: found.problems.iter().map(ToString::to_string).collect(),
    }
}

fn one(skill: &Skill) -> SkillReport {
    SkillReport {
        name: skill.name.clone(),
        description: skill.description.clone(),
        command: skill.command.as_ref().map(|it| it.as_str().to_owned()),
        user_invocable: skill.user_invocable,
        model_invocable: skill.model_invocable,
        obstacles: match &skill.standing {
            Standing::Applies => Vec::new(),
            Standing::NotNow(obstacles) => obstacles.iter().map(ToString::to_string).collect(),
        },
    }
}

/// All skills for a person, with what is wrong.
fn listed(agents: &Agents, plan: &AgentPlan) -> String {
    let report = report(agents, plan);
    let mut text = render::skills(&report);
    for problem in &report.problems {
        text.push_str(&format!("warning: {problem}\n"));
    }
    text
}

/// What a tool gave that a skill calls: its text as a model would read it, and how it went.
pub(super) async fn dispatched(
    agents: &Agents,
    plan: &AgentPlan,
    key: &SessionKey,
    command: &ToolCommand,
    request: &ReplyRequest,
    audience: &dyn Audience,
) -> (String, ToolCallReport) {
    let asked = Dispatched {
        plan,
        key,
        tool: &command.tool,
        typed: &command.typed,
        command: &command.command,
        skill: &command.skill,
        approved: request.approved,
        correlation: &request.correlation,
    };
    let answer = agents.dispatch(asked, audience).await;
    let text = text_of(&answer);
    let call = ToolCallReport {
        name: answer.called.unwrap_or(answer.name),
        server: answer.server,
        is_error: answer.is_error,
        duration_ms: answer.duration_ms,
    };
    audience.hear(ReplyEvent::ToolResult {
        id: answer.call,
        call: call.clone(),
        text: text.clone(),
    });
    (text, call)
}

fn text_of(answer: &ToolAnswer) -> String {
    let texts = answer.parts.iter().filter_map(|part| match part {
        AnswerPart::Text { text } => Some(text.as_str()),
        AnswerPart::Media(_) => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}
