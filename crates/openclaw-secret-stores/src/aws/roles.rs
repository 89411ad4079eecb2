//! Credentials of a profile: its keys, a login, a program, or a role that it may take.

use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use reqsign_aws_v4::{
    AssumeRoleCredentialProvider, AssumeRoleWithWebIdentityCredentialProvider, Credential,
    RequestSigner, SSOCredentialProvider, StaticCredentialProvider,
};
use reqsign_core::{Context, ErrorKind, ProvideCredentialDyn as _, Signer};
use tokio::time::Instant;

use super::credentials::{Source, told, variables};
use super::files::{Files, Settings, set};
use super::metadata::{Instance, container, instance};
use super::place::{checked_region, configured_endpoint, configured_region, suffix};
use super::{context, process};
use crate::error::SecretError;
use crate::http::Http;
use crate::surroundings::Surroundings;

/// How many profiles may lead from one to another.
const MOST_PROFILES: usize = 8;
/// What sessions of ours are called where nobody says otherwise.
const SESSION_NAME: &str = "openclaw";
/// The region whose token service is asked where no region is known.
const USUAL_REGION: &str = "us-east-1";

/// A role that is being taken.
type Taking<'t> = Pin<Box<dyn Future<Output = Result<Credential, SecretError>> + Send + 't>>;

/// Finds the credentials of profiles.
pub(super) struct Profiles<'f> {
    pub(super) surroundings: &'f Surroundings,
    pub(super) http: &'f Arc<Http>,
    pub(super) files: &'f Files,
    pub(super) until: Instant,
}

