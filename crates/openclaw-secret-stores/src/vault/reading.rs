//! From a path to the fields that are kept there.

use openclaw_content::shown_line;
use serde_json::Value as Json;
use tokio::time::Instant;

use super::Fields;
use super::mounts::{Mount, Mounts, Version};
use super::reply::Reply;
use super::server::Server;
use super::token::Token;
use crate::error::SecretError;
use crate::value::Document;

/// How much of a path is shown.
const SHOWN: usize = 200;

/// What came of reading a path, where it is not decided that it failed.
pub(super) enum Outcome {
    /// What is kept there.
    Found(Fields),
    /// The token does not allow it.
    Denied(Denial),
}

/// Why a token is not enough.
pub(super) enum Denial {
    /// The server does not know it.
    Unknown,
    /// It does not allow to read here.
    Path(String),
    /// It allows to read at neither of these, one of which a key-value engine would have.
    Neither(String, String),
}

/// Reads from a server.
pub(super) struct Reader<'r> {
    pub(super) server: &'r Server<'r>,
    pub(super) mounts: &'r Mounts,
    pub(super) until: Instant,
}

/// What one place of the interface says.
enum Said {
    Found(Fields),
    /// There was a version, and it is no more.
    Gone(SecretError),
    Absent,
    Denied(Denial),
}

/// What a server says about the mount that a path is of.
enum Described {
    Mount(Mount),
    /// Somebody else has found it, while we waited for our turn.
    Meanwhile,
    Denied(Denial),
    /// Nothing.
    Not,
}

impl Reader<'_> {
    /// Reads a path, whatever engine it is of.
    pub(super) async fn read(&self, token: &Token, path: &str) -> Result<Outcome, SecretError> {
        loop {
            let known = self.mounts.of(path);
            if let Some(mount) = &known {
                let said = self.read_at(token, mount, path).await?;
                if !matches!(said, Said::Absent) {
                    return outcome(said, mount, path);
                }
            }
            // What is not there may have moved: a mount can be given versions, or be another one.
            let mount = match self.describe(token, path, known.is_some()).await? {
                Described::Mount(mount) => mount,
                Described::Meanwhile => continue,
                Described::Denied(denial) => return Ok(Outcome::Denied(denial)),
                Described::Not => match known {
                    Some(mount) => return Err(absent(&mount, path)),
                    None => return self.guess(token, path).await,
                },
            };
            if known.as_ref() == Some(&mount) {
                return Err(absent(&mount, path));
            }
            self.mounts.remember(&mount);
            let said = self.read_at(token, &mount, path).await?;
            return outcome(said, &mount, path);
        }
    }

    /// Asks which mount a path is of, as the vendor's command does.
    async fn describe(
        &self,
        token: &Token,
        path: &str,
        is_known: bool,
    ) -> Result<Described, SecretError> {
        let place = format!("sys/internal/ui/mounts/{path}");
        let is_needed = || is_known || self.mounts.of(path).is_none();
        let asking = self.server.get_if(is_needed, token, &place, self.until);
        let Some(reply) = asking.await? else {
            return Ok(Described::Meanwhile);
        };
        Ok(match reply {
            Reply::Document(description) => {
                Mount::described(path, &description)?.map_or(Described::Not, Described::Mount)
            }
            Reply::Denied { is_unknown: true } => Described::Denied(Denial::Unknown),
            // There is no such mount, or we may not know of it, or the server is old.
            Reply::Denied { .. } | Reply::Missing(_) | Reply::Bad(_) => Described::Not,
        })
    }

    /// Reads as if the first segment were the mount: as of an engine with versions, then as of one
    /// without.
    async fn guess(&self, token: &Token, path: &str) -> Result<Outcome, SecretError> {
        let mount = Mount::guessed(path, Version::Two);
        let with_versions = self.read_at(token, &mount, path).await?;
        if let Said::Found(_) | Said::Gone(_) | Said::Denied(Denial::Unknown) = with_versions {
            if !matches!(with_versions, Said::Denied(_)) {
                self.mounts.remember(&mount);
            }
            return outcome(with_versions, &mount, path);
        }
        let mount = Mount::guessed(path, Version::One);
        let without = self.read_at(token, &mount, path).await?;
        if let Said::Found(_) = without {
            self.mounts.remember(&mount);
        }
        match (with_versions, without) {
            (Said::Denied(Denial::Path(one)), Said::Denied(Denial::Path(two))) => {
                Ok(Outcome::Denied(Denial::Neither(one, two)))
            }
            // Where it can be seen that there is nothing, nothing else matters.
            (Said::Absent, Said::Denied(Denial::Path(_))) => Err(absent(&mount, path)),
            (_, without) => outcome(without, &mount, path),
        }
    }

    /// Reads at the place that an engine has for a path.
    async fn read_at(&self, token: &Token, mount: &Mount, path: &str) -> Result<Said, SecretError> {
        let place = mount.read_at(path);
        match self.server.get(token, &place, self.until).await? {
            Reply::Document(document) | Reply::Missing(document) => {
                Ok(fields(document, mount, path))
            }
            Reply::Denied { is_unknown: true } => Ok(Said::Denied(Denial::Unknown)),
            Reply::Denied { .. } => Ok(Said::Denied(Denial::Path(shown(&place)))),
            Reply::Bad(why) => {
                let reason = format!("`{}` can't be read: {why}", shown(&place));
                Err(SecretError::unusable(reason))
            }
        }
    }
}

