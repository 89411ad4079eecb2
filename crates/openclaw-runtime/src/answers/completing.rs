//! How a message can go on that begins with a slash.

use openclaw_content::shown_line;
use openclaw_engine::{Candidate, CompletionQuery, CompletionReport, EngineFailure};
use openclaw_mcp::{AgentPlan, typed_variable};
use openclaw_mcp_client::CompletionTarget;
use openclaw_slash::{Typing, Wanted, options_of, quoted, subcommands, typing};
use serde_json::{Map, Value};

use crate::runtime::Runtime;

/// How many templates of a server are asked about.
const TEMPLATES: usize = 10;
/// How many candidates are told.
const MOST: usize = 100;
/// How much of a text is shown.
const SHOWN: usize = 200;

/// Something that can stand somewhere: what it is called, and what it is.
type Found = (String, Option<String>);

impl Runtime {
    /// What can stand at the end of a message, as far as it is known: nothing is started for it.
    pub(super) async fn answer_complete(
        &self,
        query: CompletionQuery,
    ) -> Result<CompletionReport, EngineFailure> {
        let agent = self.agent(query.agent.as_deref())?;
        let Some(typing) = typing(&query.text) else {
            return Ok(CompletionReport::default());
        };
        let found = self.candidates(&agent, &typing).await?;
        let prefix = typing.prefix.to_lowercase();
        let mut candidates: Vec<Candidate> = found
            .into_iter()
            .filter(|(text, _)| text.to_lowercase().starts_with(&prefix))
            .map(|(text, description)| candidate(&typing, &text, description))
            .collect();
        candidates.sort_by(|one, other| one.text.cmp(&other.text));
        candidates.dedup_by(|one, other| one.text == other.text);
        candidates.truncate(MOST);
        Ok(CompletionReport {
            start: typing.start,
            candidates,
        })
    }

    async fn candidates(
        &self,
        agent: &AgentPlan,
        typing: &Typing,
    ) -> Result<Vec<Found>, EngineFailure> {
        let described = |(text, about): (String, String)| (text, Some(about));
        Ok(match &typing.what {
            Wanted::Command => {
                let commands = self.commands_of(agent, None).into_iter();
                commands
                    .map(|command| (command.name, Some(command.description)))
                    .collect()
            }
            Wanted::Subcommand => subcommands().into_iter().map(described).collect(),
            Wanted::Option(command) => options_of(command).into_iter().map(described).collect(),
            Wanted::Server => {
                let names = agent.server_names();
                names.map(|name| (name.to_owned(), None)).collect()
            }
            Wanted::Tool => {
                let tools = self.servers.tools(agent, None);
                let tools = tools.offered().map(|tool| {
                    let about = shown_line(tool.prepared.description.as_str(), SHOWN);
                    (tool.name().as_str().to_owned(), Some(about))
                });
                tools.collect()
            }
            Wanted::Prompt(server) => {
                let tools = self.servers.tools(agent, None);
                let mut catalogs = tools.catalogs();
                let catalog = catalogs.find(|(name, _)| name == server);
                let prompts = catalog.into_iter().flat_map(|(_, it)| &it.prompts);
                let prompts = prompts.map(|prompt| {
                    let about = prompt.description.as_deref();
                    (prompt.name.clone(), about.map(|it| shown_line(it, SHOWN)))
                });
                prompts.collect()
            }
            Wanted::Resource(server) => self.resources_at(agent, server, &typing.prefix).await,
            Wanted::PromptArgument {
                server,
                prompt,
                name,
                given,
            } => {
                let typed = TypedArgument {
                    server,
                    prompt,
                    name: name.as_deref(),
                    given,
                    value: &typing.prefix,
                };
                self.prompt_argument(agent, typed).await
            }
            Wanted::Skill => {
                let skills = self.agents.skills(agent).skills.into_iter();
                skills
                    .filter(|skill| skill.applies() && skill.user_invocable)
                    .map(|skill| (skill.name, Some(skill.description)))
                    .collect()
            }
        })
    }
}

