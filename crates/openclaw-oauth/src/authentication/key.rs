//! The private key of a client, and what it signs with.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use openclaw_secrets::Secret;
use ring::rand::SystemRandom;
use ring::signature::{
    self, ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair,
    EcdsaSigningAlgorithm, Ed25519KeyPair, RsaEncoding, RsaKeyPair,
};
use secrecy::zeroize::Zeroizing;

use crate::error::OAuthError;

/// A private key in its form for signing. It is made anew each time, so that it is in memory only
/// as long as it is used.
pub(super) enum PrivateKey {
    Rsa(Box<RsaKeyPair>),
    P256(EcdsaKeyPair),
    P384(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
}

/// How something is signed (RFC 7518 §3.1, RFC 8037 §3.1, RFC 9864).
pub(super) struct Algorithm {
    /// Its name.
    pub(super) name: &'static str,
    padding: Option<&'static dyn RsaEncoding>,
}

const fn algorithm(name: &'static str) -> Algorithm {
    Algorithm {
        name,
        padding: None,
    }
}

const fn rsa(name: &'static str, padding: &'static dyn RsaEncoding) -> Algorithm {
    Algorithm {
        name,
        padding: Some(padding),
    }
}

static RSA: [Algorithm; 6] = [
    rsa("RS256", &signature::RSA_PKCS1_SHA256),
    rsa("PS256", &signature::RSA_PSS_SHA256),
    rsa("RS384", &signature::RSA_PKCS1_SHA384),
    rsa("PS384", &signature::RSA_PSS_SHA384),
    rsa("RS512", &signature::RSA_PKCS1_SHA512),
    rsa("PS512", &signature::RSA_PSS_SHA512),
];
static P256: [Algorithm; 1] = [algorithm("ES256")];
static P384: [Algorithm; 1] = [algorithm("ES384")];
static ED25519: [Algorithm; 2] = [algorithm("EdDSA"), algorithm("Ed25519")];

/// How a key says which curve it is on, in PKCS #8.
const ON_P256: &[u8] = &[
    0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48,
    0xce, 0x3d, 0x03, 0x01, 0x07,
];
const ON_P384: &[u8] = &[
    0x30, 0x10, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x05, 0x2b, 0x81, 0x04,
    0x00, 0x22,
];

impl PrivateKey {
    /// Reads a key in PEM: PKCS #8, PKCS #1 or SEC 1.
    pub(super) fn read(pem: &Secret) -> Result<Self, OAuthError> {
        let wrong = |reason: &str| {
            OAuthError::lasting(format!(
                "the private key of the client can't be used: {reason}"
            ))
        };
        let (kind, bytes) = section(pem.expose()).ok_or_else(|| {
            wrong("it is no PEM, with a line `-----BEGIN PRIVATE KEY-----` and one that ends it")
        })?;
        let key = match kind {
            "PRIVATE KEY" => of_pkcs8(&bytes),
            "RSA PRIVATE KEY" => RsaKeyPair::from_der(&bytes).ok().map(Self::rsa),
            "EC PRIVATE KEY" => {
                let wrapped = |curve| pkcs8(curve, &bytes);
                of_pkcs8(&wrapped(ON_P256)).or_else(|| of_pkcs8(&wrapped(ON_P384)))
            }
            _ => {
                return Err(wrong("it has a passphrase, or is of an unknown kind")
                    .hint("`openssl pkcs8 -topk8 -nocrypt -in KEY` makes one that can be used"));
            }
        };
        key.ok_or_else(|| {
            wrong(
                "only RSA keys of 2048 bits or more, keys on the curves P-256 and P-384, and \
                 Ed25519 keys can",
            )
        })
    }

    fn rsa(pair: RsaKeyPair) -> Self {
        Self::Rsa(Box::new(pair))
    }

    /// What the key can sign with, the best known first.
    fn algorithms(&self) -> &'static [Algorithm] {
        match self {
            Self::Rsa(_) => &RSA,
            Self::P256(_) => &P256,
            Self::P384(_) => &P384,
            Self::Ed25519(_) => &ED25519,
        }
    }

