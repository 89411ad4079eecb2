//! What can be asked over HTTP, in one table: who answers, who may ask and what is counted go by it.

mod call;
mod documents;
mod health;
mod servers;
#[cfg(test)]
mod tests;
mod websocket;

use std::future::ready;
use std::pin::Pin;

use axum::response::{IntoResponse, Response};
use futures_util::FutureExt as _;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use serde::Serialize;

use crate::door::Access;
use crate::headers::{self, Kind};
use crate::problem::{JSON, Problem};
use crate::visit::Visit;
use crate::{chat, metrics, page};
pub(crate) use health::Judged;

/// How large a request may be: names and options, which are not weighed.
const BODY: usize = 16 * 1024;
/// How large a call may be: arguments may hold files.
const CALL_BODY: usize = 16 * 1024 * 1024;

/// Something that can be asked.
pub(crate) struct Route {
    /// Where; `{name}` stands for one part of a path, `{*name}` at its end for all that is left of it.
    pub(crate) path: &'static str,
    /// In which ways, besides `HEAD` where there is `GET`.
    pub(crate) methods: &'static [&'static str],
    /// What a request has to bring.
    pub(crate) access: Access,
    /// What it is answered with.
    pub(crate) kind: Kind,
    /// How large a request may be; none where whoever answers says so, in a shape of its own.
    pub(crate) body: Option<usize>,
    /// Who answers.
    answer: fn(Visit) -> Answering,
}

/// An answer that is being made.
type Answering = Pin<Box<dyn Future<Output = Response> + Send>>;

/// One answer in the shape of all.
fn answering<A: IntoResponse + 'static>(
    answer: impl Future<Output = A> + Send + 'static,
) -> Answering {
    // A block that waits for it would have room for it twice.
    Box::pin(answer.map(IntoResponse::into_response))
}

impl Route {
    const fn new(
        path: &'static str,
        methods: &'static [&'static str],
        answer: fn(Visit) -> Answering,
    ) -> Self {
        Self {
            path,
            methods,
            access: Access::Closed,
            kind: Kind::Api,
            body: Some(BODY),
            answer,
        }
    }

    /// One that `chat` answers, in shapes of its own.
    const fn chat(path: &'static str, methods: &'static [&'static str]) -> Self {
        let mut route = Self::new(path, methods, |visit| answering(chat::answer(visit)));
        route.body = None;
        route
    }

    /// Whether a path is meant.
    fn is_at(&self, path: &str) -> bool {
        let (mut ours, mut theirs) = (self.path, path);
        loop {
            let Some(opening) = ours.find('{') else {
                return ours == theirs;
            };
            let (before, pattern) = ours.split_at(opening);
            let Some(rest) = theirs.strip_prefix(before) else {
                return false;
            };
            if pattern.starts_with("{*") {
                return !rest.is_empty();
            }
            let end = rest.find('/').unwrap_or(rest.len());
            if end == 0 {
                return false;
            }
            theirs = &rest[end..];
            ours = pattern.split_once('}').map_or("", |(_, behind)| behind);
        }
    }

    /// Answers, if it can be asked in this way.
    pub(crate) async fn answer(&self, visit: Visit) -> Response {
        if self.takes(visit.request.method()) {
            (self.answer)(visit).await
        } else {
            self.not_in_this_way().into_response()
        }
    }

    fn not_in_this_way(&self) -> Problem {
        let methods = self.methods.join(", ").to_uppercase();
        let mut allowed = methods.replace(' ', "");
        if self.takes(&Method::HEAD) {
            allowed.push_str(",HEAD");
        }
        let problem = Problem::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "method-not-allowed",
            format!("this takes {methods} alone"),
        )
        .hint("`GET /openapi.json` says more");
        match HeaderValue::try_from(allowed) {
            Ok(allowed) => problem.header(header::ALLOW, allowed),
            Err(_) => problem,
        }
    }

    /// Whether it can be asked in this way.
    pub(crate) fn takes(&self, method: &Method) -> bool {
        let asked = match *method {
            Method::HEAD => "GET",
            ref other => other.as_str(),
        };
        self.methods.iter().any(|it| it.eq_ignore_ascii_case(asked))
    }

    const fn access(mut self, access: Access) -> Self {
        self.access = access;
        self
    }

    const fn page(mut self) -> Self {
        self.kind = Kind::Page;
        self.access(Access::Open)
    }

    const fn body(mut self, limit: usize) -> Self {
        self.body = Some(limit);
        self
    }
}

const GET: &[&str] = &["get"];
const POST: &[&str] = &["post"];

/// Everything that can be asked.
pub(crate) static TABLE: &[Route] = &[
    Route::new("/", GET, |it| answering(ready(page::answer(&it)))).page(),
    Route::new("/page/{*file}", GET, |it| {
        answering(ready(page::answer(&it)))
    })
    .page(),
    Route::new("/health", GET, |it| answering(health::answer(it))).access(Access::More),
    Route::new("/metrics", GET, |it| answering(metrics::answer(it))),
    Route::new("/openapi.json", GET, |_| {
        answering(ready(documents::openapi()))
    })
    .access(Access::Open),
    Route::new("/oauth/client-metadata.json", GET, |it| {
        answering(documents::client_metadata(it))
    })
    .access(Access::Open),
    Route::new("/api/status", GET, |it| answering(servers::status(it))),
    Route::new("/api/sessions", GET, |it| answering(servers::sessions(it))),
    Route::new("/api/mcp/servers", GET, |it| {
        answering(servers::servers(it))
    }),
    Route::new("/api/mcp/servers/{name}", GET, |it| {
        answering(servers::server(it))
    }),
    Route::new("/api/mcp/tools", GET, |it| answering(servers::tools(it))),
    Route::new("/api/mcp/call", POST, |it| answering(call::answer(it))).body(CALL_BODY),
    Route::new("/api/mcp/refresh", POST, |it| {
        answering(servers::refresh(it))
    }),
    Route::new("/api/mcp/reload", POST, |it| answering(servers::reload(it))),
    Route::new("/api/ws", GET, |it| answering(websocket::answer(it))).access(Access::Later),
    Route::chat("/v1/chat/completions", POST),
    Route::chat("/v1/models", GET),
    Route::chat("/v1/models/{*id}", GET),
];

/// The place in the table of what a path means.
pub(crate) fn position(path: &str) -> Option<usize> {
    TABLE.iter().position(|route| route.is_at(path))
}

/// What is said where there is nothing.
pub(crate) fn nothing_there() -> Problem {
    Problem::new(StatusCode::NOT_FOUND, "not-found", "there is nothing here")
        .hint("`GET /openapi.json` says what there is")
}

/// An answer in JSON.
fn json(status: StatusCode, answer: &impl Serialize) -> Response {
    match serde_json::to_vec(answer) {
        Ok(bytes) => {
            let mut response = Response::new(bytes.into());
            *response.status_mut() = status;
            let mut headers = HeaderMap::with_capacity(headers::COUNT);
            headers.insert(header::CONTENT_TYPE, JSON);
            *response.headers_mut() = headers;
            response
        }
        Err(error) => {
            tracing::error!(%error, "an answer could not be written as JSON");
            Problem::internal().into_response()
        }
    }
}
