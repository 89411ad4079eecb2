//! What a server offers.

use std::sync::Arc;

use openclaw_mcp_client::{
    Changes, Connection, Dropped, Listing, Prompt, RequestError, Resource, ResourceTemplate, Tool,
};
use openclaw_secrets::Redactor;

use crate::redaction::hide;

/// What a server offers, as it was last listed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Catalog {
    /// Its tools, each kept once for all who use it.
    pub tools: Vec<Arc<Tool>>,
    /// Its resources.
    pub resources: Vec<Resource>,
    /// Its patterns for resources.
    pub templates: Vec<ResourceTemplate>,
    /// Its prompts.
    pub prompts: Vec<Prompt>,
}

/// Lists what changed, and keeps the rest. An error means that the server did not answer; a list
/// that it refuses, or that is none, costs only itself.
pub(super) async fn list(
    server: &str,
    connection: &Connection,
    changed: &Changes,
    before: &Catalog,
    redactor: &Redactor,
) -> Result<Catalog, RequestError> {
    let offers = connection.server().capabilities;
    let mut catalog = before.clone();
    if changed.tools {
        catalog.tools = Vec::new();
        if offers.tools {
            let tools = connection.list_tools().await;
            catalog.tools = items(server, "tools", tools, &before.tools, Arc::new)?;
        }
    }
    if changed.resources {
        (catalog.resources, catalog.templates) = (Vec::new(), Vec::new());
        if offers.resources {
            let resources = connection.list_resources().await;
            catalog.resources = items(
                server,
                "resources",
                resources,
                &before.resources,
                std::convert::identity,
            )?;
            let templates = connection.list_resource_templates().await;
            catalog.templates = items(
                server,
                "templates",
                templates,
                &before.templates,
                std::convert::identity,
            )?;
        }
    }
    if changed.prompts {
        catalog.prompts = Vec::new();
        if offers.prompts {
            let prompts = connection.list_prompts().await;
            catalog.prompts = items(
                server,
                "prompts",
                prompts,
                &before.prompts,
                std::convert::identity,
            )?;
        }
    }
    hide(&mut catalog, redactor);
    Ok(catalog)
}

fn items<T, K: Clone>(
    server: &str,
    what: &str,
    listed: Result<Listing<T>, RequestError>,
    before: &[K],
    kept: impl Fn(T) -> K,
) -> Result<Vec<K>, RequestError> {
    match listed {
        Ok(listing) => {
            for Dropped { place, reason } in &listing.dropped {
                tracing::warn!(
                    server,
                    "one of the {what} is left out, number {place}: {reason}"
                );
            }
            if let Some(truncation) = listing.truncated {
                tracing::warn!(server, "the {what} are not all there: {truncation}");
            }
            Ok(listing.items.into_iter().map(kept).collect())
        }
        // It answered, and what it answered is of no use.
        Err(
            error @ (RequestError::Refused(_)
            | RequestError::BadResult(_)
            | RequestError::BadAnswer(_)),
        ) => {
            tracing::warn!(server, "the {what} can't be listed: {error}");
            Ok(before.to_vec())
        }
        Err(error) => Err(error),
    }
}
