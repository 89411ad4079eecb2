//! Sealing: what is sealed can be neither read nor changed nor passed off as something else without
//! the key.
//!
//! Every seal has a key of its own, derived from the master key and a random salt (RFC 5869). A
//! nonce that comes from a counter could be used twice by two processes, or after a backup was put
//! back; here nothing has to be counted.

use std::fmt;
use std::sync::Arc;

use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use ring::digest::{SHA256, digest};
use ring::error::Unspecified;
use ring::hkdf::{HKDF_SHA256, Salt};
use ring::rand::{SecureRandom as _, SystemRandom};
use secrecy::zeroize::Zeroizing;
use serde::{Deserialize, Serialize};

use openclaw_secrets::Secret;

use super::hexadecimal;

/// How long a master key is, in bytes.
const KEY: usize = 32;
/// How long the salt of a seal is, in bytes.
pub(super) const SALT: usize = 32;
/// How many bytes of a hash tell one key from another.
const KEY_ID: usize = 8;

/// The key that all logins of a state directory are sealed with. Its memory is overwritten in the end.
#[derive(Clone)]
pub(super) struct MasterKey(Arc<Zeroizing<[u8; KEY]>>);

impl MasterKey {
    /// A new one.
    pub(super) fn generate() -> Result<Self, Unspecified> {
        let mut bytes = Zeroizing::new([0; KEY]);
        SystemRandom::new().fill(bytes.as_mut_slice())?;
        Ok(Self(Arc::new(bytes)))
    }

    /// The key that a text stands for, if it stands for one.
    pub(super) fn from_text(text: &Secret) -> Option<Self> {
        let mut bytes = Zeroizing::new([0; KEY]);
        let is_key = hexadecimal::decode_into(text.expose(), bytes.as_mut_slice());
        is_key.then(|| Self(Arc::new(bytes)))
    }

    /// The text that stands for the key.
    pub(super) fn to_text(&self) -> Secret {
        Secret::new(hexadecimal::encode(self.0.as_slice()))
    }

    /// What tells it from other keys, and tells nothing else about it.
    pub(super) fn id(&self) -> KeyId {
        let mut text = Zeroizing::new(Vec::with_capacity(64));
        text.extend_from_slice(b"openclaw key id\0");
        text.extend_from_slice(self.0.as_slice());
        let hash = digest(&SHA256, &text);
        KeyId(hexadecimal::encode(&hash.as_ref()[..KEY_ID]))
    }

    /// The key of one seal.
    fn derive(&self, salt: &[u8; SALT], label: &Label<'_>) -> Result<LessSafeKey, Unspecified> {
        let salt = Salt::new(HKDF_SHA256, salt);
        let pseudo_random_key = salt.extract(self.0.as_slice());
        let info = [label.format.as_bytes(), b"\0", label.owner.as_bytes()];
        let key = pseudo_random_key.expand(&info, &CHACHA20_POLY1305)?;
        Ok(LessSafeKey::new(UnboundKey::from(key)))
    }
}

impl fmt::Debug for MasterKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "MasterKey({:?})", self.id())
    }
}

/// What tells a key from others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct KeyId(String);

/// What something sealed is: it can't be opened as anything else.
#[derive(Clone, Copy)]
pub(super) struct Label<'a> {
    /// Its format.
    pub(super) format: &'a str,
    /// The version of that.
    pub(super) version: u32,
    /// Whose it is.
    pub(super) owner: &'a str,
}

impl Label<'_> {
    /// What is checked when a seal is opened, and stands outside of it.
    fn associated(&self) -> Aad<Vec<u8>> {
        let version = self.version.to_be_bytes();
        let parts: [&[u8]; 4] = [
            self.format.as_bytes(),
            b"\0",
            &version,
            self.owner.as_bytes(),
        ];
        Aad::from(parts.concat())
    }
}

/// A random salt, for one seal.
pub(super) fn salt() -> Result<[u8; SALT], Unspecified> {
    let mut salt = [0; SALT];
    SystemRandom::new().fill(&mut salt)?;
    Ok(salt)
}

/// Seals something. A salt is never used twice.
pub(super) fn seal(
    key: &MasterKey,
    label: &Label<'_>,
    salt: &[u8; SALT],
    mut plain: Zeroizing<Vec<u8>>,
) -> Result<Vec<u8>, Unspecified> {
    let derived = key.derive(salt, label)?;
    // It is encrypted where it is, and only then grows.
    derived.seal_in_place_append_tag(only_nonce(), label.associated(), &mut *plain)?;
    Ok(std::mem::take(&mut *plain))
}

