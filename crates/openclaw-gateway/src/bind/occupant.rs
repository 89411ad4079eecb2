//! Who listens on an address.

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use openclaw_content::shown_line;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// How long somebody may take to say who they are.
const PATIENCE: Duration = Duration::from_secs(2);
/// How much of that is read.
const ANSWER: u64 = 64 * 1024;
/// How much of a version is repeated.
const VERSION: usize = 40;

/// Who listens on an address already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Occupant {
    /// Another gateway of ours.
    Gateway {
        /// Its version.
        version: String,
    },
    /// The gateway of the TypeScript `OpenClaw`.
    TypeScript,
    /// Something else.
    Unknown,
}

impl fmt::Display for Occupant {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gateway { version } => write!(formatter, "another gateway, of version {version}"),
            Self::TypeScript => formatter.write_str("the gateway of the TypeScript OpenClaw"),
            Self::Unknown => formatter.write_str("another program"),
        }
    }
}

/// Asks who is there. Whoever does not say is not known.
pub(super) async fn recognise(address: SocketAddr) -> Occupant {
    match timeout(PATIENCE, ask(reachable(address))).await {
        Ok(Ok(answer)) => judge(&answer),
        Ok(Err(_)) | Err(_) => Occupant::Unknown,
    }
}

/// The address at which all addresses of this machine can be reached.
fn reachable(mut address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() {
        address.set_ip(match address.ip() {
            IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        });
    }
    address
}

async fn ask(address: SocketAddr) -> io::Result<Vec<u8>> {
    let mut stream = TcpStream::connect(address).await?;
    let question =
        format!("GET /health HTTP/1.0\r\nHost: {address}\r\nAccept: application/json\r\n\r\n");
    stream.write_all(question.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.take(ANSWER).read_to_end(&mut answer).await?;
    Ok(answer)
}

/// Ours says its name. The TypeScript OpenClaw (seen with 2026.9.6) says `{"ok":true,"status":"live"}`.
fn judge(answer: &[u8]) -> Occupant {
    let head = answer.windows(4).position(|window| window == b"\r\n\r\n");
    let body = head
        .and_then(|end| answer.get(end + 4..))
        .unwrap_or_default();
    let Ok(body) = serde_json::from_slice::<Value>(body) else {
        return Occupant::Unknown;
    };
    let text = |name: &str| body.get(name).and_then(Value::as_str);
    if text("name") == Some("openclaw") {
        let version = text("version").unwrap_or("unknown");
        return Occupant::Gateway {
            version: shown_line(version, VERSION),
        };
    }
    if body.get("ok") == Some(&Value::Bool(true)) && text("status") == Some("live") {
        return Occupant::TypeScript;
    }
    Occupant::Unknown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_known_by_what_it_says() {
        let said = |body: &str| judge(format!("HTTP/1.1 200 OK\r\nX: y\r\n\r\n{body}").as_bytes());
        assert_eq!(
            said(r#"{"status":"ok","name":"openclaw","version":"1.2.3"}"#),
            Occupant::Gateway {
                version: "1.2.3".to_owned()
            }
        );
        assert_eq!(said(r#"{"ok":true,"status":"live"}"#), Occupant::TypeScript);
        for other in [
            "",
            "hello",
            "{}",
            "[]",
            r#"{"ok":true}"#,
            r#"{"status":"live"}"#,
        ] {
            assert_eq!(said(other), Occupant::Unknown, "{other}");
        }
        assert_eq!(judge(b"SSH-2.0-OpenSSH_9.2\r\n"), Occupant::Unknown);
    }

    #[test]
    fn a_version_is_shown_as_one_line_without_controls() {
        let answer =
            "HTTP/1.1 200 OK\r\n\r\n{\"name\":\"openclaw\",\"version\":\"1\\u001b[31m\\n2\"}";
        let Occupant::Gateway { version } = judge(answer.as_bytes()) else {
            panic!("not recognised");
        };
        assert!(!version.contains(['\u{1b}', '\n']), "{version:?}");
    }
}
