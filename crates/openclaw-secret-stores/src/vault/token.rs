//! What opens the server.

use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use http::HeaderValue;
use openclaw_secrets::Secret;
use secrecy::zeroize::Zeroizing;
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::reading::Denial;
use super::role::{ROLE, Role, SECRET};
use super::server::Server;
use crate::error::SecretError;
use crate::file;
use crate::surroundings::Surroundings;

const TOKEN: &str = "VAULT_TOKEN";
/// The file in the home directory that `vault login` and agents write.
const FILE: &str = ".vault-token";

/// A token, and where it is from.
#[derive(Clone)]
pub(super) struct Token {
    header: HeaderValue,
    source: Source,
}

#[derive(Clone)]
enum Source {
    /// `VAULT_TOKEN`.
    Variable,
    /// The token file.
    File(PathBuf),
    /// A login of ours.
    Login {
        /// How many there were before.
        number: u64,
        /// Whether it was for who asks now.
        is_fresh: bool,
    },
}

impl Token {
    /// The token of a login, for who waited for it.
    pub(super) fn of_login(
        surroundings: &Surroundings,
        text: &str,
        number: u64,
    ) -> Result<Self, SecretError> {
        let source = Source::Login {
            number,
            is_fresh: true,
        };
        Self::new(surroundings, text, source)
    }

    fn new(surroundings: &Surroundings, text: &str, source: Source) -> Result<Self, SecretError> {
        let secret: Secret = surroundings.credential(text);
        let mut header = HeaderValue::from_str(secret.expose()).map_err(|_| {
            let reason = format!("{} has characters that no token has", source.shown());
            SecretError::misconfigured(reason)
        })?;
        header.set_sensitive(true);
        Ok(Self { header, source })
    }

    /// The value of the header that shows it.
    pub(super) fn header(&self) -> &HeaderValue {
        &self.header
    }

    /// Where it is from, for a person.
    pub(super) fn source(&self) -> String {
        self.source.shown()
    }

    /// Whether the denial may be because a token that we got for somebody else has ended since.
    pub(super) fn may_have_ended(&self, denial: &Denial) -> bool {
        match self.source {
            Source::Login { is_fresh, .. } => !is_fresh || denial.is_unknown(),
            Source::Variable | Source::File(_) => false,
        }
    }

    /// The same for those who ask later.
    fn kept(mut self) -> Self {
        if let Source::Login { is_fresh, .. } = &mut self.source {
            *is_fresh = false;
        }
        self
    }
}

impl Source {
    fn shown(&self) -> String {
        match self {
            Self::Variable => format!("the token of `{TOKEN}`"),
            Self::File(path) => format!("the token in {}", path.display()),
            Self::Login { .. } => format!("the token of the login with `{ROLE}`"),
        }
    }
}

/// Gets tokens, and keeps the one of our own login.
#[derive(Default)]
pub(super) struct Tokens {
    /// Held while somebody logs in, so that all others wait for that.
    login: Mutex<Option<Login>>,
    /// How many logins have ended, well or not.
    count: AtomicU64,
}

/// What came of the last login.
struct Login {
    result: Result<Token, SecretError>,
    /// When the token is too near to its end to be used.
    until: Option<Instant>,
}

impl Tokens {
    /// The token to ask with.
    pub(super) async fn get(
        &self,
        server: &Server<'_>,
        until: Instant,
    ) -> Result<Token, SecretError> {
        let surroundings = server.surroundings;
        if let Some(token) = surroundings.variable(TOKEN) {
            return Token::new(surroundings, token.trim(), Source::Variable);
        }
        if let Some(role) = Role::of(surroundings)? {
            return self.login(server, &role, None, until).await;
        }
        let path = surroundings.below_home(FILE);
        if let Some(path) = &path
            && let Some(token) = read_file(path.clone()).await?
        {
            return Token::new(surroundings, token.trim(), Source::File(path.clone()));
        }
        let reason = format!(
            "there is no token for {}: neither `{TOKEN}` nor `{ROLE}` with `{SECRET}` is set, and \
             ~/{FILE} does not exist",
            server.shown()
        );
        Err(SecretError::misconfigured(reason).hint("run `vault login`"))
    }

    /// Another token than the one that was denied.
    pub(super) async fn renewed(
        &self,
        server: &Server<'_>,
        denied: &Token,
        until: Instant,
    ) -> Result<Token, SecretError> {
        match (&denied.source, Role::of(server.surroundings)?) {
            (Source::Login { number, .. }, Some(role)) => {
                self.login(server, &role, Some(*number), until).await
            }
            _ => Ok(denied.clone()),
        }
    }

    /// Logs in, unless that was done already: by those who were here before, or by one of those who
    /// wait here together.
    async fn login(
        &self,
        server: &Server<'_>,
        role: &Role,
        denied: Option<u64>,
        until: Instant,
    ) -> Result<Token, SecretError> {
        let seen = self.count.load(Ordering::SeqCst);
        let mut last = self.login.lock().await;
        if let Some(login) = &*last {
            match &login.result {
                Ok(token) if login.is_good(denied) => return Ok(token.clone()),
                // Nobody knocks fifty times with a key that does not fit: the server would lock us
                // out.
                Err(error) if self.count.load(Ordering::SeqCst) != seen => {
                    return Err(error.clone());
                }
                _ => {}
            }
        }
        let number = self.count.load(Ordering::SeqCst);
        let answer = role.login(server, number, until).await;
        self.count.fetch_add(1, Ordering::SeqCst);
        let (result, ends) = match answer {
            Ok((token, ends)) => (Ok(token), ends),
            Err(error) => (Err(error), None),
        };
        let kept = result.clone().map(Token::kept);
        *last = Some(Login {
            result: kept,
            until: ends,
        });
        result
    }
}

impl Login {
    /// Whether the token is another one than that which was denied, and has not ended.
    fn is_good(&self, denied: Option<u64>) -> bool {
        let number = match &self.result {
            Ok(Token {
                source: Source::Login { number, .. },
                ..
            }) => Some(*number),
            _ => None,
        };
        let is_another = denied.is_none() || number != denied;
        is_another && self.until.is_none_or(|until| Instant::now() < until)
    }
}

/// Reads the token file each time: an agent puts a new token there before the old one ends.
async fn read_file(path: PathBuf) -> Result<Option<Zeroizing<String>>, SecretError> {
    let shown = path.display().to_string();
    let reason = |why: &dyn std::fmt::Display| format!("cannot read the token in {shown}: {why}");
    let bytes = match file::content(path).await {
        Ok((bytes, _)) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(SecretError::unreadable(&error, reason(&error))),
    };
    let text = std::str::from_utf8(&bytes)
        .map_err(|_| SecretError::misconfigured(reason(&"it is not a text")))?;
    let text = text.trim();
    Ok((!text.is_empty()).then(|| Zeroizing::new(text.to_owned())))
}