/// Opens what was sealed with this key, for this purpose, and not changed since.
pub(super) fn open(
    key: &MasterKey,
    label: &Label<'_>,
    salt: &[u8; SALT],
    sealed: Vec<u8>,
) -> Result<Zeroizing<Vec<u8>>, Unspecified> {
    let derived = key.derive(salt, label)?;
    let mut bytes = Zeroizing::new(sealed);
    let length = derived
        .open_in_place(only_nonce(), label.associated(), bytes.as_mut_slice())?
        .len();
    bytes.truncate(length);
    Ok(bytes)
}

/// The nonce of a key that seals one thing.
fn only_nonce() -> Nonce {
    Nonce::assume_unique_for_key([0; 12])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LABEL: Label<'_> = Label {
        format: "openclaw logins",
        version: 1,
        owner: "0123456789abcdef",
    };

    fn key(byte: u8) -> MasterKey {
        MasterKey(Arc::new(Zeroizing::new([byte; KEY])))
    }

    fn sealed(plain: &[u8]) -> Vec<u8> {
        let plain = Zeroizing::new(plain.to_vec());
        seal(&key(1), &LABEL, &[7; SALT], plain).unwrap()
    }

    fn opened(
        key: &MasterKey,
        label: &Label<'_>,
        salt: &[u8; SALT],
        sealed: &[u8],
    ) -> Option<Vec<u8>> {
        let opened = open(key, label, salt, sealed.to_vec()).ok();
        opened.map(|it| it.to_vec())
    }

    #[test]
    fn the_format_stays_what_it_is() {
        // Another implementation (Python's `cryptography`) made this.
        let expected = "d4a958f090046e61f539573e7bc10fff9f7eef1c9ea397cb8d";
        assert_eq!(hexadecimal::encode(&sealed(b"the token")), expected);
        assert_eq!(key(1).id(), KeyId("8cc414000102f2d0".to_owned()));
    }

    #[test]
    fn a_label_that_differs_opens_nothing() {
        let sealed = sealed(b"the token");
        let format = "openclaw pins";
        for label in [
            Label { format, ..LABEL },
            Label {
                version: 2,
                ..LABEL
            },
            Label {
                owner: "0123456789abcdee",
                ..LABEL
            },
        ] {
            assert_eq!(opened(&key(1), &label, &[7; SALT], &sealed), None);
        }
        assert_eq!(opened(&key(2), &LABEL, &[7; SALT], &sealed), None);
        assert!(opened(&key(1), &LABEL, &[7; SALT], &sealed).is_some());
    }

    #[test]
    fn a_key_is_the_same_as_a_text_and_is_not_shown() {
        let made = MasterKey::generate().unwrap();
        let again = MasterKey::from_text(&made.to_text()).unwrap();
        assert_eq!(made.id(), again.id());
        assert_ne!(made.id(), MasterKey::generate().unwrap().id());
        assert!(!format!("{made:?}").contains(made.to_text().expose()));
        for text in ["", "00", &"0".repeat(63), &"g".repeat(64), &"0".repeat(66)] {
            assert!(MasterKey::from_text(&Secret::new(text)).is_none(), "{text}");
        }
    }

    #[test]
    fn two_salts_are_never_the_same() {
        assert_ne!(salt().unwrap(), salt().unwrap());
    }

    proptest! {
        #[test]
        fn what_is_sealed_is_opened(plain: Vec<u8>, salt: [u8; SALT], owner in ".*") {
            let label = Label { owner: &owner, ..LABEL };
            let sealed = seal(&key(1), &label, &salt, Zeroizing::new(plain.clone())).unwrap();
            prop_assert_eq!(opened(&key(1), &label, &salt, &sealed), Some(plain));
        }

        #[test]
        fn any_flipped_bit_is_refused(plain: Vec<u8>, place: prop::sample::Index, bit in 0..8_u8) {
            let mut sealed = sealed(&plain);
            let place = place.index(sealed.len());
            sealed[place] ^= 1 << bit;
            prop_assert_eq!(opened(&key(1), &LABEL, &[7; SALT], &sealed), None);
        }

        #[test]
        fn any_other_salt_is_refused(place in 0..SALT, bit in 0..8_u8) {
            let mut salt = [7; SALT];
            salt[place] ^= 1 << bit;
            prop_assert_eq!(opened(&key(1), &LABEL, &salt, &sealed(b"the token")), None);
        }

        #[test]
        fn what_is_cut_or_made_up_is_refused(plain: Vec<u8>, cut: prop::sample::Index, made_up: Vec<u8>) {
            let sealed = sealed(&plain);
            let part = &sealed[..cut.index(sealed.len())];
            prop_assert_eq!(opened(&key(1), &LABEL, &[7; SALT], part), None);
            prop_assert_eq!(opened(&key(1), &LABEL, &[7; SALT], &made_up), None);
        }
    }
}