impl Profiles<'_> {
    /// The credentials of the profile in use; nothing if it has none.
    pub(super) async fn chosen(&self) -> Result<Option<Credential>, SecretError> {
        if self.files.chosen_profile()?.is_none() {
            return Ok(None);
        }
        self.credential(self.files.chosen(), MOST_PROFILES).await
    }

    async fn credential(
        &self,
        name: &str,
        profiles_left: usize,
    ) -> Result<Option<Credential>, SecretError> {
        let Some(profile) = self.files.profile(name) else {
            return Err(wrong(name, "is not there"));
        };
        if let Some(role) = set(profile, "role_arn") {
            return self
                .role(name, profile, role, profiles_left)
                .await
                .map(Some);
        }
        if let Some(credential) = self.login(name, profile).await? {
            return Ok(Some(credential));
        }
        if let Some(credential) = keys(name, profile)? {
            return Ok(Some(credential));
        }
        match set(profile, "credential_process") {
            Some(line) => process::credential(self.surroundings, name, line)
                .await
                .map(Some),
            None => Ok(None),
        }
    }

    /// Takes a role. What it is taken with may be another role.
    fn role<'t>(
        &'t self,
        name: &'t str,
        profile: &'t Settings,
        role: &'t str,
        profiles_left: usize,
    ) -> Taking<'t> {
        Box::pin(self.take(name, profile, role, profiles_left))
    }

    /// Takes a role, with the credentials of another profile or with the identity that a file holds.
    async fn take(
        &self,
        name: &str,
        profile: &Settings,
        role: &str,
        profiles_left: usize,
    ) -> Result<Credential, SecretError> {
        if set(profile, "mfa_serial").is_some() {
            let hint = "put the credentials that your tool gets with it into the environment, or \
                        let the tool be the `credential_process` of the profile";
            let reason = "wants a code from a device, for which nobody can be asked here";
            return Err(wrong(name, reason).hint(hint));
        }
        let session = set(profile, "role_session_name").unwrap_or(SESSION_NAME);
        let region = set(profile, "region").map_or_else(|| self.region(), checked_region)?;
        let context = self.context();
        let source = Source::Profile(name.to_owned());
        if let Some(path) = set(profile, "web_identity_token_file") {
            let provider = web_identity(region, session)
                .with_role_arn(role.to_owned())
                .with_web_identity_token_file(PathBuf::from(path));
            let taken = provider.provide_credential_dyn(&context).await;
            let taken = taken.map_err(|error| told(self.surroundings, &source, &error))?;
            return taken.ok_or_else(|| wrong(name, "names no role and token"));
        }
        let own = self.before_role(name, profile, profiles_left).await?;
        let mut keys = StaticCredentialProvider::new(&own.access_key_id, &own.secret_access_key);
        if let Some(token) = &own.session_token {
            keys = keys.with_session_token(token);
        }
        let signer = RequestSigner::new("sts", region);
        let signer = Signer::new(context.clone(), keys, signer);
        let mut provider = AssumeRoleCredentialProvider::new(role.to_owned(), signer)
            .with_role_session_name(session.to_owned())
            .with_region(region.to_owned())
            .with_regional_sts_endpoint();
        if let Some(id) = set(profile, "external_id") {
            provider = provider.with_external_id(id.to_owned());
        }
        let taken = provider.provide_credential_dyn(&context).await;
        let taken = taken.map_err(|error| told(self.surroundings, &source, &error))?;
        taken.ok_or_else(|| wrong(name, "names a role that gives no credentials"))
    }

    /// The credentials with which a role is taken.
    async fn before_role(
        &self,
        name: &str,
        profile: &Settings,
        profiles_left: usize,
    ) -> Result<Credential, SecretError> {
        let own = match (
            set(profile, "source_profile"),
            set(profile, "credential_source"),
        ) {
            (Some(source), _) if source == name => keys(name, profile)?,
            (Some(_), _) if profiles_left == 0 => {
                return Err(wrong(name, "leads from profile to profile without an end"));
            }
            (Some(source), _) => self.credential(source, profiles_left - 1).await?,
            (None, Some("Environment")) => variables(self.surroundings)?,
            (None, Some("EcsContainer")) => {
                let given = container(self.surroundings, self.http, self.until).await;
                given.map_err(|error| told(self.surroundings, &Source::Container, &error))?
            }
            (None, Some("Ec2InstanceMetadata")) => {
                match instance(self.surroundings, self.http, self.until).await {
                    Instance::Gives(credential) => Some(credential),
                    Instance::Disabled | Instance::Absent | Instance::Useless(_) => None,
                }
            }
            (None, _) => {
                let reason = "has `role_arn` but neither `source_profile` nor a \
                              `credential_source` that AWS knows";
                return Err(wrong(name, reason));
            }
        };
        own.ok_or_else(|| wrong(name, "names a role, but has no credentials to take it with"))
    }

    /// The credentials of someone who logged in with `aws sso login`.
    async fn login(
        &self,
        name: &str,
        profile: &Settings,
    ) -> Result<Option<Credential>, SecretError> {
        let session = set(profile, "sso_session");
        let Some(kept_under) = session.or_else(|| set(profile, "sso_start_url")) else {
            return Ok(None);
        };
        let place = match session {
            Some(session) => self.files.session(session).ok_or_else(|| {
                wrong(
                    name,
                    &format!("names the `sso-session` {session:?}, which is not there"),
                )
            })?,
            None => profile,
        };
        let region = set(place, "sso_region").ok_or_else(|| wrong(name, "has no `sso_region`"))?;
        let region = checked_region(region)?;
        let (Some(account), Some(role)) = (
            set(profile, "sso_account_id"),
            set(profile, "sso_role_name"),
        ) else {
            return Err(wrong(name, "has no `sso_account_id` and `sso_role_name`"));
        };
        let variables = ["AWS_ENDPOINT_URL_SSO", "AWS_ENDPOINT_URL"];
        let endpoint = match configured_endpoint(self.surroundings, None, &variables) {
            Some((_, endpoint)) => endpoint.trim_end_matches('/').to_owned(),
            None => format!("https://portal.sso.{region}.{}", suffix(region)),
        };
        // The AWS CLI keeps a login under a digest of the name of its session, or of its address
        // where there is no session. That is all that the provider needs the address for.
        let provider = SSOCredentialProvider::new()
            .with_account_id(account)
            .with_role_name(role)
            .with_region(region)
            .with_start_url(kept_under)
            .with_endpoint(format!("{endpoint}/federation/credentials"));
        let given = provider.provide_credential_dyn(&self.context()).await;
        given.map_err(|error| {
            let error = match error.kind() {
                ErrorKind::ConfigInvalid => {
                    let reason = format!("the login of the AWS profile {name:?} has expired");
                    SecretError::refused(format!("{reason}, or there is none"))
                }
                _ => told(self.surroundings, &Source::Profile(name.to_owned()), &error),
            };
            error.hint(format!("log in with `aws sso login --profile {name}`"))
        })
    }

    /// The region whose token service is asked.
    fn region(&self) -> Result<&str, SecretError> {
        configured_region(self.surroundings, self.files).map_or(Ok(USUAL_REGION), checked_region)
    }

    fn context(&self) -> Context {
        context::context(self.surroundings, self.http, self.until, None).context
    }

    /// The credentials of a role that variables name, taken with the identity that a file holds: what
    /// a container of Kubernetes is given. Nothing if they name none.
    pub(super) async fn web_identity(&self) -> Result<Option<Credential>, SecretError> {
        let names = ["AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE"];
        if names
            .iter()
            .any(|name| self.surroundings.variable(name).is_none())
        {
            return Ok(None);
        }
        let session = self.surroundings.variable("AWS_ROLE_SESSION_NAME");
        let provider = web_identity(self.region()?, session.unwrap_or(SESSION_NAME));
        let taken = provider.provide_credential_dyn(&self.context()).await;
        taken.map_err(|error| told(self.surroundings, &Source::WebIdentity, &error))
    }
}

fn web_identity(region: &str, session: &str) -> AssumeRoleWithWebIdentityCredentialProvider {
    AssumeRoleWithWebIdentityCredentialProvider::new()
        .with_region(region.to_owned())
        .with_regional_sts_endpoint()
        .with_role_session_name(session.to_owned())
}

/// The keys that stand in a profile itself.
fn keys(name: &str, profile: &Settings) -> Result<Option<Credential>, SecretError> {
    let names = ["aws_access_key_id", "aws_secret_access_key"];
    match names.map(|name| set(profile, name)) {
        [Some(id), Some(secret)] => Ok(Some(Credential {
            access_key_id: id.to_owned(),
            secret_access_key: secret.to_owned(),
            session_token: set(profile, "aws_session_token").map(str::to_owned),
            expires_in: None,
        })),
        [None, None] => Ok(None),
        _ => Err(wrong(
            name,
            "has only one of `aws_access_key_id` and `aws_secret_access_key`",
        )),
    }
}

fn wrong(name: &str, reason: &str) -> SecretError {
    SecretError::misconfigured(format!("the AWS profile {name:?} {reason}"))
}
