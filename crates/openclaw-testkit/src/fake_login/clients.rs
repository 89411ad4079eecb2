//! Clients: who is known, and how others get to be.

use serde_json::{Value as Json, json};
use url::{Host, Url};

use super::assertion;
use super::form::uncached;
use super::options::{Fault, Method};
use super::public_key::PublicKey;
use super::world::World;
use crate::stand_in::{Answer, Asked};

/// What is known about a client.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) redirects: Redirects,
    pub(super) proof: Proof,
    /// Whether it wants refresh tokens.
    pub(super) refreshes: bool,
    /// Whether it registered itself.
    pub(super) is_dynamic: bool,
}

/// Where a client may send browsers to.
#[derive(Clone, Debug)]
pub(super) enum Redirects {
    /// To whoever listens on the machine of the browser (RFC 8252 §7.3).
    Loopback,
    /// To these addresses alone.
    These(Vec<String>),
}

/// How a client proves its identity.
#[derive(Clone, Debug)]
pub(super) enum Proof {
    /// Not at all.
    None,
    /// With a secret, in one of these ways.
    Secret {
        secret: String,
        methods: Vec<Method>,
        /// In seconds since 1970.
        expires: Option<i64>,
    },
    /// With something signed.
    Key(PublicKey),
}

impl Redirects {
    pub(super) fn contain(&self, address: &str) -> bool {
        match self {
            Self::Loopback => is_loopback(address),
            Self::These(addresses) => addresses.iter().any(|it| it == address),
        }
    }
}

impl Known {
    /// A client that somebody registered by hand.
    pub(super) fn by_hand(secret: Option<&str>, supported: &[Method]) -> Self {
        let proof = secret.map_or(Proof::None, |secret| Proof::Secret {
            secret: secret.to_owned(),
            methods: [Method::Basic, Method::Post]
                .into_iter()
                .filter(|method| supported.contains(method))
                .collect(),
            expires: None,
        });
        Self {
            redirects: Redirects::Loopback,
            proof,
            refreshes: true,
            is_dynamic: false,
        }
    }

    /// A client that signs.
    pub(super) fn with_key(key: PublicKey) -> Self {
        Self {
            redirects: Redirects::Loopback,
            proof: Proof::Key(key),
            refreshes: true,
            is_dynamic: false,
        }
    }
}

impl World {
    /// What is known about a client.
    pub(super) fn client(&self, id: &str) -> Option<Known> {
        let is_document = || self.options.clients.documents && is_document_address(id);
        let of_document = || is_document().then(|| Known::by_hand(None, &[]));
        self.clients.get(id).cloned().or_else(of_document)
    }

    /// Registers a client (RFC 7591 §3).
    pub(super) fn register(&mut self, asked: &Asked) -> Answer {
        let options = &self.options;
        if options.clients.no_registration || options.has(Fault::RegistrationForbidden) {
            return Answer::bytes(403, "text/plain", "nobody may register here");
        }
        if options.has(Fault::RegistrationHtml) {
            return Answer::bytes(200, "text/html", "<html><p>Please sign in</p></html>");
        }
        if options.has(Fault::RegistrationRefused) {
            return refused("invalid_client_metadata", "we do not like your name");
        }
        if asked.header("content-type") != Some("application/json") {
            return refused("invalid_client_metadata", "the body is not JSON");
        }
        let Ok(mut metadata) = serde_json::from_slice::<Json>(&asked.body) else {
            return refused("invalid_client_metadata", "the body is not JSON");
        };
        match self.registered(&metadata) {
            Err(refusal) => refusal,
            Ok(known) => {
                let (id, client) = known;
                self.counters.registrations += 1;
                metadata["client_id"] = json!(id);
                metadata["client_id_issued_at"] = json!(assertion::now());
                metadata["token_endpoint_auth_method"] = json!(Method::None.name());
                if let Proof::Secret {
                    secret,
                    methods,
                    expires,
                } = &client.proof
                {
                    metadata["client_secret"] = json!(secret);
                    metadata["client_secret_expires_at"] = json!(expires.unwrap_or(0));
                    metadata["token_endpoint_auth_method"] =
                        json!(methods.first().map(|it| it.name()));
                } else if self.options.has(Fault::EmptySecret) {
                    metadata["client_secret"] = json!("");
                }
                self.clients.insert(id, client);
                uncached(Answer::json(201, &metadata))
            }
        }
    }

    /// A client as it describes itself, with its identifier.
    fn registered(&mut self, metadata: &Json) -> Result<(String, Known), Answer> {
        let texts = |name: &str, otherwise: &[&str]| -> Option<Vec<String>> {
            match &metadata[name] {
                Json::Null => Some(otherwise.iter().map(|&it| it.to_owned()).collect()),
                Json::Array(all) => all
                    .iter()
                    .map(|it| it.as_str().map(str::to_owned))
                    .collect(),
                _ => None,
            }
        };
        let redirects = texts("redirect_uris", &[]).unwrap_or_default();
        let is_fine = |it: &String| is_loopback(it) || it.starts_with("https://");
        if redirects.is_empty() || !redirects.iter().all(is_fine) {
            return Err(refused("invalid_redirect_uri", "redirect_uris are wrong"));
        }
        let grants = texts("grant_types", &["authorization_code"]).unwrap_or_default();
        let responses = texts("response_types", &["code"]).unwrap_or_default();
        let has = |all: &[String], name: &str| all.iter().any(|it| it == name);
        if !has(&grants, "authorization_code") || !has(&responses, "code") {
            let words = "this server is for authorization codes";
            return Err(refused("invalid_client_metadata", words));
        }
        let name = metadata["token_endpoint_auth_method"].as_str();
        // RFC 7591 §2.
        let name = name.unwrap_or(Method::Basic.name());
        let supported = &self.options.clients.authentication;
        let method = supported
            .iter()
            .copied()
            .find(|method| method.name() == name);
        let proof = match method {
            Some(Method::None) => Proof::None,
            Some(method @ (Method::Basic | Method::Post)) => Proof::Secret {
                secret: self.grants.secret("secret"),
                methods: vec![method],
                expires: self.options.clients.secret_lifetime.map(|seconds| {
                    assertion::now().saturating_add(i64::try_from(seconds).unwrap_or(i64::MAX))
                }),
            },
            // Keys would have to come with the registration.
            Some(Method::Key) | None => {
                let words = "token_endpoint_auth_method is not supported";
                return Err(refused("invalid_client_metadata", words));
            }
        };
        let client = Known {
            redirects: Redirects::These(redirects),
            proof,
            refreshes: has(&grants, "refresh_token"),
            is_dynamic: true,
        };
        Ok((self.grants.secret("client"), client))
    }
}

/// An error as RFC 7591 §3.2.2 has it.
fn refused(error: &str, description: &str) -> Answer {
    let body = json!({ "error": error, "error_description": description });
    uncached(Answer::json(400, &body))
}

fn is_loopback(address: &str) -> bool {
    let Ok(address) = Url::parse(address) else {
        return false;
    };
    let is_here = match address.host() {
        Some(Host::Ipv4(host)) => host.is_loopback(),
        Some(Host::Ipv6(host)) => host.is_loopback(),
        Some(Host::Domain(host)) => host == "localhost",
        None => false,
    };
    address.scheme() == "http" && is_here && address.fragment().is_none()
}

/// Whether an identifier is the address of a document: https, with a path.
fn is_document_address(id: &str) -> bool {
    Url::parse(id).is_ok_and(|it| {
        it.scheme() == "https" && it.path() != "/" && it.fragment().is_none() && it.as_str() == id
    })
}
