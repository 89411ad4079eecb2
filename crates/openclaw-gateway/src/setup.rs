//! What a gateway is made of.

use std::path::PathBuf;
use std::sync::Arc;

use openclaw_engine::Engine;
use openclaw_link::Listener;
use openclaw_secrets::Secret;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::follow::Followed;

/// What clients over HTTP prove who they are with.
pub enum Credential {
    /// With nothing.
    Nothing,
    /// With a token. One of 32 characters and more counts as one that nobody can guess, and lets in whoever
    /// has it whatever others try. A shorter one is limited as a password is.
    Token(Secret),
    /// With a password, of which only so many can be tried.
    Password(Secret),
}

/// What a gateway is made of.
pub struct GatewaySetup {
    /// What is asked.
    pub engine: Arc<dyn Engine>,
    /// Where HTTP comes in.
    pub http: TcpListener,
    /// Where commands come in.
    pub socket: Listener,
    /// What clients prove who they are with.
    pub credential: Credential,
    /// The names under which it may be asked, besides this machine's own and addresses in digits.
    pub allowed_hosts: Vec<String>,
    /// Its public address, where it has one.
    pub public_url: Option<Url>,
    /// How many MiB of large answers over HTTP may wait to be read.
    pub answers_mebibytes: u32,
    /// The files of the configuration, as of now.
    pub configuration_files: Box<dyn Fn() -> Vec<PathBuf> + Send + Sync>,
    /// What they were like before the configuration was read that the engine has.
    pub followed: Followed,
    /// The configuration file, for those who ask.
    pub config: String,
    /// The version of the program.
    pub version: &'static str,
    /// Cancelled when it is to stop, by whoever made it or by somebody who asks for that.
    pub stop: CancellationToken,
}