    /// What both the key and the authorization server can; where that one says nothing, what is
    /// usual for such a key.
    pub(super) fn algorithm(&self, taken: &[String]) -> Result<&'static Algorithm, OAuthError> {
        let own = self.algorithms();
        let fits = |own: &&Algorithm| taken.is_empty() || taken.iter().any(|it| it == own.name);
        own.iter().find(fits).ok_or_else(|| {
            let own: Vec<&str> = own.iter().map(|algorithm| algorithm.name).collect();
            let (own, taken) = (own.join(", "), crate::error::quoted(&taken.join(", ")));
            OAuthError::lasting(format!(
                "the private key of the client signs with {own}; the authorization server takes \
                 {taken}"
            ))
        })
    }

    /// Signs a text.
    pub(super) fn sign(&self, algorithm: &Algorithm, text: &str) -> Option<Vec<u8>> {
        let (random, text) = (SystemRandom::new(), text.as_bytes());
        match self {
            Self::Rsa(pair) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(algorithm.padding?, &random, text, &mut signature)
                    .ok()?;
                Some(signature)
            }
            Self::P256(pair) | Self::P384(pair) => {
                Some(pair.sign(&random, text).ok()?.as_ref().to_vec())
            }
            Self::Ed25519(pair) => Some(pair.sign(text).as_ref().to_vec()),
        }
    }
}

fn of_pkcs8(bytes: &[u8]) -> Option<PrivateKey> {
    let on = |curve: &'static EcdsaSigningAlgorithm| {
        EcdsaKeyPair::from_pkcs8(curve, bytes, &SystemRandom::new()).ok()
    };
    None.or_else(|| on(&ECDSA_P256_SHA256_FIXED_SIGNING).map(PrivateKey::P256))
        .or_else(|| on(&ECDSA_P384_SHA384_FIXED_SIGNING).map(PrivateKey::P384))
        .or_else(|| {
            // OpenSSL writes no public key, which is no mistake.
            let pair = Ed25519KeyPair::from_pkcs8_maybe_unchecked(bytes).ok();
            pair.map(PrivateKey::Ed25519)
        })
        .or_else(|| RsaKeyPair::from_pkcs8(bytes).ok().map(PrivateKey::rsa))
}

/// The first private key in a text, and of which kind it is.
fn section(pem: &str) -> Option<(&str, Zeroizing<Vec<u8>>)> {
    let mut lines = pem.lines().map(str::trim);
    let kind = lines.find_map(|line| {
        let kind = line.strip_prefix("-----BEGIN ")?.strip_suffix("-----")?;
        kind.ends_with("PRIVATE KEY").then_some(kind)
    })?;
    let mut text = Zeroizing::new(String::with_capacity(pem.len()));
    for line in lines {
        if line.starts_with("-----END ") {
            // Old keys with a passphrase have lines that are no base64.
            let bytes = STANDARD.decode(text.as_bytes()).unwrap_or_default();
            return Some((kind, Zeroizing::new(bytes)));
        }
        text.push_str(line);
    }
    None
}

/// A key of SEC 1 as PKCS #8 (RFC 5208 §5), which is all that is understood.
fn pkcs8(curve: &[u8], key: &[u8]) -> Zeroizing<Vec<u8>> {
    let version = [0x02, 0x01, 0x00];
    let key = der(0x04, &[key]);
    der(0x30, &[&version, curve, &key])
}

/// A value of DER.
fn der(tag: u8, parts: &[&[u8]]) -> Zeroizing<Vec<u8>> {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    let mut value = Zeroizing::new(Vec::with_capacity(length + 10));
    value.push(tag);
    let bytes = length.to_be_bytes();
    if length < 0x80 {
        value.extend(bytes.last());
    } else {
        let bytes = bytes.split_at(length.leading_zeros() as usize / 8).1;
        value.extend(u8::try_from(bytes.len()).map(|count| 0x80 | count));
        value.extend(bytes);
    }
    for part in parts {
        value.extend_from_slice(part);
    }
    value
}

#[cfg(test)]
pub(super) mod tests {
    use ring::signature::KeyPair as _;
    use ring::signature::UnparsedPublicKey;

    use super::*;

    pub(in super::super) fn pem(kind: &str, bytes: &[u8]) -> Secret {
        let text = STANDARD.encode(bytes);
        let lines: Vec<&str> = text
            .as_bytes()
            .chunks(64)
            .map(|line| std::str::from_utf8(line).unwrap())
            .collect();
        let lines = lines.join("\r\n");
        Secret::new(format!(
            "comment\n-----BEGIN {kind}-----\n{lines}\n-----END {kind}-----\n"
        ))
    }

