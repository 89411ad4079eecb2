//! Logging in to servers.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use openclaw_config::shell_word;
use openclaw_engine::{
    ClientMetadata, ClientMetadataQuery, EngineFailure, KeptLogin, LoginAnswer, LoginOffer,
    LoginReport, LoginRequest, LoginsQuery, LoginsReport, LogoutReport, OneLogin, OneServer,
    RegistrationKind,
};
use openclaw_mcp::{LoginError, PlannedServer, written_moment};
use openclaw_oauth::{
    Arrival, LoggedIn, LoginState, OAuthError, Redirect, Registration, Remedy, Revoked,
    RunningLogin, metadata_document,
};
use openclaw_secrets::Secret;
use url::Url;

use crate::runtime::Runtime;

/// A login that was begun, and the server that it is to.
pub(crate) struct BegunLogin {
    server: Arc<PlannedServer>,
    login: RunningLogin,
}

impl Runtime {
    pub(super) async fn answer_logins(
        &self,
        query: LoginsQuery,
    ) -> Result<LoginsReport, EngineFailure> {
        let agent = self.agent(query.agent.as_deref())?;
        let wanted = |name: &str| query.server.as_deref().is_none_or(|it| it == name);
        let hidden = |text: String| self.redactor.redact(&text).into_owned();
        let mut logins = Vec::new();
        for server in agent.servers().filter(|it| wanted(it.name())) {
            let (state, trouble) = match self.servers.login_state(server).await {
                Ok(None) => continue,
                Ok(Some(state)) => {
                    let trouble = trouble(&state, SystemTime::now());
                    (Some(state), trouble)
                }
                Err(error) => (None, Some(error)),
            };
            let hint = trouble.as_ref().and_then(|it| hint(server.name(), it));
            logins.push(KeptLogin {
                server: server.name().to_owned(),
                issuer: state.as_ref().map(|it| it.issuer.clone()),
                token_expires_at: state
                    .as_ref()
                    .and_then(|it| Some(written_moment(moment(it.expires_at?)))),
                renewable: state.is_some_and(|it| it.is_renewable),
                problem: trouble.map(|it| hidden(it.to_string())),
                hint: hint.map(hidden),
            });
        }
        let remark = self.servers.login_remark();
        Ok(LoginsReport {
            remarks: remark.iter().map(ToString::to_string).collect(),
            logins,
        })
    }

    pub(super) async fn answer_begin_login(
        &self,
        request: LoginRequest,
    ) -> Result<LoginOffer, EngineFailure> {
        let query = OneServer {
            agent: request.agent,
            server: request.server,
        };
        let (_, server) = self.one(&query)?;
        let arrival = if request.by_hand {
            Arrival::HereOrByHand
        } else {
            Arrival::Here
        };
        let place = self.logins.begin(SystemTime::now())?;
        let login = self.servers.begin_login(&server, arrival).await;
        let login = login.map_err(|error| failure(server.name(), &error))?;
        let begun = login.begun();
        let offer = LoginOffer {
            server: server.name().to_owned(),
            login: begun.login.clone(),
            url: begun.url.to_string(),
            issuer: begun.issuer.clone(),
            found: begun.found.clone(),
            registration: match begun.registration {
                Registration::Configured => RegistrationKind::Configured,
                Registration::MetadataDocument => RegistrationKind::MetadataDocument,
                Registration::Dynamic => RegistrationKind::Dynamic,
            },
            client_id: begun.client_id.clone(),
            why: begun.why.clone(),
            scopes: begun.scopes.clone(),
            redirect_url: begun.redirect_uri.clone(),
            listening: login.is_listening(),
            ends_at: written_moment(moment(begun.ends_at)),
            remarks: begun.remarks.iter().map(ToString::to_string).collect(),
        };
        let ends_at = moment(begun.ends_at);
        place.fill(offer.login.clone(), BegunLogin { server, login }, ends_at);
        Ok(offer)
    }

