//! Beginning a login: finding out whom to ask, being known there, and the address for the browser.

use url::Url;

use super::{Begun, LOCK_PATIENCE, LOGIN_PATIENCE, LoginDesk, RunningLogin};
use crate::asking::Asking;
use crate::authorization::LoginRequest;
use crate::challenge::Challenge;
use crate::discovery::{How, discover};
use crate::error::{OAuthError, Remedy};
use crate::kept::{KeptClient, KeptLogins};
use crate::listener::CallbackListener;
use crate::registration::Choosing;
use crate::resource::{ConfiguredKeys, Grant, Redirect};
use crate::scopes::scopes;

/// How a login is begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// The browser arrives on this machine.
    Here,
    /// It may arrive here, or a person brings what it was sent to.
    HereOrByHand,
}

impl LoginDesk {
    /// Begins a login. Where a token is kept is tried first, so that a fresh one can't be lost.
    ///
    /// A server that does not ask for one may still offer it, if it says where; nothing is guessed.
    pub async fn begin(
        &self,
        challenge: &Challenge,
        arrival: Arrival,
        is_asked: bool,
    ) -> Result<RunningLogin, OAuthError> {
        self.check()?;
        let remarks = self.store.probe().await?;
        let kept = match self.logins.read().await {
            Ok((_, kept)) => kept,
            // What can't be opened is replaced by the new login.
            Err(error) if error.remedy() == Remedy::LogIn => KeptLogins::default(),
            Err(error) => return Err(error),
        };
        let asking = Asking::new(&self.resource)?;
        let found = Box::pin(discover(&asking, &self.resource, challenge)).await?;
        if !is_asked && found.found == How::Usual {
            return Err(OAuthError::unoffered(
                "it does not say where one would log in",
            ));
        }
        let listener = self.listen(&kept, &found.issuer, arrival)?;
        let redirect_uri = match (&listener, &self.resource.redirect) {
            (Some(listener), _) => listener.redirect_uri().to_owned(),
            (None, redirect) => without_listener(redirect),
        };
        let scopes = scopes(
            &self.resource,
            challenge,
            &found,
            &kept.asked_for(&found.issuer),
        );
        let keys = match self.resource.client_id {
            Some(_) => self.keys.keys().await?,
            None => ConfiguredKeys::default(),
        };
        let now = self.clock.now();
        let choosing = Choosing {
            resource: &self.resource,
            keys: &keys,
            discovered: &found,
            kept: &kept.clients,
            redirect_uri: &redirect_uri,
            scopes: &scopes,
            now,
        };
        let chosen = Box::pin(choosing.client(&asking)).await?;
        kept.check_confidant(&self.resource, &chosen.client, &found)?;
        let request = LoginRequest {
            discovered: &found,
            client: &chosen.client,
            scopes: &scopes,
            redirect_uri: &redirect_uri,
            now,
        };
        let (url, pending) = request.begin()?;
        let state = pending.state.clone();
        let begun = Begun {
            login: pending.login.clone(),
            url,
            issuer: found.issuer.clone(),
            found: found.found.words().to_owned(),
            registration: chosen.client.registration,
            client_id: chosen.client.id.clone(),
            why: chosen.why,
            scopes,
            redirect_uri: redirect_uri.clone(),
            ends_at: now
                .saturating_add(u64::try_from(LOGIN_PATIENCE.as_millis()).unwrap_or(u64::MAX)),
            remarks,
        };
        let is_new = chosen.is_new;
        let client = KeptClient {
            issuer: found.issuer,
            redirect_uri,
            client: chosen.client,
            scopes: begun.scopes.clone(),
            is_doubtful: true,
        };
        let change = self.logins.change(LOCK_PATIENCE, move |kept| {
            Box::pin(async move {
                kept.pending.retain(|it| !it.is_over(now));
                kept.begin(pending);
                if is_new {
                    kept.remember(client);
                }
                Ok(())
            })
        });
        change.await?;
        Ok(RunningLogin {
            desk: self.clone(),
            begun,
            state,
            listener,
        })
    }

    /// Says why nobody logs in with a browser, if nobody does.
    fn check(&self) -> Result<(), OAuthError> {
        if self.resource.grant == Grant::ClientCredentials {
            return Err(OAuthError::lasting(
                "this server is logged in to with the client's own credentials \
                 (`grantType: \"client_credentials\"`): there is nobody to ask",
            ));
        }
        if let Redirect::Elsewhere(url) = &self.resource.redirect
            && url.scheme() == "http"
        {
            return Err(OAuthError::lasting(
                "what comes back from the login would be sent to another machine without TLS",
            )
            .hint("let `auth.redirectUrl` begin with `https://`"));
        }
        Ok(())
    }

    /// Waits for the browser on this machine: on the port of the last time, so that a client that
    /// registered itself then can be used again.
    fn listen(
        &self,
        kept: &KeptLogins,
        issuer: &str,
        arrival: Arrival,
    ) -> Result<Option<CallbackListener>, OAuthError> {
        if matches!(self.resource.redirect, Redirect::Elsewhere(_)) {
            return Ok(None);
        }
        let known = kept.clients.iter().rev().find(|it| it.issuer == issuer);
        let port = known.and_then(|it| Url::parse(&it.redirect_uri).ok()?.port());
        match CallbackListener::bind(&self.resource.redirect, port) {
            Ok(listener) => Ok(Some(listener)),
            Err(error) if arrival == Arrival::HereOrByHand => {
                tracing::warn!(server = self.resource.server, "nobody listens: {error}");
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

/// The address for the browser where nobody listens: what it says can still be brought by hand.
fn without_listener(redirect: &Redirect) -> String {
    match redirect {
        Redirect::Elsewhere(url) => url.to_string(),
        Redirect::Here { host, port, path } => match port {
            Some(port) => format!("http://{host}:{port}{path}"),
            None => format!("http://{host}{path}"),
        },
    }
}
