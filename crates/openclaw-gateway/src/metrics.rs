//! What happens, in numbers, for those who collect them.

mod collect;
mod process;
mod traffic;

use axum::response::{IntoResponse as _, Response};
use http::{HeaderValue, header};
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;

use crate::problem::Problem;
use crate::state::MOST_WEBSOCKETS;
use crate::visit::Visit;
use collect::Numbers;
pub(crate) use traffic::Traffic;

const OPEN_METRICS: HeaderValue =
    HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");

/// The numbers as of now.
pub(crate) async fn answer(visit: Visit) -> Result<Response, Problem> {
    let gateway = &visit.gateway;
    let engine = gateway.engine.statistics().await?;
    // Looking into `/proc` is reading files, which is not for the tasks that answer requests.
    let process = tokio::task::spawn_blocking(process::look).await;
    let numbers = Numbers {
        engine,
        process: process.unwrap_or_default(),
        requests: gateway.traffic.requests(),
        connections: gateway.traffic.connections(),
        websockets: MOST_WEBSOCKETS.saturating_sub(gateway.websockets.available_permits()),
        uptime: gateway.since.elapsed(),
        version: gateway.version,
    };
    let mut registry = Registry::default();
    registry.register_collector(Box::new(numbers));
    let mut text = String::new();
    encode(&mut text, &registry).map_err(|_| Problem::internal())?;
    Ok(([(header::CONTENT_TYPE, OPEN_METRICS)], text).into_response())
}
