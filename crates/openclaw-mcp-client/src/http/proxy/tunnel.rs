//! A way through a proxy for what it must not read.

use std::io;

use http::{HeaderValue, StatusCode};
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

/// The longest head of a proxy's answer.
const LARGEST: usize = 16 * 1024;

/// Why a proxy does not let us through.
#[derive(Debug, Error)]
pub(in crate::http) enum TunnelError {
    /// The connection to it broke.
    #[error("the proxy closed the connection")]
    Closed,
    /// It wants to know who we are.
    #[error("the proxy wants a user and a password (or others than those in its address)")]
    Unauthorized,
    /// It does not want to.
    #[error("the proxy refuses the connection: HTTP status {0}")]
    Refused(StatusCode),
    /// It answered something else.
    #[error("the proxy's answer is not HTTP")]
    NotHttp,
}

/// Asks a proxy for a connection to a host and port (RFC 9110 §9.3.6).
pub(in crate::http) async fn tunnel<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut S,
    authority: &str,
    authorization: Option<&HeaderValue>,
) -> Result<(), TunnelError> {
    let mut request = format!("CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n").into_bytes();
    if let Some(value) = authorization {
        request.extend_from_slice(b"Proxy-Authorization: ");
        request.extend_from_slice(value.as_bytes());
        request.extend_from_slice(b"\r\n");
    }
    request.extend_from_slice(b"\r\n");
    let closed = |_: io::Error| TunnelError::Closed;
    stream.write_all(&request).await.map_err(closed)?;
    stream.flush().await.map_err(closed)?;
    let mut answer = Vec::with_capacity(512);
    // Nothing can come after the head that belongs to somebody else: in TLS the client speaks
    // first.
    while !answer.windows(4).any(|window| window == b"\r\n\r\n") {
        if answer.len() > LARGEST {
            return Err(TunnelError::NotHttp);
        }
        if stream.read_buf(&mut answer).await.map_err(closed)? == 0 {
            return Err(TunnelError::Closed);
        }
    }
    match status(&answer).ok_or(TunnelError::NotHttp)? {
        status if status.is_success() => Ok(()),
        StatusCode::PROXY_AUTHENTICATION_REQUIRED => Err(TunnelError::Unauthorized),
        status => Err(TunnelError::Refused(status)),
    }
}

/// The status of an answer's first line, such as `HTTP/1.1 200 Connection established`.
fn status(answer: &[u8]) -> Option<StatusCode> {
    let rest = answer.strip_prefix(b"HTTP/1.")?;
    let code = rest.get(1..)?.strip_prefix(b" ")?.get(..3)?;
    StatusCode::from_bytes(code).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn asked(answer: &str) -> (Result<(), TunnelError>, String) {
        let (mut ours, mut theirs) = tokio::io::duplex(64 * 1024);
        theirs.write_all(answer.as_bytes()).await.unwrap();
        theirs.shutdown().await.unwrap();
        let value = HeaderValue::from_static("Basic eA==");
        let result = tunnel(&mut ours, "a.example:443", Some(&value)).await;
        drop(ours);
        let mut request = String::new();
        theirs.read_to_string(&mut request).await.unwrap();
        (result, request)
    }

    #[tokio::test]
    async fn a_proxy_that_agrees_opens_the_way() {
        let (result, request) = asked("HTTP/1.1 200 Connection established\r\nX: y\r\n\r\n").await;
        result.unwrap();
        assert_eq!(
            request,
            "CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\
             Proxy-Authorization: Basic eA==\r\n\r\n"
        );
        asked("HTTP/1.0 200\r\n\r\n").await.0.unwrap();
    }

    #[tokio::test]
    async fn a_proxy_that_refuses_is_explained() {
        let refusal = async |answer: &str| asked(answer).await.0.unwrap_err().to_string();
        let forbidden = refusal("HTTP/1.1 403 Forbidden\r\n\r\n").await;
        assert!(forbidden.contains("403 Forbidden"), "{forbidden}");
        let unauthorized = refusal("HTTP/1.1 407 Proxy\r\n\r\n").await;
        assert!(
            unauthorized.contains("a user and a password"),
            "{unauthorized}"
        );
        assert!(
            refusal("SSH-2.0-OpenSSH\r\n\r\n")
                .await
                .contains("not HTTP")
        );
        assert!(refusal(&"x".repeat(LARGEST + 1)).await.contains("not HTTP"));
        assert!(refusal("HTTP/1.1 2").await.contains("closed"));
        assert!(refusal("").await.contains("closed"));
    }
}
