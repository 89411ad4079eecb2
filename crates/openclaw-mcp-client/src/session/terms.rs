//! What was agreed on with a server: the revision, and what follows from it.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use url::Url;

use crate::model::ServerInfo;

/// The revisions of the first era, the newest first.
pub(crate) const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/// The revisions of the second era, the newest first.
pub(crate) const MODERN: [&str; 1] = ["2026-07-28"];

/// The two eras of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    /// A handshake, then messages in a session.
    Legacy,
    /// Every request stands for itself.
    Modern,
}

/// What was agreed on.
#[derive(Clone, Debug)]
pub(crate) struct Terms {
    pub(crate) era: Era,
    pub(crate) version: &'static str,
    pub(crate) server: Arc<ServerInfo>,
}

/// The revision of this name, if we speak it.
pub(crate) fn known(versions: &[&'static str], name: &str) -> Option<&'static str> {
    versions.iter().copied().find(|version| *version == name)
}

/// Who we are.
pub(crate) fn client_info() -> Value {
    json!({ "name": "openclaw", "title": "OpenClaw", "version": env!("CARGO_PKG_VERSION") })
}

/// What a server may ask of us. Roots only where there are some to tell: a server that was given
/// directories would otherwise replace them by none.
pub(crate) fn client_capabilities(roots: Option<&[Url]>) -> Value {
    let mut capabilities = Map::new();
    capabilities.insert("elicitation".to_owned(), json!({ "form": {}, "url": {} }));
    if roots.is_some() {
        capabilities.insert("roots".to_owned(), json!({}));
    }
    Value::Object(capabilities)
}

/// What every request of the second era says about itself.
pub(crate) fn modern_meta(version: &str, roots: Option<&[Url]>) -> Map<String, Value> {
    let name = |name: &str| format!("io.modelcontextprotocol/{name}");
    let mut meta = Map::new();
    meta.insert(name("protocolVersion"), version.into());
    meta.insert(name("clientInfo"), client_info());
    meta.insert(name("clientCapabilities"), client_capabilities(roots));
    meta
}
