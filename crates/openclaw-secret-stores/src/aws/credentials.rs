//! Where credentials come from, in which order, and for how long they are kept.

use std::error::Error as _;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use openclaw_content::shown_line;
use reqsign_aws_v4::Credential;
use reqsign_core::{ErrorKind, SigningCredential as _};
use tokio::sync::Semaphore;

use super::files::Files;
use super::metadata::{self, Instance};
use super::place::{REGION, checked_region, configured_region};
use super::roles::Profiles;
use crate::error::SecretError;
use crate::http::Http;
use crate::surroundings::Surroundings;

/// How much of what others say is shown.
const SHOWN: usize = 200;

/// Who we are to AWS.
#[derive(Clone)]
pub(super) struct Identity {
    pub(super) credential: Credential,
    pub(super) source: Source,
    /// Whether this is from an earlier time.
    pub(super) was_kept: bool,
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

/// Finds credentials, and keeps those that say how long they are good for.
///
/// The order is that of AWS's own tools. Theirs that are set up and do not work are an error: to go
/// on as somebody else would be a surprise.
pub(super) struct Credentials {
    surroundings: Surroundings,
    http: Arc<Http>,
    kept: Mutex<Option<Identity>>,
    /// A program that asks for a fingerprint should ask once.
    turn: Semaphore,
}

impl Credentials {
    pub(super) fn new(surroundings: Surroundings, http: Arc<Http>) -> Self {
        Self {
            surroundings,
            http,
            kept: Mutex::new(None),
            turn: Semaphore::new(1),
        }
    }

    /// Who we are.
    pub(super) fn get<'c>(&'c self, files: &'c Files) -> Getting<'c> {
        Box::pin(self.get_in_turn(files))
    }

    async fn get_in_turn(&self, files: &Files) -> Result<Identity, SecretError> {
        // An error would mean that the semaphore is closed.
        let _turn = self.turn.acquire().await;
        if let Some(kept) = &*self.kept()
            && kept.credential.is_valid()
        {
            return Ok(kept.clone());
        }
        let (credential, source) = self.find(files).await?;
        let secrets = [
            Some(&credential.secret_access_key),
            credential.session_token.as_ref(),
        ];
        for secret in secrets.into_iter().flatten() {
            let _ = self.surroundings.credential(secret.as_str());
        }
        let mut identity = Identity {
            credential,
            source,
            was_kept: true,
        };
        // Those without an end stand in a file or a variable, where others may come to stand.
        let has_end = identity.credential.expires_in.is_some();
        *self.kept() = has_end.then(|| identity.clone());
        identity.was_kept = false;
        Ok(identity)
    }

    /// Forgets what was kept: AWS does not take it.
    pub(super) fn forget(&self) {
        *self.kept() = None;
    }

    pub(super) fn are_forgotten(&self) -> bool {
        self.kept().is_none()
    }

    /// The region that is asked where a reference names none.
    pub(super) async fn region(
        &self,
        files: &Files,
        identity: &Identity,
    ) -> Result<String, SecretError> {
        if let Some(region) = configured_region(&self.surroundings, files) {
            return checked_region(region).map(str::to_owned);
        }
        let of_instance = match identity.source {
            Source::Instance => metadata::region(&self.surroundings, &self.http).await,
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

    async fn find(&self, files: &Files) -> Result<(Credential, Source), SecretError> {
        let surroundings = &self.surroundings;
        if let Some(credential) = variables(surroundings)? {
            return Ok((credential, Source::Variables));
        }
        let profiles = Profiles {
            surroundings,
            http: &self.http,
            files,
        };
        if let Some(credential) = profiles.chosen().await? {
            return Ok((credential, Source::Profile(files.chosen().to_owned())));
        }
        if let Some(credential) = profiles.web_identity().await? {
            return Ok((credential, Source::WebIdentity));
        }
        let container = metadata::container(surroundings, &self.http).await;
        let container =
            container.map_err(|error| told(surroundings, &Source::Container, &error))?;
        if let Some(credential) = container {
            return Ok((credential, Source::Container));
        }
        let instance = match metadata::instance(surroundings, &self.http).await {
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

    fn kept(&self) -> MutexGuard<'_, Option<Identity>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
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
