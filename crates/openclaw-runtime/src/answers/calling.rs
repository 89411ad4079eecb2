//! Tools, and calls of them.

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use openclaw_config::shell_word;
use openclaw_content::{shown_line, shown_text};
use openclaw_engine::{
    ApprovalReport, ApprovalRequest, CallArguments, CallReport, CallRequest, EngineFailure,
    OfServer, ToolsReport,
};
use openclaw_mcp::{
    ANEW_WITHIN, AgentPlan, AgentTool, AgentTools, Approval, Call, CallEnd, Meant, ToolChoice,
    ToolOutcome, typed_words,
};
use openclaw_telemetry::ToolSpan;
use serde_json::{Map, Value, json};

use crate::report::{content, tool_report};
use crate::runtime::Runtime;
use crate::unknown;

/// How much of a name is shown.
const NAME: usize = 200;

impl Runtime {
    pub(super) async fn answer_tools(&self, query: OfServer) -> Result<ToolsReport, EngineFailure> {
        let agent = self.agent(query.agent.as_deref())?;
        let server = query.server.as_deref();
        let mut problems = self.started(&agent, server).await?;
        let mut report = self.known_tools(&agent, server, AgentTool::is_offered);
        problems.append(&mut report.problems);
        Ok(ToolsReport { problems, ..report })
    }

    /// Those tools of servers, or of one, that are known and meant.
    pub(super) fn known_tools(
        &self,
        agent: &AgentPlan,
        server: Option<&str>,
        is_meant: impl Fn(&AgentTool) -> bool,
    ) -> ToolsReport {
        let tools = self.servers.tools(agent, None);
        let known = tools.all().filter(|tool| is_meant(tool));
        let known = known.filter(|tool| server.is_none_or(|it| it == tool.server.name()));
        ToolsReport {
            tools: known.map(tool_report).collect(),
            problems: tools.problems().to_vec(),
        }
    }

    pub(super) async fn answer_call(
        &self,
        request: CallRequest,
    ) -> Result<CallReport, EngineFailure> {
        let (agent, tools) = self.meant(request.agent.as_deref(), &request.tool).await?;
        let tool = found(&tools, &request.tool)?;
        let arguments = arguments(tool, request.arguments)?;
        let told = ToolSpan::begin(None);
        let made = pin!(told.around(self.servers.call(Call {
            agent: &agent,
            session: None,
            tool: ToolChoice::Found(tool),
            arguments,
            correlation: &request.correlation,
            persons: None,
            approval: if request.approved {
                Approval::Given
            } else {
                Approval::Ask(None)
            },
            progress: None,
            for_model: request.framed,
        })));
        // It is large: waited for where it is, there is no second room for it.
        let outcome = made.await;
        let failure = outcome.end.is_error().then(|| outcome.end.word());
        told.ended(&outcome.name, outcome.server.as_deref(), failure);
        self.call_report(tool, outcome, request.framed)
    }

    fn call_report(
        &self,
        tool: &AgentTool,
        outcome: ToolOutcome,
        framed: bool,
    ) -> Result<CallReport, EngineFailure> {
        let framed = framed.then(|| outcome.text().into_string());
        let Some(result) = outcome.result else {
            let problem = outcome.problem.unwrap_or_default();
            let problem = self.redactor.redact(&problem);
            let problem = shown_text(&problem).into_owned();
            // Whoever wants to see what the model would see wants that of a failure, too.
            let is_told = !matches!(
                outcome.end,
                CallEnd::InvalidArguments | CallEnd::UnknownTool
            );
            if framed.is_some() && is_told {
                return Ok(CallReport {
                    tool: outcome.name,
                    server: tool.server.name().to_owned(),
                    is_error: true,
                    content: vec![json!({ "type": "text", "text": problem })],
                    structured_content: None,
                    duration_ms: milliseconds(outcome.duration),
                    framed,
                });
            }
            return Err(match outcome.end {
                CallEnd::InvalidArguments => EngineFailure::asker("invalid-arguments", problem)
                    .hint(format!(
                        "`openclaw mcp tools {} --json` shows what the tool takes",
                        shell_word(tool.server.name())
                    )),
                CallEnd::Denied => EngineFailure::operation("denied", problem),
                CallEnd::UnknownTool => EngineFailure::asker("unknown-tool", problem),
                CallEnd::Unknown => EngineFailure::operation("outcome-unknown", problem),
                CallEnd::NeedsLogin => {
                    EngineFailure::operation("needs-auth", problem).about(tool.server.name())
                }
                CallEnd::Ok | CallEnd::ToolError | CallEnd::Rejected | CallEnd::NotDone => {
                    EngineFailure::operation("call-failed", problem)
                }
            });
        };
        Ok(CallReport {
            tool: outcome.name,
            server: tool.server.name().to_owned(),
            is_error: outcome.end.is_error(),
            content: result.content.into_iter().map(content).collect(),
            structured_content: result.structured,
            duration_ms: milliseconds(outcome.duration),
            framed,
        })
    }

