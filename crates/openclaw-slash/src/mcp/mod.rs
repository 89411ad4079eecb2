//! `/mcp …`

mod connect;
mod login;
mod options;

use std::collections::BTreeMap;
use std::time::SystemTime;

use openclaw_content::{Excerpt, Framer, Origin, shown_line, shown_text, workspace_text};
use openclaw_engine::{
    ApprovalRequest, Audience, AuthKind, Engine, EngineFailure, LogsQuery, OfServer, OneServer,
    PromptRequest, ReadRequest, ReloadReport, ServerDetails, ServerEntry, ServerReport,
    ServersQuery, SetServer, ShownState,
};
use openclaw_render::{self as render, Page};
use serde_json::Value;

use crate::prompts::{Filling, fill};
use crate::words::quoted;

pub(crate) use self::options::{Argument, grammar};
use self::options::{Line, McpCommand};
pub use self::options::{options_of, subcommands};

/// How much of a sentence is shown.
const SENTENCE: usize = 1_000;
/// What every answer is laid out on.
const PAGE: Page = Page::CHAT;

/// Who asks what.
pub struct McpAsked<'a> {
    /// Who answers.
    pub engine: &'a dyn Engine,
    /// Whose servers are meant; those of the default agent, if none is named.
    pub agent: Option<String>,
    /// Who listens.
    pub audience: &'a dyn Audience,
    /// What stands behind `/mcp`.
    pub rest: &'a str,
}

/// Answers `/mcp …`. The texts of servers in it are framed where they are more than names: whoever
/// asks may be a model.
pub async fn answer_mcp(asked: McpAsked<'_>) -> Result<String, EngineFailure> {
    let answered = match options::read(asked.rest)? {
        Line::Help(text) => return Ok(text),
        Line::Command(command) => Box::pin(asked.run(command)).await,
    };
    answered.map_err(|failure| EngineFailure {
        message: spoken(&failure.message),
        hint: failure.hint.as_deref().map(spoken),
        ..failure
    })
}

/// A sentence that names commands as they are written in a conversation.
fn spoken(sentence: &str) -> String {
    sentence.replace("openclaw mcp ", "/mcp ")
}

/// An answer with names and descriptions of servers in it: none of them passes for a frame or a word
/// of ours.
fn plain(text: &str) -> String {
    spoken(workspace_text(text, usize::MAX).as_str())
}

