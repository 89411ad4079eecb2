//! What was granted: codes, access tokens, refresh tokens, and which of them belong together.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom as _, SystemRandom};

use super::form::Refused;

/// How long a code can be exchanged.
const CODE_LIFETIME: Duration = Duration::from_mins(10);

/// What somebody may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Allowed {
    /// Who.
    pub(super) client: String,
    /// What.
    pub(super) scopes: Vec<String>,
    /// Where (RFC 8707); anywhere without it.
    pub(super) resource: Option<String>,
}

/// What a code was given for.
#[derive(Debug)]
pub(super) struct CodeRequest {
    pub(super) allowed: Allowed,
    pub(super) redirect_uri: String,
    /// The digest of what the client must know (RFC 7636).
    pub(super) challenge: String,
}

/// How tokens are given.
#[derive(Clone, Copy, Debug)]
pub(super) struct Manner {
    pub(super) lifetime: Duration,
    /// Whether there is a refresh token.
    pub(super) refreshes: bool,
    /// Whether a refresh token is replaced when it is used.
    pub(super) rotates: bool,
    /// How long one that was replaced is still taken.
    pub(super) grace: Duration,
    /// Whether a new access token ends those before it.
    pub(super) single: bool,
}

/// What a client gets.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Given {
    pub(super) access: String,
    pub(super) refresh: Option<String>,
    pub(super) scopes: Vec<String>,
    /// Whether it got the same before.
    pub(super) is_repeat: bool,
}

/// All that comes from one login, by its place in the list.
type Family = usize;

#[derive(Debug)]
struct Code {
    request: CodeRequest,
    expires: Instant,
    /// What it was exchanged for.
    spent: Option<Family>,
}

#[derive(Debug)]
struct Login {
    allowed: Allowed,
    is_revoked: bool,
}

#[derive(Debug)]
struct Access {
    family: Family,
    scopes: Vec<String>,
    expires: Instant,
    is_revoked: bool,
}

#[derive(Debug)]
struct Refresh {
    family: Family,
    /// The one that it replaced.
    before: Option<String>,
    /// Since when there is another one.
    replaced: Option<Instant>,
    /// Whether one that replaced it was used.
    is_past: bool,
}

/// Everything that was granted.
#[derive(Debug, Default)]
pub(super) struct Grants {
    codes: BTreeMap<String, Code>,
    logins: Vec<Login>,
    access: BTreeMap<String, Access>,
    refresh: BTreeMap<String, Refresh>,
    numbers: u64,
    /// How often a refresh token came that was replaced long ago.
    pub(super) reuses: u64,
}

/// Why an access token is no good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Useless {
    Unknown,
    Revoked,
    Expired,
    /// It is for another server.
    OtherResource,
}

impl Grants {
    /// A text that nobody can guess, with everything in it that has to be encoded.
    pub(super) fn secret(&mut self, kind: &str) -> String {
        self.numbers += 1;
        let mut random = [0; 18];
        // Without it, the number still makes it another text than all others.
        let _ = SystemRandom::new().fill(&mut random);
        let random = URL_SAFE_NO_PAD.encode(random);
        format!("{kind}-{}/{random}+~.=", self.numbers)
    }

    /// Gives a code.
    pub(super) fn give_code(&mut self, request: CodeRequest, now: Instant) -> String {
        let code = self.secret("code");
        let kept = Code {
            request,
            expires: now + CODE_LIFETIME,
            spent: None,
        };
        self.codes.insert(code.clone(), kept);
        code
    }

    /// Exchanges a code (OAuth 2.1 §4.1.3).
    pub(super) fn redeem(
        &mut self,
        code: &str,
        client: &str,
        redirect_uri: &str,
        verifier: &str,
        manner: Manner,
        now: Instant,
    ) -> Result<Given, Refused> {
        let known = self.codes.get_mut(code);
        let known = known.ok_or_else(|| Refused::grant("there is no such code"))?;
        let request = &known.request;
        if request.allowed.client != client {
            return Err(Refused::grant("the code is somebody else's"));
        }
        if let Some(family) = known.spent {
            // Somebody has stolen it, and nobody knows who of the two (OAuth 2.1 §4.1.3).
            self.revoke_login(family);
            return Err(Refused::grant("the code was used before"));
        }
        if known.expires <= now {
            return Err(Refused::grant("the code has expired"));
        }
        if request.redirect_uri != redirect_uri {
            return Err(Refused::grant("redirect_uri is not that of the code"));
        }
        // RFC 7636 §4.1.
        let is_unreserved = |it: char| it.is_ascii_alphanumeric() || "-._~".contains(it);
        if !(43..=128).contains(&verifier.len()) || !verifier.chars().all(is_unreserved) {
            return Err(Refused::grant("code_verifier is no proper one"));
        }
        let digest = digest(&SHA256, verifier.as_bytes());
        if URL_SAFE_NO_PAD.encode(digest) != request.challenge {
            return Err(Refused::grant("code_verifier does not fit"));
        }
        let allowed = request.allowed.clone();
        known.spent = Some(self.logins.len());
        Ok(self.give(allowed, manner, now))
    }

    /// Gives tokens for a new login.
    pub(super) fn give(&mut self, allowed: Allowed, manner: Manner, now: Instant) -> Given {
        let family = self.logins.len();
        let scopes = allowed.scopes.clone();
        self.logins.push(Login {
            allowed,
            is_revoked: false,
        });
        let refresh = manner.refreshes.then(|| self.give_refresh(family, None));
        Given {
            access: self.give_access(family, scopes.clone(), manner, now),
            refresh,
            scopes,
            is_repeat: false,
        }
    }

