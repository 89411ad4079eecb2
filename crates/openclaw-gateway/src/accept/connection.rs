//! One connection: which HTTP is spoken over it, and what somebody is told for whom there is no room.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::{http1, http2};
use crate::state::Gateway;
use crate::wire::{Allowance, Wire};

/// How long the head of a request may take, and how long none need come.
pub(super) const HEAD: Duration = Duration::from_secs(10);
/// How large the head of a request may be.
pub(super) const HEAD_BYTES: u16 = 32 * 1024;
/// How HTTP/2 begins where nobody agreed on it before: RFC 9113 §3.4.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// What is said over it to somebody for whom there is no room: settings without any, and that the connection goes, since
/// there is too much of something (`ENHANCE_YOUR_CALM`, RFC 9113 §7).
const CALM: &[u8] = b"\0\0\0\x04\0\0\0\0\0\0\0\x08\x07\0\0\0\0\0\0\0\0\0\0\0\0\x0b";
/// How long that beginning may take once it has begun.
const BEGINNING: Duration = Duration::from_secs(2);
/// How long somebody is told that there is no room.
pub(super) const REFUSAL: Duration = Duration::from_secs(2);
/// The same where others wait for being told behind him.
pub(super) const SHORT_REFUSAL: Duration = Duration::from_millis(50);

/// Answers what comes over a connection, until either side has enough.
pub(super) async fn serve(stream: TcpStream, from: IpAddr, gateway: Arc<Gateway>) {
    let _counted = gateway.traffic.connected();
    let allowance = Allowance::default();
    let beginning = async {
        timeout(HEAD, stream.peek(&mut [0])).await.ok()?.ok()?;
        let mut wire = Wire::new(stream, gateway.stop.clone()).within(allowance.clone());
        let is_two = timeout(BEGINNING, wire.begins_with(PREFACE))
            .await
            .ok()?
            .ok()?;
        Some((wire, is_two))
    };
    let beginning = tokio::select! {
        () = gateway.stop.cancelled() => return,
        beginning = beginning => beginning,
    };
    match beginning {
        Some((wire, true)) => http2::serve(wire, from, gateway).await,
        Some((wire, false)) => http1::serve(wire, allowance, from, gateway).await,
        // Whoever says nothing, or is gone, is told nothing.
        None => {}
    }
}

/// Tells somebody that there is no room.
pub(super) async fn refuse(stream: TcpStream, patience: Duration, stop: CancellationToken) {
    const BODY: &str = r#"{"error":{"code":"too-many-connections","message":"there are as many connections as there may be"}}"#;
    let answer = format!(
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
         Cache-Control: no-store\r\nRetry-After: 1\r\nConnection: close\r\n\r\n{BODY}",
        BODY.len()
    );
    let mut wire = Wire::new(stream, stop);
    let told = async {
        // Whoever says nothing is told in the way that everybody reads.
        let is_two = timeout(patience / 2, wire.begins_with(PREFACE)).await;
        let answer = match is_two {
            Ok(Ok(true)) => CALM,
            _ => answer.as_bytes(),
        };
        wire.write_all(answer).await?;
        wire.shutdown().await
    };
    let _ = timeout(patience, told).await;
}
