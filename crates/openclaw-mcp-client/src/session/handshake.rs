//! Finding out which era a server speaks, and agreeing on a revision.

use std::sync::Arc;

use serde_json::Value;
use tokio::time::Instant;

use super::core::{Core, Limits, Request, Speech};
use super::params::Parameters;
use super::terms::{Era, LEGACY, MODERN, Terms, client_capabilities, client_info, known};
use crate::error::RequestError;
use crate::model::{Fields, ServerInfo};
use crate::text::shown;
use crate::time;
use crate::transport::Link;
use crate::wire::{RpcError, notification};

/// How much of the name of a revision is shown.
const REVISION: usize = 40;

/// What `server/discover` told.
#[derive(Debug)]
pub(crate) enum Discovered {
    /// The server speaks the second era, and a revision was agreed on.
    Modern,
    /// It does not, or only revisions of the first era.
    Legacy,
    /// It speaks only revisions that we don't.
    Strange(Vec<String>),
}

/// Asks the server for the second era.
///
/// An error is none of the protocol: the server is gone, can't be reached, or wants to know who we
/// are.
pub(crate) async fn discover(core: &Core, until: Instant) -> Result<Discovered, RequestError> {
    let version = MODERN[0];
    match ask(core, version, until).await {
        Ok(fields) => Ok(agree(core, fields)),
        Err(RequestError::Refused(error))
            if error.code == RpcError::UNSUPPORTED_PROTOCOL_VERSION =>
        {
            let offered = offered(&error);
            // Even the one that was just refused may be offered; that is tried once.
            let Some(other) = MODERN.iter().copied().find(|it| offers(&offered, it)) else {
                return Ok(without_modern(offered));
            };
            match ask(core, other, until).await {
                Ok(fields) => Ok(agree(core, fields)),
                Err(RequestError::Refused(_)) => Ok(Discovered::Strange(offered)),
                Err(error) => Err(error),
            }
        }
        Err(RequestError::Refused(error))
            if matches!(
                error.code,
                RpcError::HEADER_MISMATCH | RpcError::MISSING_CAPABILITY
            ) =>
        {
            Err(RequestError::Refused(error))
        }
        // Any other answer is that of a server which does not know the question.
        Err(RequestError::Refused(_) | RequestError::BadAnswer(_) | RequestError::BadResult(_)) => {
            Ok(Discovered::Legacy)
        }
        // There are servers that fall over a question that they don't know.
        Err(RequestError::Http(failure))
            if means_legacy(failure.status.as_u16())
                || matches!(failure.status.as_u16(), 500 | 501) =>
        {
            Ok(Discovered::Legacy)
        }
        Err(error) => Err(error),
    }
}

/// Whether a status can be the answer of a server to something that it does not know.
pub(crate) fn means_legacy(status: u16) -> bool {
    (400..500).contains(&status) && !matches!(status, 401 | 403 | 408 | 429)
}

async fn ask(core: &Core, version: &'static str, until: Instant) -> Result<Fields, RequestError> {
    let speech = Speech::Modern(version);
    let request = handshake_request("server/discover", Parameters::default(), speech, until);
    let result = core.shake_hands(&request).await?;
    let value = result.value().ok();
    value
        .and_then(Fields::of)
        .ok_or_else(|| RequestError::BadAnswer("it is not an object".to_owned()))
}

fn agree(core: &Core, mut fields: Fields) -> Discovered {
    // Servers that answer everything with an empty object are no servers of the second era.
    let Some(versions) = fields.array("supportedVersions") else {
        return Discovered::Legacy;
    };
    let offered = texts(versions);
    let Some(version) = MODERN.iter().copied().find(|it| offers(&offered, it)) else {
        return without_modern(offered);
    };
    core.agree(Terms {
        era: Era::Modern,
        version,
        server: Arc::new(ServerInfo::read(&mut fields)),
    });
    Discovered::Modern
}

fn without_modern(offered: Vec<String>) -> Discovered {
    if LEGACY.iter().any(|version| offers(&offered, version)) || offered.is_empty() {
        Discovered::Legacy
    } else {
        Discovered::Strange(offered)
    }
}

fn offered(error: &RpcError) -> Vec<String> {
    let supported = error.data.as_ref().and_then(|data| data.get("supported"));
    match supported {
        Some(Value::Array(versions)) => texts(versions.clone()),
        _ => Vec::new(),
    }
}

fn offers(offered: &[String], version: &str) -> bool {
    offered.iter().any(|it| it == version)
}

fn texts(values: Vec<Value>) -> Vec<String> {
    let text = |value| match value {
        Value::String(text) => Some(shown(&text, REVISION)),
        _ => None,
    };
    values.into_iter().filter_map(text).take(100).collect()
}

/// Makes a session of the first era.
pub(crate) async fn initialize(core: &Core, until: Instant) -> Result<(), RequestError> {
    let params = Parameters::from([
        ("protocolVersion", LEGACY[0].into()),
        ("capabilities", client_capabilities(core.inbound.roots())),
        ("clientInfo", client_info()),
    ]);
    let request = handshake_request("initialize", params, Speech::Handshake, until);
    let result = core.shake_hands(&request).await?;
    let mut fields = result
        .value()
        .ok()
        .and_then(Fields::of)
        .ok_or_else(|| RequestError::BadAnswer("it is not an object".to_owned()))?;
    let answered = fields.text("protocolVersion").unwrap_or_default();
    let version = known(&LEGACY, &answered).ok_or_else(|| {
        let name = shown(&answered, REVISION);
        RequestError::BadAnswer(format!("it speaks the unknown revision `{name}`"))
    })?;
    core.agree(Terms {
        era: Era::Legacy,
        version,
        server: Arc::new(ServerInfo::read(&mut fields)),
    });
    match &core.link {
        Link::Stdio(_) => {}
        Link::Streamable(streamable) => streamable.speak(version),
        Link::Events(events) => events.speak(version),
    }
    let initialized = notification("notifications/initialized", None::<&Value>)
        .map_err(|error| RequestError::NotSent(error.to_string()))?;
    core.link.notify(initialized, until).await?;
    match &core.link {
        Link::Stdio(_) => {}
        Link::Streamable(streamable) => {
            streamable.settle();
            streamable.listen();
        }
        Link::Events(events) => events.settle(),
    }
    Ok(())
}

fn handshake_request(
    method: &'static str,
    params: Parameters,
    speech: Speech,
    until: Instant,
) -> Request {
    Request {
        method,
        params,
        limits: Limits {
            idle: time::until(until),
            until,
        },
        ticket: crate::traffic::TicketOptions::default(),
        speech,
    }
}