/// An argument of a prompt that is being typed.
struct TypedArgument<'t> {
    server: &'t str,
    prompt: &'t str,
    /// The argument whose value is being typed, if it is a value.
    name: Option<&'t str>,
    given: &'t Map<String, Value>,
    value: &'t str,
}

impl Runtime {
    /// The addresses of resources, and where an address of a template is being typed, what its server
    /// knows of how it goes on.
    async fn resources_at(&self, agent: &AgentPlan, server: &str, typed: &str) -> Vec<Found> {
        let tools = self.servers.tools(agent, None);
        let mut catalogs = tools.catalogs();
        let Some((_, catalog)) = catalogs.find(|(name, _)| *name == server) else {
            return Vec::new();
        };
        let resources = catalog.resources.iter();
        let mut found: Vec<Found> = resources
            .map(|it| (it.uri.clone(), Some(shown_line(&it.name, SHOWN))))
            .collect();
        for template in catalog.templates.iter().take(TEMPLATES) {
            let about = Some(shown_line(&template.name, SHOWN));
            let Some(variable) = typed_variable(&template.uri_template, typed) else {
                found.push((beginning(&template.uri_template).to_owned(), about));
                continue;
            };
            let target = CompletionTarget::Template(template.uri_template.clone());
            let others = variable.others.clone();
            let written = (variable.name.as_str(), variable.value.as_str());
            let values = self
                .servers
                .complete(agent, None, server, &target, written, others);
            let values = values.await.into_iter();
            found.extend(values.map(|value| (variable.completed(&value), about.clone())));
        }
        found
    }

    /// Names of arguments of a prompt, or what its server knows of how a value goes on.
    async fn prompt_argument(&self, agent: &AgentPlan, typed: TypedArgument<'_>) -> Vec<Found> {
        let tools = self.servers.tools(agent, None);
        let mut catalogs = tools.catalogs();
        let catalog = catalogs.find(|(name, _)| *name == typed.server);
        let mut prompts = catalog.into_iter().flat_map(|(_, it)| &it.prompts);
        let Some(prompt) = prompts.find(|prompt| prompt.name == typed.prompt) else {
            return Vec::new();
        };
        let Some(name) = typed.name else {
            let arguments = prompt.arguments.iter();
            let left = arguments.filter(|argument| !typed.given.contains_key(&argument.name));
            let left = left.map(|argument| {
                let about = argument.description.as_deref();
                (
                    format!("{}=", argument.name),
                    about.map(|it| shown_line(it, SHOWN)),
                )
            });
            return left.collect();
        };
        let target = CompletionTarget::Prompt(typed.prompt.to_owned());
        let given = typed.given.clone();
        let values = self.servers.complete(
            agent,
            None,
            typed.server,
            &target,
            (name, typed.value),
            given,
        );
        values
            .await
            .into_iter()
            .map(|value| (value, None))
            .collect()
    }
}

/// What of a pattern is the same in all addresses.
fn beginning(template: &str) -> &str {
    template.find('{').map_or(template, |at| &template[..at])
}

/// A candidate as it would be typed.
fn candidate(typing: &Typing, text: &str, description: Option<String>) -> Candidate {
    let (text, is_whole) = match &typing.what {
        Wanted::PromptArgument {
            name: Some(name), ..
        } => (quoted(&format!("{name}={text}")), true),
        // Its value follows: a quote stays open.
        Wanted::PromptArgument { name: None, .. } => {
            let word = quoted(text);
            let open = word.strip_suffix('"').unwrap_or(&word);
            (open.to_owned(), false)
        }
        // They are written as they are read back.
        Wanted::Command => (text.to_owned(), true),
        // A template goes on behind its beginning.
        Wanted::Resource(_) => (quoted(text), false),
        _ => (quoted(text), true),
    };
    Candidate {
        text,
        description,
        is_whole,
    }
}
