//! Everything that both servers know. It stands behind one lock, so that what they do is exact
//! however many ask at once.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::time::Instant;

use serde_json::{Value as Json, json};

use super::authorize::Consent;
use super::clients::Known;
use super::form::{Form, Refused};
use super::grants::Grants;
use super::options::Options;
use super::places::{Endpoint, MCP, Places, SECOND};
use super::public_key::PublicKey;
use crate::stand_in::{Answer, Asked};

/// How often what happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Clients that registered.
    pub registrations: u64,
    /// Browsers that came to log in.
    pub authorizations: u64,
    /// Codes that were given.
    pub codes: u64,
    /// Requests that came to the token endpoint.
    pub token_requests: u64,
    /// Codes that were exchanged.
    pub exchanges: u64,
    /// Refresh tokens that came to the token endpoint, whatever became of them.
    pub refreshes_arrived: u64,
    /// Refresh tokens that new tokens were given for.
    pub refreshes: u64,
    /// Of those, the ones that had been used already.
    pub repeats: u64,
    /// Refresh tokens that came again when they should not, which ended a login.
    pub reuses: u64,
    /// Tokens that were given to clients on their own account.
    pub client_credentials: u64,
    /// Access tokens that were given.
    pub tokens: u64,
    /// Tokens that were given back.
    pub revocations: u64,
    /// Requests that the MCP server was reached with.
    pub accepted: u64,
    /// Requests that it was not reached with for want of a good token.
    pub unauthorized: u64,
    /// Requests that it was not reached with for want of a scope.
    pub forbidden: u64,
}

impl Counters {
    pub(super) fn to_json(self) -> Json {
        json!({
            "registrations": self.registrations,
            "authorizations": self.authorizations,
            "codes": self.codes,
            "token_requests": self.token_requests,
            "exchanges": self.exchanges,
            "refreshes_arrived": self.refreshes_arrived,
            "refreshes": self.refreshes,
            "repeats": self.repeats,
            "reuses": self.reuses,
            "client_credentials": self.client_credentials,
            "tokens": self.tokens,
            "revocations": self.revocations,
            "accepted": self.accepted,
            "unauthorized": self.unauthorized,
            "forbidden": self.forbidden,
        })
    }
}

/// Everything that both servers know.
#[derive(Debug)]
pub(super) struct World {
    pub(super) options: Options,
    pub(super) places: Places,
    pub(super) counters: Counters,
    pub(super) grants: Grants,
    /// Clients, by identifier.
    pub(super) clients: BTreeMap<String, Known>,
    /// Questions that a person has yet to answer.
    pub(super) consents: BTreeMap<String, Consent>,
    /// What was signed already.
    pub(super) assertions: BTreeSet<String>,
    /// What was asked so far.
    pub(super) asked: Vec<Asked>,
}

impl World {
    pub(super) fn new(options: Options, places: Places) -> io::Result<Self> {
        let mut world = Self {
            options: options.clone(),
            places,
            counters: Counters::default(),
            grants: Grants::default(),
            clients: BTreeMap::new(),
            consents: BTreeMap::new(),
            assertions: BTreeSet::new(),
            asked: Vec::new(),
        };
        world.change(options)?;
        Ok(world)
    }

    /// Behaves as it is told from now on. What was granted stays, and so do clients.
    pub(super) fn change(&mut self, options: Options) -> io::Result<()> {
        for known in &options.clients.known {
            let (id, secret) = match known.split_once(':') {
                Some((id, secret)) => (id, Some(secret)),
                None => (known.as_str(), None),
            };
            let client = Known::by_hand(secret, &options.clients.authentication);
            self.clients.insert(id.to_owned(), client);
        }
        for known in &options.clients.keys {
            let complaint = || io::Error::other(format!("this is not ID=FILE: {known}"));
            let (id, file) = known.split_once('=').ok_or_else(complaint)?;
            self.add_key(id, &std::fs::read_to_string(file)?)?;
        }
        self.options = options;
        Ok(())
    }

    /// Makes a client known by its public key.
    pub(super) fn add_key(&mut self, id: &str, pem: &str) -> io::Result<()> {
        let key = PublicKey::read(pem);
        let key = key.ok_or_else(|| io::Error::other("this is no public key in PEM"))?;
        self.clients.insert(id.to_owned(), Known::with_key(key));
        Ok(())
    }

    /// Forgets the clients that registered themselves.
    pub(super) fn forget_clients(&mut self) {
        self.clients.retain(|_, client| !client.is_dynamic);
    }

    /// How often what happened.
    pub(super) fn counters(&self) -> Counters {
        Counters {
            reuses: self.grants.reuses,
            ..self.counters
        }
    }

    /// What the authorization server answers. There is nothing that it does halfway.
    pub(super) fn serve(&mut self, endpoint: Endpoint, asked: &Asked, now: Instant) -> Answer {
        let method = asked.method.as_str();
        match (endpoint, method) {
            (Endpoint::Authorize, "GET") => self.authorize(asked, now),
            (Endpoint::Consent, "POST") => self.consent(asked, now),
            (Endpoint::Token, "POST") => self.token(asked, now),
            (Endpoint::Register, "POST") => self.register(asked),
            (Endpoint::Revoke, "POST") if !self.options.login.no_revocation => self.revoke(asked),
            (Endpoint::Revoke, "POST") => Answer::bytes(404, "text/plain", "there is nothing here"),
            _ => Answer::bytes(405, "text/plain", "not this way"),
        }
    }

    /// The resource that tokens are wanted for (RFC 8707 §2).
    pub(super) fn resource(&self, form: &Form) -> Result<Option<String>, Refused> {
        if self.options.login.lax_resource {
            return Ok(None);
        }
        let target = |words: &str| Refused::new("invalid_target", words);
        let wanted = form.get("resource");
        let wanted = wanted.ok_or_else(|| target("resource is missing"))?;
        let is_known = [MCP, SECOND]
            .iter()
            .any(|path| self.resources_at(path).iter().any(|it| it == wanted));
        if is_known {
            Ok(Some(wanted.to_owned()))
        } else {
            Err(target("there is no such resource"))
        }
    }

    /// What an MCP server is called in tokens for it.
    pub(super) fn resources_at(&self, path: &str) -> Vec<String> {
        let mut names = vec![self.places.server(path)];
        if self.options.resource.origin_resource {
            let origin = &self.places.resource;
            // An address without a path is the same with a slash (RFC 3986 §6.2.3).
            names.extend([origin.clone(), format!("{origin}/")]);
        }
        names
    }
}
