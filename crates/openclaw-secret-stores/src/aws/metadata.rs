//! Credentials that the machine gives to what runs on it: a container, or a whole instance.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request};
use reqsign_aws_v4::{Credential, ECSCredentialProvider, IMDSv2CredentialProvider};
use reqsign_core::ProvideCredentialDyn as _;
use tokio::time::Instant;

use super::context::{context, send};
use crate::http::Http;
use crate::surroundings::Surroundings;

/// How long the metadata service may take for an answer, however often it is asked. It is on the
/// same machine, and where there is none, nobody should wait for it.
const NEAR: Duration = Duration::from_secs(1);

/// What the metadata service of an instance said.
pub(super) enum Instance {
    /// It may not be asked.
    Disabled,
    /// Nobody answers.
    Absent,
    /// It answers, but has no credentials.
    Useless(reqsign_core::Error),
    /// It has credentials.
    Gives(Credential),
}

/// The credentials of a container; nothing where there are none.
pub(super) async fn container(
    surroundings: &Surroundings,
    http: &Arc<Http>,
    until: Instant,
) -> reqsign_core::Result<Option<Credential>> {
    let mut provider = ECSCredentialProvider::new();
    // Where both are set, the one that can't lead away from the machine is taken.
    if let Some(path) = surroundings.variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") {
        provider = provider.with_relative_uri(path);
    } else if let Some(address) = surroundings.variable("AWS_CONTAINER_CREDENTIALS_FULL_URI") {
        provider = provider.with_endpoint(address);
    } else {
        return Ok(None);
    }
    // A file is renewed, a variable is not.
    if let Some(path) = surroundings.variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE") {
        provider = provider.with_auth_token_file(path);
    }
    let seen = context(surroundings, http, until, None);
    provider.provide_credential_dyn(&seen.context).await
}

/// The credentials of an instance.
pub(super) async fn instance(
    surroundings: &Surroundings,
    http: &Arc<Http>,
    until: Instant,
) -> Instance {
    let Some(endpoint) = endpoint(surroundings) else {
        return Instance::Disabled;
    };
    let provider = IMDSv2CredentialProvider::new().with_endpoint(endpoint);
    let seen = context(surroundings, http, until, Some(NEAR));
    match provider.provide_credential_dyn(&seen.context).await {
        Ok(Some(credential)) => Instance::Gives(credential),
        Err(error) if seen.answered.load(Ordering::Relaxed) => Instance::Useless(error),
        Ok(None) | Err(_) => Instance::Absent,
    }
}

/// The region of an instance, if its metadata service says it.
pub(super) async fn region(
    surroundings: &Surroundings,
    http: &Http,
    until: Instant,
) -> Option<String> {
    let endpoint = endpoint(surroundings)?;
    let request = Request::builder()
        .method(Method::PUT)
        .uri(format!("{endpoint}/latest/api/token"))
        .header("x-aws-ec2-metadata-token-ttl-seconds", "60");
    let token = surroundings.credential(text(http, request, until).await?);
    let request = Request::builder()
        .uri(format!("{endpoint}/latest/meta-data/placement/region"))
        .header("x-aws-ec2-metadata-token", token.expose());
    let region = text(http, request, until).await?;
    Some(region.trim().to_owned())
}

/// What the metadata service answers, if it answers well.
async fn text(http: &Http, request: http::request::Builder, until: Instant) -> Option<String> {
    let request = request.body(Bytes::new()).ok()?;
    let until = until.min(Instant::now() + NEAR);
    let answer = send(http, &request, until).await.ok()?;
    let body = answer.status().is_success().then(|| answer.into_body())?;
    String::from_utf8(body.to_vec()).ok()
}

/// Where the metadata service is, if it may be asked.
fn endpoint(surroundings: &Surroundings) -> Option<String> {
    let is = |name, value: &str| {
        let set = surroundings.variable(name);
        set.is_some_and(|set| set.eq_ignore_ascii_case(value))
    };
    if is("AWS_EC2_METADATA_DISABLED", "true") {
        return None;
    }
    let usual = if is("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE", "ipv6") {
        "http://[fd00:ec2::254]"
    } else {
        "http://169.254.169.254"
    };
    let set = surroundings.variable("AWS_EC2_METADATA_SERVICE_ENDPOINT");
    Some(set.unwrap_or(usual).trim_end_matches('/').to_owned())
}
