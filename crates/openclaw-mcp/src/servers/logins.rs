//! Logging in to servers.

use std::sync::Arc;

use openclaw_config::{Authorization, Config, Launch, TlsSettings};
use openclaw_mcp_client::{ConnectError, RequestError};
use openclaw_oauth::{
    Arrival, Challenge, ConfiguredKeys, Grant, KeysSource, LoggedIn, LoggedOut, LoginDesk,
    LoginState, OAuthError, PendingKeys, Redirect, Remark, Resource, RunningLogin,
};
use openclaw_secrets::Secret;
use thiserror::Error;
use url::Url;

use super::plan::{PlannedServer, Usable};
use super::{Servers, StartMode};
use crate::launch::ConfiguredTarget;
use crate::logins::ServerLogin;
use crate::supervise::TargetSource as _;

/// Where a gateway publishes the document that describes us, below its own address.
const DOCUMENT: &str = "/oauth/client-metadata.json";

/// Why nobody is logged in.
#[derive(Clone, Debug, Error)]
pub enum LoginError {
    /// It is not a server that one logs in to.
    #[error("{0}")]
    NoLogin(String),
    /// The server itself can't be asked.
    #[error("{0}")]
    Unreachable(String),
    /// The login itself does not work.
    #[error(transparent)]
    OAuth(#[from] OAuthError),
}

/// Where the document is that a gateway with this configuration publishes. Only a gateway answers there, and
/// it alone starts servers before they are needed.
pub(super) fn published_by(config: &Config, mode: StartMode) -> Option<Url> {
    let gateway = config
        .gateway
        .sound()
        .filter(|_| mode == StartMode::Eager)?;
    gateway.public_url.as_ref().and_then(document_at)
}

impl Servers {
    /// Begins a login to a server.
    pub async fn begin_login(
        &self,
        server: &PlannedServer,
        arrival: Arrival,
    ) -> Result<RunningLogin, LoginError> {
        let (usable, desk) = self.desk(server)?;
        let challenge = Box::pin(self.challenge(usable)).await?;
        let is_asked = challenge.is_some();
        let challenge = challenge.unwrap_or_default();
        let begun = Box::pin(desk.begin(&challenge, arrival, is_asked)).await;
        begun.map_err(|error| {
            if error.is_unoffered() {
                let reason = format!("the server does not ask for a login, and {error}");
                return LoginError::NoLogin(reason);
            }
            LoginError::OAuth(error)
        })
    }

    /// Ends a login that was begun, in whatever process, with what the browser brought back.
    pub async fn finish_login(
        &self,
        server: &PlannedServer,
        brought: &Secret,
    ) -> Result<LoggedIn, LoginError> {
        let (usable, desk) = self.desk(server)?;
        let logged_in = desk.finish(brought).await?;
        self.wake(usable).await;
        Ok(logged_in)
    }

    /// Waits until a login that was begun here is ended, in whatever process.
    pub async fn await_login(
        &self,
        server: &PlannedServer,
        login: RunningLogin,
    ) -> Result<LoggedIn, LoginError> {
        let logged_in = login.wait().await?;
        if let Some(usable) = &server.usable {
            self.wake(usable).await;
        }
        Ok(logged_in)
    }

    /// Gives up the login to a server: also to one that is switched off, can't be used, or has
    /// something else by now that proves who we are.
    pub async fn log_out(&self, server: &PlannedServer) -> Result<LoggedOut, LoginError> {
        let sound = server.server();
        let configured = sound.and_then(|sound| self.logins.desk(sound, &self.secret_source()));
        let desk = match (configured, &server.configured.address, sound) {
            (Some(desk), ..) => desk,
            (None, Some(address), _) => {
                let tls = sound.and_then(|sound| match &sound.launch {
                    Launch::Remote(launch) => Some(&launch.tls),
                    Launch::Stdio(_) => None,
                });
                let resource = bare_resource(server.name(), address, tls);
                self.logins.desk_of(resource, Arc::new(NoKeys))
            }
            (None, None, Some(sound)) => {
                return Err(LoginError::NoLogin(no_login(&sound.launch).to_owned()));
            }
            (None, None, None) => {
                let reason = server.broken().unwrap_or_default();
                return Err(LoginError::NoLogin(reason));
            }
        };
        Ok(desk.log_out().await?)
    }

    /// What is known about the login to a server, if there is one.
    pub async fn login_state(
        &self,
        server: &PlannedServer,
    ) -> Result<Option<LoginState>, OAuthError> {
        match self.login(server) {
            Some(login) => login.state().await,
            None => Ok(None),
        }
    }

    /// What a person should know about how logins are kept.
    pub fn login_remark(&self) -> Option<Remark> {
        self.logins.remark()
    }

    /// What a login to a server is about.
    pub fn login_settings(&self, server: &PlannedServer) -> Result<Resource, LoginError> {
        let (_, desk) = self.desk(server)?;
        Ok(desk.resource().clone())
    }

    /// Where the gateway that these servers are run for publishes the document that describes us to
    /// authorization servers; nothing where no gateway does. It stays as the first configuration said:
    /// what a gateway is called is read once, and logins that are under way name it.
    pub fn published_document(&self) -> Option<Url> {
        self.logins.published().cloned()
    }

