//! The metadata service that Google's own machines have.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::{Response, StatusCode};
use secrecy::zeroize::Zeroizing;
use serde_json::Value as Json;
use tokio::time::{Instant, timeout};

use super::document::wipe;
use super::place::checked_project;
use super::token::{Token, life};
use crate::http::{Http, HttpError};
use crate::surroundings::Surroundings;

/// The variable that says where the service is.
const HOST_VARIABLE: &str = "GCE_METADATA_HOST";
/// The variable that says that there is none.
const ABSENT_VARIABLE: &str = "NO_GCE_CHECK";
/// Where the service is.
const HOST: &str = "169.254.169.254";
/// What shows that a request is meant for the service, and an answer is of it.
const FLAVOR: (&str, &str) = ("metadata-flavor", "Google");
/// Variables that Cloud Run, Cloud Functions and App Engine set.
const SIGNS: &[&str] = &[
    "K_SERVICE",
    "CLOUD_RUN_JOB",
    "FUNCTION_TARGET",
    "GAE_SERVICE",
];
/// The variable that Kubernetes sets, which may run at Google or elsewhere.
const KUBERNETES: &str = "KUBERNETES_SERVICE_HOST";
/// Where Linux says what machine it runs on.
const PRODUCT_FILE: &str = "/sys/class/dmi/id/product_name";
/// How long the service may take where it is certain to be there.
const PATIENCE: Duration = Duration::from_secs(3);
/// How long it may take where it may be missing: it is answered from within the machine.
const PROBE: Duration = Duration::from_secs(1);

/// The metadata service, or its absence.
pub(super) struct Metadata {
    surroundings: Surroundings,
    http: Arc<Http>,
    project: Mutex<Option<String>>,
}

/// Why the service does not help.
#[derive(Debug)]
pub(super) enum Silence {
    /// This is not a machine of Google's, or it has no account.
    Absent,
    /// There should be a service, and it is not there.
    Unreachable(String),
    /// It may be different the next time.
    Passing(String),
}

impl Metadata {
    pub(super) fn new(surroundings: Surroundings, http: Arc<Http>) -> Self {
        Self {
            surroundings,
            http,
            project: Mutex::default(),
        }
    }

    /// Gets a token of the machine's own account.
    pub(super) async fn token(&self) -> Result<Token, Silence> {
        let asked = Instant::now();
        let answer = self.get("instance/service-accounts/default/token").await?;
        let body = Zeroizing::new(Vec::from(answer.into_body()));
        let mut json: Json = serde_json::from_slice(&body).unwrap_or_default();
        let text = json["access_token"].as_str();
        let text = text.map(|text| self.surroundings.credential(text));
        let life = life(&json["expires_in"]);
        wipe(&mut json);
        let reason = || Silence::Unreachable("the answer has no access token".to_owned());
        Ok(Token::new(text.ok_or_else(reason)?, asked, life))
    }

    /// The project of the machine.
    pub(super) async fn project(&self) -> Option<String> {
        let known = || self.project.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(project) = &*known() {
            return Some(project.clone());
        }
        let answer = self.get("project/project-id").await.ok()?;
        let project = std::str::from_utf8(answer.body()).ok()?;
        let project = checked_project(project.trim(), "the metadata service's").ok()?;
        *known() = Some(project.clone());
        Some(project)
    }

    async fn get(&self, path: &str) -> Result<Response<Bytes>, Silence> {
        let Some((host, patience)) = self.host().await else {
            return Err(Silence::Absent);
        };
        let is_certain = patience == PATIENCE;
        let absent = |reason: String| {
            if is_certain {
                Silence::Unreachable(reason)
            } else {
                Silence::Absent
            }
        };
        let request = http::Request::get(format!("http://{host}/computeMetadata/v1/{path}"))
            .header(FLAVOR.0, FLAVOR.1)
            .body(Bytes::new())
            .map_err(|_| Silence::Unreachable(format!("{HOST_VARIABLE} is not a host")))?;
        let answer = match timeout(patience, self.http.send(request)).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(HttpError::Readable)) => {
                let reason = format!("{HOST_VARIABLE} is not an address of this machine");
                return Err(Silence::Unreachable(reason));
            }
            Ok(Err(error)) => return Err(absent(error.to_string())),
            Err(_) => return Err(absent(format!("no answer within {patience:?}"))),
        };
        let status = answer.status();
        let flavor = answer.headers().get(FLAVOR.0);
        if flavor.is_none_or(|flavor| flavor != FLAVOR.1) {
            return Err(absent("something else answers there".to_owned()));
        }
        match status {
            StatusCode::OK => Ok(answer),
            // The machine has no account.
            StatusCode::NOT_FOUND => Err(Silence::Absent),
            _ if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS => {
                Err(Silence::Passing(format!("status {}", status.as_u16())))
            }
            _ => Err(Silence::Unreachable(format!("status {}", status.as_u16()))),
        }
    }

    /// Where the service is, if it is or may be there, and how long it may take.
    async fn host(&self) -> Option<(String, Duration)> {
        let variable = |name: &str| self.surroundings.variable(name);
        if let Some(host) = variable(HOST_VARIABLE) {
            return Some((host.to_owned(), PATIENCE));
        }
        if variable(ABSENT_VARIABLE).is_some_and(|value| value.eq_ignore_ascii_case("true")) {
            return None;
        }
        let product = tokio::fs::read_to_string(PRODUCT_FILE).await;
        if self.surroundings.first_variable(SIGNS).is_some()
            || product.is_ok_and(|product| is_of_google(&product))
        {
            return Some((HOST.to_owned(), PATIENCE));
        }
        // Windows says it in the registry, which is not worth reading for this.
        let may_be = cfg!(windows) || variable(KUBERNETES).is_some();
        may_be.then(|| (HOST.to_owned(), PROBE))
    }
}

/// Whether a machine is one of Google's, by the name of its make.
fn is_of_google(product: &str) -> bool {
    matches!(product.trim(), "Google" | "Google Compute Engine")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_machines_of_google_are_taken_for_such() {
        assert!(is_of_google("Google Compute Engine\n"));
        assert!(is_of_google("Google"));
        for other in [
            "",
            "Standard PC (Q35 + ICH9, 2009)",
            "Google Pixelbook",
            "VirtualBox",
        ] {
            assert!(!is_of_google(other), "{other}");
        }
    }
}
