//! A model of a service: asked over HTTP, in the protocol of the service.

use std::cell::LazyCell;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, Method, Request, Response};
use openclaw_conversation::Message;
use openclaw_http::{Arriving, Http, HttpError, Outgoing};
use openclaw_secrets::Redactor;
use tokio::time::{Instant, timeout_at};
use url::Url;

use crate::chance::Chance;
use crate::credentials::{Credentials, Known};
use crate::error::ModelError;
use crate::model::{
    Model, ModelEvent, ModelFacts, ModelListener, ModelReply, ModelRequest, PendingReply,
};
use crate::wire::{
    Api, Author, Broken, Complaint, Dispensable, Fault, Framing, Growing, Particulars, Parties,
    Patience, REFUSAL, Without, WrittenRequest, read,
};

/// A model of a service.
pub(crate) struct Service {
    /// `provider/model`
    pub(crate) name: String,
    pub(crate) provider: String,
    /// Its name at the service.
    pub(crate) model: String,
    pub(crate) api: Api,
    pub(crate) base: Url,
    pub(crate) facts: ModelFacts,
    /// The most tokens it answers with, where the service is to be told.
    pub(crate) max_tokens: Option<u64>,
    /// How long an answer may take.
    pub(crate) timeout: Duration,
    /// How long nothing of it may come.
    pub(crate) idle: Duration,
    /// Whether the service was found to refuse `stream_options`; known to all models of a provider.
    pub(crate) no_stream_options: Arc<AtomicBool>,
    /// Whether it was said that there are more tools than the service takes.
    pub(crate) has_told: AtomicBool,
    /// What to do when the service does not know it.
    pub(crate) alternatives: String,
    pub(crate) http: Arc<Http>,
    pub(crate) credentials: Arc<Credentials>,
    pub(crate) redactor: Redactor,
    pub(crate) chance: Arc<dyn Chance>,
}

impl Model for Service {
    fn name(&self) -> &str {
        &self.name
    }

    fn facts(&self) -> &ModelFacts {
        &self.facts
    }

    fn reply<'a>(
        &'a self,
        request: ModelRequest<'a>,
        listener: &'a mut ModelListener<'_>,
    ) -> PendingReply<'a> {
        Box::pin(async move {
            let until = Instant::now() + self.timeout;
            let owner = self.owner();
            let mut without = self.without();
            let mut body = self.body(&request, &owner, without, listener)?;
            let mut known = self.within(until, self.credentials.known()).await??;
            let mut is_renewed = false;
            let answer = loop {
                let failure = match self.ask(&body, &known, until).await {
                    Ok(answer) => break answer,
                    Err(failure) => failure,
                };
                match failure {
                    Failure {
                        about: Some(about), ..
                    } if without.add(about) => {
                        let model = self.name.as_str();
                        tracing::debug!(model, ?about, "the request is made again without it");
                        body = self.body(&request, &owner, without, listener)?;
                    }
                    Failure {
                        error: ModelError::KeyRefused { provider, reason },
                        ..
                    } if !is_renewed => {
                        is_renewed = true;
                        // A key that was changed in its store is the new one there.
                        let renewed = self.credentials.renewed(&known);
                        known = self
                            .within(until, renewed)
                            .await??
                            .ok_or(ModelError::KeyRefused { provider, reason })?;
                    }
                    Failure { error, .. } => return Err(error),
                }
            };
            if without.stream_options {
                self.no_stream_options.store(true, Ordering::Relaxed);
            }
            Box::pin(self.read(answer, request.messages, &owner, listener, until)).await
        })
    }
}

/// Why a request was not answered.
struct Failure {
    error: ModelError,
    /// What it should have been made without.
    about: Option<Dispensable>,
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        Self { error, about: None }
    }
}

impl Service {
    /// What it is asked, as bytes.
    pub(crate) fn written(&self, request: &ModelRequest<'_>) -> Result<Vec<u8>, ModelError> {
        let written = self.write(request, &self.owner(), self.without())?;
        Ok(written.body.into_vec())
    }

    /// Whose the parts are that only the service understands: what one has sealed, the next one of the
    /// same protocol can't open, nor should it see it.
    fn owner(&self) -> String {
        let host = self.base.host_str().unwrap_or_default();
        let (api, provider) = (self.api.word(), &self.provider);
        format!("{api}:{provider}@{host}:{}", self.model)
    }

