//! What can be named as a model, listed: the agents.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use openclaw_engine::Engine;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::meaning::DEFAULT;
use super::problem::Problem;

/// How long the engine may take to say which agents there are.
const PATIENCE: Duration = Duration::from_secs(10);

/// `GET /v1/models`.
pub(super) async fn list(State(engine): State<Arc<dyn Engine>>) -> Response {
    match names(&*engine).await {
        Ok(names) => {
            let models: Vec<Value> = names.iter().map(|name| model(name)).collect();
            Json(json!({ "object": "list", "data": models })).into_response()
        }
        Err(problem) => problem.into_response(),
    }
}

/// `GET /v1/models/{id}`.
pub(super) async fn one(
    State(engine): State<Arc<dyn Engine>>,
    id: Result<Path<String>, PathRejection>,
) -> Response {
    let Ok(Path(id)) = id else {
        let message = "the name of the model can't be read";
        return Problem::invalid("model", message).into_response();
    };
    match names(&*engine).await {
        Ok(names) if names.contains(&id) => Json(model(&id)).into_response(),
        Ok(_) => Problem::unknown_model(&id).into_response(),
        Err(problem) => problem.into_response(),
    }
}

/// The default agent, and each by its own name.
async fn names(engine: &dyn Engine) -> Result<Vec<String>, Problem> {
    let overview = timeout(PATIENCE, engine.overview()).await.map_err(|_| {
        let message = "the agents can't be listed now";
        Problem::body(StatusCode::GATEWAY_TIMEOUT, message)
    })?;
    let overview = overview.map_err(|failure| Problem::of(&failure))?;
    let agents = overview.agents.into_iter();
    let agents = agents.map(|agent| format!("{DEFAULT}/{}", agent.id));
    Ok(std::iter::once(DEFAULT.to_owned()).chain(agents).collect())
}

/// When an agent was made is not known.
fn model(id: &str) -> Value {
    json!({ "id": id, "object": "model", "created": 0, "owned_by": DEFAULT })
}