impl McpAsked<'_> {
    async fn run(&self, command: McpCommand) -> Result<String, EngineFailure> {
        match command {
            McpCommand::Servers => self.servers().await,
            McpCommand::Tools { server } => self.tools(server).await,
            McpCommand::Status { name: Some(name) } => {
                Ok(told(self.engine.server(self.one(name)).await?))
            }
            McpCommand::Status { name: None } => self.status().await,
            McpCommand::Connect(line) => self.connect(&line).await,
            McpCommand::Disconnect { name } => {
                Ok(told(self.engine.disconnect(self.one(name)).await?))
            }
            McpCommand::Auth { name, code } => self.login(name, code).await,
            McpCommand::Logout { name } => {
                let report = self.engine.logout(self.one(name)).await?;
                Ok(render::logged_out(&report))
            }
            McpCommand::Refresh { name } => {
                let query = self.of(name);
                let report = self.engine.refresh(query).await?;
                let text = self.listed(&report.servers).await?;
                Ok(text + &plain(&remarks(&report.warnings)))
            }
            McpCommand::Resources { server } => {
                let report = self.engine.resources(self.of(server.clone())).await?;
                let text = render::resources(&report, server.as_deref(), PAGE);
                Ok(plain(&(text + &remarks(&report.problems))))
            }
            McpCommand::Read { server, uri } => self.read(server, uri).await,
            McpCommand::Prompts { server } => {
                let report = self.engine.prompts(self.of(server.clone())).await?;
                let text = render::prompts(&report.prompts, server.as_deref(), PAGE);
                Ok(plain(&(text + &remarks(&report.problems))))
            }
            McpCommand::Prompt {
                server,
                name,
                arguments,
            } => self.prompt(server, name, &arguments).await,
            McpCommand::Approve { tool } => {
                let agent = self.agent.clone();
                let report = self.engine.approve(ApprovalRequest { agent, tool }).await?;
                Ok(render::approval(&report))
            }
            McpCommand::Logs { name } => self.logs(name).await,
            McpCommand::Show { name } => self.show(name).await,
            McpCommand::Unset { name } => self.unset(name).await,
            McpCommand::Reload => Ok(reloaded(&self.engine.reload().await?)),
            McpCommand::Set { definition } => {
                let (name, entry) = options::definition(&definition.0)?;
                self.set(name, entry).await
            }
        }
    }

    fn one(&self, server: String) -> OneServer {
        OneServer {
            agent: self.agent.clone(),
            server,
        }
    }

    fn of(&self, server: Option<String>) -> OfServer {
        OfServer {
            agent: self.agent.clone(),
            server,
        }
    }

    async fn servers(&self) -> Result<String, EngineFailure> {
        let query = ServersQuery {
            agent: self.agent.clone(),
            wait: true,
            ..ServersQuery::default()
        };
        let report = self.engine.servers(query).await?;
        self.listed(&report.servers).await
    }

    async fn listed(&self, servers: &[ServerReport]) -> Result<String, EngineFailure> {
        let expiries = login_expiries(self.engine, self.agent.as_deref(), servers).await;
        let text = render::servers(servers, &expiries, SystemTime::now(), PAGE);
        Ok(plain(&text))
    }

    async fn status(&self) -> Result<String, EngineFailure> {
        let query = ServersQuery {
            agent: self.agent.clone(),
            wait: true,
            ..ServersQuery::default()
        };
        let report = self.engine.servers(query).await?;
        if report.servers.is_empty() {
            return self.listed(&report.servers).await;
        }
        let mut all = Vec::with_capacity(report.servers.len());
        for server in report.servers {
            // One that is gone meanwhile is not told about.
            if let Ok(details) = self.engine.server(self.one(server.name)).await {
                all.push(told(details));
            }
        }
        Ok(all.join("\n"))
    }

    async fn tools(&self, server: Option<String>) -> Result<String, EngineFailure> {
        let report = self.engine.tools(self.of(server.clone())).await?;
        let text = render::tools(&report.tools, server.as_deref(), PAGE);
        Ok(plain(&(text + &remarks(&report.problems))))
    }

    async fn read(&self, server: String, uri: String) -> Result<String, EngineFailure> {
        let request = ReadRequest {
            agent: self.agent.clone(),
            server,
            uri,
        };
        let report = self.engine.read(request).await?;
        Ok(framed(&report.server, &report.uri, &render::read(&report)))
    }

    async fn prompt(
        &self,
        server: String,
        name: String,
        arguments: &[String],
    ) -> Result<String, EngineFailure> {
        let query = self.of(Some(server.clone()));
        let prompts = self.engine.prompts(query).await?.prompts;
        let written = format!("mcp prompt {} {}", quoted(&server), quoted(&name));
        let known = prompts.iter().find(|prompt| prompt.name == name);
        let filled = match known {
            Some(prompt) => {
                let filling = Filling {
                    written: &written,
                    arguments: &prompt.arguments,
                };
                let words: Vec<String> = arguments.iter().map(|word| quoted(word)).collect();
                fill(filling, &words.join(" "))?
            }
            // The server says that there is none.
            None => serde_json::Map::new(),
        };
        let request = PromptRequest {
            agent: self.agent.clone(),
            server,
            name,
            arguments: filled,
        };
        let report = self.engine.prompt(request).await?;
        let text = render::prompt(&report, PAGE);
        Ok(framed(&report.server, &report.name, &text))
    }

    async fn logs(&self, name: String) -> Result<String, EngineFailure> {
        let OneServer { agent, server } = self.one(name);
        let query = LogsQuery {
            agent,
            server,
            after: 0,
        };
        let report = self.engine.logs(query).await?;
        if report.lines.is_empty() {
            let server = render::name(&report.server);
            return Ok(format!(
                "{server} has written nothing to its standard error\n"
            ));
        }
        Ok(framed(&report.server, "stderr", &report.lines.join("\n")))
    }

    async fn show(&self, name: Option<String>) -> Result<String, EngineFailure> {
        let mut report = self.engine.definitions(self.of(name.clone())).await?;
        let shown = match name.and_then(|name| report.servers.remove(&name)) {
            Some(one) => one,
            None => Value::Object(report.servers),
        };
        Ok(shown_text(&format!("{shown:#}\n")).into_owned())
    }

    async fn set(&self, name: String, entry: ServerEntry) -> Result<String, EngineFailure> {
        let added = self.engine.set_server(SetServer { name, entry }).await?;
        let name = render::name(&added.name);
        let mut text = format!("{name}: written to {}\n", added.config);
        text.push_str(&render::forgotten(&added.deleted));
        text.push_str(&remarks(&added.warnings));
        Ok(text)
    }

    async fn unset(&self, name: String) -> Result<String, EngineFailure> {
        let removed = self.engine.remove_server(self.one(name)).await?;
        let name = render::name(&removed.name);
        let mut text = format!("{name}: deleted from {}\n", removed.config);
        text.push_str(&render::forgotten(&removed.deleted));
        for sentence in &removed.logged_out {
            text.push_str(&format!("{}\n", shown_line(sentence, SENTENCE)));
        }
        text.push_str(&remarks(&removed.warnings));
        Ok(text)
    }
}

