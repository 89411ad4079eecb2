//! What can be asked over HTTP, in one table: the router, the door and the metrics all go by it.

mod call;
mod documents;
mod health;
mod servers;
#[cfg(test)]
mod tests;
mod websocket;

use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, MatchedPath};
use axum::response::Response;
use axum::routing::{MethodRouter, get, post};
use http::{Method, StatusCode};
use serde::Serialize;

use crate::door::Access;
use crate::entrance;
use crate::headers::Kind;
use crate::metrics;
use crate::problem::{JSON, Problem};
use crate::state::Gateway;
pub(crate) use health::Judged;

/// How large a request may be.
const BODY: usize = 1024 * 1024;
/// How large a call may be: arguments may hold files.
const CALL_BODY: usize = 16 * 1024 * 1024;

/// Something that can be asked.
pub(crate) struct Route {
    /// Where, as the router writes it.
    pub(crate) path: &'static str,
    /// In which ways, besides `HEAD` where there is `GET`.
    pub(crate) methods: &'static [&'static str],
    /// What a request has to bring.
    pub(crate) access: Access,
    /// What it is answered with.
    pub(crate) kind: Kind,
    /// How large a request may be; none where whoever answers says so, in a shape of its own.
    pub(crate) body: Option<usize>,
    /// Who answers; none if that is the router of a module of its own.
    handler: Option<fn() -> MethodRouter<Arc<Gateway>>>,
}

impl Route {
    const fn new(
        path: &'static str,
        methods: &'static [&'static str],
        handler: fn() -> MethodRouter<Arc<Gateway>>,
    ) -> Self {
        Self {
            path,
            methods,
            access: Access::Closed,
            kind: Kind::Api,
            body: Some(BODY),
            handler: Some(handler),
        }
    }

    /// One that `chat` answers.
    const fn chat(path: &'static str, methods: &'static [&'static str]) -> Self {
        Self {
            path,
            methods,
            access: Access::Closed,
            kind: Kind::Api,
            body: None,
            handler: None,
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
    Route::new("/", GET, || get(documents::page)).page(),
    Route::new("/page.css", GET, || get(documents::style)).page(),
    Route::new("/health", GET, || get(health::answer)).access(Access::More),
    Route::new("/metrics", GET, || get(metrics::answer)),
    Route::new("/openapi.json", GET, || get(documents::openapi)).access(Access::Open),
    Route::new("/oauth/client-metadata.json", GET, || {
        get(documents::client_metadata)
    })
    .access(Access::Open),
    Route::new("/api/status", GET, || get(servers::status)),
    Route::new("/api/sessions", GET, || get(servers::sessions)),
    Route::new("/api/mcp/servers", GET, || get(servers::servers)),
    Route::new("/api/mcp/servers/{name}", GET, || get(servers::server)),
    Route::new("/api/mcp/tools", GET, || get(servers::tools)),
    Route::new("/api/mcp/call", POST, || post(call::answer)).body(CALL_BODY),
    Route::new("/api/mcp/refresh", POST, || post(servers::refresh)),
    Route::new("/api/mcp/reload", POST, || post(servers::reload)),
    Route::new("/api/ws", GET, || get(websocket::answer)).access(Access::Later),
    Route::chat("/v1/chat/completions", POST),
    Route::chat("/v1/models", GET),
    Route::chat("/v1/models/{*id}", GET),
];

/// The place of a route in the table, by the path that the router found.
pub(crate) fn position(path: &str) -> Option<usize> {
    TABLE.iter().position(|route| route.path == path)
}

/// What answers all of it.
pub(crate) fn router(gateway: &Arc<Gateway>) -> Router {
    let mut router = Router::new();
    for route in TABLE {
        if let Some(handler) = route.handler {
            router = router.route(route.path, handler());
        }
    }
    router
        .merge(crate::chat::routes().with_state(Arc::clone(&gateway.engine)))
        .fallback(nothing_there)
        .method_not_allowed_fallback(not_in_this_way)
        // How large a body may be stands in the table.
        .layer(DefaultBodyLimit::disable())
        .layer(axum::middleware::from_fn_with_state(
            Arc::clone(gateway),
            entrance::pass,
        ))
        .with_state(Arc::clone(gateway))
}

async fn nothing_there() -> Problem {
    Problem::new(StatusCode::NOT_FOUND, "not-found", "there is nothing here")
        .hint("`GET /openapi.json` says what there is")
}

async fn not_in_this_way(path: MatchedPath) -> Problem {
    let route = position(path.as_str()).and_then(|position| TABLE.get(position));
    let methods = route.map(|route| route.methods.join(", ").to_uppercase());
    let message = format!("this takes {} alone", methods.unwrap_or_default());
    Problem::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "method-not-allowed",
        message,
    )
    .hint("`GET /openapi.json` says more")
}

/// An answer in JSON.
fn json(status: StatusCode, answer: &impl Serialize) -> Response {
    match serde_json::to_vec(answer) {
        Ok(bytes) => {
            let mut response = Response::new(bytes.into());
            *response.status_mut() = status;
            let headers = response.headers_mut();
            headers.insert(http::header::CONTENT_TYPE, JSON);
            response
        }
        Err(error) => {
            tracing::error!(%error, "an answer could not be written as JSON");
            axum::response::IntoResponse::into_response(Problem::internal())
        }
    }
}
