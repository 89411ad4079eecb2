//! Which engine a path belongs to.

use std::sync::{Mutex, MutexGuard, PoisonError};

use openclaw_content::shown_line;
use serde_json::Value as Json;

use crate::error::SecretError;

/// How a key-value engine keeps its secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    /// As they are.
    One,
    /// In versions.
    Two,
}

/// A key-value engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mount {
    /// Where it is mounted, without a slash at the end.
    pub(super) path: String,
    pub(super) version: Version,
}

impl Mount {
    /// What a server says about the mount that a path is of, if it does.
    pub(super) fn described(path: &str, description: &Json) -> Result<Option<Self>, SecretError> {
        let text = |pointer| description.pointer(pointer).and_then(Json::as_str);
        let (Some(kind), Some(mounted)) = (text("/data/type"), text("/data/path")) else {
            return Ok(None);
        };
        let mount = of_path(path, mounted);
        if !matches!(kind, "kv" | "generic" | "cubbyhole") {
            let (mount, kind) = (shown_line(mount, 200), shown_line(kind, 40));
            let reason = format!("`{mount}` is no key-value engine: its type is `{kind}`");
            return Err(SecretError::misconfigured(reason));
        }
        if mount == path {
            let mount = shown_line(mount, 200);
            let reason = format!("`{mount}` is a mount itself, and a path in it is missing");
            return Err(SecretError::misconfigured(reason)
                .hint(format!("write `secret://vault/{mount}/PATH`")));
        }
        let version = match description.pointer("/data/options/version") {
            Some(Json::String(version)) if version == "2" => Version::Two,
            _ => Version::One,
        };
        Ok(Some(Self {
            path: mount.to_owned(),
            version,
        }))
    }

    /// What is asked about it when nothing is known: the first segment may be the mount.
    pub(super) fn guessed(path: &str, version: Version) -> Self {
        let (mount, _) = path.split_once('/').unwrap_or((path, ""));
        Self {
            path: mount.to_owned(),
            version,
        }
    }

    /// What stands behind the mount.
    pub(super) fn rest<'p>(&self, path: &'p str) -> Option<&'p str> {
        path.strip_prefix(self.path.as_str())?.strip_prefix('/')
    }

    /// The path of the interface that a secret is read at.
    pub(super) fn read_at(&self, path: &str) -> String {
        let rest = self.rest(path).unwrap_or_default();
        match self.version {
            Version::One => format!("{}/{rest}", self.path),
            Version::Two => format!("{}/data/{rest}", self.path),
        }
    }
}

/// The part of a path that a mount is. The server may put namespaces in front, which are not in the
/// path.
fn of_path<'p>(path: &'p str, mounted: &str) -> &'p str {
    let mut mounted = mounted.trim_matches('/');
    while !mounted.is_empty() {
        if let Some(rest) = path.strip_prefix(mounted)
            && (rest.is_empty() || rest.starts_with('/'))
        {
            return path.get(..mounted.len()).unwrap_or(path);
        }
        mounted = mounted.split_once('/').map_or("", |(_, rest)| rest);
    }
    path.split_once('/').map_or(path, |(first, _)| first)
}

/// The mounts that were found so far. No mount is below another one.
#[derive(Default)]
pub(super) struct Mounts(Mutex<Vec<Mount>>);

impl Mounts {
    /// The mount that a path is of.
    pub(super) fn of(&self, path: &str) -> Option<Mount> {
        let known = self.lock();
        known
            .iter()
            .find(|mount| mount.rest(path).is_some())
            .cloned()
    }

    /// Remembers a mount, instead of what was known about it.
    pub(super) fn remember(&self, mount: &Mount) {
        let mut known = self.lock();
        known.retain(|other| {
            other.path != mount.path
                && other.rest(&mount.path).is_none()
                && mount.rest(&other.path).is_none()
        });
        known.push(mount.clone());
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Mount>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_mount_is_found_in_its_path() {
        for (path, mounted, mount) in [
            ("secret/app", "secret/", "secret"),
            ("teams/blue/kv/app/db", "teams/blue/kv/", "teams/blue/kv"),
            // Namespaces that are in the answer alone.
            ("kv/app", "root/team/kv/", "kv"),
            ("team/kv/app", "root/team/kv/", "team/kv"),
            // Names that only begin like one.
            ("secrets/app", "secret/", "secrets"),
            ("a/b/c", "x/y/", "a"),
            ("a/b/c", "", "a"),
            ("ü/b", "ü", "ü"),
        ] {
            assert_eq!(of_path(path, mounted), mount, "{path} {mounted}");
        }
    }

    #[test]
    fn what_is_said_about_a_mount_decides_how_it_is_read() {
        for (options, version) in [
            (json!(null), Version::One),
            (json!({}), Version::One),
            (json!({ "version": "" }), Version::One),
            (json!({ "version": "1" }), Version::One),
            (json!({ "version": "2" }), Version::Two),
        ] {
            let data = json!({ "path": "kv/", "type": "kv", "options": options });
            let mount = Mount::described("kv/a/b", &json!({ "data": data })).unwrap();
            assert_eq!(mount.unwrap().version, version, "{options}");
        }
    }

    #[test]
    fn what_was_known_about_a_mount_gives_way() {
        let mount = |path: &str, version| Mount {
            path: path.to_owned(),
            version,
        };
        let mounts = Mounts::default();
        assert_eq!(mounts.of("kv/a"), None);
        mounts.remember(&mount("kv", Version::One));
        mounts.remember(&mount("secret", Version::Two));
        mounts.remember(&mount("kv", Version::Two));
        assert_eq!(mounts.of("kv/a"), Some(mount("kv", Version::Two)));
        assert_eq!(mounts.of("kv"), None);
        assert_eq!(mounts.of("kv2/a"), None);
        // The first guess was too short.
        mounts.remember(&mount("teams", Version::One));
        mounts.remember(&mount("teams/kv", Version::Two));
        assert_eq!(
            mounts.of("teams/kv/a"),
            Some(mount("teams/kv", Version::Two))
        );
        assert_eq!(mounts.of("teams/other/a"), None);
        assert_eq!(mounts.lock().len(), 3);
    }
}
