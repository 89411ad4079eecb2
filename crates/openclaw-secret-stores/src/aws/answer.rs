//! From an answer to a secret, or to why there is none.

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use http::{Response, StatusCode};
use openclaw_content::shown_line;
use openclaw_secrets::Secret;
use secrecy::zeroize::Zeroizing;
use serde_json::Value as Json;

use super::credentials::{Identity, Source};
use super::place::Place;
use super::request::Wanted;
use crate::error::SecretError;
use crate::http::retry_after;
use crate::surroundings::Surroundings;
use crate::value::{self, Document};

/// How much of what AWS says is shown.
const SHOWN: usize = 200;
/// How many names of fields are shown, and how much of each.
const SHOWN_FIELDS: usize = 10;
const SHOWN_FIELD: usize = 40;

/// What is kept under a name: the secret, or a document that it is a field of.
pub(super) type Content = Zeroizing<Vec<u8>>;

/// What is kept under a name, from an answer.
pub(super) fn content(body: &[u8]) -> Result<Content, SecretError> {
    let foreign = || SecretError::unusable("AWS does not answer as Secrets Manager does");
    let mut answer = Document::parse(body).map_err(|_| foreign())?;
    let mut text = |name: &str| answer.take(name).and_then(Document::into_text);
    if let Some(text) = text("SecretString") {
        return Ok(Zeroizing::new(text.into_bytes()));
    }
    let encoded = Zeroizing::new(text("SecretBinary").ok_or_else(foreign)?);
    let decoded = BASE64_STANDARD.decode(&*encoded).map_err(|_| foreign())?;
    Ok(Zeroizing::new(decoded))
}

/// The secret: all that is kept under its name, or a field of it.
pub(super) fn secret(
    surroundings: &Surroundings,
    content: &Content,
    key: Option<&str>,
) -> Result<Secret, SecretError> {
    match key {
        None => value::from_bytes(content.to_vec()),
        Some(key) => field(surroundings, content, key),
    }
}

/// A field of a secret that is a JSON object.
fn field(surroundings: &Surroundings, bytes: &[u8], key: &str) -> Result<Secret, SecretError> {
    let document = Document::parse(bytes).map_err(|_| {
        let reason = format!("it is not JSON, so it has no field {key:?}");
        SecretError::unusable(reason).hint("leave `?key=` out of the reference")
    })?;
    let fields = document.as_object().ok_or_else(|| {
        let reason = format!("it is JSON but not an object, so it has no field {key:?}");
        SecretError::unusable(reason)
    })?;
    if let Some(found) = fields.get(key) {
        return value::from_json(found);
    }
    let clean = |name: &String| {
        let name = surroundings.redactor.redact(name);
        format!("{:?}", shown_line(&name, SHOWN_FIELD))
    };
    let mut names: Vec<String> = fields.keys().take(SHOWN_FIELDS).map(clean).collect();
    if fields.len() > SHOWN_FIELDS {
        names.push(format!("{} more", fields.len() - SHOWN_FIELDS));
    }
    let has = if names.is_empty() {
        "it has none".to_owned()
    } else {
        format!("it has {}", names.join(", "))
    };
    Err(SecretError::missing(format!(
        "it has no field {key:?}: {has}"
    )))
}

/// An answer that is not a secret.
pub(super) struct Refusal {
    status: StatusCode,
    /// AWS's word for it, if there is one.
    code: Option<String>,
    /// AWS's own sentence, such that it can be shown.
    message: String,
    retry_after: Option<Duration>,
}

impl Refusal {
    pub(super) fn new(surroundings: &Surroundings, answer: &Response<Bytes>) -> Self {
        let body: Json = serde_json::from_slice(answer.body()).unwrap_or_default();
        let text = |name: &str| body.get(name).and_then(Json::as_str);
        let header = answer.headers().get("x-amzn-errortype");
        let header = header.and_then(|value| value.to_str().ok());
        let clean = |text: &str| shown_line(&surroundings.redactor.redact(text), SHOWN);
        // `com.amazonaws.secretsmanager#Code` in a body, `Code:http://…` in a header.
        let code = text("__type").or(text("code")).or(header);
        let code = code.map(|code| code.rsplit('#').next().unwrap_or(code));
        let code = code.map(|code| code.split(':').next().unwrap_or(code));
        Self {
            status: answer.status(),
            code: code.map(clean).filter(|code| !code.is_empty()),
            message: clean(text("message").or(text("Message")).unwrap_or_default()),
            retry_after: retry_after(answer.headers()),
        }
    }

    fn code(&self) -> &str {
        self.code.as_deref().unwrap_or_default()
    }

    /// Whether it may be different the next time.
    pub(super) fn is_passing(&self) -> bool {
        self.status.is_server_error()
            || self.status == StatusCode::TOO_MANY_REQUESTS
            || self.is_throttled()
    }

    fn is_throttled(&self) -> bool {
        matches!(
            self.code(),
            "ThrottlingException"
                | "Throttling"
                | "TooManyRequestsException"
                | "RequestLimitExceeded"
        )
    }

