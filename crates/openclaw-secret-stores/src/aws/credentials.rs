//! Where credentials come from, in which order, and for how long they are kept.

use std::error::Error as _;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use openclaw_content::shown_line;
use reqsign_aws_v4::Credential;
use reqsign_core::{ErrorKind, SigningCredential as _};
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::files::{Digest, Files};
use super::metadata::{self, Instance};
use super::place::{REGION, checked_region, configured_region};
use super::roles::Profiles;
use crate::error::SecretError;
use crate::http::Http;
use crate::surroundings::Surroundings;

/// How much of what others say is shown.
const SHOWN: usize = 200;
/// How long credentials are kept that do not say how long they are good for: a program that asks for
/// a fingerprint should not do so for each server.
const WITHOUT_END: Duration = Duration::from_mins(5);

/// Who we are to AWS.
#[derive(Clone)]
pub(super) struct Identity {
    pub(super) credential: Credential,
    pub(super) source: Source,
    /// How many lookups there were before.
    number: u64,
    /// Whether this is from an earlier time.
    was_kept: bool,
}

impl Identity {
    /// Whether AWS may answer otherwise than to another one.
    fn is_other_than(&self, other: &Self) -> bool {
        let (ours, theirs) = (&self.credential, &other.credential);
        ours.access_key_id != theirs.access_key_id
            || ours.secret_access_key != theirs.secret_access_key
            || ours.session_token != theirs.session_token
    }
}

/// An identity that is being looked for.
type Getting<'g> = Pin<Box<dyn Future<Output = Result<Identity, SecretError>> + Send + 'g>>;

/// Where credentials are from.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Source {
    Variables,
    Profile(String),
    WebIdentity,
    Container,
    Instance,
}

impl fmt::Display for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variables => formatter.write_str("the variable AWS_ACCESS_KEY_ID"),
            Self::Profile(name) => write!(formatter, "the AWS profile {name:?}"),
            Self::WebIdentity => formatter.write_str("the role that AWS_ROLE_ARN names"),
            Self::Container => formatter.write_str("the role of the container"),
            Self::Instance => formatter.write_str("the role of the instance"),
        }
    }
}

/// Finds credentials, and keeps them for a while.
///
/// The order is that of AWS's own tools. Theirs that are set up and do not work are an error: to go
/// on as somebody else would be a surprise.
pub(super) struct Credentials {
    surroundings: Surroundings,
    http: Arc<Http>,
    /// Held while somebody looks for credentials, so that all others wait for that.
    last: Mutex<Option<Lookup>>,
    /// How many lookups have ended, well or not.
    count: AtomicU64,
}

/// What came of the last lookup.
struct Lookup {
    /// What AWS's files said then.
    settings: Digest,
    result: Result<Identity, SecretError>,
    began: Instant,
}

impl Lookup {
    /// Whether there are credentials that are good for a while yet.
    fn is_good(&self) -> bool {
        let is_young = self.began.elapsed() < WITHOUT_END;
        self.result.as_ref().is_ok_and(|identity| {
            let credential = &identity.credential;
            credential.is_valid() && (credential.expires_in.is_some() || is_young)
        })
    }

    fn has_number(&self, number: u64) -> bool {
        let identity = self.result.as_ref();
        identity.is_ok_and(|identity| identity.number == number)
    }
}

impl Credentials {
    pub(super) fn new(surroundings: Surroundings, http: Arc<Http>) -> Self {
        Self {
            surroundings,
            http,
            last: Mutex::default(),
            count: AtomicU64::default(),
        }
    }

    /// Who we are.
    pub(super) fn get<'c>(&'c self, files: &'c Files, until: Instant) -> Getting<'c> {
        Box::pin(self.look(files, None, until))
    }

    /// Who else we are, where AWS does not take the one that we were; nothing where there is nobody
    /// else.
    pub(super) async fn instead(
        &self,
        files: &Files,
        refused: &Identity,
        until: Instant,
    ) -> Result<Option<Identity>, SecretError> {
        let identity = Box::pin(self.look(files, Some(refused), until)).await?;
        Ok(identity.is_other_than(refused).then_some(identity))
    }

    /// Forgets credentials that AWS does not know, unless there are others by now.
    pub(super) async fn forget(&self, refused: &Identity) {
        let mut last = self.last.lock().await;
        if last
            .as_ref()
            .is_some_and(|lookup| lookup.has_number(refused.number))
        {
            *last = None;
        }
    }

    /// Looks for credentials, unless that was done already: by those who were here before, or by one
    /// of those who wait here together, whatever came of it.
    async fn look(
        &self,
        files: &Files,
        refused: Option<&Identity>,
        until: Instant,
    ) -> Result<Identity, SecretError> {
        let settings = files.digest();
        let seen = self.count.load(Ordering::SeqCst);
        let mut last = self.last.lock().await;
        let number = self.count.load(Ordering::SeqCst);
        let was_kept = number == seen;
        let known = last.as_ref().filter(|lookup| lookup.settings == settings);
        if let Some(lookup) = known {
            let is_refused = refused.is_some_and(|refused| lookup.has_number(refused.number));
            if !was_kept || lookup.is_good() && !is_refused {
                let identity = lookup.result.clone();
                return identity.map(|identity| Identity {
                    was_kept,
                    ..identity
                });
            }
        }
        // Credentials that were just found are what there is.
        if let Some(refused) = refused.filter(|refused| !refused.was_kept) {
            return Ok(refused.clone());
        }
        let began = Instant::now();
        let found = self.find(files, until).await;
        self.count.fetch_add(1, Ordering::SeqCst);
        let result = found.map(|(credential, source)| Identity {
            credential,
            source,
            number,
            was_kept: false,
        });
        if let Ok(identity) = &result {
            self.hide(&identity.credential);
        }
        *last = Some(Lookup {
            settings,
            result: result.clone(),
            began,
        });
        result
    }

