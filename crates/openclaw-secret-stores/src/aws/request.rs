//! One request: made and signed.

use std::mem::replace;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HOST};
use http::{Method, Request, Uri};
use openclaw_secrets::SecretReference;
use reqsign_aws_v4::RequestSigner;
use reqsign_core::hash::hex_sha256;
use reqsign_core::{Context, ErrorKind, SignRequestDyn as _};
use serde_json::json;

use super::credentials::Identity;
use super::place::Place;
use crate::error::SecretError;
use crate::http::{Attempt, HttpError};

/// The service, as signatures name it.
const SERVICE: &str = "secretsmanager";
/// What is asked of it.
const TARGET: &str = "secretsmanager.GetSecretValue";
/// The type of questions and answers.
const JSON_1_1: &str = "application/x-amz-json-1.1";
/// What Terraform's version identifiers begin with; they are as long as a UUID.
const TERRAFORM: &str = "terraform-";

/// A secret that is asked for. Fields of it are not asked for by themselves.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Wanted<'r> {
    pub(super) name: &'r str,
    pub(super) version: Option<&'r str>,
}

impl<'r> Wanted<'r> {
    /// The secret that a reference is about, and the field of it.
    pub(super) fn of(reference: &'r SecretReference) -> Option<(Self, Option<&'r str>)> {
        match reference {
            SecretReference::Aws {
                name, version, key, ..
            } => {
                let version = version.as_deref();
                Some((Self { name, version }, key.as_deref()))
            }
            _ => None,
        }
    }

    fn question(&self) -> Bytes {
        let mut question = json!({ "SecretId": self.name });
        if let Some(version) = self.version {
            let field = if is_version_id(version) {
                "VersionId"
            } else {
                "VersionStage"
            };
            question[field] = json!(version);
        }
        question.to_string().into()
    }
}

/// Whether a version is named by its identifier, not by its stage. AWS gives UUIDs; programs that
/// choose for themselves need 32 characters at least, as Terraform does.
fn is_version_id(version: &str) -> bool {
    let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let lengths = [8, 4, 4, 4, 12];
    let is_uuid = || {
        let parts: Vec<&str> = version.split('-').collect();
        parts.iter().copied().all(is_digits) && parts.iter().map(|part| part.len()).eq(lengths)
    };
    let of_terraform = version.strip_prefix(TERRAFORM);
    of_terraform.is_some_and(|rest| rest.len() == 26 && is_digits(rest)) || is_uuid()
}

/// The request for a secret, with a signature of now.
pub(super) async fn signed(
    identity: &Identity,
    place: &Place,
    wanted: &Wanted<'_>,
) -> Result<Request<Bytes>, SecretError> {
    let body = wanted.question();
    let unmakeable = |error: &dyn std::error::Error| {
        SecretError::misconfigured(format!("the request to AWS can't be made: {error}"))
    };
    let request = Request::builder()
        .method(Method::POST)
        .uri(place.endpoint.as_str())
        .header(CONTENT_TYPE, JSON_1_1)
        .header("x-amz-target", TARGET)
        // Without it the signature would not be about the body, which only S3 takes.
        .header("x-amz-content-sha256", hex_sha256(&body))
        .body(body)
        .map_err(|error| unmakeable(&error))?;
    let (mut parts, body) = request.into_parts();
    // A path is encoded once more for the signature, except for S3, which the signer has in mind.
    let mut encoded = place.endpoint.clone();
    encoded.set_path(&encoded.path().replace('%', "%25"));
    let encoded = Uri::try_from(encoded.as_str()).map_err(|error| unmakeable(&error))?;
    let sent_to = replace(&mut parts.uri, encoded);
    let signer = RequestSigner::new(SERVICE, &place.region).with_standard_session_token();
    let credential = Some(&identity.credential);
    let context = Context::new();
    let signing = signer.sign_request_dyn(&context, &mut parts, credential, None);
    signing.await.map_err(|error| match error.kind() {
        ErrorKind::CredentialInvalid => {
            let source = &identity.source;
            SecretError::refused(format!("the AWS credentials of {source} have expired"))
                .hint("log in again, for example with `aws sso login`")
        }
        // A credential with a line break, say. What the signer says may repeat it.
        _ => SecretError::misconfigured(format!(
            "the AWS credentials of {} can't be used for a signature",
            identity.source
        )),
    })?;
    parts.uri = sent_to;
    // The client makes the same one from the address, and knows how for each version of HTTP.
    parts.headers.remove(HOST);
    Ok(Request::from_parts(parts, body))
}

/// What it means that there is no answer.
pub(super) fn unanswered<T>(place: &Place, error: &HttpError) -> Attempt<T> {
    let service = place.service();
    match error {
        HttpError::TooLarge(_) => Attempt::Done(Err(SecretError::unusable(error))),
        HttpError::Readable | HttpError::Forbidden | HttpError::Unmakeable(_) => {
            let set_by = place.set_by.unwrap_or("its region");
            let reason = format!("the address of AWS from {set_by} can't be used: {error}");
            Attempt::Done(Err(SecretError::misconfigured(reason)))
        }
        HttpError::Insecure(_) => {
            let reason = format!("{service}: {error}");
            Attempt::Done(Err(SecretError::unavailable(reason)))
        }
        HttpError::Unreachable(_) => {
            let reason = format!("{service} can't be reached: {error}");
            let hint = match place.set_by {
                Some(set_by) => format!("see whether {set_by} is right"),
                None => format!("see whether {:?} is a region of yours", place.region),
            };
            Attempt::Again(SecretError::unavailable(reason).hint(hint), None)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_told_from_stages() {
        for id in [
            "a1b2c3d4-5678-90ab-cdef-EXAMPLE11111",
            "AWSCURRENT",
            "AWSPREVIOUS",
            "blue",
            "terraform-20210101",
            "-----",
            "",
        ] {
            assert!(!is_version_id(id), "{id}");
        }
        for id in [
            "01234567-89ab-cdef-0123-456789ABCDEF",
            "terraform-20210825154029862200000001",
        ] {
            assert!(is_version_id(id), "{id}");
        }
    }
}
