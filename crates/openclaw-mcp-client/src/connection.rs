//! A connection to a server, as the rest of the program sees it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use openclaw_process::{StderrLine, StderrTail};
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use crate::error::RequestError;
use crate::model::{
    Completion, CompletionTarget, Fields, ListKind, Listing, Prompt, PromptResult, Resource,
    ResourceContents, ResourceTemplate, ServerInfo, Tool, ToolResult,
};
use crate::person::Person;
use crate::session::{Core, Era, Limits, Parameters, Request, Subscription};
use crate::time::{deadline, later};
use crate::traffic::{Changes, ProgressListener, ResourceVersion, TicketKind, TicketOptions};
use crate::transport::{Link, Presence, Stdio};
use crate::wire::RawJson;

/// A connection to a server. Dropping it ends it, and the server's program if there is one.
pub struct Connection {
    core: Arc<Core>,
    subscription: Mutex<Option<Subscription>>,
}

/// How a tool is called.
#[derive(Clone, Default)]
pub struct CallOptions {
    /// How long without a sign of life, if not as configured.
    pub idle: Option<Duration>,
    /// How long in all, if not as configured.
    pub total: Option<Duration>,
    /// Who hears of its progress.
    pub progress: Option<ProgressListener>,
    /// Whom the server may ask something.
    pub person: Option<Arc<dyn Person>>,
}

/// How a server is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// Over the standard streams of its program.
    Stdio,
    /// Over Streamable HTTP.
    StreamableHttp,
    /// Over HTTP with server-sent events.
    HttpEvents,
}

/// What can be told about a connection.
#[derive(Clone, Debug)]
pub struct Diagnostics {
    /// How the server is spoken to.
    pub transport: Transport,
    /// In which era of the protocol.
    pub era: Era,
    /// In which revision.
    pub version: &'static str,
    /// The number of the server's process, if it is one of ours.
    pub pid: Option<u32>,
    /// The last lines of its standard error.
    pub stderr: Vec<StderrLine>,
    /// How the session begins that the server assigned, if it did. Not all of it: whoever has it
    /// can take part.
    pub session: Option<String>,
    /// How many things that it sent could not be used.
    pub passed_over: u64,
    /// How many requests wait for their answers.
    pub in_flight: usize,
}

impl Connection {
    pub(crate) fn new(core: Arc<Core>) -> Self {
        let modern = core.terms().filter(|terms| terms.era == Era::Modern);
        let announces = modern.is_some_and(|terms| {
            let capabilities = terms.server.capabilities;
            capabilities.list_changes || capabilities.subscriptions
        });
        Self {
            subscription: Mutex::new(announces.then(|| Subscription::start(core.clone()))),
            core,
        }
    }

    /// What the server says about itself.
    pub fn server(&self) -> Arc<ServerInfo> {
        let terms = self.core.terms();
        terms.map(|terms| terms.server.clone()).unwrap_or_default()
    }

    /// What can be told about the connection.
    pub fn diagnostics(&self) -> Diagnostics {
        let terms = self.core.terms();
        let (transport, program) = match &self.core.link {
            Link::Stdio(stdio) => (Transport::Stdio, Some(stdio)),
            Link::Streamable(_) => (Transport::StreamableHttp, None),
            Link::Events(_) => (Transport::HttpEvents, None),
        };
        let stderr = program.map(Stdio::stderr);
        Diagnostics {
            transport,
            era: terms.as_ref().map_or(Era::Legacy, |terms| terms.era),
            version: terms.as_ref().map_or("", |terms| terms.version),
            pid: program.map(Stdio::pid),
            stderr: stderr.map(StderrTail::lines).unwrap_or_default(),
            session: match &self.core.link {
                Link::Streamable(streamable) => streamable.session_start(),
                Link::Stdio(_) | Link::Events(_) => None,
            },
            passed_over: self.core.inbound.oddities(),
            in_flight: self.core.inbound.in_flight.len(),
        }
    }

