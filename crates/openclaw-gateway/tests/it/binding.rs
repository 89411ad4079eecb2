//! Who listens on an address already.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use openclaw_gateway::{BindError, Occupant, bind};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use crate::harness::{Running, SOON, Wanted};

async fn occupant(address: SocketAddr) -> Occupant {
    match bind(address).await {
        Err(BindError::InUse { occupant, .. }) => occupant,
        other => panic!("not in use: {other:?}"),
    }
}

/// Somebody who answers whatever is asked with these bytes, and closes or not.
async fn somebody(says: &'static str, closes: bool) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let mut kept = Vec::new();
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut question = [0; 1024];
            let _ = stream.read(&mut question).await;
            let _ = stream.write_all(says.as_bytes()).await;
            if !closes {
                kept.push(stream);
            }
        }
    });
    address
}

#[tokio::test]
async fn a_free_address_is_listened_on() {
    let listener = bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
    assert_ne!(listener.local_addr().unwrap().port(), 0);
}

#[tokio::test]
async fn a_peer_that_reads_as_fast_as_it_has_to_is_seen_to_read() {
    let listener = bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let mut peer = TcpStream::connect(listener.local_addr().unwrap())
        .await
        .unwrap();
    let (stream, _) = listener.accept().await.unwrap();
    let some = vec![0; 64 * 1024];
    let fill = || while stream.try_write(&some).is_ok() {};
    loop {
        fill();
        let is_full = timeout(Duration::from_millis(200), stream.writable()).await;
        if is_full.is_err() {
            break;
        }
    }
    // As much as a peer has to move in half a minute.
    let mut enough = vec![0; 30 * 32 * 1024];
    let reading = async {
        peer.read_exact(&mut enough).await.unwrap();
        std::future::pending::<()>().await;
    };
    let writable = timeout(SOON, stream.writable());
    tokio::select! {
        writable = writable => writable.expect("it seems not to read").unwrap(),
        () = reading => unreachable!("it goes on waiting"),
    }
}

#[tokio::test]
async fn another_gateway_is_recognised_whatever_it_asks_for() {
    for credential in [
        openclaw_gateway::Credential::Nothing,
        openclaw_gateway::Credential::Token(openclaw_secrets::Secret::new("a-token")),
    ] {
        let gateway = Running::with(Wanted {
            credential,
            ..Wanted::default()
        })
        .await;
        let version = "1.2.3".to_owned();
        assert_eq!(
            occupant(gateway.address).await,
            Occupant::Gateway { version }
        );
        let error = bind(gateway.address).await.unwrap_err().to_string();
        assert!(
            error.ends_with("is in use by another gateway, of version 1.2.3"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn the_typescript_gateway_is_recognised() {
    let says = "HTTP/1.1 200 OK\r\nX-Content-Type-Options: nosniff\r\n\
                Content-Type: application/json; charset=utf-8\r\nContent-Length: 27\r\n\
                Connection: close\r\n\r\n{\"ok\":true,\"status\":\"live\"}";
    let address = somebody(says, true).await;
    assert_eq!(occupant(address).await, Occupant::TypeScript);
}

#[tokio::test]
async fn anybody_else_is_not_known_and_not_waited_for() {
    for (says, closes) in [
        ("", true),
        ("", false),
        ("SSH-2.0-OpenSSH_9.2\r\n", true),
        ("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", true),
        ("HTTP/1.1 200 OK\r\n\r\n{\"status\":\"ok\"}", true),
    ] {
        let address = somebody(says, closes).await;
        let began = Instant::now();
        assert_eq!(occupant(address).await, Occupant::Unknown, "{says:?}");
        assert!(began.elapsed() < Duration::from_secs(5));
    }
}

#[tokio::test]
async fn an_address_of_somebody_else_is_refused_by_the_system() {
    let error = bind("192.0.2.1:1".parse().unwrap()).await.unwrap_err();
    assert!(matches!(error, BindError::Refused { .. }), "{error}");
}
