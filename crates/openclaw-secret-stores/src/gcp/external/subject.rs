//! What another provider of identities says about us, and where it says so.

use std::io;
use std::path::PathBuf;

use bytes::Bytes;
use http::Request;
use http::header::{HeaderMap, HeaderName, HeaderValue};
use openclaw_secrets::Secret;
use secrecy::zeroize::Zeroizing;
use serde_json::Value as Json;

use super::super::asking::{Asking, Trouble};
use super::super::document::{Part, wipe};
use super::aws::AwsSubject;
use crate::error::{SecretError, SecretErrorKind};

/// Who is said to be asked where it is an address.
const PROVIDER: &str = "the address in `credential_source`";

/// Where another provider says who we are.
pub(super) enum Subject {
    File {
        path: PathBuf,
        format: Format,
    },
    Address {
        address: String,
        headers: HeaderMap,
        format: Format,
    },
    Aws(AwsSubject),
}

/// How it is written.
pub(super) enum Format {
    Text,
    /// A field of a JSON object.
    Field(String),
}

impl Subject {
    pub(super) fn new(part: Part<'_>) -> Result<Self, SecretError> {
        let unsupported = |what: &str| {
            SecretError::misconfigured(format!(
                "{} has credentials that {what} gives, which are not supported here",
                part.shown
            ))
        };
        if part.has("executable") {
            return Err(unsupported("a program"));
        }
        if part.has("certificate") {
            return Err(unsupported("a certificate"));
        }
        match part.text("environment_id") {
            Some("aws1") => return AwsSubject::new(part).map(Self::Aws),
            Some(_) => return Err(unsupported("another environment than `aws1`")),
            None => {}
        }
        let format = Format::new(part.part("format"))?;
        if let Some(path) = part.text("file") {
            let path = PathBuf::from(path);
            return Ok(Self::File { path, format });
        }
        if part.has("url") {
            return Ok(Self::Address {
                address: part.address("url")?,
                headers: headers(part)?,
                format,
            });
        }
        Err(part.wrong("credential_source", "has neither `file` nor `url`"))
    }

    /// What is said about us now, to one audience.
    pub(super) async fn token(
        &self,
        asking: &Asking<'_>,
        audience: &str,
    ) -> Result<Secret, Trouble> {
        match self {
            Self::File { path, format } => {
                let path = asking.surroundings.environment.directory().join(path);
                let shown = path.display().to_string();
                let bytes = content(path).await.map_err(|error| {
                    let reason = format!(
                        "{} names {shown}, which can't be read: {error}",
                        asking.shown
                    );
                    SecretError::unreadable(&error, reason)
                })?;
                format.token(asking, &bytes, &shown)
            }
            Self::Address {
                address,
                headers,
                format,
            } => {
                let bytes = fetched(asking, address, headers).await?;
                format.token(asking, &bytes, PROVIDER)
            }
            Self::Aws(aws) => aws.token(asking, audience).await.map_err(|error| {
                // The metadata service of AWS may answer the next time.
                match error.kind() {
                    SecretErrorKind::Unavailable => Trouble::Passing(error, None),
                    _ => Trouble::Final(error),
                }
            }),
        }
    }
}

impl Format {
    fn new(part: Part<'_>) -> Result<Self, SecretError> {
        match part.text("type") {
            None | Some("text") => Ok(Self::Text),
            Some("json") => {
                let name = part.needed("subject_token_field_name")?;
                Ok(Self::Field(name.to_owned()))
            }
            Some(_) => Err(part.wrong("format", "is neither `text` nor `json`")),
        }
    }

    fn token(&self, asking: &Asking<'_>, bytes: &[u8], origin: &str) -> Result<Secret, Trouble> {
        let token = match self {
            Self::Text => std::str::from_utf8(bytes)
                .ok()
                .map(|text| Secret::new(text.trim())),
            Self::Field(name) => {
                let mut json: Json = serde_json::from_slice(bytes).unwrap_or_default();
                let token = json[name].as_str().map(Secret::new);
                wipe(&mut json);
                token
            }
        };
        match token.filter(|token| !token.is_empty()) {
            Some(token) => Ok(asking.surroundings.credential(token.expose())),
            None => {
                let reason = match self {
                    Self::Text => format!("{origin} has no token"),
                    Self::Field(name) => format!("{origin} has no token in the field {name:?}"),
                };
                Err(SecretError::misconfigured(reason).into())
            }
        }
    }
}

/// The headers that the other provider wants to see.
fn headers(part: Part<'_>) -> Result<HeaderMap, SecretError> {
    let mut headers = HeaderMap::new();
    let wrong = || part.wrong("headers", "has something that can't be a header");
    match part.get("headers") {
        Json::Null => {}
        Json::Object(given) => {
            for (name, value) in given {
                let name = HeaderName::try_from(name).map_err(|_| wrong())?;
                let value = value.as_str().ok_or_else(wrong)?;
                let mut value = HeaderValue::try_from(value).map_err(|_| wrong())?;
                value.set_sensitive(true);
                headers.insert(name, value);
            }
        }
        _ => return Err(wrong()),
    }
    Ok(headers)
}

async fn fetched(
    asking: &Asking<'_>,
    address: &str,
    headers: &HeaderMap,
) -> Result<Zeroizing<Vec<u8>>, Trouble> {
    if let Some(value) = headers.get(http::header::AUTHORIZATION)
        && let Ok(text) = value.to_str()
    {
        let _ = asking.surroundings.credential(text);
    }
    let mut request = Request::get(address);
    for (name, value) in headers {
        request = request.header(name, value);
    }
    let answer = asking.send(PROVIDER, request, Bytes::new()).await?;
    let status = answer.status();
    if !status.is_success() {
        let reason = format!(
            "{PROVIDER} of {} answers with the status {}",
            asking.shown,
            status.as_u16()
        );
        return Err(SecretError::refused(reason).into());
    }
    Ok(Zeroizing::new(Vec::from(answer.into_body())))
}

/// The bytes of a file.
async fn content(path: PathBuf) -> io::Result<Zeroizing<Vec<u8>>> {
    let (bytes, _) = crate::file::content(path).await?;
    Ok(bytes)
}