/// When logins end, by the name of the server.
pub async fn login_expiries(
    engine: &dyn Engine,
    agent: Option<&str>,
    servers: &[ServerReport],
) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for server in servers {
        if server.auth != AuthKind::Oauth || server.state != ShownState::Ready {
            continue;
        }
        let query = OneServer {
            agent: agent.map(str::to_owned),
            server: server.name.clone(),
        };
        // The list is complete without it.
        if let Ok(details) = engine.server(query).await
            && let Some(moment) = details.token_expires_at
        {
            found.insert(server.name.clone(), moment);
        }
    }
    found
}

/// A server in detail, with what it wrote last in a frame.
fn told(mut details: ServerDetails) -> String {
    let lines = std::mem::take(&mut details.stderr);
    let mut text = plain(&render::details(&details, SystemTime::now(), PAGE));
    if !lines.is_empty() {
        text.push_str(&framed(&details.report.name, "stderr", &lines.join("\n")));
    }
    text
}

/// Words of a server in their frame.
fn framed(server: &str, item: &str, text: &str) -> String {
    let origin = Origin::new(server, item);
    let framed = Framer::new().frame(&origin, text.trim_end(), &Excerpt::default());
    format!("{}\n", framed.text.into_string())
}

/// What somebody should know beside an answer.
fn remarks(sentences: &[String]) -> String {
    let sentences = sentences.iter();
    sentences
        .map(|sentence| format!("warning: {}\n", shown_line(sentence, SENTENCE)))
        .collect()
}

/// What reading the configuration anew changed.
fn reloaded(report: &ReloadReport) -> String {
    let parts = [
        ("added", &report.added),
        ("changed", &report.changed),
        ("removed", &report.removed),
    ];
    let mut text = String::new();
    for (what, names) in parts {
        if !names.is_empty() {
            let names: Vec<String> = names.iter().map(|name| render::name(name)).collect();
            text.push_str(&format!("{what}: {}\n", names.join(", ")));
        }
    }
    if text.is_empty() {
        text.push_str("the configuration was read anew; no server has changed\n");
    }
    text + &remarks(&report.warnings)
}
