//! Servers, tools and what else the engine is asked about.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use http::StatusCode;
use openclaw_engine::{OfServer, OneServer, ServersQuery, SessionsQuery};
use serde::Deserialize;

use super::{BODY, json};
use crate::body;
use crate::problem::{Problem, foreign};
use crate::state::Gateway;

type Answer = Result<Response, Problem>;

/// Everything at one glance.
pub(super) async fn status(State(gateway): State<Arc<Gateway>>) -> Answer {
    let overview = gateway.engine.overview().await?;
    Ok(json(StatusCode::OK, &overview))
}

/// The sessions that are kept.
pub(super) async fn sessions(State(gateway): State<Arc<Gateway>>, query: Asked<OfAgent>) -> Answer {
    let agent = read(query)?.agent;
    let report = gateway.engine.sessions(SessionsQuery { agent }).await?;
    Ok(json(StatusCode::OK, &report))
}

/// How the servers of an agent are right now.
pub(super) async fn servers(State(gateway): State<Arc<Gateway>>, query: Asked<OfAgent>) -> Answer {
    let query = ServersQuery {
        agent: read(query)?.agent,
        wait: false,
    };
    Ok(json(StatusCode::OK, &gateway.engine.servers(query).await?))
}

/// How one server is.
pub(super) async fn server(
    State(gateway): State<Arc<Gateway>>,
    name: Result<Path<String>, axum::extract::rejection::PathRejection>,
    query: Asked<OfAgent>,
) -> Answer {
    let Path(server) = name.map_err(|_| Problem::bad_request("the name is not UTF-8"))?;
    let agent = read(query)?.agent;
    let details = gateway.engine.server(OneServer { agent, server }).await?;
    Ok(json(StatusCode::OK, &details))
}

/// The tools of an agent.
pub(super) async fn tools(
    State(gateway): State<Arc<Gateway>>,
    query: Asked<OfAgentAndServer>,
) -> Answer {
    let query = read(query)?.into();
    Ok(json(StatusCode::OK, &gateway.engine.tools(query).await?))
}

/// Lists again what servers offer.
pub(super) async fn refresh(State(gateway): State<Arc<Gateway>>, body: Body) -> Answer {
    let wanted: OfAgentAndServer = body::json(body, BODY).await?;
    let report = gateway.engine.refresh(wanted.into()).await?;
    Ok(json(StatusCode::OK, &report))
}

/// Reads the configuration anew.
pub(super) async fn reload(State(gateway): State<Arc<Gateway>>, body: Body) -> Answer {
    let Nothing {} = body::json(body, BODY).await?;
    Ok(json(StatusCode::OK, &gateway.engine.reload().await?))
}

/// What stands behind the question mark.
type Asked<T> = Result<Query<T>, axum::extract::rejection::QueryRejection>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OfAgent {
    agent: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OfAgentAndServer {
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

fn read<T>(query: Asked<T>) -> Result<T, Problem> {
    match query {
        Ok(Query(query)) => Ok(query),
        Err(rejection) => Err(Problem::bad_request(foreign(&rejection.body_text()))),
    }
}
