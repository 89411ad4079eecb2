//! A call of a tool, from its name to what the model reads.
//!
//! ```text
//! names → policy → pins → arguments → approval → supervisor → client → content → audit
//! ```
//!
//! It always ends in an outcome, never in an error.

mod outcome;
mod record;
mod result_text;

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use openclaw_content::{DEFAULT_RESULT_BYTES, Excerpt, ModelText, Origin, failure};
use openclaw_mcp_client::{
    CallOptions, Outcome, Person, ProgressListener, RequestError, ToolResult,
};
use serde_json::{Map, Value};

pub use self::outcome::{CallEnd, Part, ToolOutcome};
use self::record::Record;
use crate::approval::{ApprovalDecision, ApprovalRequest, Approver, decide_approval};
use crate::assembly::{AgentTool, Meant};
use crate::policy::Decision;
use crate::results::{READ_RESULT, answer_read_result};
use crate::servers::{AgentPlan, Servers};

/// With which servers refuse a call of a tool that is not there.
const INVALID_PARAMS: i64 = -32602;
/// How long a person may think about a call.
const THINKING: Duration = Duration::from_mins(10);

/// How the tool of a call is named.
#[derive(Clone, Copy, Debug)]
pub enum ToolChoice<'a> {
    /// Exactly as models were told.
    Name(&'a str),
    /// In any spelling, as people write it.
    Spelling(&'a str),
}

impl<'a> ToolChoice<'a> {
    fn text(self) -> &'a str {
        match self {
            Self::Name(text) | Self::Spelling(text) => text,
        }
    }
}

/// Who approves of a call.
#[derive(Clone, Copy)]
pub enum Approval<'a> {
    /// Whoever asked for it: it was a person.
    Given,
    /// Somebody who can be asked, if there is anybody.
    Ask(Option<&'a dyn Approver>),
}

/// A call to make.
pub struct Call<'a> {
    /// Whose call it is.
    pub agent: &'a AgentPlan,
    /// The session, where there is one.
    pub session: Option<&'a str>,
    /// The tool.
    pub tool: ToolChoice<'a>,
    /// What it is called with.
    pub arguments: Map<String, Value>,
    /// What ties it to lines of the log.
    pub correlation: &'a str,
    /// Whom the server may ask something.
    pub person: Option<Arc<dyn Person>>,
    /// Who approves of it.
    pub approval: Approval<'a>,
    /// Who hears of its progress.
    pub progress: Option<ProgressListener>,
}

/// A call that ended before there was a result, with what the model is told.
struct Stop {
    end: CallEnd,
    text: ModelText,
    /// The same for people.
    problem: String,
}

impl Stop {
    /// In our own words.
    fn told(end: CallEnd, origin: &Origin, template: &'static str, names: &[&str]) -> Self {
        let text = failure(origin, template, names);
        Self {
            problem: text.as_str().to_owned(),
            end,
            text,
        }
    }
}

impl Servers {
    /// Makes a call. It is never made twice; dropping the future gives it up.
    pub async fn call(&self, call: Call<'_>) -> ToolOutcome {
        let started = Instant::now();
        if call.tool.text() == READ_RESULT {
            return self.read_on(&call, started);
        }
        let tools = self.tools(call.agent, call.session);
        let tool = match call.tool {
            ToolChoice::Name(name) => tools.get(name).map_or(Meant::Nothing, Meant::Tool),
            ToolChoice::Spelling(spelling) => tools.find(spelling),
        };
        let tool = match tool {
            Meant::Tool(tool) => tool,
            Meant::Several(several) => {
                let names: Vec<&str> = several.iter().map(|it| it.name().as_str()).collect();
                let names = names.join(", ");
                let told = "the name {} may mean one of several tools: {}";
                return ToolOutcome::unknown(call.tool.text(), told, &names, started);
            }
            Meant::Nothing => {
                let told = "there is no tool {}";
                return ToolOutcome::unknown(call.tool.text(), told, "", started);
            }
        };
        let origin = Origin::new(tool.server.name(), &tool.prepared.definition.name);
        let record = Record::new(self, &call, tool);
        let made = self.make(&call, tool, &origin).await;
        let (end, parts, result, problem) = match made {
            Ok(result) => {
                let result = self.redacted(result);
                let parts = self.present(&call, tool, &origin, &result);
                let end = if result.is_error {
                    CallEnd::ToolError
                } else {
                    CallEnd::Ok
                };
                (end, parts, Some(result), None)
            }
            Err(stop) => (
                stop.end,
                vec![Part::Text(stop.text)],
                None,
                Some(stop.problem),
            ),
        };
        let duration = record.finish(end);
        ToolOutcome {
            name: tool.name().as_str().to_owned(),
            server: Some(tool.server.name().to_owned()),
            end,
            parts,
            result,
            problem,
            duration,
        }
    }

