//! A connection over HTTP/1: one request after the other.

use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::Arc;

use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;

use super::connection::{HEAD, HEAD_BYTES};
use crate::entrance;
use crate::peer::Peer;
use crate::state::Gateway;
use crate::wire::{Allowance, Wire};

/// How much is read ahead.
const BUFFER: usize = 64 * 1024;

/// Answers what comes, until either side has enough.
pub(super) async fn serve(
    wire: Wire<TcpStream>,
    allowance: Allowance,
    from: IpAddr,
    gateway: Arc<Gateway>,
) {
    let shared = Arc::clone(&gateway);
    let peer = Arc::new(Peer::single(from, allowance, &gateway));
    let answer = service_fn(move |request: Request<Incoming>| {
        let (gateway, peer) = (Arc::clone(&shared), Arc::clone(&peer));
        async move { Ok::<_, Infallible>(entrance::pass(gateway, request, peer).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_header_size(HEAD_BYTES.into())
        .max_buf_size(BUFFER)
        .serve_connection(TokioIo::new(wire), answer)
        .with_upgrades();
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        // Whether all stops is looked at only where there is nothing to do for the connection.
        biased;
        ended = connection.as_mut() => ended,
        () = gateway.stop.cancelled() => {
            // One that waits for a request ends now; one that answers ends with its answer, for which
            // whoever owns this task leaves it a moment.
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection over HTTP ended early");
    }
}
