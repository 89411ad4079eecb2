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

use openclaw_content::{DEFAULT_RESULT_BYTES, Excerpt, ModelText, Origin, failure, note};
use openclaw_mcp_client::{
    CallOptions, Outcome, Person, ProgressListener, RequestError, ToolResult,
};
use serde_json::{Map, Value};

pub use self::outcome::{CallEnd, Part, ToolOutcome};
use self::record::Record;
use crate::approval::{ApprovalDecision, ApprovalRequest, Approver, decide_approval};
use crate::assembly::{AgentTool, AgentTools, Meant};
use crate::audit::AuditEntry;
use crate::policy::Decision;
use crate::results::{READ_RESULT, answer_read_result};
use crate::servers::{AgentPlan, Servers};

/// How long arguments may be that nothing checks.
const LARGEST: usize = 8 * 1024 * 1024;
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
        Self {
            end,
            text: failure(origin, template, names),
            problem: note(template, names).into_string(),
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
        let mut tools = self.tools(call.agent, call.session);
        if matches!(meant(&tools, call.tool), Meant::Nothing) {
            // It may be one of a server that starts when it is first used.
            let candidates = call.agent.candidates(call.tool.text());
            self.start(call.agent, Some(&candidates)).await;
            tools = self.tools(call.agent, call.session);
        }
        let tool = match meant(&tools, call.tool) {
            Meant::Tool(tool) => tool,
            Meant::Several(several) => {
                let names: Vec<&str> = several.iter().map(|it| it.name().as_str()).collect();
                let names = names.join(", ");
                let told = "the name {} may mean one of several tools: {}";
                return self.unknown(&call, told, &names, started);
            }
            Meant::Nothing => {
                return self.unknown(&call, "there is no tool {}", "", started);
            }
        };
        let origin = Origin::new(tool.server.name(), &tool.prepared.definition.name);
        let record = Record::new(self, &call, tool);
        let made = self.make(&call, tool, &origin).await;
        let (end, parts, result, problem) = match made {
            Ok(result) => {
                let result = self.redacted(result);
                let parts = self.present(&call, tool, &origin, &result).await;
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
            let told = if tool.prepared.is_changed() {
                "the definition of the tool has changed since it was first seen; it can't be used \
                 until a person runs `openclaw mcp approve {}`"
            } else {
                "the definition of the tool {} can't be compared with the one that was first seen, \
                 and so it can't be used; the log says why"
            };
            return Err(stop(CallEnd::Denied, told, &[tool.name().as_str()]));
        }
        let arguments = self.checked(call, tool, origin)?;
        self.approved(call, tool, origin, &arguments).await?;
        let connection = self.ready(&tool.server, call.session).await;
        let connection = connection.map_err(|not_ready| {
            if not_ready.reason.is_empty() {
                return stop(CallEnd::NotDone, not_ready.told, &[]);
            }
            // What the server wrote last may be among the reasons.
            let reason = self.redactor.redact_learned(&not_ready.reason);
            let problem = format!("{}: {reason}", not_ready.told);
            self.stop_framed(CallEnd::NotDone, origin, problem)
        })?;
        // Those of this name: others may use the connection under another one.
        let timeouts = tool.server.server().map(|server| server.timeouts);
        let options = CallOptions {
            idle: timeouts.map(|timeouts| timeouts.request),
            total: timeouts.map(|timeouts| timeouts.total),
            person: call.person.clone(),
            progress: call.progress.clone(),
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
            None if is_too_large(&arguments) => {
                let told = "the arguments are too large";
                Err(Stop::told(CallEnd::InvalidArguments, origin, told, &[]))
            }
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
            ApprovalDecision::Approved if approver.is_none() || self.is_still(call, tool) => Ok(()),
            ApprovalDecision::Approved => {
                let told = "the tool or what is allowed has changed meanwhile, the call was not \
                            made";
                Err(Stop::told(CallEnd::NotDone, origin, told, &[]))
            }
            ApprovalDecision::Rejected { reason } => Err(Stop::told(
                CallEnd::Rejected,
                origin,
                reason.sentence(),
                &[],
            )),
        }
    }

    /// Whether a tool is still what it was when a person was asked about it, and still allowed.
    fn is_still(&self, call: &Call<'_>, tool: &AgentTool) -> bool {
        let Ok(agent) = self.agent(Some(call.agent.agent.id.as_str())) else {
            return false;
        };
        let tools = self.tools(&agent, call.session);
        tools.get(tool.name().as_str()).is_some_and(|now| {
            now.is_offered()
                && now.prepared.hash == tool.prepared.hash
                && now.server.fingerprint() == tool.server.fingerprint()
        })
    }

    /// There is no such tool, or more than one.
    fn unknown(
        &self,
        call: &Call<'_>,
        told: &'static str,
        names: &str,
        started: Instant,
    ) -> ToolOutcome {
        let outcome = ToolOutcome::unknown(call.tool.text(), told, names, started);
        let entry = AuditEntry {
            agent: call.agent.agent.id.as_str(),
            session: call.session,
            server: "",
            tool: call.tool.text(),
            arguments: &call.arguments,
            outcome: outcome.end.audited(),
            duration: outcome.duration,
            correlation: call.correlation,
        };
        self.audit.record(&entry, SystemTime::now());
        outcome
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

/// Whether a text says of this tool, and not of something else, that it is not there.
fn mentions_unknown(text: &str, tool: &str) -> bool {
    let plain = |text: &str| {
        let words = text.to_lowercase().replace(['\'', '"', '`', ':'], " ");
        words.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let (text, tool) = (plain(text), plain(tool));
    [
        format!("unknown tool {tool}"),
        format!("tool {tool} not found"),
        format!("tool not found {tool}"),
    ]
    .iter()
    .any(|said| text.contains(said))
}

/// The tool that is meant.
fn meant<'a>(tools: &'a AgentTools, choice: ToolChoice<'_>) -> Meant<'a> {
    match choice {
        ToolChoice::Name(name) => tools.get(name).map_or(Meant::Nothing, Meant::Tool),
        ToolChoice::Spelling(spelling) => tools.find(spelling),
    }
}

fn is_too_large(arguments: &Map<String, Value>) -> bool {
    serde_json::to_vec(arguments).map_or(usize::MAX, |text| text.len()) > LARGEST
}
