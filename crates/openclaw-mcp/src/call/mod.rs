//! A call of a tool, from its name to what the model reads.
//!
//! ```text
//! names → policy → pins → arguments → approval → supervisor → client → content → audit
//! ```
//!
//! It always ends in an outcome, never in an error.

mod anew;
mod before;
mod outcome;
mod own;
mod record;
mod result_text;
mod searching;
mod unknown;

use std::sync::Arc;
use std::time::{Instant, SystemTime};

use openclaw_config::shell_word;
use openclaw_content::{DEFAULT_RESULT_BYTES, Excerpt, ModelText, Origin, failure, note};
use openclaw_mcp_client::{
    CallOptions, Outcome, Person, ProgressListener, RequestError, ToolResult,
};
use serde_json::{Map, Value};

pub use self::anew::ANEW_WITHIN;
pub(crate) use self::anew::{Anew, Attempt, Patience};
pub(crate) use self::before::THINKING;
pub use self::outcome::{CallEnd, Part, ToolOutcome};
pub(crate) use self::record::Record;
pub(crate) use self::result_text::ResultOf;
use self::unknown::{is_about_unknown, says_unknown};
use crate::approval::Approver;
use crate::assembly::{AgentTool, AgentTools, Meant};
use crate::logins::a_person_logs_in;
use crate::policy::Decision;
use crate::redaction::hide_result;
use crate::resources::is_resource_tool;
use crate::results::{READ_RESULT, answer_read_result};
use crate::search::{CALL_TOOL, DESCRIBE_TOOL, SEARCH_TOOLS, suggestion, through};
use crate::servers::{AgentPlan, NotReady, Servers};

