//! `mcp_read_resource`: a resource, with the same care as a call of a tool.

use std::sync::Arc;
use std::time::Instant;

use openclaw_content::{ModelText, Origin, clean_name, note};
use openclaw_mcp_client::{CallOptions, Content, RequestError, ResourceContents, ToolResult};
use serde_json::{Map, Value};

use super::address::{is_shown_as, meant_address};
use super::tools::{READ_RESOURCE, read_tool};
use crate::approval::{ApprovalDecision, ReadingRequest, decide_reading};
use crate::audit::AuditEntry;
use crate::call::{
    Anew, Approval, Attempt, Call, CallEnd, Part, Patience, Record, ResultOf, Stop, THINKING,
    ToolOutcome, needs_login,
};
use crate::logins::a_person_logs_in;
use crate::redaction::hide_result;
use crate::servers::{PlannedServer, Servers};

/// How long an address may be, in bytes.
const LONGEST: usize = 8 * 1024;
/// How many servers are named to somebody who named none of them.
const NAMED: usize = 50;

/// What answers a call.
pub(super) struct Answered {
    pub(super) server: Option<String>,
    pub(super) parts: Vec<Part>,
    pub(super) result: Option<ToolResult>,
}

/// An argument that is a text with something in it.
pub(super) fn argument(arguments: &Map<String, Value>, name: &str) -> Option<String> {
    let text = arguments.get(name)?.as_str()?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

impl Servers {
    /// Answers a call of one of the tools for resources.
    pub(crate) async fn answer_resource_tool(
        &self,
        call: &Call<'_>,
        patience: Patience,
    ) -> Attempt {
        let started = Instant::now();
        let name = call.tool.text();
        let mut asked = None;
        let (answered, duration) = if name == READ_RESOURCE {
            match named_server(call) {
                Ok(server) => {
                    asked = Some(server.name().to_owned());
                    let mut record = Record::new(self, call, server.name(), name, started);
                    let read = self.read_resource(call, &server, &mut record).await;
                    let end = read.as_ref().map_or_else(|stop| stop.end, |_| CallEnd::Ok);
                    let newer = self.newer_after(end, call.agent, &server, patience);
                    if let Some(newer) = newer {
                        record.begins_anew();
                        return Err(Anew(newer));
                    }
                    (read, record.finish(end).await)
                }
                Err(stop) => (self.not_asked(call, stop, started), started.elapsed()),
            }
        } else {
            let server = argument(&call.arguments, "server").unwrap_or_default();
            let record = Record::new(self, call, &server, name, started);
            let listed = self.list_resources(call).await;
            let end = listed
                .as_ref()
                .map_or_else(|stop| stop.end, |_| CallEnd::Ok);
            (listed, record.finish(end).await)
        };
        let mut outcome = ToolOutcome {
            name: name.to_owned(),
            server: asked,
            end: CallEnd::Ok,
            parts: Vec::new(),
            result: None,
            problem: None,
            found: Vec::new(),
            duration,
        };
        match answered {
            Ok(answered) => {
                outcome.server = answered.server;
                outcome.parts = answered.parts;
                outcome.result = answered.result;
            }
            Err(stop) => {
                outcome.end = stop.end;
                outcome.parts = vec![Part::Text(stop.text)];
                outcome.problem = Some(stop.problem);
            }
        }
        Ok(outcome)
    }

    /// Writes down a call that asked no server.
    fn not_asked(&self, call: &Call<'_>, stop: Stop, started: Instant) -> Result<Answered, Stop> {
        let entry = AuditEntry {
            agent: call.agent.agent.id.as_str(),
            session: call.session,
            server: "",
            tool: call.tool.text(),
            arguments: &call.arguments,
            outcome: stop.end.audited(),
            duration: started.elapsed(),
            correlation: call.correlation,
        };
        self.note(&entry, false);
        Err(stop)
    }

    /// Reads a resource.
    async fn read_resource(
        &self,
        call: &Call<'_>,
        server: &Arc<PlannedServer>,
        record: &mut Record<'_>,
    ) -> Result<Answered, Stop> {
        let uri = argument(&call.arguments, "uri").unwrap_or_default();
        let origin = Origin::new(server.name(), &uri);
        let stop = |end, told| Stop::told(end, &origin, told, &[]);
        if uri.is_empty() {
            return Err(stop(CallEnd::InvalidArguments, "the address is missing"));
        }
        if uri.len() > LONGEST {
            return Err(stop(CallEnd::InvalidArguments, "the address is too long"));
        }
        self.may_read(call, server, &origin).await?;
        record.restart();
        let connection = self.ready(server, call.session).await;
        let connection =
            connection.map_err(|reason| self.not_ready(server.name(), &origin, reason))?;
        if !connection.server().capabilities.resources {
            let told = "the server offers no resources";
            return Err(stop(CallEnd::NotDone, told));
        }
        let catalog = self.catalog(server, call.session).unwrap_or_default();
        let uri = meant_address(&catalog, &uri);
        let origin = Origin::new(server.name(), &uri);
        let timeouts = server.server().map(|server| server.timeouts);
        let options = CallOptions {
            idle: timeouts.map(|timeouts| timeouts.request),
            total: timeouts.map(|timeouts| timeouts.total),
            person: call.persons.and_then(|it| it.behind(server.name(), &uri)),
            progress: call.progress.clone(),
        };
        record.reaches();
        let read = connection.read_resource_with(&uri, options).await;
        let read = read.map_err(|error| match error {
            RequestError::Unauthorized(unauthorized)
                if server.server().is_some_and(|it| a_person_logs_in(it)) =>
            {
                needs_login(server.name(), &origin, unauthorized.reason)
            }
            error => {
                let text = error.to_string();
                let text = self.redactor.redact_learned(&text);
                let problem = format!("the resource can't be read: {text}");
                self.stop_framed(CallEnd::NotDone, &origin, problem)
            }
        })?;
        let mut result = as_result(read);
        hide_result(&mut result, &self.redactor);
        let of = ResultOf {
            server,
            item: &uri,
            output: None,
        };
        let parts = self.present(call, &of, &origin, &result).await;
        Ok(Answered {
            server: Some(server.name().to_owned()),
            parts,
            result: Some(result),
        })
    }

    /// Asks whoever is to be asked before something is read.
    async fn may_read(
        &self,
        call: &Call<'_>,
        server: &PlannedServer,
        origin: &Origin,
    ) -> Result<(), Stop> {
        let approver = match call.approval {
            Approval::Given => return Ok(()),
            Approval::Ask(approver) => approver,
        };
        let request = ReadingRequest {
            agent: call.agent.agent.id.as_str(),
            server: server.name(),
            remembered_as: server.remembered_as(),
            tool: &read_tool(),
            arguments: &call.arguments,
        };
        let decision = decide_reading(
            &call.agent.approval,
            &self.approvals,
            approver,
            call.agent.agent.without_person,
            &request,
            tokio::time::Instant::now() + THINKING,
        );
        match decision.await {
            ApprovalDecision::Approved if approver.is_none() || self.may_still(call, server) => {
                Ok(())
            }
            ApprovalDecision::Approved => {
                let told = "the server or what is allowed has changed meanwhile, nothing was read";
                Err(Stop::told(CallEnd::NotDone, origin, told, &[]))
            }
            ApprovalDecision::Rejected { reason } => {
                let told = reason.sentence();
                Err(Stop::told(CallEnd::Rejected, origin, told, &[]))
            }
        }
    }

    /// Whether a server is still what it was when a person was asked about it, and still allowed.
    fn may_still(&self, call: &Call<'_>, server: &PlannedServer) -> bool {
        let Some(agent) = self.agent_now(call) else {
            return false;
        };
        let is_same = |now: &Arc<PlannedServer>| now.fingerprint() == server.fingerprint();
        agent.policy.decide_own(READ_RESOURCE).is_allowed()
            && !agent.denies(server.name())
            && agent.server(server.name()).is_some_and(is_same)
    }
}

/// The server that a call names, if it is one that the agent may use.
pub(super) fn named_server(call: &Call<'_>) -> Result<Arc<PlannedServer>, Stop> {
    let agent = call.agent;
    let is_known =
        |server: &&Arc<PlannedServer>| server.configured.enabled && !agent.denies(server.name());
    let named = argument(&call.arguments, "server");
    let found = named.as_deref().and_then(|name| agent.server(name));
    if let Some(server) = found.filter(is_known) {
        return Ok(Arc::clone(server));
    }
    // Models are shown names as they are in our own lines, which some do not survive.
    let is_meant = |server: &&Arc<PlannedServer>| {
        let shown = clean_name(server.name());
        named
            .as_deref()
            .is_some_and(|name| is_shown_as(&shown, name))
    };
    let mut meant = agent.servers().filter(is_known).filter(is_meant);
    if let (Some(only), None) = (meant.next(), meant.next()) {
        return Ok(Arc::clone(only));
    }
    let mut lines = vec![match &named {
        Some(name) => note("there is no server {}; there are:", &[name]),
        None => note("the name of a server is missing; there are:", &[]),
    }];
    let known = agent.servers().filter(is_known).take(NAMED);
    lines.extend(known.map(|server| note("- {}", &[server.name()])));
    let text = ModelText::joined(&lines);
    Err(Stop {
        end: CallEnd::InvalidArguments,
        problem: text.as_str().to_owned(),
        text,
    })
}

/// What is in a resource, as a tool would have given it.
fn as_result(read: ResourceContents) -> ToolResult {
    let missing = (read.missing > 0).then(|| format!("{} parts can't be read", read.missing));
    let mut contents = read.contents;
    // The frame names the address already.
    let content = match contents.as_mut_slice() {
        [only] if only.blob.is_none() => {
            let text = only.text.take().unwrap_or_default();
            let annotations = None;
            vec![Content::Text { text, annotations }]
        }
        _ => contents.into_iter().map(Content::Resource).collect(),
    };
    ToolResult {
        content,
        missing: missing.into_iter().collect(),
        ..ToolResult::default()
    }
}
