//! A key-value engine, or one that is none.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

/// What an engine is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Key and value.
    One,
    /// Key and value, in versions.
    Two,
    /// Something else.
    Database,
}

/// A version of a secret.
struct Version {
    fields: Json,
    is_deleted: bool,
    is_destroyed: bool,
}

/// An engine and what it keeps.
pub(super) struct Engine {
    kind: Kind,
    secrets: BTreeMap<String, Vec<Version>>,
}

impl Engine {
    pub(super) fn new(kind: Kind) -> Self {
        Self {
            kind,
            secrets: BTreeMap::new(),
        }
    }

    pub(super) fn give_versions(&mut self) {
        self.kind = Kind::Two;
    }

    pub(super) fn put(&mut self, path: &str, fields: Json) {
        self.secrets
            .entry(path.to_owned())
            .or_default()
            .push(Version {
                fields,
                is_deleted: false,
                is_destroyed: false,
            });
    }

    pub(super) fn remove(&mut self, path: &str, for_ever: bool) {
        let versions = self.secrets.get_mut(path);
        if let Some(version) = versions.and_then(|versions| versions.last_mut()) {
            version.is_deleted = !for_ever;
            version.is_destroyed = for_ever;
        }
    }

    /// What the server says about the mount.
    pub(super) fn describe(&self, path: &str) -> Json {
        let (kind, options) = match self.kind {
            // An engine that nobody has given a version has no options at all.
            Kind::One => ("kv", Json::Null),
            Kind::Two => ("kv", json!({ "version": "2" })),
            Kind::Database => ("database", Json::Null),
        };
        json!({ "data": { "path": path, "type": kind, "options": options, "local": false } })
    }

    /// The status and what is said when something is read below the mount.
    pub(super) fn read(&self, path: &str) -> (u16, Json) {
        let nothing = (404, json!({ "errors": [] }));
        match self.kind {
            Kind::One => {
                let versions = self.secrets.get(path);
                let version = versions.and_then(|versions| versions.last());
                version.map_or(nothing, |version| {
                    let lease = json!({
                        "data": version.fields, "lease_duration": 2_764_800, "renewable": false,
                    });
                    (200, lease)
                })
            }
            Kind::Two => match path.strip_prefix("data/") {
                Some(path) => self.last_version(path).unwrap_or(nothing),
                None => {
                    let warning = "Invalid path for a versioned K/V secrets engine.";
                    (404, json!({ "data": null, "warnings": [warning] }))
                }
            },
            Kind::Database => (405, json!({ "errors": ["unsupported operation"] })),
        }
    }

    fn last_version(&self, path: &str) -> Option<(u16, Json)> {
        let versions = self.secrets.get(path)?;
        let version = versions.last()?;
        let is_gone = version.is_deleted || version.is_destroyed;
        let fields = if is_gone {
            Json::Null
        } else {
            version.fields.clone()
        };
        let deletion_time = if version.is_deleted {
            "2026-03-01T12:00:00.000000000Z"
        } else {
            ""
        };
        let metadata = json!({
            "created_time": "2026-02-01T12:00:00.000000000Z",
            "custom_metadata": null,
            "deletion_time": deletion_time,
            "destroyed": version.is_destroyed,
            "version": versions.len(),
        });
        let document = json!({ "data": { "data": fields, "metadata": metadata } });
        Some((if is_gone { 404 } else { 200 }, document))
    }
}