impl Denial {
    /// Whether nobody knows the token.
    pub(super) fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown)
    }

    /// The same for a person.
    pub(super) fn into_error(self, token: &Token) -> SecretError {
        let token = token.source();
        match self {
            Self::Unknown => {
                let reason = format!("{token} is unknown: it is wrong, or it has ended");
                SecretError::refused(reason).hint("run `vault login`, or ask for another token")
            }
            Self::Path(path) => {
                let reason = format!(
                    "permission denied: {token} does not have the capability `read` on `{path}`"
                );
                SecretError::refused(reason).hint(format!("run `vault token capabilities {path}`"))
            }
            Self::Neither(one, two) => {
                let reason = format!(
                    "permission denied: {token} does not have the capability `read` on `{one}` (or \
                     on `{two}`, for an engine without versions), or there is no such mount"
                );
                SecretError::refused(reason).hint(format!("run `vault token capabilities {one}`"))
            }
        }
    }
}

/// The fields of a document, in the shape that an engine has.
fn fields(mut document: Document, mount: &Mount, path: &str) -> Said {
    let Some(data) = document.take("data").filter(|data| data.is_object()) else {
        return Said::Absent;
    };
    match mount.version {
        Version::One => Said::Found(data),
        Version::Two => versioned(data, mount, path),
    }
}

/// What an engine with versions keeps besides its metadata.
fn versioned(mut data: Fields, mount: &Mount, path: &str) -> Said {
    let kept = data.take("data");
    // Without metadata it is of an engine without versions that has a secret of such a name.
    let Some(Json::Object(metadata)) = data.get("metadata") else {
        return Said::Absent;
    };
    if let Some(fields) = kept.filter(|kept| kept.is_object()) {
        return Said::Found(fields);
    }
    let version = metadata.get("version").and_then(Json::as_u64).unwrap_or(0);
    let is_destroyed = metadata.get("destroyed").and_then(Json::as_bool);
    let shown_path = shown(path);
    Said::Gone(if is_destroyed == Some(true) {
        let reason = format!("version {version} of `{shown_path}` is destroyed");
        SecretError::missing(reason).hint("put a new version there with `vault kv put`")
    } else {
        let reason = format!("version {version} of `{shown_path}` is deleted");
        let (mount, rest) = (
            shown(&mount.path),
            shown(mount.rest(path).unwrap_or_default()),
        );
        SecretError::missing(reason).hint(format!(
            "run `vault kv undelete -mount={mount} -versions={version} {rest}`"
        ))
    })
}

fn outcome(said: Said, mount: &Mount, path: &str) -> Result<Outcome, SecretError> {
    match said {
        Said::Found(fields) => Ok(Outcome::Found(fields)),
        Said::Gone(error) => Err(error),
        Said::Absent => Err(absent(mount, path)),
        Said::Denied(denial) => Ok(Outcome::Denied(denial)),
    }
}

fn absent(mount: &Mount, path: &str) -> SecretError {
    let rest = mount.rest(path).unwrap_or_default();
    let shown_mount = shown(&mount.path);
    let error = SecretError::missing(format!(
        "there is no secret `{}` in `{shown_mount}`",
        shown(rest)
    ));
    match rest.strip_prefix("data/") {
        // The path of the interface, rather than that of the secret.
        Some(rest) if mount.version == Version::Two => error.hint(format!(
            "write `secret://vault/{shown_mount}/{}`: `data` comes by itself",
            shown(rest)
        )),
        _ => error.hint(format!("run `vault kv list {shown_mount}`")),
    }
}

fn shown(path: &str) -> String {
    shown_line(path, SHOWN)
}
