//! The sockets that a browser can come back to.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use tokio::net::{TcpListener, TcpSocket};

use crate::error::{OAuthError, quoted};

/// How often a port is looked for that is free on all addresses.
const ATTEMPTS: usize = 16;
/// How many connections may wait to be taken. One more is dropped by the machine and tried again by
/// the browser, seconds later.
const WAITING: u32 = 1024;

const V4: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const V6: IpAddr = IpAddr::V6(Ipv6Addr::LOCALHOST);

/// Sockets that have one port.
#[derive(Debug)]
pub(super) struct Bound {
    pub(super) sockets: Vec<TcpListener>,
    pub(super) port: u16,
}

/// Takes a port on all addresses that a host stands for: the fixed one where there is one, else the
/// preferred one if it is free, else any.
pub(super) fn bind(
    host: &str,
    fixed: Option<u16>,
    preferred: Option<u16>,
) -> Result<Bound, OAuthError> {
    let addresses: &[IpAddr] = match host {
        "127.0.0.1" => &[V4],
        "[::1]" => &[V6],
        "localhost" => &[V4, V6],
        _ => {
            let host = quoted(host);
            return Err(OAuthError::lasting(format!(
                "the browser can't be sent to `{host}`, which is not a name of this machine"
            ))
            .hint("set `auth.callbackHost` to `127.0.0.1`, `localhost` or `[::1]`"));
        }
    };
    if let Some(port) = fixed {
        let bound = at(addresses, port);
        return bound.map_err(|error| refused(host, Some(port), &error));
    }
    if let Some(port) = preferred.filter(|port| *port != 0)
        && let Ok(bound) = at(addresses, port)
    {
        return Ok(bound);
    }
    free(addresses).map_err(|error| refused(host, None, &error))
}

fn free(addresses: &[IpAddr]) -> io::Result<Bound> {
    let mut attempt = 1;
    loop {
        match at(addresses, 0) {
            // Free on the first address, and taken on the second.
            Err(error) if error.kind() == io::ErrorKind::AddrInUse && attempt < ATTEMPTS => {
                attempt += 1;
            }
            done => return done,
        }
    }
}

/// Takes a port, any if it is 0, on all addresses that this machine has.
///
/// A port that somebody else has on one of them is not taken at all: a browser that looks up
/// `localhost` could bring the answer to them.
fn at(addresses: &[IpAddr], mut port: u16) -> io::Result<Bound> {
    let mut sockets = Vec::new();
    let mut missing = None;
    for address in addresses {
        match listen(SocketAddr::new(*address, port)) {
            Ok(socket) => {
                port = socket.local_addr()?.port();
                sockets.push(socket);
            }
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => return Err(error),
            // A machine without IPv6, or without IPv4.
            Err(error) => missing = Some(error),
        }
    }
    match missing {
        Some(error) if sockets.is_empty() => Err(error),
        _ => Ok(Bound { sockets, port }),
    }
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() {
        TcpSocket::new_v4()?
    } else {
        TcpSocket::new_v6()?
    };
    // So that a fixed port can be taken again right after a login. Elsewhere than on Unix it would
    // let others take the same port.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(WAITING)
}

fn refused(host: &str, port: Option<u16>, error: &io::Error) -> OAuthError {
    let place = match port {
        Some(port) => format!("port {port} of {host}"),
        None => format!("a port of {host}"),
    };
    match error.kind() {
        io::ErrorKind::AddrInUse => OAuthError::lasting(format!(
            "{place}, which the browser is sent to after the login, is used by another program"
        ))
        .hint(
            "end that program, which may be another login, set `auth.callbackPort` to a port that is \
             free, or do without the port: `--no-browser` lets you bring the address yourself",
        ),
        io::ErrorKind::PermissionDenied => OAuthError::lasting(format!(
            "{place}, which the browser is sent to after the login, may not be listened on: {error}"
        ))
        .hint("set `auth.callbackPort` to a port above 1023"),
        io::ErrorKind::AddrNotAvailable => OAuthError::lasting(format!(
            "the browser can't be sent to {host} after the login: this machine has no such address"
        ))
        .hint("set `auth.callbackHost` to `127.0.0.1`"),
        _ => OAuthError::lasting(format!(
            "{place}, which the browser is sent to after the login, can't be listened on: {error}"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A port that somebody has on this address, and nobody on the other one.
    async fn taken(address: IpAddr) -> (TcpListener, u16) {
        let socket = TcpListener::bind((address, 0)).await.unwrap();
        let port = socket.local_addr().unwrap().port();
        (socket, port)
    }

    async fn has_v6() -> bool {
        TcpListener::bind((V6, 0)).await.is_ok()
    }

    #[tokio::test]
    async fn only_addresses_of_this_machine_are_listened_on() {
        for host in ["127.0.0.1", "localhost"] {
            let bound = bind(host, None, None).unwrap();
            assert!(!bound.sockets.is_empty());
            for socket in &bound.sockets {
                let address = socket.local_addr().unwrap();
                assert!(address.ip().is_loopback(), "{address}");
                assert_eq!(address.port(), bound.port);
            }
        }
        for host in ["0.0.0.0", "", "example.com", "[::]", "127.0.0.1.example"] {
            let error = bind(host, None, None).unwrap_err();
            assert!(error.to_string().contains("not a name of this machine"));
        }
    }

    #[tokio::test]
    async fn the_name_of_this_machine_is_both_its_addresses() {
        let expected = if has_v6().await { 2 } else { 1 };
        let bound = bind("localhost", None, None).unwrap();
        assert_eq!(bound.sockets.len(), expected);
    }

    #[tokio::test]
    async fn a_fixed_port_that_is_taken_is_named() {
        let (_other, port) = taken(V4).await;
        let error = bind("127.0.0.1", Some(port), None).unwrap_err();
        assert_eq!(error.remedy(), crate::Remedy::Change);
        let expected = format!(
            "port {port} of 127.0.0.1, which the browser is sent to after the login, is used by \
             another program"
        );
        assert_eq!(error.to_string(), expected);
        assert!(error.hint_text().unwrap().contains("`auth.callbackPort`"));
    }

    #[tokio::test]
    async fn a_port_that_somebody_has_on_the_other_address_is_not_taken() {
        if !has_v6().await {
            return;
        }
        let (_other, port) = taken(V6).await;
        assert!(bind("localhost", Some(port), None).is_err());
        let bound = bind("localhost", None, Some(port)).unwrap();
        assert_ne!(bound.port, port);
    }

    #[tokio::test]
    async fn a_preferred_port_gives_way() {
        let (other, port) = taken(V4).await;
        let bound = bind("127.0.0.1", None, Some(port)).unwrap();
        assert_ne!(bound.port, port);
        drop(other);
        let bound = bind("127.0.0.1", None, Some(port)).unwrap();
        assert_eq!(bound.port, port);
    }

    #[test]
    fn a_machine_without_the_address_is_told_apart() {
        let missing = io::Error::from(io::ErrorKind::AddrNotAvailable);
        let error = refused("[::1]", Some(7777), &missing);
        assert!(error.to_string().ends_with("has no such address"));
        let denied = io::Error::from(io::ErrorKind::PermissionDenied);
        let error = refused("127.0.0.1", Some(80), &denied);
        assert!(error.hint_text().unwrap().contains("above 1023"));
    }
}