    fn without(&self) -> Without {
        Without {
            stream_options: self.no_stream_options.load(Ordering::Relaxed),
            reasoning: false,
        }
    }

    fn body(
        &self,
        request: &ModelRequest<'_>,
        owner: &str,
        without: Without,
        listener: &mut ModelListener<'_>,
    ) -> Result<Outgoing, ModelError> {
        let written = self.write(request, owner, without)?;
        let left_out = written.left_out;
        if left_out > 0 && !self.has_told.swap(true, Ordering::Relaxed) {
            let model = &self.name;
            tracing::warn!(model, left_out, "the service does not take all tools");
            let text = format!(
                "{model} does not take so many tools: {left_out} of {} are left out",
                request.tools.tools().len()
            );
            listener(ModelEvent::Notice { text });
        }
        Ok(written.body)
    }

    fn write(
        &self,
        request: &ModelRequest<'_>,
        owner: &str,
        without: Without,
    ) -> Result<WrittenRequest, ModelError> {
        let particulars = Particulars {
            model: &self.model,
            owner,
            base: &self.base,
            takes_images: self.facts.takes_images,
            takes_documents: self.facts.takes_documents,
            context_window: self.facts.context_window,
            max_tokens: self.max_tokens,
            without,
        };
        let body = self.api.body(request, &particulars);
        body.map_err(|error| self.refused(&error.to_string()))
    }

    /// Sends a request, and takes an answer that is one.
    async fn ask(
        &self,
        body: &Outgoing,
        known: &Known,
        until: Instant,
    ) -> Result<Response<Arriving>, Failure> {
        let address = self.api.address(&self.base, &self.model);
        let address = address.ok_or_else(|| self.refused("its address can't have a path"))?;
        let mut request = Request::builder()
            .method(Method::POST)
            .uri(address.as_str());
        if let Some(headers) = request.headers_mut() {
            known.put(headers);
            headers.insert(
                CONTENT_TYPE,
                http::HeaderValue::from_static("application/json"),
            );
            let accept = match self.api.framing() {
                Framing::Events => "text/event-stream",
                Framing::Lines => "application/x-ndjson",
            };
            headers.insert(ACCEPT, http::HeaderValue::from_static(accept));
        }
        let request = request
            .body(body.clone())
            .map_err(|error| self.refused(&error.to_string()))?;
        let opened = self.within(until, self.http.open(request)).await?;
        let answer = opened.map_err(|error| self.unreached(&error))?;
        let status = answer.status();
        if !status.is_success() {
            let (head, mut rest) = answer.into_parts();
            let text = self.beginning(&mut rest, until).await;
            let complaint = Complaint::of_response(status.as_u16(), &head.headers, &text);
            return Err(Failure {
                about: complaint.about(),
                error: complaint.into_error(self.parties()),
            });
        }
        if is_of(answer.headers(), &["text/html"]) {
            return Err(self
                .misdirected("it answers with a page for browsers")
                .into());
        }
        if self.api.framing() == Framing::Events && is_of(answer.headers(), &["application/json"]) {
            return Err(self.unstreamed(answer, until).await.into());
        }
        Ok(answer)
    }

    /// The error for an answer that is no stream, though one was asked for: most likely it says
    /// what is wrong.
    async fn unstreamed(&self, answer: Response<Arriving>, until: Instant) -> ModelError {
        let mut rest = answer.into_body();
        let text = self.beginning(&mut rest, until).await;
        let value = serde_json::from_slice::<serde_json::Value>(&text).ok();
        let error = value.filter(|value| value.get("error").is_some_and(|it| !it.is_null()));
        match error.as_ref().and_then(Complaint::of_value) {
            Some(complaint) => complaint.into_error(self.parties()),
            None => self.unreadable("it is not a stream of events"),
        }
    }