    pub(super) async fn answer_await_login(
        &self,
        query: OneLogin,
    ) -> Result<LoginReport, EngineFailure> {
        let begun = self.logins.take(&query.login, SystemTime::now());
        let Some(BegunLogin { server, login }) = begun else {
            let message = "there is no such login under way";
            return Err(EngineFailure::asker("unknown-login", message));
        };
        match self.servers.await_login(&server, login).await {
            Ok(logged_in) => Ok(report(server.name().to_owned(), logged_in)),
            Err(error) => Err(failure(server.name(), &error)),
        }
    }

    pub(super) async fn answer_finish_login(
        &self,
        answer: LoginAnswer,
    ) -> Result<LoginReport, EngineFailure> {
        let query = OneServer {
            agent: answer.agent,
            server: answer.server,
        };
        let (_, server) = self.one(&query)?;
        let brought = Secret::new(answer.answer);
        match self.servers.finish_login(&server, &brought).await {
            Ok(logged_in) => Ok(report(server.name().to_owned(), logged_in)),
            Err(error) => Err(failure(server.name(), &error)),
        }
    }

    pub(super) fn answer_client_metadata(
        &self,
        query: ClientMetadataQuery,
    ) -> Result<ClientMetadata, EngineFailure> {
        let named = match query.server {
            Some(server) => {
                let query = OneServer {
                    agent: query.agent,
                    server,
                };
                let (_, server) = self.one(&query)?;
                let settings = self.servers.login_settings(&server);
                Some(settings.map_err(|error| failure(server.name(), &error))?)
            }
            None => None,
        };
        let configured = named.as_ref().and_then(|it| it.client_metadata_url.clone());
        let url = match query.url {
            Some(text) => {
                let url = Url::parse(&text).ok().filter(|url| url.scheme() == "https");
                Some(url.ok_or_else(|| {
                    let message = "the address of the document must begin with `https://`";
                    EngineFailure::asker("address", message)
                })?)
            }
            None if named.is_some() => configured,
            None => self.servers.published_document(),
        };
        let Some(url) = url else {
            let message = "it is not known where the document will be";
            return Err(EngineFailure::asker("address", message)
                .hint("name the address with `--url`, or set `auth.clientMetadataUrl`"));
        };
        let redirects = match named {
            Some(named) => vec![named.redirect],
            // The one that is published serves all.
            None if self.servers.published_document().as_ref() == Some(&url) => {
                self.redirects_to(&url)
            }
            None => Vec::new(),
        };
        Ok(ClientMetadata {
            document: metadata_document(&url, &redirects),
        })
    }

    /// Where browsers are sent to for the servers that we are known to by a document.
    fn redirects_to(&self, document: &Url) -> Vec<Redirect> {
        let config = self.servers.config();
        let agents = config.agents.keys();
        let agents = agents.filter_map(|agent| self.servers.agent(Some(agent.as_str())).ok());
        let mut redirects = Vec::new();
        for agent in agents {
            for server in agent.servers() {
                let Ok(login) = self.servers.login_settings(server) else {
                    continue;
                };
                if login.client_metadata_url.as_ref() == Some(document)
                    && !redirects.contains(&login.redirect)
                {
                    redirects.push(login.redirect);
                }
            }
        }
        redirects
    }

    pub(super) async fn answer_logout(
        &self,
        query: OneServer,
    ) -> Result<LogoutReport, EngineFailure> {
        let (_, server) = self.one(&query)?;
        let name = server.name().to_owned();
        let logged_out = self.servers.log_out(&server).await;
        let logged_out = logged_out.map_err(|error| failure(&name, &error))?;
        let (revoked, reason) = match logged_out.revocation {
            Revoked::Done => (Some(true), None),
            Revoked::NotOffered => (None, None),
            Revoked::Failed(reason) => (Some(false), Some(reason)),
        };
        Ok(LogoutReport {
            server: name,
            was_logged_in: logged_out.was_logged_in,
            revoked,
            reason,
        })
    }
}

