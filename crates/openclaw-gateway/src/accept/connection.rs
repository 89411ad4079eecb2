//! One connection over HTTP.

use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::entrance;
use crate::state::Gateway;
use crate::wire::{Allowance, Wire};

/// How long the head of a request may take, and how long none need come.
const HEAD: Duration = Duration::from_secs(10);
/// How large the head of a request may be.
const HEAD_BYTES: usize = 32 * 1024;
/// How much is read ahead.
const BUFFER: usize = 64 * 1024;
/// How long somebody is told that there is no room.
const REFUSAL: Duration = Duration::from_secs(2);

/// Answers what comes over a connection, until either side has enough.
pub(super) async fn serve(stream: TcpStream, from: IpAddr, gateway: Arc<Gateway>) {
    let _counted = gateway.traffic.connected();
    let allowance = Allowance::default();
    let wire = Wire::new(stream, gateway.stop.clone()).within(allowance.clone());
    let wire = TokioIo::new(wire);
    let shared = Arc::clone(&gateway);
    let answer = service_fn(move |request: Request<Incoming>| {
        let (gateway, allowance) = (Arc::clone(&shared), allowance.clone());
        async move { Ok::<_, Infallible>(entrance::pass(gateway, request, from, allowance).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_header_size(HEAD_BYTES)
        .max_buf_size(BUFFER)
        .serve_connection(wire, answer)
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

/// Tells somebody that there is no room.
pub(super) async fn refuse(stream: TcpStream, stop: CancellationToken) {
    const BODY: &str = r#"{"error":{"code":"too-many-connections","message":"there are as many connections as there may be"}}"#;
    let answer = format!(
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
         Cache-Control: no-store\r\nRetry-After: 1\r\nConnection: close\r\n\r\n{BODY}",
        BODY.len()
    );
    let mut wire = Wire::new(stream, stop);
    let told = async {
        wire.write_all(answer.as_bytes()).await?;
        wire.shutdown().await
    };
    let _ = timeout(REFUSAL, told).await;
}
