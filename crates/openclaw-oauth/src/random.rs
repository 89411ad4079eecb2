//! What nobody can guess.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use openclaw_secrets::Secret;
use ring::rand::{SecureRandom as _, SystemRandom};
use secrecy::zeroize::Zeroizing;

use crate::error::OAuthError;

/// A text made of so many random bytes, fit for addresses: four characters for three bytes.
pub(crate) fn unguessable(bytes: usize) -> Result<Secret, OAuthError> {
    let mut random = Zeroizing::new(vec![0; bytes]);
    SystemRandom::new().fill(&mut random).map_err(|_| {
        OAuthError::passing(
            "this machine gives no random numbers, and without them no login is safe",
        )
    })?;
    Ok(Secret::new(URL_SAFE_NO_PAD.encode(&*random)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_are_the_same() {
        let (one, two) = (unguessable(32).unwrap(), unguessable(32).unwrap());
        assert_ne!(one, two);
        assert_eq!(one.len(), 43);
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        assert!(one.expose().bytes().all(is_plain));
    }
}
