//! Listening on an address, and who listens there already.

mod occupant;

use std::io;
use std::net::SocketAddr;

use thiserror::Error;
use tokio::net::{TcpListener, TcpSocket};

pub use occupant::Occupant;

/// How many connections may wait until they are taken up.
const BACKLOG: u32 = 1_024;
/// How much of what is written to a peer the system holds until it has arrived. A peer is known to read when a third of
/// that is gone: with the megabytes that the system would take by itself, one that reads slowly but steadily would seem not
/// to read at all. A connection over a long way carries no more than this in the time of a round trip.
const SENDING: u32 = 256 * 1024;

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
    match listen(address) {
        Ok(listener) => Ok(listener),
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => Err(BindError::InUse {
            address,
            occupant: occupant::recognise(address).await,
        }),
        Err(source) => Err(BindError::Refused { address, source }),
    }
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    // On Windows it would let others listen at the same time.
    #[cfg(not(windows))]
    socket.set_reuseaddr(true)?;
    // Connections have it from whoever listens.
    socket.set_send_buffer_size(SENDING)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}