/// Why a login is of no use, if it is not.
fn trouble(state: &LoginState, now: SystemTime) -> Option<OAuthError> {
    if let Some(reason) = &state.ended {
        return Some(OAuthError::login_needed(reason));
    }
    let is_over = state.expires_at.is_some_and(|at| moment(at) <= now);
    (is_over && !state.is_renewable)
        .then(|| OAuthError::login_needed("it has expired, and can't be renewed"))
}

/// What to do about a login that is of no use, where that is known.
fn hint(server: &str, trouble: &OAuthError) -> Option<String> {
    match (trouble.hint_text(), trouble.remedy()) {
        (Some(hint), _) => Some(hint.to_owned()),
        (None, Remedy::LogIn | Remedy::Register) => {
            Some(format!("run `openclaw mcp auth {}`", shell_word(server)))
        }
        (None, Remedy::Wait) => Some("try again later".to_owned()),
        (None, Remedy::Change) => None,
    }
}

fn report(server: String, logged_in: LoggedIn) -> LoginReport {
    LoginReport {
        server,
        issuer: logged_in.issuer,
        scopes: logged_in.scopes,
        token_expires_at: logged_in.expires_at.map(|at| written_moment(moment(at))),
        renewable: logged_in.is_renewable,
    }
}

fn failure(server: &str, error: &LoginError) -> EngineFailure {
    match error {
        LoginError::NoLogin(reason) => EngineFailure::asker(
            "no-login",
            format!("nobody logs in to `{server}`: {reason}"),
        ),
        LoginError::Unreachable(reason) => {
            EngineFailure::operation("connect", format!("`{server}`: {reason}"))
        }
        LoginError::OAuth(error) => oauth_failure(server, error),
    }
}

fn oauth_failure(server: &str, error: &OAuthError) -> EngineFailure {
    let failure = EngineFailure::operation("login", format!("no login to `{server}`: {error}"));
    match (error.hint_text(), error.remedy()) {
        (Some(hint), _) => failure.hint(hint),
        (None, Remedy::Wait) => failure.hint("try again later"),
        (None, Remedy::LogIn | Remedy::Register) => {
            let server = shell_word(server);
            failure.hint(format!("begin anew with `openclaw mcp auth {server}`"))
        }
        (None, Remedy::Change) => failure,
    }
}

/// A moment that is told in milliseconds since 1970.
pub(crate) fn moment(milliseconds: u64) -> SystemTime {
    // What lies beyond all clocks is as good as never.
    UNIX_EPOCH
        .checked_add(Duration::from_millis(milliseconds))
        .unwrap_or(UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> LoginState {
        LoginState {
            issuer: "https://login.example".to_owned(),
            scopes: Vec::new(),
            expires_at: Some(10_000),
            is_renewable: false,
            ended: None,
        }
    }

    #[test]
    fn a_login_is_over_when_its_token_is_and_nothing_renews_it() {
        assert_eq!(trouble(&state(), moment(9_999)), None);
        let over = trouble(&state(), moment(10_000)).unwrap();
        assert_eq!(
            hint("my server", &over).unwrap(),
            "run `openclaw mcp auth 'my server'`"
        );
        let is_renewable = true;
        let renewed = LoginState {
            is_renewable,
            ..state()
        };
        assert_eq!(trouble(&renewed, moment(10_000)), None);
        let endless = LoginState {
            expires_at: None,
            ..state()
        };
        assert_eq!(trouble(&endless, moment(10_000)), None);
        let ended = LoginState {
            ended: Some("it was withdrawn".to_owned()),
            ..renewed
        };
        let ended = trouble(&ended, moment(0)).unwrap();
        assert_eq!(ended.to_string(), "it was withdrawn");
    }

    #[test]
    fn what_is_wrong_says_what_to_do_about_it() {
        let locked = OAuthError::passing("it is locked").hint("unlock it");
        assert_eq!(hint("x", &locked).as_deref(), Some("unlock it"));
        let later = OAuthError::passing("it is busy");
        assert_eq!(hint("x", &later).as_deref(), Some("try again later"));
        assert_eq!(hint("x", &OAuthError::lasting("it is odd")), None);
    }
}