    pub(super) fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }

    /// Whether others may be given the secret.
    pub(super) fn is_about_us(&self) -> bool {
        self.is_about_credentials() || self.code() == "AccessDeniedException"
    }

    /// Whether other credentials may be taken.
    pub(super) fn is_about_credentials(&self) -> bool {
        matches!(
            self.code(),
            "ExpiredTokenException"
                | "ExpiredToken"
                | "UnrecognizedClientException"
                | "InvalidClientTokenId"
        )
    }

    /// Why there is no secret.
    pub(super) fn error(
        &self,
        identity: &Identity,
        place: &Place,
        wanted: &Wanted<'_>,
    ) -> SecretError {
        let (region, name, source) = (&place.region, wanted.name, &identity.source);
        match self.code() {
            "ResourceNotFoundException" => self.not_found(region, wanted),
            "AccessDeniedException" => SecretError::refused(format!(
                "AWS does not let {source} have {name:?}{}",
                self.said()
            ))
            .hint(
                "its policy has to allow `secretsmanager:GetSecretValue`, and `kms:Decrypt` for a \
                 key of your own",
            ),
            "UnrecognizedClientException" | "InvalidClientTokenId" => SecretError::refused(
                format!("AWS does not know the access key of {source} in {region}"),
            )
            .hint(format!(
                "see with `aws sts get-caller-identity` whether it still exists, and whether \
                 {region} is on for the account"
            )),
            "InvalidSignatureException" | "SignatureDoesNotMatch" => self.bad_signature(source),
            "RequestExpired" | "RequestTimeTooSkewed" => wrong_clock(),
            "ExpiredTokenException" | "ExpiredToken" => {
                SecretError::refused(format!("the AWS credentials of {source} have expired"))
                    .hint(log_in(source))
            }
            "InvalidRequestException" => self.invalid(region, name),
            "InvalidParameterException" | "ValidationException" => {
                SecretError::misconfigured(format!(
                    "AWS does not take {name:?} as the name of a secret{}",
                    self.said()
                ))
            }
            "DecryptionFailure" => SecretError::refused(format!(
                "AWS can't decrypt {name:?} with its key{}",
                self.said()
            ))
            .hint("see whether the key in KMS is on, and its policy allows `kms:Decrypt`"),
            _ if self.is_throttled() || self.status == StatusCode::TOO_MANY_REQUESTS => {
                SecretError::unavailable(format!(
                    "AWS Secrets Manager in {region} is asked too often"
                ))
            }
            _ => self.other(place),
        }
    }

    fn not_found(&self, region: &str, wanted: &Wanted<'_>) -> SecretError {
        let name = wanted.name;
        // The secret is there if AWS speaks of its value.
        let is_there = self.message.contains("staging label") || self.message.contains("VersionId");
        let reason = match wanted.version {
            Some(version) if is_there => {
                format!("{name:?} has no version {version:?} in AWS Secrets Manager in {region}")
            }
            Some(version) => format!(
                "AWS Secrets Manager in {region} has no secret {name:?} with a version {version:?}"
            ),
            None if is_there => format!("{name:?} has no value in AWS Secrets Manager in {region}"),
            None => format!("AWS Secrets Manager in {region} has no secret {name:?}"),
        };
        let hint = if is_there {
            format!(
                "list its versions with `aws secretsmanager list-secret-version-ids --region \
                 {region} --secret-id {name}`"
            )
        } else {
            "if it is in another region, set AWS_REGION or name it by its ARN".to_owned()
        };
        SecretError::missing(reason).hint(hint)
    }

    fn bad_signature(&self, source: &Source) -> SecretError {
        if self.message.contains("expired") || self.message.contains("not yet current") {
            return wrong_clock();
        }
        let reason = format!("AWS does not take the signature: {source} has a wrong secret key");
        SecretError::refused(reason).hint("see with `aws sts get-caller-identity` whether it works")
    }

    fn invalid(&self, region: &str, name: &str) -> SecretError {
        let message = self.message.to_ascii_lowercase();
        if message.contains("deletion") || message.contains("deleted") {
            let reason = format!("{name:?} is marked for deletion in AWS");
            return SecretError::missing(reason).hint(format!(
                "take that back with `aws secretsmanager restore-secret --region {region} \
                 --secret-id {name}`"
            ));
        }
        SecretError::unusable(format!("AWS can't give {name:?} now{}", self.said()))
    }

    fn other(&self, place: &Place) -> SecretError {
        let code = match &self.code {
            Some(code) => format!("{code:?} ({})", self.status.as_u16()),
            None => format!("with the status {}", self.status.as_u16()),
        };
        let reason = format!("{} answers {code}{}", place.service(), self.said());
        if self.status == StatusCode::FORBIDDEN || self.status == StatusCode::UNAUTHORIZED {
            SecretError::refused(reason)
        } else {
            SecretError::unavailable(reason)
        }
    }

    /// AWS's own sentence behind one of ours.
    fn said(&self) -> String {
        if self.message.is_empty() {
            String::new()
        } else {
            format!(": {}", self.message.trim_end_matches('.'))
        }
    }
}

fn wrong_clock() -> SecretError {
    SecretError::refused("AWS does not take the time of the signature: a clock is wrong")
        .hint("set the clock of this machine")
}

fn log_in(source: &Source) -> String {
    match source {
        Source::Profile(name) => {
            format!("log in again, for example with `aws sso login --profile {name}`")
        }
        _ => {
            "log in again, for example with `aws sso login`, and set the new credentials".to_owned()
        }
    }
}
