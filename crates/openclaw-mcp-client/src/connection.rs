//! A connection to a server, as the rest of the program sees it.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};

use crate::error::RequestError;
use crate::model::{
    Completion, CompletionTarget, Fields, ListKind, Listing, Prompt, PromptResult, Resource,
    ResourceContents, ResourceTemplate, ServerInfo, Tool, ToolResult,
};
use crate::person::Person;
use crate::session::{Core, Era, Request, Subscription, parameters_of};
use crate::traffic::{Changes, ProgressListener};
use crate::transport::{Link, Presence};
use crate::wire::RawJson;

/// How many tools may be called at once.
const CALLS: usize = 128;
/// The error of a server whose tools have other headers than it told us last.
const HEADER_MISMATCH: i64 = -32020;

/// A connection to a server. Dropping it ends it, and the server's program if there is one.
pub struct Connection {
    core: Arc<Core>,
    calls: Semaphore,
    subscription: Option<Subscription>,
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
    pub stderr: Vec<String>,
    /// How many things that it sent could not be used.
    pub passed_over: u64,
    /// How many requests wait for their answers.
    pub in_flight: usize,
}

impl Connection {
    pub(crate) fn new(core: Arc<Core>, parallel_calls: bool) -> Self {
        let modern = core.terms().filter(|terms| terms.era == Era::Modern);
        let announces = modern.is_some_and(|terms| {
            let capabilities = terms.server.capabilities;
            capabilities.list_changes || capabilities.subscriptions
        });
        Self {
            subscription: announces.then(|| Subscription::start(core.clone())),
            calls: Semaphore::new(if parallel_calls { CALLS } else { 1 }),
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
        let (transport, pid, stderr) = match &self.core.link {
            Link::Stdio(stdio) => (Transport::Stdio, Some(stdio.pid()), stdio.stderr().lines()),
            Link::Streamable(_) => (Transport::StreamableHttp, None, Vec::new()),
            Link::Events(_) => (Transport::HttpEvents, None, Vec::new()),
        };
        Diagnostics {
            transport,
            era: terms.as_ref().map_or(Era::Legacy, |terms| terms.era),
            version: terms.as_ref().map_or("", |terms| terms.version),
            pid,
            stderr,
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
        let result = self.call(name, arguments, options).await;
        let elapsed = started.elapsed();
        let server = &self.core.inbound.server;
        match &result {
            Ok(_) => tracing::debug!(%server, tool = name, ?elapsed, "tool called"),
            Err(error) => {
                tracing::debug!(%server, tool = name, ?elapsed, "tool call failed: {error}");
            }
        }
        result
    }

    async fn call(
        &self,
        name: &str,
        arguments: Map<String, Value>,
        options: CallOptions,
    ) -> Result<ToolResult, RequestError> {
        let timeouts = self.core.timeouts;
        let until = Instant::now() + options.total.unwrap_or(timeouts.total);
        let Ok(Ok(_permit)) = timeout_at(until, self.calls.acquire()).await else {
            let reason = "other calls to the server take too long";
            return Err(RequestError::NotSent(reason.to_owned()));
        };
        self.learn_headers().await;
        let params = Map::from_iter([
            ("name".to_owned(), name.into()),
            ("arguments".to_owned(), Value::Object(arguments)),
        ]);
        let request = |params| {
            let mut request = Request::new("tools/call", params, timeouts);
            request.limits.until = until;
            request.limits.idle = options.idle.unwrap_or(timeouts.request);
            request.ticket.is_call = true;
            request.ticket.progress.clone_from(&options.progress);
            request.ticket.person.clone_from(&options.person);
            request
        };
        // Kept only where it may be needed again.
        let again = self.has_headers().then(|| params.clone());
        let result = self.core.request_in_rounds(request(params)).await;
        let result = match (result, again) {
            // It was refused unread: the tool has other headers by now.
            (Err(RequestError::Refused(error)), Some(params)) if error.code == HEADER_MISMATCH => {
                self.list_tools().await?;
                self.core.request_in_rounds(request(params)).await?
            }
            (result, _) => result?,
        };
        ToolResult::read(&result).map_err(RequestError::BadAnswer)
    }

    /// Whether parameters of tools may be sent as headers.
    fn has_headers(&self) -> bool {
        let is_modern = || {
            let terms = self.core.terms();
            terms.is_some_and(|terms| terms.era == Era::Modern)
        };
        matches!(self.core.link, Link::Streamable(_)) && is_modern()
    }

    /// Finds out which parameters are sent as headers, before the first call.
    async fn learn_headers(&self) {
        let is_listed = || {
            let parameters = self.core.header_parameters.read();
            parameters.unwrap_or_else(PoisonError::into_inner).listed
        };
        if self.has_headers() && !is_listed() {
            // If it fails, the call says why.
            let _ = self.list_tools().await;
        }
    }

    /// Lists the tools.
    pub async fn list_tools(&self) -> Result<Listing<Tool>, RequestError> {
        if !self.has_headers() {
            return self.core.list(ListKind::Tools, Tool::read).await;
        }
        let read = |fields| {
            let tool = Tool::read(fields)?;
            let parameters = parameters_of(&tool.input_schema)
                .map_err(|reason| format!("`{}`: {reason}", tool.name))?;
            Ok((tool, parameters))
        };
        let listing = self.core.list(ListKind::Tools, read).await?;
        let mut headers = HashMap::new();
        let mut tools = Vec::with_capacity(listing.items.len());
        for (tool, parameters) in listing.items {
            headers.insert(tool.name.clone(), parameters);
            tools.push(tool);
        }
        self.core
            .header_parameters
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .replace(headers);
        Ok(Listing {
            items: tools,
            dropped: listing.dropped,
            truncated: listing.truncated,
        })
    }

    /// Lists the resources.
    pub async fn list_resources(&self) -> Result<Listing<Resource>, RequestError> {
        self.core.list(ListKind::Resources, Resource::read).await
    }

    /// Lists the patterns for addresses of resources; servers that know none list none.
    pub async fn list_resource_templates(&self) -> Result<Listing<ResourceTemplate>, RequestError> {
        let listed = self
            .core
            .list(ListKind::Templates, ResourceTemplate::read)
            .await;
        match listed {
            Err(error) if error.is_unknown_method() => Ok(Listing::default()),
            other => other,
        }
    }

    /// Lists the prompts.
    pub async fn list_prompts(&self) -> Result<Listing<Prompt>, RequestError> {
        self.core.list(ListKind::Prompts, Prompt::read).await
    }

    /// Reads a resource.
    pub async fn read_resource(
        &self,
        uri: &str,
        person: Option<Arc<dyn Person>>,
    ) -> Result<ResourceContents, RequestError> {
        let params = Map::from_iter([("uri".to_owned(), uri.into())]);
        let result = self.in_rounds("resources/read", params, person).await?;
        read(&result, ResourceContents::read)
    }

    /// Fills in a prompt.
    pub async fn get_prompt(
        &self,
        name: &str,
        arguments: Map<String, Value>,
        person: Option<Arc<dyn Person>>,
    ) -> Result<PromptResult, RequestError> {
        let params = Map::from_iter([
            ("name".to_owned(), name.into()),
            ("arguments".to_owned(), Value::Object(arguments)),
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
        let mut params = Map::from_iter([
            ("ref".to_owned(), target.reference()),
            (
                "argument".to_owned(),
                json!({ "name": argument, "value": value }),
            ),
        ]);
        if !others.is_empty() {
            params.insert("context".to_owned(), json!({ "arguments": others }));
        }
        let result = self.simple("completion/complete", params).await?;
        read(&result, Completion::read)
    }

    /// Asks to hear of changes of a resource.
    pub async fn subscribe(&self, uri: &str) -> Result<(), RequestError> {
        self.change_subscription(uri, true).await
    }

    /// Asks not to hear of them any longer.
    pub async fn unsubscribe(&self, uri: &str) -> Result<(), RequestError> {
        self.change_subscription(uri, false).await
    }

    async fn change_subscription(&self, uri: &str, wanted: bool) -> Result<(), RequestError> {
        if !self.server().capabilities.subscriptions {
            return Err(RequestError::NotOffered("subscriptions to resources"));
        }
        if let Some(subscription) = &self.subscription {
            subscription.want(uri, wanted);
            return Ok(());
        }
        let method = if wanted {
            "resources/subscribe"
        } else {
            "resources/unsubscribe"
        };
        let params = Map::from_iter([("uri".to_owned(), uri.into())]);
        self.simple(method, params).await.map(drop)
    }

    /// Finds out whether the server still answers.
    pub async fn ping(&self, within: Duration) -> Result<(), RequestError> {
        let is_modern = self
            .core
            .terms()
            .is_some_and(|terms| terms.era == Era::Modern);
        // The second era has no ping.
        let method = if is_modern { "server/discover" } else { "ping" };
        let mut request = Request::new(method, Map::new(), self.core.timeouts);
        request.limits.idle = within;
        request.limits.until = Instant::now() + within;
        match self.core.request(&mut request).await {
            // An error is a sign of life, too.
            Ok(_) | Err(RequestError::Refused(_)) => Ok(()),
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
    pub async fn close(self) {
        drop(self.subscription);
        self.core.link.close().await;
    }

    async fn in_rounds(
        &self,
        method: &'static str,
        params: Map<String, Value>,
        person: Option<Arc<dyn Person>>,
    ) -> Result<RawJson, RequestError> {
        let mut request = Request::new(method, params, self.core.timeouts);
        request.ticket.person = person;
        self.core.request_in_rounds(request).await
    }

    async fn simple(
        &self,
        method: &'static str,
        params: Map<String, Value>,
    ) -> Result<RawJson, RequestError> {
        let mut request = Request::new(method, params, self.core.timeouts);
        self.core.request(&mut request).await
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
        .map_err(RequestError::BadAnswer)
}
