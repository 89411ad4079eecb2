//! Files with credentials of Google Cloud: where they are, and what is in them.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use openclaw_content::shown_line;
use secrecy::zeroize::Zeroizing;
use serde_json::Value as Json;
use url::Url;

use super::credentials::{LOG_IN, NoToken};
use super::place::checked_project;
use crate::error::SecretError;
use crate::http::is_near;
use crate::surroundings::Surroundings;

/// The variable that names a file.
const VARIABLE: &str = "GOOGLE_APPLICATION_CREDENTIALS";
/// The file that `gcloud auth application-default login` writes.
const USUAL_NAME: &str = "application_default_credentials.json";
/// How large a file may be. One with a key has about 2 KiB.
const LARGEST_FILE: u64 = 64 * 1024;
/// How much of a name in a file is shown.
const SHOWN: usize = 200;

/// A file that may hold credentials.
#[derive(Clone)]
pub(super) struct CredentialFile {
    path: PathBuf,
    /// Whether somebody said that it is this one. Then it must be there, and it must be right: to
    /// take other credentials would be to be somebody else without anybody knowing.
    is_named: bool,
}

/// What a file says.
pub(super) struct Identity {
    pub(super) kind: Kind,
    pub(super) json: Json,
    /// The project that the credentials are of.
    pub(super) project: Option<String>,
    /// The project that is charged for requests.
    pub(super) quota_project: Option<String>,
    /// Who this is, in words.
    pub(super) origin: String,
    /// Who this is, as permissions are given to it.
    pub(super) member: Option<String>,
}

/// The kinds of credentials that we can use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    ServiceAccount,
    AuthorizedUser,
    ExternalAccount,
    Impersonated,
}

/// The bytes of a file, and what tells them from others.
pub(super) struct Content {
    bytes: Zeroizing<Vec<u8>>,
    pub(super) digest: ring::digest::Digest,
}

impl CredentialFile {
    /// The file that counts here, whether it is there or not.
    pub(super) fn find(surroundings: &Surroundings) -> Option<Self> {
        let environment = &surroundings.environment;
        let path = |path: &str| environment.directory().join(path);
        if let Some(named) = surroundings.variable(VARIABLE) {
            return Some(Self {
                path: path(named),
                is_named: true,
            });
        }
        let directory = if let Some(directory) = surroundings.variable("CLOUDSDK_CONFIG") {
            path(directory)
        } else if cfg!(windows) {
            path(surroundings.variable("APPDATA")?).join("gcloud")
        } else {
            // Google's own programs know nothing of a home that is only ours.
            match surroundings.variable("HOME") {
                Some(home) => path(home).join(".config/gcloud"),
                None => surroundings.below_home(".config/gcloud")?,
            }
        };
        Some(Self {
            path: directory.join(USUAL_NAME),
            is_named: false,
        })
    }

    /// Reads the file. That there is none is no error where nobody named it.
    pub(super) async fn read(&self) -> Result<Option<Content>, NoToken> {
        let path = self.path.clone();
        // A file on a network may take its time.
        let reading = tokio::task::spawn_blocking(move || content(&path)).await;
        match reading.unwrap_or_else(|error| Err(io::Error::other(error))) {
            Ok(content) => Ok(Some(content)),
            Err(error) if error.kind() == io::ErrorKind::NotFound && !self.is_named => Ok(None),
            Err(error) => {
                let shown = self.path.display();
                let origin = if self.is_named {
                    format!("{VARIABLE} names {shown}, which can't be read")
                } else {
                    format!("cannot read {shown}")
                };
                Err(self.wrong(SecretError::misconfigured(format!("{origin}: {error}"))))
            }
        }
    }