    /// What a code stands for.
    pub(super) fn of_code(&self, code: &str) -> Option<&Allowed> {
        self.codes.get(code).map(|code| &code.request.allowed)
    }

    /// What a refresh token stands for.
    pub(super) fn of_refresh(&self, token: &str) -> Option<&Allowed> {
        let known = self.refresh.get(token)?;
        self.logins.get(known.family).map(|login| &login.allowed)
    }

    /// Gives new tokens for a refresh token (OAuth 2.1 §4.3).
    pub(super) fn renew(
        &mut self,
        token: &str,
        client: &str,
        scopes: Option<Vec<String>>,
        manner: Manner,
        now: Instant,
    ) -> Result<Given, Refused> {
        let known = self.refresh.get(token);
        let known = known.ok_or_else(|| Refused::grant("there is no such refresh token"))?;
        let (family, before) = (known.family, known.before.clone());
        let login = self.logins.get(family);
        let login = login.ok_or_else(|| Refused::grant("there is no such login"))?;
        if login.allowed.client != client {
            return Err(Refused::grant("the refresh token is somebody else's"));
        }
        if login.is_revoked {
            return Err(Refused::grant("the refresh token was revoked"));
        }
        let scopes = match scopes {
            None => login.allowed.scopes.clone(),
            Some(fewer) if fewer.iter().all(|it| login.allowed.scopes.contains(it)) => fewer,
            Some(_) => return Err(Refused::new("invalid_scope", "more than was granted")),
        };
        let is_repeat = known.replaced.is_some();
        if let Some(since) = known.replaced
            && (known.is_past || now.saturating_duration_since(since) >= manner.grace)
        {
            // Two have it, and one of them has stolen it (OAuth 2.1 §4.3.1).
            self.reuses += 1;
            self.revoke_login(family);
            return Err(Refused::grant("the refresh token was used before"));
        }
        if let Some(before) = before.and_then(|before| self.refresh.get_mut(&before)) {
            before.is_past = true;
        }
        let refresh = manner.rotates.then(|| {
            if let Some(known) = self.refresh.get_mut(token) {
                known.replaced.get_or_insert(now);
            }
            self.give_refresh(family, Some(token.to_owned()))
        });
        Ok(Given {
            access: self.give_access(family, scopes.clone(), manner, now),
            refresh,
            scopes,
            is_repeat,
        })
    }

    fn give_refresh(&mut self, family: Family, before: Option<String>) -> String {
        let token = self.secret("refresh");
        let kept = Refresh {
            family,
            before,
            replaced: None,
            is_past: false,
        };
        self.refresh.insert(token.clone(), kept);
        token
    }

    fn give_access(
        &mut self,
        family: Family,
        scopes: Vec<String>,
        manner: Manner,
        now: Instant,
    ) -> String {
        if manner.single {
            self.revoke_access(|access| access == family);
        }
        let token = self.secret("access");
        let kept = Access {
            family,
            scopes,
            expires: now + manner.lifetime,
            is_revoked: false,
        };
        self.access.insert(token.clone(), kept);
        token
    }

    /// What an access token allows at a resource.
    pub(super) fn scopes_of(
        &self,
        token: &str,
        resources: &[&str],
        now: Instant,
    ) -> Result<&[String], Useless> {
        let access = self.access.get(token).ok_or(Useless::Unknown)?;
        let login = self.logins.get(access.family).ok_or(Useless::Unknown)?;
        if access.is_revoked || login.is_revoked {
            return Err(Useless::Revoked);
        }
        if access.expires <= now {
            return Err(Useless::Expired);
        }
        match &login.allowed.resource {
            Some(resource) if !resources.contains(&resource.as_str()) => {
                Err(Useless::OtherResource)
            }
            _ => Ok(&access.scopes),
        }
    }

    /// Takes a token back, with all that comes from a refresh token; false if it is nobody's or
    /// somebody else's (RFC 7009 §2.1).
    pub(super) fn take_back(&mut self, token: &str, client: &str) -> bool {
        let family = match (self.refresh.get(token), self.access.get(token)) {
            (Some(refresh), _) => refresh.family,
            (None, Some(access)) => access.family,
            (None, None) => return false,
        };
        let login = self.logins.get(family);
        if login.is_none_or(|login| login.allowed.client != client) {
            return false;
        }
        match self.access.get_mut(token) {
            Some(access) => access.is_revoked = true,
            None => self.revoke_login(family),
        }
        true
    }

    /// Ends all access tokens; refresh tokens stay.
    pub(super) fn revoke_all_access(&mut self) {
        self.revoke_access(|_| true);
    }

    /// Ends everything.
    pub(super) fn revoke_all(&mut self) {
        for login in &mut self.logins {
            login.is_revoked = true;
        }
        self.codes.clear();
    }

    fn revoke_access(&mut self, which: impl Fn(Family) -> bool) {
        for access in self.access.values_mut() {
            access.is_revoked |= which(access.family);
        }
    }

    fn revoke_login(&mut self, family: Family) {
        if let Some(login) = self.logins.get_mut(family) {
            login.is_revoked = true;
        }
    }
}

#[cfg(test)]
mod tests;
