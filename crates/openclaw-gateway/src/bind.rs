//! Listening on an address, and who listens there already.

mod occupant;

use std::io;
use std::net::SocketAddr;

use thiserror::Error;
use tokio::net::TcpListener;

pub use occupant::Occupant;

/// Why an address can't be listened on.
#[derive(Debug, Error)]
pub enum BindError {
    /// Somebody else does.
    #[error("{address} is in use by {occupant}")]
    InUse {
        /// The address.
        address: SocketAddr,
        /// By whom.
        occupant: Occupant,
    },
    /// The system does not want to.
    #[error("cannot listen on {address}: {source}")]
    Refused {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
}

/// Listens on an address; whoever listens there already is recognised.
pub async fn bind(address: SocketAddr) -> Result<TcpListener, BindError> {
    match TcpListener::bind(address).await {
        Ok(listener) => Ok(listener),
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => Err(BindError::InUse {
            address,
            occupant: occupant::recognise(address).await,
        }),
        Err(source) => Err(BindError::Refused { address, source }),
    }
}
