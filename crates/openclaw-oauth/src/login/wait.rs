//! Waiting for a login to end, here or in another process.

use std::time::Duration;

use tokio::time::{Instant, sleep, sleep_until};

use super::finish::{Unfinished, unknown};
use super::{Begun, LOGIN_PATIENCE, LoggedIn, RunningLogin};
use crate::callback::Callback;
use crate::error::OAuthError;
use crate::listener::{Arrived, CallbackListener};

/// How often it is looked whether the login ended in another process.
const LOOKING: Duration = Duration::from_millis(300);

impl RunningLogin {
    /// What a person has to know.
    pub fn begun(&self) -> &Begun {
        &self.begun
    }

    /// Whether the browser can arrive here by itself.
    pub fn is_listening(&self) -> bool {
        self.listener.is_some()
    }

    /// Waits until the browser arrives or another process ends the login.
    pub async fn wait(mut self) -> Result<LoggedIn, OAuthError> {
        let ended = Box::pin(self.ended()).await;
        if let Some(listener) = self.listener.take() {
            listener.finish().await;
        }
        ended
    }

    async fn ended(&mut self) -> Result<LoggedIn, OAuthError> {
        let until = Instant::now() + LOGIN_PATIENCE;
        let mut stamp = None;
        loop {
            tokio::select! {
                arrived = next(&mut self.listener) => {
                    if let Some(ended) = self.arrived(arrived).await {
                        return ended;
                    }
                }
                () = sleep(LOOKING) => {
                    let now = Some(self.desk.logins.stamp());
                    if stamp != now {
                        stamp = now;
                        if let Some(ended) = self.look().await {
                            return ended;
                        }
                    }
                }
                () = sleep_until(until) => {
                    let minutes = LOGIN_PATIENCE.as_secs() / 60;
                    return Err(OAuthError::lasting(format!(
                        "nobody logged in within {minutes} minutes"
                    )));
                }
            }
        }
    }

    /// Ends the login with what the browser brought; nothing, if it brought something else.
    async fn arrived(&self, arrived: Arrived) -> Option<Result<LoggedIn, OAuthError>> {
        let Arrived { query, reply } = arrived;
        // Everybody on this machine can come, so a stranger must cost nothing.
        let callback = match Callback::read_query(&query) {
            Ok(callback) if callback.has_this_state(&self.state) => callback,
            Ok(_) => {
                reply.failure(&unknown().to_string());
                return None;
            }
            Err(error) => {
                reply.failure(&error.to_string());
                return None;
            }
        };
        let ended = self.desk.finish_running(&self.begun.login, callback).await;
        match ended {
            Ok(logged_in) => {
                reply.success(&self.desk.resource.server);
                Some(Ok(logged_in))
            }
            // The same can be tried again, by loading the page once more.
            Err(Unfinished::Later(error)) => {
                reply.failure(&format!("{error}; load this page again in a while"));
                None
            }
            Err(Unfinished::Foreign(error)) => {
                reply.failure(&error.to_string());
                None
            }
            Err(Unfinished::Failed(error)) => {
                reply.failure(&error.to_string());
                Some(Err(error))
            }
        }
    }

    /// Whether the login ended in another process.
    async fn look(&self) -> Option<Result<LoggedIn, OAuthError>> {
        // What can't be read now is looked at again with the next change.
        let (_, kept) = self.desk.logins.read().await.ok()?;
        let login = &self.begun.login;
        if let Some(grant) = kept.grant.filter(|grant| grant.login == *login) {
            return Some(Ok(LoggedIn::from(&grant)));
        }
        if kept.pending.iter().any(|pending| pending.login == *login) {
            return None;
        }
        Some(Err(OAuthError::lasting(
            "the login was ended in another process without success",
        )))
    }
}

/// The next browser that arrives; none ever, if nobody listens.
async fn next(listener: &mut Option<CallbackListener>) -> Arrived {
    match listener {
        Some(listener) => listener.next().await,
        None => std::future::pending().await,
    }
}
