//! The kinds of credentials that tokens are made of.

use super::asking::{Asking, Trouble};
use super::credentials::LOG_IN;
use super::document::Part;
use super::external::External;
use super::lending::{self, Lending};
use super::service_account::{ServiceAccount, Way};
use super::token::Token;
use super::user::User;
use crate::error::SecretError;

/// What to try where the word of another provider is not accepted.
const NEW_FEDERATION: &str = "create the file anew with `gcloud iam workload-identity-pools \
                              create-cred-config`";

/// What a token is made of: credentials, and then accounts that are borrowed with it, each with the
/// token before.
pub(super) struct Source {
    own: Own,
    borrowed: Vec<Lending>,
}

/// Credentials that somebody was given.
enum Own {
    Service(ServiceAccount),
    User(User),
    External(External),
}

impl Source {
    /// Understands a document, or a part of one. Nothing is asked for yet.
    pub(super) fn new(part: Part<'_>, clean: &dyn Fn(&str) -> String) -> Result<Self, SecretError> {
        if part.text("type") != Some("impersonated_service_account") {
            return Self::of_own(part, clean);
        }
        let inner = part.part("source_credentials");
        // What is borrowed in order to borrow is what `delegates` is for.
        let mut source = Self::of_own(inner, clean)?;
        source.borrowed.push(Lending::new(part)?);
        Ok(source)
    }

    fn of_own(part: Part<'_>, clean: &dyn Fn(&str) -> String) -> Result<Self, SecretError> {
        let shown = part.shown;
        let own = match part.text("type") {
            Some("service_account") => Own::Service(ServiceAccount::new(part)?),
            Some("authorized_user") => Own::User(User::new(part)?),
            Some("external_account") => Own::External(External::new(part)?),
            Some(other) => {
                let reason = format!(
                    "{shown} has credentials of a type that can't be used here: {:?}",
                    clean(other)
                );
                return Err(SecretError::misconfigured(reason).hint(LOG_IN));
            }
            None => {
                let reason = format!("{shown} has no credentials: no `type`");
                return Err(SecretError::misconfigured(reason));
            }
        };
        let borrowed = match own {
            Own::External(_) => Lending::find(part)?,
            Own::Service(_) | Own::User(_) => None,
        };
        Ok(Self {
            own,
            borrowed: borrowed.into_iter().collect(),
        })
    }

    /// The service account that the token will be of, if it is known.
    pub(super) fn account(part: Part<'_>) -> Option<&str> {
        match part.text("type")? {
            "service_account" => part.text("client_email"),
            _ => lending::account(part),
        }
    }

    /// What to try where the credentials are not accepted.
    pub(super) fn hint(part: Part<'_>, clean: &dyn Fn(&str) -> String) -> String {
        let own = match part.text("type") {
            Some("impersonated_service_account") => part.part("source_credentials"),
            _ => part,
        };
        match own.text("type") {
            Some("service_account") => ServiceAccount::hint(own, clean),
            Some("external_account") => NEW_FEDERATION.to_owned(),
            _ => LOG_IN.to_owned(),
        }
    }

    /// Whether this is just a service account, which has a project of its own that is charged.
    pub(super) fn is_service_account(&self) -> bool {
        matches!(self.own, Own::Service(_)) && self.borrowed.is_empty()
    }

    /// Whether there are two ways to a token.
    pub(super) fn signs_itself(&self) -> bool {
        matches!(self.own, Own::Service(_))
    }

    /// A token that is good now.
    pub(super) async fn token(&self, asking: &Asking<'_>, way: Way) -> Result<Token, Trouble> {
        let mut token = match &self.own {
            Own::Service(account) => account.token(asking, way).await?,
            Own::User(user) => user.token(asking).await?,
            Own::External(external) => external.token(asking).await?,
        };
        for lending in &self.borrowed {
            token = lending.borrow(asking, &token).await?;
        }
        Ok(token)
    }
}
