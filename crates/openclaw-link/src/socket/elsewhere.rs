//! Systems without the socket of a gateway.

use std::convert::Infallible;
use std::fs::File;
use std::future::{Ready, ready};
use std::io;
use std::path::Path;
use std::sync::Arc;

use super::Received;

/// There is none.
pub(crate) struct Socket(Infallible);

/// There is none.
pub(crate) struct Stream(Infallible);

/// There is none.
#[derive(Clone, Debug)]
pub(crate) struct Spot(Infallible);

impl Spot {
    pub(crate) fn listen(&self) -> io::Result<Socket> {
        match self.0 {}
    }

    pub(crate) fn is_empty(&self) -> bool {
        match self.0 {}
    }
}

impl Socket {
    /// Fails, and says why.
    pub(crate) fn bind(_state: &Path) -> io::Result<Self> {
        let message = "the socket of a gateway exists only on Unix systems";
        Err(io::Error::new(io::ErrorKind::Unsupported, message))
    }

    pub(crate) fn spot(&self) -> Spot {
        match self.0 {}
    }

    pub(crate) fn accept(&self) -> Ready<io::Result<Stream>> {
        match self.0 {}
    }
}

impl Stream {
    /// Finds none.
    pub(crate) fn connect(_state: &Path) -> Ready<io::Result<Self>> {
        ready(Err(io::ErrorKind::NotFound.into()))
    }

    pub(super) fn receive(&self, _received: &mut Received) -> Ready<io::Result<()>> {
        match self.0 {}
    }

    pub(super) fn send(&self, _bytes: &[u8], _files: &[Arc<File>]) -> Ready<io::Result<usize>> {
        match self.0 {}
    }
}
