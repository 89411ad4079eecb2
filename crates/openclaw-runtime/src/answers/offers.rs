//! Resources and prompts.

use std::sync::Arc;

use openclaw_content::shown_text;
use openclaw_engine::{
    EngineFailure, OfServer, PromptArgumentReport, PromptMessageReport, PromptReport,
    PromptRequest, PromptSummary, PromptsReport, ReadReport, ReadRequest, ResourceSummary,
    ResourcesReport, TemplateSummary,
};
use openclaw_mcp::{hide_content, hide_embedded, hide_text};
use openclaw_mcp_client::{Connection, Prompt, PromptResult, RequestError};

use crate::report::{content, embedded};
use crate::runtime::Runtime;
use crate::unknown::found_server;

impl Runtime {
    pub(super) async fn answer_resources(
        &self,
        query: OfServer,
    ) -> Result<ResourcesReport, EngineFailure> {
        let agent = self.agent(query.agent.as_deref())?;
        let problems = self.started(&agent, query.server.as_deref()).await?;
        let mut report = ResourcesReport {
            problems,
            ..ResourcesReport::default()
        };
        let tools = self.servers.tools(&agent, None);
        for (server, catalog) in tools.catalogs().filter(|(name, _)| is_meant(&query, name)) {
            let resources = catalog.resources.iter().cloned();
            report.resources.extend(resources.map(|it| ResourceSummary {
                server: server.to_owned(),
                uri: it.uri,
                name: it.name,
                title: it.title,
                description: it.description,
                mime_type: it.mime_type,
                size: it.size,
            }));
            let templates = catalog.templates.iter().cloned();
            report.templates.extend(templates.map(|it| TemplateSummary {
                server: server.to_owned(),
                uri_template: it.uri_template,
                name: it.name,
                title: it.title,
                description: it.description,
                mime_type: it.mime_type,
            }));
        }
        Ok(report)
    }

    pub(super) async fn answer_read(
        &self,
        request: ReadRequest,
    ) -> Result<ReadReport, EngineFailure> {
        let connection = self
            .connection(request.agent.as_deref(), &request.server)
            .await?;
        let read = connection.read_resource(&request.uri, None).await;
        let mut read = read.map_err(|error| self.refused("read-failed", &error))?;
        for part in &mut read.contents {
            hide_embedded(part, &self.redactor);
        }
        Ok(ReadReport {
            server: request.server,
            uri: request.uri,
            contents: read.contents.into_iter().map(embedded).collect(),
        })
    }

    pub(super) async fn answer_prompts(
        &self,
        query: OfServer,
    ) -> Result<PromptsReport, EngineFailure> {
        let agent = self.agent(query.agent.as_deref())?;
        let problems = self.started(&agent, query.server.as_deref()).await?;
        let mut prompts = Vec::new();
        let tools = self.servers.tools(&agent, None);
        for (server, catalog) in tools.catalogs().filter(|(name, _)| is_meant(&query, name)) {
            let offered = catalog.prompts.iter();
            prompts.extend(offered.map(|it| prompt_summary(server, it)));
        }
        Ok(PromptsReport { prompts, problems })
    }

    pub(super) async fn answer_prompt(
        &self,
        request: PromptRequest,
    ) -> Result<PromptReport, EngineFailure> {
        let (server, name) = (request.server.clone(), request.name.clone());
        let filled = self.filled_prompt(request).await?;
        let messages = filled.messages.into_iter();
        Ok(PromptReport {
            server,
            name,
            description: filled.description,
            messages: messages
                .map(|message| PromptMessageReport {
                    role: message.role,
                    content: content(message.content),
                })
                .collect(),
        })
    }

    /// A prompt, filled in by its server; our credentials are hidden in it.
    async fn filled_prompt(&self, request: PromptRequest) -> Result<PromptResult, EngineFailure> {
        let connection = self
            .connection(request.agent.as_deref(), &request.server)
            .await?;
        let filled = connection
            .get_prompt(&request.name, request.arguments, None)
            .await;
        let mut filled = filled.map_err(|error| self.refused("prompt-failed", &error))?;
        for message in &mut filled.messages {
            hide_content(&mut message.content, &self.redactor);
        }
        if let Some(description) = &mut filled.description {
            hide_text(description, &self.redactor);
        }
        Ok(filled)
    }

    /// The connection to a server, which is started for it.
    async fn connection(
        &self,
        agent: Option<&str>,
        server: &str,
    ) -> Result<Arc<Connection>, EngineFailure> {
        let agent = self.agent(agent)?;
        self.started(&agent, Some(server)).await?;
        let server = found_server(&agent, server)?;
        let state = self.servers.view_one(&agent, &server).state;
        state.and_then(|state| state.connection).ok_or_else(|| {
            let message = format!("the server `{}` is gone", server.name());
            EngineFailure::operation("server-not-ready", message)
        })
    }

    fn refused(&self, code: &'static str, error: &RequestError) -> EngineFailure {
        let text = error.to_string();
        let text = self.redactor.redact(&text);
        EngineFailure::operation(code, shown_text(&text))
    }
}

/// A prompt, as data.
pub(super) fn prompt_summary(server: &str, prompt: &Prompt) -> PromptSummary {
    let arguments = prompt.arguments.iter();
    PromptSummary {
        server: server.to_owned(),
        name: prompt.name.clone(),
        title: prompt.title.clone(),
        description: prompt.description.clone(),
        arguments: arguments
            .map(|argument| PromptArgumentReport {
                name: argument.name.clone(),
                description: argument.description.clone(),
                required: argument.required,
            })
            .collect(),
    }
}

/// Whether somebody asks for this server.
fn is_meant(query: &OfServer, server: &str) -> bool {
    query.server.as_deref().is_none_or(|name| name == server)
}
