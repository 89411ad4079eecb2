//! Secrets of the key-value engines of `HashiCorp` Vault, and of `OpenBao`, which speaks the same.
//!
//! | module | owns | never contains |
//! |---|---|---|
//! | `address` | where the server is | requests |
//! | `trust` | the certificates that variables name | connections |
//! | `client` | the client that they are read for, and another one when they have changed | what is sent |
//! | `server` | one request and what came of it, repeated where that helps | what is asked |
//! | `reply` | what an answer means, in our words | requests |
//! | `token` | what opens the server, and how long it is kept | logging in |
//! | `role` | getting a token by `AppRole` | keeping it |
//! | `mounts` | which engine a path belongs to | values |
//! | `reading` | from a path to the fields that are kept there | which of them is wanted |
//! | `field` | which field is the secret | where it came from |

mod address;
mod client;
mod field;
mod mounts;
mod reading;
mod reply;
mod role;
mod server;
mod token;
mod trust;

use std::collections::HashMap;

use futures_util::future::join_all;
use openclaw_secrets::SecretReference;
use tokio::time::Instant;

use self::client::Client;
use self::mounts::Mounts;
use self::reading::{Outcome, Reader};
use self::server::Server;
use self::token::{Token, Tokens};
use crate::error::SecretError;
use crate::provider::{Fetched, Fetching, SecretProvider, Turns, all_failed};
use crate::surroundings::Surroundings;
use crate::value::{self, Document};

/// The fields that are kept at a path: a JSON object.
type Fields = Document;

/// A Vault server.
pub(crate) struct Vault {
    surroundings: Surroundings,
    turns: Turns,
    client: Client,
    tokens: Tokens,
    mounts: Mounts,
}

impl Vault {
    pub(crate) fn new(surroundings: Surroundings) -> Self {
        Self {
            surroundings,
            turns: Turns::default(),
            client: Client::default(),
            tokens: Tokens::default(),
            mounts: Mounts::default(),
        }
    }

    /// Reads every path once, so that a name and its password are of the same version.
    async fn read_all(
        &self,
        references: &[SecretReference],
        until: Instant,
    ) -> Result<Vec<Fetched>, SecretError> {
        let server = Server::find(&self.surroundings, &self.client, &self.turns).await?;
        let token = self.tokens.get(&server, until).await?;
        let mut places: HashMap<String, usize> = HashMap::new();
        let mut paths = Vec::new();
        for path in references.iter().filter_map(path_of) {
            places.entry(path).or_insert_with_key(|path| {
                paths.push(path.clone());
                paths.len() - 1
            });
        }
        let reading = paths
            .iter()
            .map(|path| self.read(&server, &token, path, until));
        let read = join_all(reading).await;
        let answer = |reference: &SecretReference| {
            let SecretReference::Vault { field, .. } = reference else {
                return Err(SecretError::misconfigured("it is not a secret of Vault"));
            };
            let place = path_of(reference).and_then(|path| places.get(&path).copied());
            let Some(read) = place.and_then(|place| read.get(place)) else {
                return Err(SecretError::unavailable("it was not read"));
            };
            let fields = read.as_ref().map_err(Clone::clone)?;
            let value = field::choose(&self.surroundings, fields, field.as_deref())?;
            Ok(value::from_json(value)?.into())
        };
        Ok(references.iter().map(answer).collect())
    }

    /// Reads a path. A token that we got ourselves may have ended before its time: then there is
    /// another one.
    async fn read(
        &self,
        server: &Server<'_>,
        token: &Token,
        path: &str,
        until: Instant,
    ) -> Result<Fields, SecretError> {
        let reader = Reader {
            server,
            mounts: &self.mounts,
            until,
        };
        let denial = match reader.read(token, path).await? {
            Outcome::Found(fields) => return Ok(fields),
            Outcome::Denied(denial) => denial,
        };
        if !token.may_have_ended(&denial) {
            return Err(denial.into_error(token));
        }
        let token = self.tokens.renewed(server, token, until).await?;
        match reader.read(&token, path).await? {
            Outcome::Found(fields) => Ok(fields),
            Outcome::Denied(denial) => Err(denial.into_error(&token)),
        }
    }
}

impl SecretProvider for Vault {
    fn fetch<'p>(&'p self, references: &'p [SecretReference], until: Instant) -> Fetching<'p> {
        Box::pin(async move {
            let answers = self.read_all(references, until).await;
            answers.unwrap_or_else(|error| all_failed(references, &error))
        })
    }
}

/// Mount and path of a reference: which segment is the last of the mount, only the server knows.
fn path_of(reference: &SecretReference) -> Option<String> {
    match reference {
        SecretReference::Vault { mount, path, .. } => Some(format!("{mount}/{path}")),
        _ => None,
    }
}