    pub(in super::super) fn p256() -> Secret {
        let random = SystemRandom::new();
        let key = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random);
        pem("PRIVATE KEY", key.unwrap().as_ref())
    }

    /// A key as people make it, with OpenSSL.
    macro_rules! made {
        ($name:literal) => {
            Secret::new(include_str!(concat!("test-only-keys/", $name, ".pem")))
        };
    }

    fn verifies(key: &PrivateKey, name: &str, text: &str, signed: &[u8]) -> bool {
        let (public, verification): (&[u8], &'static dyn signature::VerificationAlgorithm) =
            match key {
                PrivateKey::Rsa(pair) => (
                    pair.public().as_ref(),
                    match name {
                        "RS256" => &signature::RSA_PKCS1_2048_8192_SHA256,
                        "PS256" => &signature::RSA_PSS_2048_8192_SHA256,
                        "RS384" => &signature::RSA_PKCS1_2048_8192_SHA384,
                        "PS384" => &signature::RSA_PSS_2048_8192_SHA384,
                        "RS512" => &signature::RSA_PKCS1_2048_8192_SHA512,
                        _ => &signature::RSA_PSS_2048_8192_SHA512,
                    },
                ),
                PrivateKey::P256(pair) => (
                    pair.public_key().as_ref(),
                    &signature::ECDSA_P256_SHA256_FIXED,
                ),
                PrivateKey::P384(pair) => (
                    pair.public_key().as_ref(),
                    &signature::ECDSA_P384_SHA384_FIXED,
                ),
                PrivateKey::Ed25519(pair) => (pair.public_key().as_ref(), &signature::ED25519),
            };
        UnparsedPublicKey::new(verification, public)
            .verify(text.as_bytes(), signed)
            .is_ok()
    }

    #[test]
    fn keys_as_people_make_them_sign() {
        for (pem, expected) in [
            (made!("rsa-pkcs8"), "RS256"),
            (made!("rsa-pkcs1"), "RS256"),
            (made!("p256-pkcs8"), "ES256"),
            (made!("p256-sec1"), "ES256"),
            (made!("p384-sec1"), "ES384"),
            (made!("ed25519-pkcs8"), "EdDSA"),
        ] {
            let key = PrivateKey::read(&pem).unwrap();
            let usual = key.algorithm(&[]).unwrap();
            assert_eq!(usual.name, expected);
            for algorithm in key.algorithms() {
                let taken = ["none".to_owned(), algorithm.name.to_owned()];
                let chosen = key.algorithm(&taken).unwrap();
                assert_eq!(chosen.name, algorithm.name);
                let signed = key.sign(chosen, "text").unwrap();
                assert!(verifies(&key, chosen.name, "text", &signed), "{expected}");
                assert!(!verifies(&key, chosen.name, "other", &signed));
            }
        }
    }

    #[test]
    fn a_key_that_can_not_do_what_is_taken_says_what_it_can() {
        let key = PrivateKey::read(&p256()).unwrap();
        let error = key.algorithm(&["RS256".to_owned(), "PS\u{7}512".to_owned()]);
        assert_eq!(
            error.err().unwrap().to_string(),
            "the private key of the client signs with ES256; the authorization server takes \
             RS256, PS512"
        );
    }

    #[test]
    fn what_is_no_key_is_refused_without_being_shown() {
        for (key, words) in [
            (Secret::new(""), "it is no PEM"),
            (Secret::new("c2VjcmV0"), "it is no PEM"),
            (
                Secret::new("-----BEGIN PRIVATE KEY-----\nc2VjcmV0"),
                "it is no PEM",
            ),
            (pem("CERTIFICATE", b"secret"), "it is no PEM"),
            (pem("PRIVATE KEY", b"secret"), "only RSA keys"),
            (pem("EC PRIVATE KEY", &[b'x'; 300]), "only RSA keys"),
            (pem("RSA PRIVATE KEY", b""), "only RSA keys"),
            (made!("rsa-1024"), "only RSA keys"),
            (made!("p521-sec1"), "only RSA keys"),
            (made!("passphrase"), "it has a passphrase"),
        ] {
            let error = PrivateKey::read(&key).err().unwrap();
            let text = error.to_string();
            assert!(text.contains(words), "{text}");
            assert!(!text.contains("c2VjcmV0"), "{text}");
        }
    }

    #[test]
    fn lengths_are_written_as_der_wants_them() {
        assert_eq!(der(4, &[&[7; 2]])[..2], [4, 2]);
        assert_eq!(der(4, &[&[7; 127]])[..2], [4, 127]);
        assert_eq!(der(4, &[&[7; 128]])[..3], [4, 0x81, 128]);
        assert_eq!(der(4, &[&[7; 200], &[7; 100]])[..4], [4, 0x82, 1, 44]);
    }
}
