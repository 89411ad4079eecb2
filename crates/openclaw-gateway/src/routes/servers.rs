//! Servers, tools and what else the engine is asked about.

use axum::response::Response;
use http::StatusCode;
use openclaw_engine::{OfServer, OneServer, ServersQuery, SessionsQuery};
use serde::Deserialize;

use super::{BODY, json};
use crate::body;
use crate::problem::Problem;
use crate::visit::Visit;

type Answer = Result<Response, Problem>;

/// Everything at one glance.
pub(super) async fn status(visit: Visit) -> Answer {
    let overview = visit.gateway.engine.overview().await?;
    Ok(json(StatusCode::OK, &overview))
}

/// The sessions that are kept.
pub(super) async fn sessions(visit: Visit) -> Answer {
    let OfAgent { agent } = visit.query()?;
    let asked = SessionsQuery { agent };
    let report = visit.gateway.engine.sessions(asked).await?;
    Ok(json(StatusCode::OK, &report))
}

/// How the servers of an agent are right now.
pub(super) async fn servers(visit: Visit) -> Answer {
    let OfAgent { agent } = visit.query()?;
    let asked = ServersQuery {
        agent,
        ..ServersQuery::default()
    };
    let report = visit.gateway.engine.servers(asked).await?;
    Ok(json(StatusCode::OK, &report))
}

/// How one server is.
pub(super) async fn server(visit: Visit) -> Answer {
    let server = visit.name()?;
    let OfAgent { agent } = visit.query()?;
    let asked = OneServer { agent, server };
    let details = visit.gateway.engine.server(asked).await?;
    Ok(json(StatusCode::OK, &details))
}

/// The tools of an agent.
pub(super) async fn tools(visit: Visit) -> Answer {
    let query: OfAgentAndServer = visit.query()?;
    let report = visit.gateway.engine.tools(query.into()).await?;
    Ok(json(StatusCode::OK, &report))
}

/// Lists again what servers offer.
pub(super) async fn refresh(visit: Visit) -> Answer {
    let (gateway, _, body) = visit.into_parts();
    let wanted: OfAgentAndServer = body::json(body, BODY).await?;
    let report = gateway.engine.refresh(wanted.into()).await?;
    Ok(json(StatusCode::OK, &report))
}

/// Reads the configuration anew.
pub(super) async fn reload(visit: Visit) -> Answer {
    let (gateway, _, body) = visit.into_parts();
    let Nothing {} = body::json(body, BODY).await?;
    Ok(json(StatusCode::OK, &gateway.engine.reload().await?))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OfAgent {
    agent: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OfAgentAndServer {
    agent: Option<String>,
    server: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

impl From<OfAgentAndServer> for OfServer {
    fn from(asked: OfAgentAndServer) -> Self {
        Self {
            agent: asked.agent,
            server: asked.server,
        }
    }
}