    pub(super) async fn answer_approval(
        &self,
        request: ApprovalRequest,
    ) -> Result<ApprovalReport, EngineFailure> {
        let (_, tools) = self.meant(request.agent.as_deref(), &request.tool).await?;
        let tool = found(&tools, &request.tool)?;
        let changed = tool.prepared.is_changed();
        self.servers
            .approve(&tool.server, &tool.prepared.definition)
            .map_err(|error| EngineFailure::operation("state", error.to_string()))?;
        Ok(ApprovalReport {
            tool: tool.name().as_str().to_owned(),
            server: tool.server.name().to_owned(),
            changed,
        })
    }

    /// The agent, and the tools that a spelling can mean for it. Where they are not there, since the
    /// configuration changes meanwhile, it is looked for them in the one that is in force now.
    async fn meant(
        &self,
        agent: Option<&str>,
        spelling: &str,
    ) -> Result<(Arc<AgentPlan>, Arc<AgentTools>), EngineFailure> {
        let mut until = None;
        loop {
            let agent = self.agent(agent)?;
            let failure = match self.tools_for(&agent, spelling).await {
                Ok(tools) => return Ok((agent, tools)),
                Err(failure) => failure,
            };
            let now = Instant::now();
            let until = *until.get_or_insert(now + ANEW_WITHIN);
            if self.servers.is_current(&agent) || now > until {
                return Err(failure);
            }
            // Whoever changes the configuration has to get on with it.
            tokio::task::yield_now().await;
        }
    }

    /// The tools of the servers that a spelling can mean, started for it.
    async fn tools_for(
        &self,
        agent: &AgentPlan,
        spelling: &str,
    ) -> Result<Arc<AgentTools>, EngineFailure> {
        let candidates = agent.candidates(spelling);
        self.servers.start(agent, Some(&candidates)).await;
        let tools = self.servers.tools(agent, None);
        if !matches!(tools.find(spelling), Meant::Nothing) {
            return Ok(tools);
        }
        // A server that can't be asked may well have the tool.
        for name in &candidates {
            self.started(agent, Some(name)).await?;
        }
        if candidates.is_empty() {
            if let Some((server, _)) = spelling.split_once('/') {
                // Either there is none, or it can't be asked: that is the answer.
                self.started(agent, Some(server)).await?;
            }
            // To suggest something, all have to be known.
            self.servers.start(agent, None).await;
            return Err(unknown::tool(&self.servers.tools(agent, None), spelling));
        }
        let quoted = format!("`{spelling}`");
        let left_out = tools.problems().iter().find(|it| it.contains(&quoted));
        match left_out {
            Some(problem) => Err(EngineFailure::asker("unknown-tool", problem.clone())),
            None => Err(unknown::tool(&tools, spelling)),
        }
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn found<'a>(tools: &'a AgentTools, spelling: &str) -> Result<&'a AgentTool, EngineFailure> {
    match tools.find(spelling) {
        Meant::Tool(tool) => Ok(tool),
        Meant::Several(several) => {
            let names = several
                .iter()
                .map(|tool| format!("{}/{}", tool.server.name(), tool.prepared.definition.name));
            let names: Vec<String> = names.map(|name| shown_line(&name, NAME)).collect();
            let shown = shown_line(spelling, NAME);
            let message = format!("`{shown}` may mean one of several tools");
            Err(EngineFailure::asker("ambiguous-tool", message)
                .hint(format!("write one of: {}", names.join(", "))))
        }
        Meant::Nothing => Err(unknown::tool(tools, spelling)),
    }
}

/// The arguments as an object, words typed by the tool's schema.
fn arguments(tool: &AgentTool, given: CallArguments) -> Result<Map<String, Value>, EngineFailure> {
    let mut arguments = given.object;
    let words = typed_words(&given.words, &tool.prepared.definition.input_schema)
        .map_err(|error| EngineFailure::asker("invalid-arguments", error))?;
    arguments.extend(words);
    Ok(arguments)
}