    async fn read(
        &self,
        answer: Response<Arriving>,
        messages: &[Message],
        owner: &str,
        listener: &mut ModelListener<'_>,
        until: Instant,
    ) -> Result<ModelReply, ModelError> {
        let is_stream = is_of(
            answer.headers(),
            &["text/event-stream", "application/x-ndjson"],
        );
        let mut body = answer.into_body();
        let mut decoder = self.api.decoder();
        let mut hear = |event: ModelEvent| listener(event);
        let mut growing = Growing::new(&mut hear);
        let framing = self.api.framing();
        let idle = self.idle;
        let patience = Patience { until, idle };
        let stop = read(&mut body, framing, &mut *decoder, &mut growing, patience).await;
        let stop = stop.map_err(|broken| match broken {
            Broken::Strange if !is_stream => self.misdirected("it does not answer with events"),
            other => self.broken(other),
        })?;
        let used = LazyCell::new(|| used_ids(messages));
        let author = Author {
            model: &self.name,
            owner,
            is_taken: &|id| used.contains(id),
            make_id: &|| format!("call_{:016x}", self.chance.number()),
        };
        Ok(growing.finish(stop, &author))
    }

    /// Reads the beginning of a refusal.
    async fn beginning(&self, body: &mut Arriving, until: Instant) -> Vec<u8> {
        let mut text = Vec::new();
        while text.len() < REFUSAL {
            match timeout_at(until, body.next()).await {
                Ok(Ok(Some(more))) => text.extend_from_slice(&more),
                _ => break,
            }
        }
        text.truncate(REFUSAL);
        text
    }

    async fn within<T>(
        &self,
        until: Instant,
        future: impl Future<Output = T>,
    ) -> Result<T, ModelError> {
        let done = timeout_at(until, future).await;
        done.map_err(|_| self.timed_out(self.timeout))
    }

    fn parties(&self) -> Parties<'_> {
        Parties {
            provider: &self.provider,
            model: &self.name,
            alternatives: &self.alternatives,
            redactor: &self.redactor,
        }
    }

    fn broken(&self, broken: Broken) -> ModelError {
        match broken {
            Broken::Late => self.timed_out(self.timeout),
            Broken::Silent(within) => self.timed_out(within),
            Broken::Strange => ModelError::Truncated {
                model: self.name.clone(),
                reason: "there was no event".to_owned(),
            },
            Broken::Fault(Fault::Complaint(complaint)) => complaint.into_error(self.parties()),
            Broken::Fault(Fault::Unreadable(reason)) => self.unreadable(&reason),
            Broken::Fault(Fault::Cut(reason)) => ModelError::Truncated {
                model: self.name.clone(),
                reason: self.parties().shown(&reason),
            },
        }
    }

    fn unreached(&self, error: &HttpError) -> ModelError {
        let reason = self.parties().shown(&error.to_string());
        if error.is_passing() {
            return ModelError::Unavailable {
                model: self.name.clone(),
                reason,
                retry_after: None,
            };
        }
        self.misdirected(&reason)
    }

    /// The error for something that is no service of this protocol.
    fn misdirected(&self, reason: &str) -> ModelError {
        ModelError::Misconfigured {
            provider: self.provider.clone(),
            reason: reason.to_owned(),
            hint: format!("look at `models.providers.{}.baseUrl`", self.provider),
        }
    }

    fn refused(&self, reason: &str) -> ModelError {
        ModelError::Refused {
            model: self.name.clone(),
            reason: self.parties().shown(reason),
        }
    }

    fn unreadable(&self, reason: &str) -> ModelError {
        ModelError::Unreadable {
            model: self.name.clone(),
            reason: self.parties().shown(reason),
        }
    }

    fn timed_out(&self, within: Duration) -> ModelError {
        ModelError::TimedOut {
            model: self.name.clone(),
            within,
        }
    }
}

/// Whether what follows is of one of these types.
fn is_of(headers: &HeaderMap, types: &[&str]) -> bool {
    let value = headers.get(CONTENT_TYPE);
    let value = value.and_then(|value| value.to_str().ok());
    let essence = value.and_then(|value| value.split(';').next());
    essence.is_some_and(|essence| {
        let essence = essence.trim();
        types.iter().any(|it| essence.eq_ignore_ascii_case(it))
    })
}

/// The identifiers of the calls of a conversation.
fn used_ids(messages: &[Message]) -> HashSet<&str> {
    let calls = messages.iter().filter_map(|message| match message {
        Message::Assistant(said) => Some(said.calls()),
        Message::User { .. } | Message::Tool(_) | Message::Summary { .. } => None,
    });
    calls.flatten().map(|call| call.id.as_str()).collect()
}
