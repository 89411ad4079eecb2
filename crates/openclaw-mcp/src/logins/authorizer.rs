//! The token for each request to a server, and what is done about a refusal.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use openclaw_config::shell_word;
use openclaw_mcp_client::{
    Authorizer, Bearer, HttpFailure, NoBearer, PendingBearer, PendingVerdict, Verdict,
};
use openclaw_oauth::{AccessToken, Challenge, Keeper, LoginState, OAuthError, Refusal, Remedy};
use url::Url;

use crate::supervise::LoginWatch;

/// The login to one server, as connections use it.
pub struct ServerLogin {
    name: String,
    url: Url,
    keeper: Arc<Keeper>,
    /// The token that was shown last, in both forms.
    shown: Mutex<Option<(AccessToken, Bearer)>>,
}

impl ServerLogin {
    /// The login that a keeper keeps.
    pub fn new(name: String, url: Url, keeper: Arc<Keeper>) -> Arc<Self> {
        Arc::new(Self {
            name,
            url,
            keeper,
            shown: Mutex::default(),
        })
    }

    /// What is known about the login, if there is one.
    pub(crate) async fn state(&self) -> Result<Option<LoginState>, OAuthError> {
        self.keeper.state().await
    }

    /// Whether a login is kept.
    pub(crate) fn is_kept(&self) -> bool {
        self.keeper.is_kept()
    }

    /// A token as it is shown.
    fn bearer(&self, token: &AccessToken) -> Result<Bearer, NoBearer> {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, bearer)) = &*shown
            && known.is(token)
        {
            return Ok(bearer.clone());
        }
        let bearer = Bearer::new(token.secret()).map_err(|_| {
            NoBearer::LogIn("the token has characters that can't be sent".to_owned())
        })?;
        *shown = Some((token.clone(), bearer.clone()));
        Ok(bearer)
    }

    /// The token that was shown; none if it is another one by now.
    fn token(&self, bearer: &Bearer) -> Option<AccessToken> {
        let shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let known = shown.as_ref().filter(|(_, known)| known == bearer);
        known.map(|(token, _)| token.clone())
    }

    async fn obtain(&self) -> Result<Option<Bearer>, NoBearer> {
        match self.keeper.token().await {
            Ok(Some(token)) => self.bearer(&token).map(Some),
            Ok(None) => Ok(None),
            Err(error) => Err(self.nothing(&error)),
        }
    }

    async fn refused(&self, shown: Option<&Bearer>, failure: &HttpFailure) -> Verdict {
        let token = match shown.map(|bearer| self.token(bearer)) {
            // Meanwhile there is another one.
            Some(None) => return Verdict::Again,
            shown => shown.flatten(),
        };
        let challenge = Challenge::read(&failure.challenges, &self.url);
        let refusal = if failure.status == 401 {
            Refusal::Unauthorized(challenge)
        } else if challenge.is_insufficient_scope() {
            Refusal::Insufficient(challenge)
        } else {
            // It is not about who we are.
            return Verdict::Final;
        };
        match self.keeper.refused(token.as_ref(), refusal).await {
            Ok(()) => Verdict::Again,
            Err(error) => Verdict::Without(self.nothing(&error)),
        }
    }

    /// What it means that there is no token, with what to do about it.
    fn nothing(&self, error: &OAuthError) -> NoBearer {
        let hint = error.hint_text().map(|hint| format!(" ({hint})"));
        let hint = hint.unwrap_or_default();
        match error.remedy() {
            Remedy::Wait => {
                NoBearer::Later(format!("the login can't be renewed now: {error}{hint}"))
            }
            Remedy::LogIn | Remedy::Register => {
                NoBearer::LogIn(format!("{error}{hint}; {}", how_to_log_in(&self.name)))
            }
            Remedy::Change => NoBearer::Later(format!("{error}{hint}")),
        }
    }
}

/// What a person has to do to log in.
pub(crate) fn how_to_log_in(server: &str) -> String {
    format!("log in with `openclaw mcp auth {}`", shell_word(server))
}

impl Authorizer for ServerLogin {
    fn at_hand(&self) -> Option<Bearer> {
        let token = self.keeper.at_hand()?;
        self.bearer(&token).ok()
    }

    fn obtain(&self) -> PendingBearer<'_> {
        Box::pin(self.obtain())
    }

    fn refused<'a>(
        &'a self,
        shown: Option<&'a Bearer>,
        failure: &'a HttpFailure,
    ) -> PendingVerdict<'a> {
        Box::pin(self.refused(shown, failure))
    }

    fn in_vain(&self, shown: &Bearer, failure: &HttpFailure) -> String {
        if let Some(token) = self.token(shown) {
            self.keeper.in_vain(&token);
        }
        format!(
            "the server does not take the login, though its token is new: {failure}; {}",
            how_to_log_in(&self.name)
        )
    }
}

impl LoginWatch for ServerLogin {
    fn needed(&self) -> Pin<Box<dyn Future<Output = String> + Send + '_>> {
        Box::pin(async {
            let reason = self.keeper.login_needed().await;
            format!("{reason}; {}", how_to_log_in(&self.name))
        })
    }

    fn changed(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(self.keeper.changed())
    }
}