    /// The login to a server, if it is one that may ask for one.
    pub(super) fn login(&self, server: &PlannedServer) -> Option<Arc<ServerLogin>> {
        let usable = server.usable.as_ref()?;
        let secrets = self.secret_source();
        self.logins.of(&usable.server, usable.fingerprint, &secrets)
    }

    fn desk<'s>(&self, server: &'s PlannedServer) -> Result<(&'s Usable, LoginDesk), LoginError> {
        let Some(usable) = &server.usable else {
            let reason = server.broken();
            let reason = reason.unwrap_or_else(|| "the server is switched off".to_owned());
            return Err(LoginError::NoLogin(reason));
        };
        match self.logins.desk(&usable.server, &self.secret_source()) {
            Some(desk) => Ok((usable, desk)),
            None => Err(LoginError::NoLogin(
                no_login(&usable.server.launch).to_owned(),
            )),
        }
    }

    /// Asks a server without showing anything, and returns what it wants; nothing, if it lets
    /// everybody in.
    async fn challenge(&self, usable: &Usable) -> Result<Option<Challenge>, LoginError> {
        let unreachable = |reason: String| LoginError::Unreachable(reason);
        let stranger = ConfiguredTarget {
            server: Arc::clone(&usable.server),
            fingerprint: usable.fingerprint,
            secrets: self.secret_source(),
            login: None,
        };
        let target = stranger.target().await;
        let target = target.map_err(|error| unreachable(error.reason))?;
        let refusal = match self.connector.connect(&target).await {
            Ok(connection) => {
                // There are servers that greet everybody, and tell only some what they offer.
                let listed = connection.list_tools().await;
                connection.close().await;
                match listed {
                    Err(RequestError::Http(failure)) => Some(failure),
                    Err(RequestError::Unauthorized(unauthorized)) => unauthorized.failure,
                    Ok(_) | Err(_) => None,
                }
            }
            Err(ConnectError::Unauthorized(unauthorized)) => unauthorized.failure,
            Err(error) => return Err(unreachable(error.to_string())),
        };
        let (Some(refusal), Launch::Remote(launch)) = (refusal, &usable.server.launch) else {
            return Ok(None);
        };
        let challenge = || Challenge::read(&refusal.challenges, &launch.url);
        match refusal.status.as_u16() {
            401 => Ok(Some(challenge())),
            403 if !refusal.challenges.is_empty() => Ok(Some(challenge())),
            // Whoever we are, it does not want us.
            403 => Err(unreachable(format!(
                "the server does not let us in, and does not ask who we are: {refusal}"
            ))),
            _ => Ok(None),
        }
    }
}

/// Where a gateway with this address publishes the document. Authorization servers read it only over https
/// (OAuth Client ID Metadata Document §3).
fn document_at(public: &Url) -> Option<Url> {
    if public.scheme() != "https" {
        return None;
    }
    let mut url = public.clone();
    url.set_query(None);
    url.set_fragment(None);
    let path = format!("{}{DOCUMENT}", public.path().trim_end_matches('/'));
    url.set_path(&path);
    Some(url)
}

/// What is known of a server where nothing is said about logging in to it.
fn bare_resource(server: &str, address: &Url, tls: Option<&TlsSettings>) -> Resource {
    Resource {
        server: server.to_owned(),
        url: address.clone(),
        grant: Grant::AuthorizationCode,
        client_id: None,
        key_id: None,
        client_metadata_url: None,
        authorization_server: None,
        scopes: None,
        redirect: Redirect::default(),
        authorities: tls.and_then(|tls| tls.authorities.clone()),
        verify: tls.is_none_or(|tls| tls.verify),
        identity: None,
    }
}

/// The keys of a client that the configuration says nothing about.
struct NoKeys;

impl KeysSource for NoKeys {
    fn keys(&self) -> PendingKeys<'_> {
        Box::pin(async { Ok(ConfiguredKeys::default()) })
    }
}

/// Why one does not log in to a server.
fn no_login(launch: &Launch) -> &'static str {
    match launch {
        Launch::Stdio(_) => "it is a program on this machine, which needs no login",
        Launch::Remote(launch) => match &launch.authorization {
            Authorization::Header(_) => {
                "the configuration has an `Authorization` header for it, which wins over a login"
            }
            Authorization::ApiKey(_) => {
                "the configuration has an `apiKey` for it, which wins over a login"
            }
            Authorization::OAuth(_) => {
                "its address begins with `http://` and is on another machine: everybody between \
                 could read the token"
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_is_below_the_public_address_if_that_is_https() {
        for (public, document) in [
            (
                "https://claw.example",
                Some("https://claw.example/oauth/client-metadata.json"),
            ),
            (
                "https://example.com:8443/claw/?a=b#c",
                Some("https://example.com:8443/claw/oauth/client-metadata.json"),
            ),
            ("http://claw.example", None),
        ] {
            let found = document_at(&Url::parse(public).unwrap());
            assert_eq!(found.as_ref().map(Url::as_str), document, "{public}");
        }
    }
}