    /// No output shows credentials from now on.
    fn hide(&self, credential: &Credential) {
        let _ = self
            .surroundings
            .credential(credential.secret_access_key.as_str());
        if let Some(token) = &credential.session_token {
            let _ = self.surroundings.credential(token.as_str());
        }
    }

    /// The region that is asked where a reference names none.
    pub(super) async fn region(
        &self,
        files: &Files,
        identity: &Identity,
        until: Instant,
    ) -> Result<String, SecretError> {
        if let Some(region) = configured_region(&self.surroundings, files) {
            return checked_region(region).map(str::to_owned);
        }
        let of_instance = match identity.source {
            Source::Instance => metadata::region(&self.surroundings, &self.http, until).await,
            _ => None,
        };
        match of_instance {
            Some(region) => checked_region(&region).map(str::to_owned),
            None => {
                let reason = format!(
                    "the AWS region is not known: neither {} nor `region` of the profile {:?} is \
                     set{}",
                    REGION.join(" nor "),
                    files.chosen(),
                    files.remark()
                );
                let hint = "set AWS_REGION, or name the secret by its ARN";
                Err(SecretError::misconfigured(reason).hint(hint))
            }
        }
    }

    async fn find(
        &self,
        files: &Files,
        until: Instant,
    ) -> Result<(Credential, Source), SecretError> {
        let surroundings = &self.surroundings;
        if let Some(credential) = variables(surroundings)? {
            return Ok((credential, Source::Variables));
        }
        let profiles = Profiles {
            surroundings,
            http: &self.http,
            files,
            until,
        };
        if let Some(credential) = profiles.chosen().await? {
            return Ok((credential, Source::Profile(files.chosen().to_owned())));
        }
        if let Some(credential) = profiles.web_identity().await? {
            return Ok((credential, Source::WebIdentity));
        }
        let container = metadata::container(surroundings, &self.http, until).await;
        let container =
            container.map_err(|error| told(surroundings, &Source::Container, &error))?;
        if let Some(credential) = container {
            return Ok((credential, Source::Container));
        }
        let instance = match metadata::instance(surroundings, &self.http, until).await {
            Instance::Gives(credential) => return Ok((credential, Source::Instance)),
            Instance::Disabled => "AWS_EC2_METADATA_DISABLED is set".to_owned(),
            Instance::Absent => "there is no metadata service of an instance".to_owned(),
            Instance::Useless(error) => {
                let said = said(surroundings, &error);
                format!("the metadata service of the instance has none ({said})")
            }
        };
        let reason = format!(
            "no AWS credentials were found: no variable AWS_ACCESS_KEY_ID, none in the profile \
             {:?}{}, not in a container, and {instance}",
            files.chosen(),
            files.remark()
        );
        let hint = "run `aws configure` or `aws sso login`, or set AWS_ACCESS_KEY_ID and \
                    AWS_SECRET_ACCESS_KEY, or AWS_PROFILE";
        Err(SecretError::misconfigured(reason).hint(hint))
    }
}

/// The credentials that stand in variables.
pub(super) fn variables(surroundings: &Surroundings) -> Result<Option<Credential>, SecretError> {
    let names = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"];
    match names.map(|name| surroundings.variable(name)) {
        [Some(id), Some(secret)] => Ok(Some(Credential {
            access_key_id: id.to_owned(),
            secret_access_key: secret.to_owned(),
            session_token: surroundings
                .variable("AWS_SESSION_TOKEN")
                .map(str::to_owned),
            expires_in: None,
        })),
        [None, None] => Ok(None),
        [None, _] => Err(half(names[1], names[0])),
        [_, None] => Err(half(names[0], names[1])),
    }
}

fn half(set: &str, missing: &str) -> SecretError {
    SecretError::misconfigured(format!("{set} is set, but {missing} is not"))
}

/// Says that a place which should have credentials gives none.
pub(super) fn told(
    surroundings: &Surroundings,
    source: &Source,
    error: &reqsign_core::Error,
) -> SecretError {
    let said = said(surroundings, error);
    let reason = format!("{source} gives no credentials: {said}");
    match error.kind() {
        ErrorKind::PermissionDenied | ErrorKind::CredentialInvalid => SecretError::refused(reason),
        ErrorKind::ConfigInvalid | ErrorKind::RequestInvalid => SecretError::misconfigured(reason),
        _ => SecretError::unavailable(reason),
    }
}

/// What went wrong, with what our own reader or sender said about it. What a parser says is left
/// out: it may be a part of a credential.
fn said(surroundings: &Surroundings, error: &reqsign_core::Error) -> String {
    let clean = |text: &str| shown_line(&surroundings.redactor.redact(text), SHOWN);
    let own = error
        .source()
        .and_then(|source| source.downcast_ref::<reqsign_core::Error>());
    match own {
        Some(own) => format!("{}: {}", clean(&error.to_string()), clean(&own.to_string())),
        None => clean(&error.to_string()),
    }
}
