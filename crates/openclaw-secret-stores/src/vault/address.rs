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
        Self::parse(surroundings.variable(VARIABLE))
    }

    fn parse(given: Option<&str>) -> Result<Self, SecretError> {
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
        shown(&self.base)
    }

    /// The address of a path of the interface.
    pub(super) fn of_path(&self, path: &str) -> String {
        let mut address = self.base.origin().ascii_serialization();
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
            Ok(there) => Redirect::Away(shown(&there)),
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

/// An address for a person: it may be shortened.
fn shown(url: &Url) -> String {
    openclaw_content::shown_line(&url.origin().ascii_serialization(), 200)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_need_say_where_the_server_of_this_machine_is() {
        let address = Address::parse(None).unwrap();
        assert!(address.is_default());
        assert_eq!(address.of_path("a/b"), "https://127.0.0.1:8200/v1/a/b");
        let address = Address::parse(Some("https://127.0.0.1:8200")).unwrap();
        assert!(!address.is_default());
    }

    #[test]
    fn addresses_are_used_as_they_are_meant() {
        for (given, shown, path) in [
            (
                "https://vault.example.com",
                "https://vault.example.com",
                "https://vault.example.com/v1/a",
            ),
            (
                " https://VAULT.example.com:8200/ ",
                "https://vault.example.com:8200",
                "https://vault.example.com:8200/v1/a",
            ),
            (
                "https://example.com/vault//?x=1#y",
                "https://example.com",
                "https://example.com/vault/v1/a",
            ),
            (
                "http://[::1]:8200",
                "http://[::1]:8200",
                "http://[::1]:8200/v1/a",
            ),
            (
                "http://localhost:8200",
                "http://localhost:8200",
                "http://localhost:8200/v1/a",
            ),
        ] {
            let address = Address::parse(Some(given)).unwrap();
            assert_eq!(address.shown(), shown);
            assert_eq!(address.of_path("a"), path);
        }
    }

    #[test]
    fn a_long_address_is_asked_as_it_is_and_shown_shortened() {
        let host = format!("{}example.com", "a-long-label-of-a-name.".repeat(10));
        let given = format!("https://{host}:8200/below");
        let address = Address::parse(Some(&given)).unwrap();
        assert_eq!(address.of_path("a"), format!("{given}/v1/a"));
        assert!(address.shown().len() < given.len());
        let there = address.redirected(&address.of_path("a"), "/v1/b");
        let expected = format!("https://{host}:8200/v1/b");
        assert!(matches!(there, Redirect::Here(there) if there == expected));
    }

    #[test]
    fn only_the_same_server_is_followed_to() {
        let address = Address::parse(Some("https://vault.example.com:8200")).unwrap();
        let asked = address.of_path("secret/app");
        for (location, expected) in [
            ("/v1/other", Ok("https://vault.example.com:8200/v1/other")),
            (
                "other",
                Ok("https://vault.example.com:8200/v1/secret/other"),
            ),
            (
                "https://vault.example.com:8200/v1/a",
                Ok("https://vault.example.com:8200/v1/a"),
            ),
            (
                "https://vault.example.com/",
                Err("https://vault.example.com"),
            ),
            (
                "http://vault.example.com:8200/",
                Err("http://vault.example.com:8200"),
            ),
            ("//other.example.com/v1", Err("https://other.example.com")),
            (
                "https://vault.example.com:8200@evil.example/",
                Err("https://evil.example"),
            ),
            ("https://[", Err("somewhere else")),
        ] {
            let there = match address.redirected(&asked, location) {
                Redirect::Here(there) => Ok(there),
                Redirect::Away(there) => Err(there),
            };
            let expected = expected.map(str::to_owned).map_err(str::to_owned);
            assert_eq!(there, expected, "{location}");
        }
    }
}
