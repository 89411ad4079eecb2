//! One request and what came of it, repeated where that helps.

use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http::header::{HeaderValue, LOCATION};
use http::{Method, Request, Response};
use serde_json::Value as Json;
use tokio::time::Instant;

use super::address::{Address, Redirect};
use super::client::{Client, Lent};
use super::reply::{self, Read, Reply};
use super::token::Token;
use crate::error::SecretError;
use crate::http::{Attempt, HttpError, patiently, silent};
use crate::provider::Turns;
use crate::surroundings::Surroundings;

/// The server that the variables name.
pub(super) struct Server<'v> {
    pub(super) surroundings: &'v Surroundings,
    client: &'v Client,
    turns: &'v Turns,
    lent: Mutex<Lent>,
    address: Address,
    namespace: Option<HeaderValue>,
}

/// A request that can be made again.
struct Question<'q> {
    method: Method,
    path: &'q str,
    token: Option<&'q Token>,
    body: Bytes,
}

impl<'q> Question<'q> {
    fn get(token: &'q Token, path: &'q str) -> Self {
        Self {
            method: Method::GET,
            path,
            token: Some(token),
            body: Bytes::new(),
        }
    }
}

impl<'v> Server<'v> {
    pub(super) async fn find(
        surroundings: &'v Surroundings,
        client: &'v Client,
        turns: &'v Turns,
    ) -> Result<Self, SecretError> {
        let address = Address::of(surroundings)?;
        let namespace = surroundings.variable("VAULT_NAMESPACE");
        let namespace = namespace.map(|name| HeaderValue::from_str(name.trim()));
        let namespace = namespace.transpose().map_err(|_| {
            SecretError::misconfigured("`VAULT_NAMESPACE` has characters that no namespace has")
        })?;
        Ok(Self {
            surroundings,
            client,
            turns,
            lent: Mutex::new(client.get(surroundings, &address).await?),
            address,
            namespace,
        })
    }

    /// The server for a person.
    pub(super) fn shown(&self) -> String {
        self.address.shown()
    }

    /// Asks for what is at a path.
    pub(super) async fn get(
        &self,
        token: &Token,
        path: &str,
        until: Instant,
    ) -> Result<Reply, SecretError> {
        let question = Question::get(token, path);
        self.ask(until, || self.attempt(&question)).await
    }

    /// The same if that is still needed when it is our turn.
    pub(super) async fn get_if(
        &self,
        is_needed: impl Fn() -> bool,
        token: &Token,
        path: &str,
        until: Instant,
    ) -> Result<Option<Reply>, SecretError> {
        let question = Question::get(token, path);
        let attempt = async || {
            if is_needed() {
                self.attempt(&question).await.map(Some)
            } else {
                Attempt::Done(Ok(None))
            }
        };
        self.ask(until, attempt).await
    }

    /// Asks somebody who does not know us yet.
    pub(super) async fn post(
        &self,
        path: &str,
        body: &Json,
        until: Instant,
    ) -> Result<Reply, SecretError> {
        let question = Question {
            method: Method::POST,
            path,
            token: None,
            body: Bytes::from(body.to_string()),
        };
        self.ask(until, || self.attempt(&question)).await
    }

    /// Asks until it is decided, each time when it is our turn.
    async fn ask<T, F: Future<Output = Attempt<T>>>(
        &self,
        until: Instant,
        attempt: impl Fn() -> F,
    ) -> Result<T, SecretError> {
        let silent = || silent(&self.shown());
        patiently(until, silent, || self.turns.take(attempt())).await
    }

    async fn attempt(&self, question: &Question<'_>) -> Attempt<Reply> {
        let answer = match self.send(question).await {
            Ok(answer) => answer,
            Err(attempt) => return attempt,
        };
        match reply::read(&self.shown(), &self.surroundings.redactor, &answer) {
            Read::Over(attempt) => attempt,
            Read::Sealed => Attempt::Done(Err(self.why_sealed().await)),
        }
    }

    /// A server that was never initialised says that it is sealed, too.
    async fn why_sealed(&self) -> SecretError {
        let question = Question {
            method: Method::GET,
            path: "sys/seal-status",
            token: None,
            body: Bytes::new(),
        };
        let answer = self.send(&question).await.ok();
        let status: Option<Json> =
            answer.and_then(|answer| serde_json::from_slice(answer.body()).ok());
        let is_initialised = status.and_then(|status| status.get("initialized")?.as_bool());
        reply::sealed(&self.shown(), is_initialised.unwrap_or(true))
    }