    /// Understands what is in the file.
    pub(super) fn understand(
        &self,
        content: &Content,
        surroundings: &Surroundings,
    ) -> Result<Identity, NoToken> {
        let shown = self.path.display();
        let wrong = |reason: String| self.wrong(SecretError::misconfigured(reason));
        // What the parser says about a place that is wrong may be a part of a key.
        let json: Json = serde_json::from_slice(&content.bytes).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            wrong(format!(
                "{shown} is not JSON at line {line}, column {column}"
            ))
        })?;
        learn(&json, surroundings);
        if let Some(name) = readable_address(&json) {
            return Err(wrong(format!(
                "`{name}` in {shown} is an address with `http://`: everybody between could read \
                 the credentials"
            )));
        }
        let clean = |text: &str| shown_line(&surroundings.redactor.redact(text), SHOWN);
        let kind = match json["type"].as_str() {
            Some("service_account") => Kind::ServiceAccount,
            Some("authorized_user") => Kind::AuthorizedUser,
            Some("external_account") => Kind::ExternalAccount,
            Some("impersonated_service_account") => Kind::Impersonated,
            Some(other) => {
                let reason = format!(
                    "{shown} has credentials of a type that can't be used here: {:?}",
                    clean(other)
                );
                return Err(NoToken::other(
                    SecretError::misconfigured(reason).hint(LOG_IN),
                ));
            }
            None => return Err(wrong(format!("{shown} has no credentials: no `type`"))),
        };
        if runs_a_program(&json) {
            let reason = format!(
                "{shown} has credentials that a program gives, which are not supported here"
            );
            return Err(NoToken::other(SecretError::misconfigured(reason)));
        }
        let text = |key: &str| json[key].as_str().filter(|text| !text.is_empty());
        let project = |key: &str| {
            text(key)
                .map(|name| checked_project(name, &format!("`{key}` in {shown}")))
                .transpose()
                .map_err(|error| self.wrong(error))
        };
        let quota_project = match surroundings.variable("GOOGLE_CLOUD_QUOTA_PROJECT") {
            Some(name) => Some(
                checked_project(name, "GOOGLE_CLOUD_QUOTA_PROJECT")
                    .map_err(|error| self.wrong(error))?,
            ),
            None => project("quota_project_id")?,
        };
        let account = match kind {
            Kind::ServiceAccount => text("client_email"),
            Kind::Impersonated | Kind::ExternalAccount => impersonated_account(&json),
            Kind::AuthorizedUser => None,
        };
        let account = account.map(clean);
        Ok(Identity {
            kind,
            project: match project("project_id")? {
                Some(project) => Some(project),
                None => quota_project.clone(),
            },
            quota_project,
            origin: match &account {
                Some(account) => format!("the service account {account}"),
                None => format!("the credentials in {shown}"),
            },
            member: account.map(|account| format!("serviceAccount:{account}")),
            json,
        })
    }

    /// Where it is, for words about it.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    fn wrong(&self, error: SecretError) -> NoToken {
        NoToken {
            error,
            gcloud_may_help: !self.is_named,
        }
    }
}

fn content(path: &Path) -> io::Result<Content> {
    // Something else, such as a pipe, might never end.
    if !path.metadata()?.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    let mut bytes = Zeroizing::new(Vec::new());
    let file = File::open(path)?;
    file.take(LARGEST_FILE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST_FILE {
        let message = format!("it has more than {LARGEST_FILE} bytes");
        return Err(io::Error::other(message));
    }
    let digest = ring::digest::digest(&ring::digest::SHA256, &bytes);
    Ok(Content { bytes, digest })
}

/// Hides everything in a file that opens something.
fn learn(json: &Json, surroundings: &Surroundings) {
    visit(json, &mut |key, text| {
        if matches!(key, "private_key" | "refresh_token" | "client_secret") {
            let _ = surroundings.credential(text);
        }
    });
}

/// The name of an address in a file that others could listen at.
fn readable_address(json: &Json) -> Option<String> {
    let mut found = None;
    visit(json, &mut |key, text| {
        let is_address = key == "url" || key.ends_with("_url") || key.ends_with("_uri");
        if is_address
            && let Ok(url) = Url::parse(text)
            && url.scheme() != "https"
            && !is_near(&url)
        {
            found = Some(key.to_owned());
        }
    });
    found
}

/// Goes through all texts that have a name.
fn visit(json: &Json, look: &mut impl FnMut(&str, &str)) {
    match json {
        Json::Object(fields) => {
            for (key, value) in fields {
                if let Json::String(text) = value {
                    look(key, text);
                } else {
                    visit(value, look);
                }
            }
        }
        Json::Array(items) => items.iter().for_each(|item| visit(item, look)),
        _ => {}
    }
}

/// Whether a program would be run for these credentials. The library would do so behind our back,
/// and leave it running where we give up.
fn runs_a_program(json: &Json) -> bool {
    let source = |json: &Json| json["credential_source"].get("executable").is_some();
    source(json) || source(&json["source_credentials"])
}

/// The account that credentials are exchanged for.
fn impersonated_account(json: &Json) -> Option<&str> {
    let address = json["service_account_impersonation_url"].as_str()?;
    let (_, account) = address.rsplit_once("/serviceAccounts/")?;
    account.strip_suffix(":generateAccessToken")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn addresses_that_others_could_listen_at_are_found_at_any_depth() {
        for fine in [
            json!({ "token_uri": "https://oauth2.googleapis.com/token" }),
            json!({ "credential_source": { "url": "http://169.254.169.254/token" } }),
            json!({ "token_url": "http://127.0.0.1:8080/token" }),
            json!({ "note": "http://example.com" }),
        ] {
            assert_eq!(readable_address(&fine), None, "{fine}");
        }
        let bad = json!({ "a": [{ "credential_source": { "url": "http://example.com/t" } }] });
        assert_eq!(readable_address(&bad).unwrap(), "url");
        let bad = json!({ "token_uri": "http://oauth2.googleapis.com/token" });
        assert_eq!(readable_address(&bad).unwrap(), "token_uri");
    }

    #[test]
    fn the_account_is_read_from_the_address_that_exchanges_for_it() {
        let json = json!({ "service_account_impersonation_url":
            "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/a@b:generateAccessToken" });
        assert_eq!(impersonated_account(&json), Some("a@b"));
        assert_eq!(impersonated_account(&json!({})), None);
    }
}
