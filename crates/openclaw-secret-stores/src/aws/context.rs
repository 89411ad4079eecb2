//! What `reqsign` sees of the machine: our variables, bounded files, our own requests.

use std::collections::HashMap;
use std::convert::identity;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::uri::Uri;
use http::{Request, Response, StatusCode};
use reqsign_core::{Context, Env, Error, FileRead, HttpSend, Result};
use secrecy::zeroize::Zeroizing;
use serde_json::Value as Json;
use tokio::time::Instant;

use super::place::configured_endpoint;
use crate::http::{Attempt, Http, patiently, retry_after};
use crate::surroundings::Surroundings;

/// The variables that providers of `reqsign` ask for all at once.
const VARIABLES: [&str; 5] = [
    "AWS_ROLE_ARN",
    "AWS_ROLE_SESSION_NAME",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_AUTHORIZATION_TOKEN",
    "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
];
/// The headers that carry credentials to those who give other credentials for them.
const SECRET_HEADERS: [&str; 3] = [
    "authorization",
    "x-amz-sso_bearer_token",
    "x-aws-ec2-metadata-token",
];
/// The fields of a cached login that are credentials.
const SECRET_FIELDS: [&str; 3] = ["accessToken", "refreshToken", "clientSecret"];

/// A context, and whether anybody answered a request in it.
pub(super) struct Seen {
    pub(super) context: Context,
    pub(super) answered: Arc<AtomicBool>,
}

/// What `reqsign` sees of the machine. No request takes longer than `limit`, and none goes on after
/// `until`.
pub(super) fn context(
    surroundings: &Surroundings,
    http: &Arc<Http>,
    until: Instant,
    limit: Option<Duration>,
) -> Seen {
    let answered = Arc::new(AtomicBool::new(false));
    let sender = Sender {
        surroundings: surroundings.clone(),
        http: Arc::clone(http),
        until,
        limit,
        answered: Arc::clone(&answered),
    };
    let context = Context::new()
        .with_env(Variables(surroundings.clone()))
        .with_file_read(Reader(surroundings.clone()))
        .with_http_send(sender);
    Seen { context, answered }
}

/// Sends a request to somebody who gives credentials, again where that helps. The same signature is
/// good for each: it is taken for some minutes.
///
/// What is answered in the end is for the caller to read, and so is why there is no answer.
pub(super) async fn send(
    http: &Http,
    request: &Request<Bytes>,
    until: Instant,
) -> std::result::Result<Response<Bytes>, String> {
    let silent = || Err("there is no answer in time".to_owned());
    let asked = patiently(until, silent, async || {
        match http.send(request.clone()).await {
            Ok(answer) if is_passing(&answer) => {
                let asked = retry_after(answer.headers());
                Attempt::Again(Ok(answer), asked)
            }
            Ok(answer) => Attempt::Done(Ok(answer)),
            Err(error) if error.is_passing() => Attempt::Again(Err(error.to_string()), None),
            Err(error) => Attempt::Done(Err(Err(error.to_string()))),
        }
    });
    asked.await.or_else(identity)
}

/// Whether an answer may be another one the next time. The token service says in words that it is
/// asked too often.
fn is_passing(answer: &Response<Bytes>) -> bool {
    let says = |word: &[u8]| answer.body().windows(word.len()).any(|it| it == word);
    match answer.status() {
        StatusCode::TOO_MANY_REQUESTS => true,
        StatusCode::BAD_REQUEST => says(b"<Code>Throttling") || says(b"<Code>RequestLimitExceeded"),
        status => status.is_server_error(),
    }
}

/// The bytes of a file.
pub(super) async fn content(path: PathBuf) -> io::Result<Zeroizing<Vec<u8>>> {
    let (bytes, _) = crate::file::content(path).await?;
    Ok(bytes)
}

struct Variables(Surroundings);

impl Env for Variables {
    fn var(&self, key: &str) -> Option<String> {
        let known = VARIABLES.contains(&key);
        let value = self.0.variable(key).filter(|_| known);
        value.map(str::to_owned)
    }

    fn vars(&self) -> HashMap<String, String> {
        let pair = |name: &str| Some((name.to_owned(), self.var(name)?));
        VARIABLES.iter().filter_map(|name| pair(name)).collect()
    }

    fn home_dir(&self) -> Option<PathBuf> {
        self.0.environment.home()
    }
}

/// Reads tokens: of a web identity, of a container, of a login that the AWS CLI keeps.
struct Reader(Surroundings);

impl FileRead for Reader {
    async fn file_read(&self, path: &str) -> Result<Vec<u8>> {
        let bytes = content(PathBuf::from(path)).await;
        let bytes = bytes.map_err(|error| Error::config_invalid(format!("{path}: {error}")))?;
        match serde_json::from_slice::<Json>(&bytes) {
            Ok(Json::Object(login)) => {
                let fields = SECRET_FIELDS.iter().filter_map(|name| login.get(*name));
                for text in fields.filter_map(Json::as_str) {
                    let _ = self.0.credential(text);
                }
            }
            _ => {
                let _ = self.0.credential(String::from_utf8_lossy(&bytes).trim());
            }
        }
        Ok(bytes.to_vec())
    }
}

struct Sender {
    surroundings: Surroundings,
    http: Arc<Http>,
    until: Instant,
    limit: Option<Duration>,
    answered: Arc<AtomicBool>,
}

impl HttpSend for Sender {
    async fn http_send(&self, mut request: Request<Bytes>) -> Result<Response<Bytes>> {
        for name in SECRET_HEADERS {
            let value = request.headers().get(name);
            if let Some(text) = value.and_then(|value| value.to_str().ok()) {
                let _ = self.surroundings.credential(text);
            }
        }
        if let Some(uri) = self.elsewhere(request.uri()) {
            *request.uri_mut() = uri;
        }
        let limit = self.limit.map(|limit| Instant::now() + limit);
        let until = limit.map_or(self.until, |limit| limit.min(self.until));
        let answer = send(&self.http, &request, until).await;
        let answer = answer.map_err(Error::unexpected)?;
        self.answered.store(true, Ordering::Relaxed);
        Ok(answer)
    }
}

impl Sender {
    /// Where a request to the token service goes instead, if a variable says so: `reqsign` knows
    /// only the usual addresses.
    fn elsewhere(&self, uri: &Uri) -> Option<Uri> {
        let host = uri.host()?;
        if !host.starts_with("sts.") {
            return None;
        }
        let variables = ["AWS_ENDPOINT_URL_STS", "AWS_ENDPOINT_URL"];
        let (_, endpoint) = configured_endpoint(&self.surroundings, None, &variables)?;
        let rest = uri.path_and_query().map_or("/", |it| it.as_str());
        format!("{}{rest}", endpoint.trim_end_matches('/'))
            .parse()
            .ok()
    }
}

/// None of them says anything that should be in a log.
macro_rules! silent {
    ($($name:ident),*) => {
        $(impl fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(stringify!($name))
            }
        })*
    };
}

silent!(Variables, Reader, Sender);