    /// Sends a request, and once more to where the same server says.
    async fn send(&self, question: &Question<'_>) -> Result<Response<Bytes>, Attempt<Reply>> {
        let address = self.address.of_path(question.path);
        let answer = self.send_to(question, &address).await?;
        let location = match answer.headers().get(LOCATION) {
            Some(location) if answer.status().is_redirection() => location.to_str().unwrap_or("?"),
            _ => return Ok(answer),
        };
        match self.address.redirected(&address, location) {
            Redirect::Here(there) => self.send_to(question, &there).await,
            Redirect::Away(there) => {
                let reason = format!(
                    "{} sends us on to {there}, as a standby does, and a token is not taken to \
                     another server",
                    self.shown()
                );
                let hint = format!("set `VAULT_ADDR` to {there} if that is the active server");
                let error = SecretError::unavailable(reason).hint(hint);
                Err(Attempt::Done(Err(error)))
            }
        }
    }

    async fn send_to(
        &self,
        question: &Question<'_>,
        address: &str,
    ) -> Result<Response<Bytes>, Attempt<Reply>> {
        let mut request = Request::builder()
            .method(question.method.clone())
            .uri(address)
            .header("x-vault-request", "true");
        if let Some(namespace) = &self.namespace {
            request = request.header("x-vault-namespace", namespace);
        }
        if let Some(token) = question.token {
            request = request.header("x-vault-token", token.header());
        }
        if !question.body.is_empty() {
            request = request.header("content-type", "application/json");
        }
        let request = request.body(question.body.clone()).map_err(|error| {
            let reason = format!("{} can't be asked: {error}", self.shown());
            Attempt::Done(Err(SecretError::misconfigured(reason)))
        })?;
        let used = self.lent().clone();
        let sent = used.http.send(request.clone()).await;
        let Err(HttpError::Insecure(_)) = &sent else {
            return sent.map_err(|error| self.unanswered(&used, &error));
        };
        let other = self.client.instead(&used, self.surroundings, &self.address);
        let other = other.await.map_err(|error| Attempt::Done(Err(error)))?;
        let Some(other) = other else {
            return sent.map_err(|error| self.unanswered(&used, &error));
        };
        self.lent().clone_from(&other);
        let sent = other.http.send(request).await;
        sent.map_err(|error| self.unanswered(&other, &error))
    }

    fn lent(&self) -> MutexGuard<'_, Lent> {
        self.lent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What it means that there is no answer.
    fn unanswered(&self, used: &Lent, error: &HttpError) -> Attempt<Reply> {
        let reason = format!("{} can't be asked: {error}", self.shown());
        match error {
            error if error.is_passing() => {
                let error = SecretError::unavailable(reason).hint(if self.address.is_default() {
                    "set `VAULT_ADDR` to the address of the server"
                } else {
                    "check `VAULT_ADDR`, and that the server runs"
                });
                Attempt::Again(error, None)
            }
            HttpError::Insecure(why) => {
                self.client.forget(used);
                Attempt::Done(Err(self.insecure(reason, why)))
            }
            HttpError::TooLarge(_) => Attempt::Done(Err(SecretError::unusable(reason))),
            _ => Attempt::Done(Err(SecretError::misconfigured(reason))),
        }
    }

    /// What it means that one of us does not trust the other.
    fn insecure(&self, mut reason: String, why: &str) -> SecretError {
        let hint = if why.contains("alert") {
            "the server may want a certificate of yours: set `VAULT_CLIENT_CERT` and \
             `VAULT_CLIENT_KEY`"
        } else if why.contains("corrupt message") {
            "the server may not speak TLS: check `VAULT_ADDR`"
        } else {
            "set `VAULT_CACERT` to a file with the certificate of the authority"
        };
        let skip = self.surroundings.variable("VAULT_SKIP_VERIFY");
        if skip.is_some_and(|value| matches!(value, "1" | "t" | "T" | "true" | "True" | "TRUE")) {
            reason.push_str(
                "; `VAULT_SKIP_VERIFY` is not supported, for it would give the token to anybody",
            );
        }
        SecretError::misconfigured(reason).hint(hint)
    }
}
