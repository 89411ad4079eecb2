//! The agent behind OpenAI's chat completions.
//!
//! ```text
//! POST /v1/chat/completions → Reading → Asked → ReplyRequest → a turn → completion, or chunks
//! ```
//!
//! | module | owns | never contains |
//! |---|---|---|
//! | `completions` | one request: taken in, answered as a whole or as a stream | shapes |
//! | `reading` | the body of a request, read and judged | what is done with it |
//! | `content` | what a message consists of: text, images, sound, files | messages |
//! | `meaning` | which agent, model and session is meant | |
//! | `models` | what can be named as a model, listed | |
//! | `outbox` | what a turn says, until somebody takes it | shapes |
//! | `telling` | texts of a turn in the order in which they are streamed | |
//! | `streaming` | a turn as a stream of events | |
//! | `shapes` | answers and chunks as JSON | |
//! | `problem` | why there is no answer, in OpenAI's shape and with a status | |

mod completions;
mod content;
mod meaning;
mod models;
mod outbox;
mod problem;
mod reading;
mod shapes;
mod streaming;
mod telling;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use axum::Router;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use openclaw_engine::Engine;
use tower_service::Service as _;

use crate::visit::Visit;

/// Answers what is asked below `/v1`.
pub(crate) async fn answer(mut visit: Visit) -> Response {
    let peer = Arc::clone(&visit.peer);
    visit.request.extensions_mut().insert(peer);
    let answered = visit.gateway.chat.clone().call(visit.request).await;
    answered
        .unwrap_or_else(|never| match never {})
        .into_response()
}

/// The routes. Names of models have slashes, and clients differ in whether they escape them. A request brings
/// its [`Peer`](crate::peer::Peer).
pub(crate) fn routes() -> Router<Arc<dyn Engine>> {
    Router::new()
        .route("/v1/chat/completions", post(completions::complete))
        .route("/v1/models", get(models::list))
        .route("/v1/models/{*id}", get(models::one))
}
