//! Whom the secret of a configured client is shown to.
//!
//! Whoever runs a server says who grants tokens for it, anew each time. Without this, they could have
//! the secret sent to themselves.

use crate::client::{Authentication, Client, Registration};
use crate::discovery::{Discovered, How, is_same_issuer};
use crate::error::{OAuthError, quoted};
use crate::kept::{Confidant, KeptLogins};
use crate::resource::Resource;

impl KeptLogins {
    /// Says why a client may not show its secret to an authorization server, if it may not: the
    /// configuration names another one, or another one was shown it before.
    pub(crate) fn check_confidant(
        &self,
        resource: &Resource,
        client: &Client,
        found: &Discovered,
    ) -> Result<(), OAuthError> {
        if !shows_secret(client) || resource.authorization_server.is_some() {
            return Ok(());
        }
        let hint = "name the right one as `auth.authorizationServerUrl`";
        if found.found == How::Usual {
            return Err(OAuthError::lasting(
                "the server does not say who grants tokens for it, and the secret of the client is \
                 not sent on a guess",
            )
            .hint(hint));
        }
        match &self.confidant {
            Some(before)
                if before.client == client.id && !is_same_issuer(&before.issuer, &found.issuer) =>
            {
                Err(OAuthError::lasting(format!(
                    "the server names {} as its authorization server, and {} before: the secret of \
                     the client is not shown to another one",
                    quoted(&found.issuer),
                    quoted(&before.issuer)
                ))
                .hint(hint))
            }
            _ => Ok(()),
        }
    }

    /// Notes whom a client shows its secret to.
    pub(crate) fn confide(&mut self, client: &Client, issuer: &str) {
        if shows_secret(client) {
            self.confidant = Some(Confidant {
                client: client.id.clone(),
                issuer: issuer.to_owned(),
            });
        }
    }
}

/// Whether a client has a secret of the configuration, and shows it.
fn shows_secret(client: &Client) -> bool {
    client.registration == Registration::Configured
        && match client.authentication {
            Authentication::ClientSecretBasic | Authentication::ClientSecretPost => true,
            Authentication::None | Authentication::PrivateKeyJwt => false,
        }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Remedy;
    use crate::testing::{discovered, public_client, resource, url};

    fn confidential() -> Client {
        Client {
            authentication: Authentication::ClientSecretBasic,
            ..public_client(Registration::Configured)
        }
    }

    #[test]
    fn a_secret_is_shown_to_whom_it_was_shown_first_and_nobody_else() {
        let mut resource = resource("https://server.example/mcp");
        let client = confidential();
        let (first, other) = ("https://login.example", "https://evil.example");
        let mut kept = KeptLogins::default();
        kept.check_confidant(&resource, &client, &discovered(first))
            .unwrap();
        kept.confide(&client, first);
        for same in [first, "https://login.example/"] {
            kept.check_confidant(&resource, &client, &discovered(same))
                .unwrap();
        }
        let error = kept.check_confidant(&resource, &client, &discovered(other));
        let error = error.unwrap_err();
        assert_eq!(error.remedy(), Remedy::Change);
        assert!(error.to_string().contains(other), "{error}");
        // Another client has another secret, and one without a secret has nothing to hide.
        let mut second = client.clone();
        second.id = "another".to_owned();
        kept.check_confidant(&resource, &second, &discovered(other))
            .unwrap();
        let public = public_client(Registration::Configured);
        kept.check_confidant(&resource, &public, &discovered(other))
            .unwrap();
        // Whoever names it means it.
        resource.authorization_server = Some(url(other));
        kept.check_confidant(&resource, &client, &discovered(other))
            .unwrap();
    }

    #[test]
    fn no_secret_is_sent_on_a_guess() {
        let resource = resource("https://server.example/mcp");
        let mut guessed = discovered("https://server.example");
        guessed.found = How::Usual;
        let kept = KeptLogins::default();
        let error = kept.check_confidant(&resource, &confidential(), &guessed);
        assert!(error.unwrap_err().to_string().contains("on a guess"));
        let public = public_client(Registration::Dynamic);
        kept.check_confidant(&resource, &public, &guessed).unwrap();
    }
}