    /// Calls a tool. It is never called twice, whatever happens.
    pub async fn call_tool(
        &self,
        name: &str,
        arguments: Map<String, Value>,
        options: CallOptions,
    ) -> Result<ToolResult, RequestError> {
        let started = Instant::now();
        let timeouts = self.core.timeouts;
        let limits = Limits {
            idle: options.idle.unwrap_or(timeouts.request),
            until: later(started, options.total.unwrap_or(timeouts.total)),
        };
        let ticket = TicketOptions {
            progress: options.progress,
            person: options.person,
            ..TicketOptions::default()
        };
        let call = self.core.call_tool(name, arguments, limits, ticket);
        let result = call.await;
        let server = &self.core.inbound.server;
        match &result {
            Ok(_) => {
                tracing::debug!(%server, tool = name, elapsed = ?started.elapsed(), "tool called");
            }
            Err(error) => {
                let elapsed = started.elapsed();
                tracing::debug!(%server, tool = name, ?elapsed, "tool call failed: {error}");
            }
        }
        result
    }

    /// Lists the tools.
    pub async fn list_tools(&self) -> Result<Listing<Tool>, RequestError> {
        self.core.list_tools(self.until()).await
    }

    /// Lists the resources.
    pub async fn list_resources(&self) -> Result<Listing<Resource>, RequestError> {
        self.core
            .list(ListKind::Resources, self.until(), Resource::read)
            .await
    }

    /// Lists the patterns for addresses of resources; servers that know none list none.
    pub async fn list_resource_templates(&self) -> Result<Listing<ResourceTemplate>, RequestError> {
        let listed = self
            .core
            .list(ListKind::Templates, self.until(), ResourceTemplate::read)
            .await;
        match listed {
            Err(error) if error.is_unknown_method() => Ok(Listing::default()),
            other => other,
        }
    }

    /// Lists the prompts.
    pub async fn list_prompts(&self) -> Result<Listing<Prompt>, RequestError> {
        self.core
            .list(ListKind::Prompts, self.until(), Prompt::read)
            .await
    }

    /// Reads a resource.
    pub async fn read_resource(
        &self,
        uri: &str,
        person: Option<Arc<dyn Person>>,
    ) -> Result<ResourceContents, RequestError> {
        let options = CallOptions {
            person,
            ..CallOptions::default()
        };
        self.read_resource_with(uri, options).await
    }

    /// Reads a resource, within limits as a call has them.
    pub async fn read_resource_with(
        &self,
        uri: &str,
        options: CallOptions,
    ) -> Result<ResourceContents, RequestError> {
        let params = Parameters::from([("uri", uri.into())]);
        let mut request = Request::new("resources/read", params, self.core.timeouts);
        request.ticket.kind = TicketKind::Interactive;
        request.ticket.person = options.person;
        request.ticket.progress = options.progress;
        if let Some(idle) = options.idle {
            request.limits.idle = idle;
        }
        if let Some(total) = options.total {
            request.limits.until = deadline(total);
        }
        let result = self.core.request_in_rounds(request).await?;
        read(&result, ResourceContents::read)
    }

    /// How often a resource has changed, as far as the server has said; nothing where a change
    /// would not be told to us. For those who keep what they read.
    pub fn watched_version(&self, uri: &str) -> Option<ResourceVersion> {
        let versions = &self.core.inbound.changes.versions;
        self.core.is_watched(uri).then(|| versions.of(uri))
    }

    /// Fills in a prompt.
    pub async fn get_prompt(
        &self,
        name: &str,
        arguments: Map<String, Value>,
        person: Option<Arc<dyn Person>>,
    ) -> Result<PromptResult, RequestError> {
        let params = Parameters::from([
            ("name", name.into()),
            ("arguments", Value::Object(arguments)),
        ]);
        let result = self.in_rounds("prompts/get", params, person).await?;
        read(&result, PromptResult::read)
    }

    /// Asks how an argument can go on, given the others.
    pub async fn complete(
        &self,
        target: &CompletionTarget,
        argument: &str,
        value: &str,
        others: Map<String, Value>,
    ) -> Result<Completion, RequestError> {
        let context = (!others.is_empty()).then(|| json!({ "arguments": others }));
        let mut params = Parameters::from([
            ("ref", target.reference()),
            ("argument", json!({ "name": argument, "value": value })),
        ]);
        params.set("context", context);
        let result = self.simple("completion/complete", params).await?;
        read(&result, Completion::read)
    }