    /// Everything up to the result.
    async fn make(
        &self,
        call: &Call<'_>,
        tool: &AgentTool,
        origin: &Origin,
    ) -> Result<ToolResult, Stop> {
        let stop = |end, template, names: &[&str]| Stop::told(end, origin, template, names);
        if let Decision::Denied {
            origin: place,
            rule,
        } = &tool.decision
        {
            return Err(match rule {
                Some(rule) => {
                    let told = "the tool is not allowed: `{}` in {} denies it";
                    stop(CallEnd::Denied, told, &[rule, place])
                }
                None => {
                    let told = "the tool is not allowed: nothing in {} allows it";
                    stop(CallEnd::Denied, told, &[place])
                }
            });
        }
        if tool.is_blocked() {
            let told = "the definition of the tool has changed since it was first seen; it can't \
                        be used until a person runs `openclaw mcp approve {}`";
            return Err(stop(CallEnd::Denied, told, &[tool.name().as_str()]));
        }
        let arguments = self.checked(call, tool, origin)?;
        self.approved(call, tool, origin, &arguments).await?;
        let connection = self.ready(&tool.server, call.session).await;
        let connection = connection.map_err(|not_ready| {
            stop(CallEnd::NotDone, not_ready.template, &[&not_ready.reason])
        })?;
        let options = CallOptions {
            person: call.person.clone(),
            progress: call.progress.clone(),
            ..CallOptions::default()
        };
        let name = &tool.prepared.definition.name;
        let result = connection.call_tool(name, arguments, options).await;
        match result {
            Ok(result) => {
                if result.is_error && says_unknown(&result, name) {
                    self.forget_tool(call, tool).await;
                }
                Ok(result)
            }
            Err(error) => {
                if let RequestError::Refused(refusal) = &error
                    && refusal.code == INVALID_PARAMS
                    && mentions_unknown(&refusal.message, name)
                {
                    self.forget_tool(call, tool).await;
                }
                Err(self.failed(origin, &error))
            }
        }
    }

    /// The arguments, if they fit.
    fn checked(
        &self,
        call: &Call<'_>,
        tool: &AgentTool,
        origin: &Origin,
    ) -> Result<Map<String, Value>, Stop> {
        let arguments = call.arguments.clone();
        match tool.prepared.arguments() {
            None => Ok(arguments),
            Some(check) => check.check(arguments).map_err(|invalid| {
                // It names what the server's schema says and what the model wrote.
                self.stop_framed(CallEnd::InvalidArguments, origin, invalid.to_string())
            }),
        }
    }

    /// Asks whoever is to be asked.
    async fn approved(
        &self,
        call: &Call<'_>,
        tool: &AgentTool,
        origin: &Origin,
        arguments: &Map<String, Value>,
    ) -> Result<(), Stop> {
        let approver = match call.approval {
            Approval::Given => return Ok(()),
            Approval::Ask(approver) => approver,
        };
        let request = ApprovalRequest {
            agent: call.agent.agent.id.as_str(),
            tool: &tool.named,
            definition: &tool.prepared.definition,
            trust_annotations: tool
                .server
                .server()
                .is_some_and(|server| server.trust_annotations),
            arguments,
        };
        let decision = decide_approval(
            &call.agent.approval,
            &self.approvals,
            approver,
            call.agent.agent.without_person,
            &request,
            tokio::time::Instant::now() + THINKING,
        );
        match decision.await {
            ApprovalDecision::Approved => Ok(()),
            ApprovalDecision::Rejected { reason } => Err(Stop::told(
                CallEnd::Rejected,
                origin,
                reason.sentence(),
                &[],
            )),
        }
    }

    /// What becomes of a request that has no result.
    fn failed(&self, origin: &Origin, error: &RequestError) -> Stop {
        let (end, told) = match error.outcome() {
            Outcome::NotDone => (CallEnd::NotDone, ""),
            Outcome::Unknown => (
                CallEnd::Unknown,
                "It is not known whether the call was carried out; it must not simply be \
                 repeated. ",
            ),
            Outcome::Done => (CallEnd::Unknown, "The call was carried out. "),
        };
        let text = self
            .redactor
            .redact_learned(&error.to_string())
            .into_owned();
        self.stop_framed(end, origin, format!("{told}{text}"))
    }

    /// In words that hold those of others.
    fn stop_framed(&self, end: CallEnd, origin: &Origin, problem: String) -> Stop {
        let framed = self
            .framer
            .frame_error(origin, &problem, &Excerpt::default());
        Stop {
            end,
            text: framed.text,
            problem,
        }
    }

    /// Takes a tool off the list that the server says it does not have, and lists anew.
    async fn forget_tool(&self, call: &Call<'_>, tool: &AgentTool) {
        tool.offering.remove(&tool.prepared.definition.name);
        tracing::warn!(
            server = tool.server.name(),
            tool = tool.prepared.definition.name,
            "the server does not know a tool that it listed"
        );
        if let Some(instance) = self.instance(&tool.server, call.session) {
            instance.refresh().await;
        }
    }

    /// Reads on in a result that was cut.
    fn read_on(&self, call: &Call<'_>, started: Instant) -> ToolOutcome {
        let agent = call.agent.agent.id.as_str();
        let read = answer_read_result(
            &self.results,
            &self.framer,
            agent,
            call.session,
            &call.arguments,
            DEFAULT_RESULT_BYTES,
            SystemTime::now(),
        );
        let (end, text) = match read {
            Ok(framed) => (CallEnd::Ok, framed.text),
            Err(text) => (CallEnd::InvalidArguments, text),
        };
        ToolOutcome {
            name: READ_RESULT.to_owned(),
            server: None,
            end,
            problem: end.is_error().then(|| text.as_str().to_owned()),
            parts: vec![Part::Text(text)],
            result: None,
            duration: started.elapsed(),
        }
    }
}

/// Whether a result says that the tool is not there: the official libraries put it so.
fn says_unknown(result: &ToolResult, tool: &str) -> bool {
    result.content.iter().any(|content| match content {
        openclaw_mcp_client::Content::Text { text, .. } => {
            text.starts_with("MCP error -32602") && mentions_unknown(text, tool)
        }
        _ => false,
    })
}

fn mentions_unknown(text: &str, tool: &str) -> bool {
    let lower = text.to_lowercase();
    text.contains(tool) && (lower.contains("unknown tool") || lower.contains("not found"))
}
