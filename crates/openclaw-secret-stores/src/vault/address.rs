//! Where the server is.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use url::Url;

use crate::error::SecretError;
use crate::http::is_this_machine;
use crate::surroundings::Surroundings;

/// The variable that says it.
const VARIABLE: &str = "VAULT_ADDR";
/// Where the vendor's command looks for a server when nobody says it.
const DEFAULT: &str = "https://127.0.0.1:8200";
/// What the hints show.
const EXAMPLE: &str = "write it like `https://vault.example.com:8200`";

/// What is encoded in a segment of a path: all but RFC 3986's unreserved characters.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// The address of a server, which may be below a path.
pub(super) struct Address {
    base: Url,
    is_default: bool,
}

impl Address {
    /// What the variables say.
    pub(super) fn of(surroundings: &Surroundings) -> Result<Self, SecretError> {
        let given = surroundings.variable(VARIABLE);
        // The value is not shown before it is known that no password is in it.
        let base = Url::parse(given.unwrap_or(DEFAULT).trim()).map_err(|error| {
            let reason = format!("`{VARIABLE}` is not an address: {error}");
            SecretError::misconfigured(reason).hint(EXAMPLE)
        })?;
        if !matches!(base.scheme(), "http" | "https") || base.host().is_none() {
            let reason = format!("`{VARIABLE}` is not an address that begins with `https://`");
            return Err(SecretError::misconfigured(reason).hint(EXAMPLE));
        }
        if !base.username().is_empty() || base.password().is_some() {
            let reason =
                format!("`{VARIABLE}` has a user name in it, and the server wants a token");
            return Err(SecretError::misconfigured(reason).hint("set `VAULT_TOKEN`"));
        }
        let address = Self {
            base,
            is_default: given.is_none(),
        };
        if address.is_plain() && !is_this_machine(&address.base) {
            let reason = format!(
                "`{VARIABLE}` is {}: without TLS, everybody between could read the token and the \
                 secrets, so only this machine is asked with `http://`",
                address.shown()
            );
            let hint = "use `https://`, and `VAULT_CACERT` where the authority is your own";
            return Err(SecretError::misconfigured(reason).hint(hint));
        }
        Ok(address)
    }

    /// Whether nobody has said where the server is.
    pub(super) fn is_default(&self) -> bool {
        self.is_default
    }

    /// Whether there is no TLS.
    pub(super) fn is_plain(&self) -> bool {
        self.base.scheme() == "http"
    }

    /// The address for a person.
    pub(super) fn shown(&self) -> String {
        origin(&self.base)
    }

    /// The address of a path of the interface.
    pub(super) fn of_path(&self, path: &str) -> String {
        let mut address = origin(&self.base);
        address.push_str(self.base.path().trim_end_matches('/'));
        address.push_str("/v1");
        for segment in path.split('/') {
            address.push('/');
            address.extend(utf8_percent_encode(segment, SEGMENT));
        }
        address
    }

    /// Where a redirect leads, if that is this server.
    ///
    /// Another port is another server: on this machine it may be another user's.
    pub(super) fn redirected(&self, asked: &str, location: &str) -> Redirect {
        let there = Url::parse(asked).and_then(|asked| asked.join(location));
        match there {
            Ok(there) if there.origin() == self.base.origin() => Redirect::Here(there.into()),
            Ok(there) => Redirect::Away(origin(&there)),
            Err(_) => Redirect::Away("somewhere else".to_owned()),
        }
    }
}

/// Where a redirect leads.
pub(super) enum Redirect {
    /// To the same server.
    Here(String),
    /// To another one, for a person.
    Away(String),
}

fn origin(url: &Url) -> String {
    openclaw_content::shown_line(&url.origin().ascii_serialization(), 200)
}