    /// Asks to hear of changes of a resource. That the server agrees does not mean that its word
    /// arrives: [`watched_version`](Self::watched_version) says whether it does.
    pub async fn subscribe(&self, uri: &str) -> Result<(), RequestError> {
        self.change_subscription(uri, true).await
    }

    /// Asks not to hear of them any longer.
    pub async fn unsubscribe(&self, uri: &str) -> Result<(), RequestError> {
        self.change_subscription(uri, false).await
    }

    async fn change_subscription(&self, uri: &str, wanted: bool) -> Result<(), RequestError> {
        let not_offered = RequestError::NotOffered("subscriptions to resources");
        if !self.server().capabilities.subscriptions {
            return Err(not_offered);
        }
        let is_told = {
            let subscription = self.subscription();
            subscription.as_ref().map(|it| it.want(uri, wanted))
        };
        match is_told {
            Some(true) => Ok(()),
            Some(false) => Err(not_offered),
            None => self.core.watch(uri, wanted).await,
        }
    }

    /// Finds out whether the server still answers.
    pub async fn ping(&self, within: Duration) -> Result<(), RequestError> {
        // The second era has no ping.
        let method = if self.core.speaks(Era::Modern) {
            "server/discover"
        } else {
            "ping"
        };
        let mut request = Request::new(method, Parameters::default(), self.core.timeouts);
        request.limits.idle = within;
        request.limits.until = deadline(within);
        match self.core.request(&request).await {
            Ok(_) => Ok(()),
            // That it does not know the question is a sign of life, too.
            Err(error) if error.is_unknown_method() => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Waits until something has changed on the server, and returns all that has.
    pub async fn changes(&self) -> Changes {
        self.core.inbound.changes.next().await
    }

    /// Waits until the connection is gone, and says why. One over HTTP goes only when it is closed:
    /// whether the server is there shows with each request.
    pub async fn closed(&self) -> Arc<str> {
        let Link::Stdio(stdio) = &self.core.link else {
            return std::future::pending().await;
        };
        let mut presence = stdio.presence();
        let gone = presence
            .wait_for(|presence| *presence != Presence::Open)
            .await;
        match gone.as_deref() {
            Ok(Presence::Closed(reason) | Presence::Gone(reason)) => reason.clone(),
            Ok(Presence::Open) | Err(_) => "it was disconnected".into(),
        }
    }

    /// Ends the connection properly, and waits until nothing of it is left.
    pub async fn close(&self) {
        drop(self.subscription().take());
        self.core.link.close().await;
    }

    fn subscription(&self) -> MutexGuard<'_, Option<Subscription>> {
        let subscription = self.subscription.lock();
        subscription.unwrap_or_else(PoisonError::into_inner)
    }

    /// When a request that is made now has to be answered at last.
    fn until(&self) -> Instant {
        deadline(self.core.timeouts.total)
    }

    async fn in_rounds(
        &self,
        method: &'static str,
        params: Parameters,
        person: Option<Arc<dyn Person>>,
    ) -> Result<RawJson, RequestError> {
        let mut request = Request::new(method, params, self.core.timeouts);
        request.ticket.kind = TicketKind::Interactive;
        request.ticket.person = person;
        self.core.request_in_rounds(request).await
    }

    async fn simple(
        &self,
        method: &'static str,
        params: Parameters,
    ) -> Result<RawJson, RequestError> {
        let request = Request::new(method, params, self.core.timeouts);
        self.core.request(&request).await
    }
}

fn read<T>(
    result: &RawJson,
    read: impl FnOnce(Fields) -> Result<T, String>,
) -> Result<T, RequestError> {
    result
        .value()
        .map_err(|error| error.to_string())
        .and_then(|value| Fields::of(value).ok_or_else(|| "it is not an object".to_owned()))
        .and_then(read)
        .map_err(RequestError::BadResult)
}
