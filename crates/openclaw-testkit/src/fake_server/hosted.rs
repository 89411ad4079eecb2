//! The HTTP side of the server inside another program, which has looked at the requests first.

use std::ffi::OsString;
use std::io;
use std::sync::Arc;

use clap::Parser as _;
use hyper::{Response, Uri};

pub(crate) use super::http::{Body, HangUp};

use super::http;
use super::options::Options;
use super::server::Server;
use crate::stand_in::Asked;

/// A server that somebody else speaks HTTP for.
pub(crate) struct Hosted(Arc<Server>);

impl Hosted {
    /// Takes the flags of the program.
    pub(crate) fn new(words: Vec<OsString>) -> io::Result<Self> {
        let words = std::iter::once("fake-mcp-server".into()).chain(words);
        let options = Options::try_parse_from(words).map_err(io::Error::other)?;
        Ok(Self(Arc::new(Server::new(options)?)))
    }

    /// Answers a request that came on this connection, to this port.
    pub(crate) async fn answer(
        &self,
        asked: Asked,
        connection: u64,
        port: u16,
    ) -> Result<Response<Body>, HangUp> {
        let uri = match asked.query.as_str() {
            "" => asked.path.parse::<Uri>(),
            query => format!("{}?{query}", asked.path).parse::<Uri>(),
        };
        let received = http::Received {
            method: asked.method,
            uri: uri.map_err(|_| HangUp)?,
            headers: asked.headers,
            body: asked.body,
            connection,
            port,
        };
        http::answer(&self.0, received).await
    }
}
