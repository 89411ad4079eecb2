//! Public keys of clients (RFC 5280 §4.1.2.7), and what was signed with them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256,
    RSA_PSS_2048_8192_SHA256, UnparsedPublicKey, VerificationAlgorithm,
};

/// The content of the identifiers of algorithms and curves.
const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
const ELLIPTIC: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];
const P256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];
const P384: &[u8] = &[0x2b, 0x81, 0x04, 0x00, 0x22];
const EDWARDS: &[u8] = &[0x2b, 0x65, 0x70];

/// The algorithms that are understood, as RFC 7518 and RFC 8037 name them.
pub(super) const ALGORITHMS: [&str; 5] = ["RS256", "PS256", "ES256", "ES384", "EdDSA"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Rsa,
    P256,
    P384,
    Ed25519,
}

/// A public key.
#[derive(Clone, Debug)]
pub(super) struct PublicKey {
    kind: Kind,
    bytes: Vec<u8>,
}

impl PublicKey {
    /// Reads `-----BEGIN PUBLIC KEY-----`.
    pub(super) fn read(pem: &str) -> Option<Self> {
        let (_, rest) = pem.split_once("-----BEGIN PUBLIC KEY-----")?;
        let (lines, _) = rest.split_once("-----END PUBLIC KEY-----")?;
        let text: String = lines.split_whitespace().collect();
        Self::decode(&STANDARD.decode(text).ok()?)
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (whole, _) = element(0x30, bytes)?;
        let (algorithm, key) = element(0x30, whole)?;
        let (name, parameters) = element(0x06, algorithm)?;
        let kind = match name {
            RSA => Kind::Rsa,
            EDWARDS => Kind::Ed25519,
            ELLIPTIC => match element(0x06, parameters)?.0 {
                P256 => Kind::P256,
                P384 => Kind::P384,
                _ => return None,
            },
            _ => return None,
        };
        let (key, _) = element(0x03, key)?;
        // The first byte says how many bits of the last one do not count: none.
        let (0, bytes) = key.split_first().map(|(first, rest)| (*first, rest))? else {
            return None;
        };
        let bytes = bytes.to_vec();
        Some(Self { kind, bytes })
    }

    /// Whether this was signed with its other half, by this algorithm.
    pub(super) fn has_signed(&self, algorithm: &str, signed: &[u8], signature: &[u8]) -> bool {
        let algorithm: &dyn VerificationAlgorithm = match (algorithm, self.kind) {
            ("RS256", Kind::Rsa) => &RSA_PKCS1_2048_8192_SHA256,
            ("PS256", Kind::Rsa) => &RSA_PSS_2048_8192_SHA256,
            ("ES256", Kind::P256) => &ECDSA_P256_SHA256_FIXED,
            ("ES384", Kind::P384) => &ECDSA_P384_SHA384_FIXED,
            ("EdDSA", Kind::Ed25519) => &ED25519,
            _ => return false,
        };
        UnparsedPublicKey::new(algorithm, &self.bytes)
            .verify(signed, signature)
            .is_ok()
    }
}

/// The content of the element of this type that comes first, and what comes after it.
fn element(tag: u8, bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (first, rest) = bytes.split_first()?;
    if *first != tag {
        return None;
    }
    let (short, rest) = rest.split_first()?;
    let (length, rest) = match *short {
        0..=0x7f => (usize::from(*short), rest),
        0x81..=0x84 => {
            let (digits, rest) = rest.split_at_checked(usize::from(short & 0x7f))?;
            let length = digits
                .iter()
                .fold(0, |length, digit| (length << 8) | usize::from(*digit));
            (length, rest)
        }
        _ => return None,
    };
    rest.split_at_checked(length)
}

#[cfg(test)]
mod tests {
    use ring::rand::SystemRandom;
    use ring::signature::{RSA_PKCS1_SHA256, RSA_PSS_SHA256, RsaEncoding, RsaKeyPair};

    use super::*;

    /// It was made for tests and opens nothing.
    const KEY: &str = include_str!("../fake_google/test-only-key.pem");

    #[test]
    fn an_rsa_key_has_signed_what_it_signed_in_the_way_it_did() {
        let made = rcgen::KeyPair::from_pem(KEY).unwrap();
        let key = PublicKey::read(&made.public_key_pem()).unwrap();
        let pair = RsaKeyPair::from_pkcs8(&made.serialize_der()).unwrap();
        let sign = |padding: &'static dyn RsaEncoding| {
            let mut signature = vec![0; pair.public().modulus_len()];
            let random = SystemRandom::new();
            pair.sign(padding, &random, b"text", &mut signature)
                .unwrap();
            signature
        };
        let (first, second) = (sign(&RSA_PKCS1_SHA256), sign(&RSA_PSS_SHA256));
        assert!(key.has_signed("RS256", b"text", &first));
        assert!(key.has_signed("PS256", b"text", &second));
        assert!(!key.has_signed("RS256", b"text", &second));
        assert!(!key.has_signed("RS256", b"other", &first));
        assert!(!key.has_signed("none", b"text", b""));
        assert!(!key.has_signed("ES256", b"text", &first));
    }

    #[test]
    fn what_is_cut_short_is_no_key() {
        let made = rcgen::KeyPair::generate().unwrap();
        let pem = made.public_key_pem();
        let lines = pem.lines().filter(|line| !line.starts_with("-----"));
        let bytes = STANDARD.decode(lines.collect::<String>()).unwrap();
        assert!(PublicKey::decode(&bytes).is_some());
        for length in 0..bytes.len() {
            assert!(PublicKey::decode(&bytes[..length]).is_none(), "{length}");
        }
    }
}
