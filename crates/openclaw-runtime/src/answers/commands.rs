//! Commands: what can be typed behind a slash.

use openclaw_content::{description, shown_line};
use openclaw_engine::{CommandOrigin, CommandReport, CommandsQuery, CommandsReport, EngineFailure};
use openclaw_mcp::{AgentPlan, AgentTools};
use openclaw_mcp_client::Prompt;
use openclaw_skills::Skill;
use openclaw_slash::{BUILTIN, Spoken, quoted};

use crate::runtime::Runtime;

/// How many prompts of servers are listed.
const PROMPTS: usize = 500;
/// How much of a text is shown.
const SHOWN: usize = 200;
/// How whole names of sessions begin.
const WHOLE: &str = "agent:";

impl Runtime {
    /// All commands as of now: prompts of servers that nobody has asked yet are not among them.
    pub(super) fn answer_commands(
        &self,
        query: &CommandsQuery,
    ) -> Result<CommandsReport, EngineFailure> {
        let agent = self.agent(query.agent.as_deref())?;
        let named = query.agent.as_deref();
        let session = named.filter(|name| name.starts_with(WHOLE));
        let commands = self.commands_of(&agent, session);
        Ok(CommandsReport { commands })
    }

    /// All commands of an agent as of now, in the order of their names; in a session, if one is named.
    pub(super) fn commands_of(
        &self,
        agent: &AgentPlan,
        session: Option<&str>,
    ) -> Vec<CommandReport> {
        let mut commands: Vec<CommandReport> = BUILTIN
            .iter()
            .map(|(name, description, usage)| CommandReport {
                name: (*name).to_owned(),
                description: (*description).to_owned(),
                usage: Some((*usage).to_owned()).filter(|usage| !usage.is_empty()),
                origin: CommandOrigin::Builtin,
            })
            .collect();
        commands.extend(
            self.agents
                .skills(agent)
                .skills
                .iter()
                .filter_map(command_for),
        );
        let tools = self.servers.tools(agent, session);
        commands.extend(prompts(agent, &tools).take(PROMPTS));
        commands.sort_by(|one, other| one.name.cmp(&other.name));
        commands
    }
}

/// The command of a skill, if people can call it now.
fn command_for(skill: &Skill) -> Option<CommandReport> {
    let command = skill.command.as_ref()?;
    (skill.applies() && skill.user_invocable).then(|| CommandReport {
        name: command.as_str().to_owned(),
        description: shown_line(&skill.description, SHOWN),
        usage: None,
        origin: CommandOrigin::Skill,
    })
}

/// The prompts of servers that can be written as commands.
fn prompts<'a>(
    agent: &'a AgentPlan,
    tools: &'a AgentTools,
) -> impl Iterator<Item = CommandReport> + use<'a> {
    let catalogs = tools.catalogs();
    let offered = catalogs.filter(|(server, _)| !agent.denies(server));
    offered.flat_map(|(server, catalog)| {
        let prompts = catalog.prompts.iter();
        prompts.filter_map(move |prompt| command_of(server, prompt))
    })
}

fn command_of(server: &str, prompt: &Prompt) -> Option<CommandReport> {
    let name = format!("{}:{}", quoted(server), prompt.name);
    // What could not be read back is not offered; `/mcp prompt` shows it.
    let read = format!("/{name}");
    let is_read_back = Spoken::read(&read).is_some_and(|spoken| {
        let meant = (server.to_owned(), prompt.name.clone());
        spoken.rest.is_empty() && spoken.prompts().contains(&meant)
    });
    if !is_read_back || name.len() > SHOWN || shown_line(&name, SHOWN) != name {
        return None;
    }
    let text = prompt.title.as_ref().or(prompt.description.as_ref());
    let text = text.map(String::as_str).unwrap_or_default();
    let usage = prompt.arguments.iter().map(|argument| {
        let name = shown_line(&argument.name, SHOWN);
        if argument.required {
            format!("{name}=…")
        } else {
            format!("[{name}=…]")
        }
    });
    let usage = usage.collect::<Vec<_>>().join(" ");
    Some(CommandReport {
        name,
        description: shown_line(description(server, text).text.as_str(), SHOWN),
        usage: Some(shown_line(&usage, SHOWN)).filter(|usage| !usage.is_empty()),
        origin: CommandOrigin::Prompt,
    })
}