/// How the tool of a call is named.
#[derive(Clone, Copy)]
pub enum ToolChoice<'a> {
    /// Exactly as models were told.
    Name(&'a str),
    /// In any spelling, as people write it.
    Spelling(&'a str),
    /// As it was just found among the agent's.
    Found(&'a AgentTool),
}

impl<'a> ToolChoice<'a> {
    pub(crate) fn text(self) -> &'a str {
        match self {
            Self::Name(text) | Self::Spelling(text) => text,
            Self::Found(tool) => tool.name().as_str(),
        }
    }

    /// The same, to be looked for anew.
    fn again(self) -> Self {
        match self {
            Self::Found(tool) => Self::Name(tool.name().as_str()),
            other => other,
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
    pub persons: Option<&'a dyn Persons>,
    /// Who approves of it.
    pub approval: Approval<'a>,
    /// Who hears of its progress.
    pub progress: Option<ProgressListener>,
    /// Whether a model reads the result; what it would read is made only then.
    pub for_model: bool,
}

/// Knows the person behind a call.
pub trait Persons: Send + Sync {
    /// Whom a server may ask during a call of a tool, if anybody.
    fn behind(&self, server: &str, tool: &str) -> Option<Arc<dyn Person>>;
}

/// A call that ended before there was a result, with what the model is told.
pub(crate) struct Stop {
    pub(crate) end: CallEnd,
    pub(crate) text: ModelText,
    /// The same for people.
    pub(crate) problem: String,
}

impl Stop {
    /// In our own words.
    pub(crate) fn told(
        end: CallEnd,
        origin: &Origin,
        template: &'static str,
        names: &[&str],
    ) -> Self {
        Self {
            end,
            text: failure(origin, template, names),
            problem: note(template, names).into_string(),
        }
    }
}

impl Servers {
    /// Makes a call with the agent as it was given, if the configuration does not change meanwhile.
    async fn attempt(&self, call: &Call<'_>, started: Instant, patience: Patience) -> Attempt {
        if let Some(denied) = self.denied_own(call, started) {
            return Ok(denied);
        }
        match call.tool.text() {
            READ_RESULT => Ok(self.read_on(call, started)),
            SEARCH_TOOLS => Ok(self.search_tools(call, started)),
            DESCRIBE_TOOL => Ok(self.describe_tool(call, started)),
            // From here on it is a call like any other, under the name of what is called.
            CALL_TOOL => match through(&call.arguments) {
                Ok(through) => {
                    let tool = ToolChoice::Spelling(&through.name);
                    let call = call.with(tool, through.arguments);
                    self.attempt_tool(&call, started, patience).await
                }
                Err(text) => Ok(ToolOutcome::refused(CALL_TOOL, text, started)),
            },
            name if is_resource_tool(name) => {
                Box::pin(self.answer_resource_tool(call, patience)).await
            }
            _ => self.attempt_tool(call, started, patience).await,
        }
    }

    /// Finds the tool of a call, and makes it.
    async fn attempt_tool(&self, call: &Call<'_>, started: Instant, patience: Patience) -> Attempt {
        if let ToolChoice::Found(tool) = call.tool {
            return self.attempt_found(call, tool, started, patience).await;
        }
        let mut tools = self.tools(call.agent, call.session);
        if matches!(meant(&tools, call.tool), Meant::Nothing) {
            // Servers of an older configuration may be gone.
            if let Some(newer) = self.newer(call.agent, patience) {
                return Err(Anew(newer));
            }
            // It may be one of a server that starts when it is first used.
            let candidates = call.agent.candidates(call.tool.text());
            self.start(call.agent, Some(&candidates)).await;
            if let Some(session) = call.session {
                self.start_for(call.agent, session).await;
            }
            tools = self.tools(call.agent, call.session);
        }
        match meant(&tools, call.tool) {
            Meant::Tool(tool) => self.attempt_found(call, tool, started, patience).await,
            Meant::Several(several) => {
                let names: Vec<&str> = several.iter().map(|it| it.name().as_str()).collect();
                let names = names.join(", ");
                let told = "the name {} may mean one of several tools: {}";
                Ok(self.unknown(call, told, &names, started))
            }
            Meant::Nothing => {
                // It may have changed while servers were started.
                if let Some(newer) = self.newer(call.agent, patience) {
                    return Err(Anew(newer));
                }
                let mut outcome = self.unknown(call, "there is no tool {}", "", started);
                let near = suggestion(&tools, call.tool.text());
                outcome.parts.extend(near.map(Part::Text));
                Ok(outcome)
            }
        }
    }

    /// Makes a call of a tool of a server.
    async fn attempt_found(
        &self,
        call: &Call<'_>,
        tool: &AgentTool,
        started: Instant,
        patience: Patience,
    ) -> Attempt {
        let item = &tool.prepared.definition.name;
        let mut record = Record::new(self, call, tool.server.name(), item, started);
        let made = self.make(call, tool, &mut record).await;
        let (end, parts, result, problem) = match made {
            Ok(mut result) => {
                hide_result(&mut result, &self.redactor);
                let of = ResultOf {
                    server: &tool.server,
                    item,
                    output: tool.prepared.output(),
                };
                let parts = if call.for_model {
                    self.present(call, &of, &tool.origin(), &result).await
                } else {
                    Vec::new()
                };
                let end = if result.is_error {
                    CallEnd::ToolError
                } else {
                    CallEnd::Ok
                };
                (end, parts, Some(result), None)
            }
            Err(stop) => {
                let newer = self.newer_after(stop.end, call.agent, &tool.server, patience);
                if let Some(newer) = newer {
                    record.begins_anew();
                    return Err(Anew(newer));
                }
                let parts = vec![Part::Text(stop.text)];
                (stop.end, parts, None, Some(stop.problem))
            }
        };
        let duration = record.finish(end).await;
        Ok(ToolOutcome {
            name: tool.name().as_str().to_owned(),
            server: Some(tool.server.name().to_owned()),
            end,
            parts,
            result,
            problem,
            found: Vec::new(),
            duration,
        })
    }

    /// Everything up to the result.
    async fn make(
        &self,
        call: &Call<'_>,
        tool: &AgentTool,
        record: &mut Record<'_>,
    ) -> Result<ToolResult, Stop> {
        let stop =
            |template, names: &[&str]| Stop::told(CallEnd::Denied, &tool.origin(), template, names);
        if let Decision::Denied {
            origin: place,
            rule,
        } = &tool.decision
        {
            return Err(match rule {
                Some(rule) => {
                    let told = "the tool is not allowed: `{}` in {} denies it";
                    stop(told, &[rule, place])
                }
                None => {
                    let told = "the tool is not allowed: nothing in {} allows it";
                    stop(told, &[place])
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
            return Err(stop(told, &[tool.name().as_str()]));
        }
        let arguments = self.checked(call, tool)?;
        self.approved(call, tool, &arguments).await?;
        record.restart();
        let connection = self.ready(&tool.server, call.session).await;
        let connection = connection
            .map_err(|reason| self.not_ready(tool.server.name(), &tool.origin(), reason))?;
        // Those of this name: others may use the connection under another one.
        let timeouts = tool.server.server().map(|server| server.timeouts);
        let options = CallOptions {
            idle: timeouts.map(|timeouts| timeouts.request),
            total: timeouts.map(|timeouts| timeouts.total),
            person: call
                .persons
                .and_then(|it| it.behind(tool.server.name(), &tool.prepared.definition.name)),
            progress: call.progress.clone(),
        };
        let name = &tool.prepared.definition.name;
        record.reaches();
        let result = connection.call_tool(name, arguments, options).await;
        match result {
            Ok(result) => {
                if result.is_error && says_unknown(&result, name) {
                    self.forget_tool(call, tool).await;
                }
                Ok(result)
            }
            Err(error) => {
                if is_about_unknown(&error, name) {
                    self.forget_tool(call, tool).await;
                }
                Err(match error {
                    RequestError::Unauthorized(unauthorized)
                        if tool.server.server().is_some_and(|it| a_person_logs_in(it)) =>
                    {
                        needs_login(tool.server.name(), &tool.origin(), unauthorized.reason)
                    }
                    error => self.failed(&tool.origin(), &error),
                })
            }
        }
    }

    /// What becomes of a call for which there is no connection.
    pub(crate) fn not_ready(&self, server: &str, origin: &Origin, not_ready: NotReady) -> Stop {
        if not_ready.needs_login {
            return needs_login(server, origin, not_ready.reason);
        }
        if not_ready.reason.is_empty() {
            return Stop::told(CallEnd::NotDone, origin, not_ready.told, &[]);
        }
        // What the server wrote last may be among the reasons.
        let reason = self.redactor.redact_learned(&not_ready.reason);
        let problem = format!("{}: {reason}", not_ready.told);
        self.stop_framed(CallEnd::NotDone, origin, problem)
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
    pub(crate) fn stop_framed(&self, end: CallEnd, origin: &Origin, problem: String) -> Stop {
        let framed = self
            .framer
            .frame_error(origin, &problem, &Excerpt::default());
        Stop {
            end,
            text: framed.text,
            problem,
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
            found: Vec::new(),
            duration: started.elapsed(),
        }
    }
}

/// A person has to log in, or to log in for more. What the server says about it is for people; the
/// model is told in our own words, so that it can trust the command in them.
pub(crate) fn needs_login(server: &str, origin: &Origin, reason: String) -> Stop {
    let template = "the server does not take the login that there is, or wants one that allows more; \
                    the call was not made. A person has to run `openclaw mcp auth {}`, then it can \
                    be made";
    Stop {
        end: CallEnd::NeedsLogin,
        text: failure(origin, template, &[&shell_word(server)]),
        problem: reason,
    }
}

/// The tool that is meant.
fn meant<'a>(tools: &'a AgentTools, choice: ToolChoice<'a>) -> Meant<'a> {
    match choice {
        ToolChoice::Name(name) => tools.get(name).map_or(Meant::Nothing, Meant::Tool),
        ToolChoice::Spelling(spelling) => tools.find(spelling),
        ToolChoice::Found(tool) => Meant::Tool(tool),
    }
}
