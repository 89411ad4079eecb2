//! Secrets, and the ways not to give them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::Method;
use serde_json::json;

use super::tokens::FOR_EVER;
use super::{Fault, State, VersionState, error};
use crate::stand_in::{Answer, Asked};

/// More than anybody should read.
pub(super) const HUGE: usize = 8 * 1024 * 1024;

/// A version of a secret.
pub(super) struct Version {
    pub(super) value: Vec<u8>,
    pub(super) state: VersionState,
}

impl State {
    /// `projects.secrets.versions.access` of Secret Manager's REST interface.
    pub(super) fn access(&mut self, asked: &Asked) -> Answer {
        if asked.method != Method::GET {
            return error(404, "NOT_FOUND", "that is not a method", None);
        }
        if !self.knows(asked) {
            let reason = Some("ACCESS_TOKEN_TYPE_UNSUPPORTED");
            return error(401, "UNAUTHENTICATED", "invalid credentials", reason);
        }
        let fault = self.fault(|fault| !fault.is_about_tokens());
        if let Some(answer) = fault.and_then(faulty) {
            return answer;
        }
        let segments: Vec<&str> = asked.path.split('/').collect();
        let [
            "",
            "v1",
            "projects",
            project,
            "secrets",
            name,
            "versions",
            version,
        ] = segments[..]
        else {
            return error(404, "NOT_FOUND", "there is nothing here", None);
        };
        let version = version.trim_end_matches(":access");
        let place = (project.to_owned(), name.to_owned());
        let versions = self.secrets.get(&place).map(Vec::as_slice);
        let versions = versions.unwrap_or_default();
        let number = match version {
            "latest" => versions.len(),
            number => number.parse().unwrap_or(0),
        };
        let Some(found) = number.checked_sub(1).and_then(|index| versions.get(index)) else {
            let message = format!("Secret Version [{}] not found.", asked.path);
            return error(404, "NOT_FOUND", &message, None);
        };
        let state = match found.state {
            VersionState::Enabled => None,
            VersionState::Disabled => Some("DISABLED"),
            VersionState::Destroyed => Some("DESTROYED"),
        };
        if let Some(state) = state {
            let message = format!("Secret Version [{}] is in {state} state.", asked.path);
            return error(400, "FAILED_PRECONDITION", &message, None);
        }
        let mut checksum = checksum(&found.value);
        if fault == Some(Fault::WrongChecksum) {
            checksum ^= 1;
        }
        let answer = json!({
            "name": format!("projects/1/secrets/{name}/versions/{number}"),
            "payload": {
                "data": STANDARD.encode(&found.value),
                "dataCrc32c": checksum.to_string(),
            },
        });
        Answer::json(200, &answer)
    }
}

fn faulty(fault: Fault) -> Option<Answer> {
    // What is said in words must not be shown: it may be anything.
    let words = "words-that-may-hold-a-secret";
    let forbidden = |reason| error(403, "PERMISSION_DENIED", words, reason);
    Some(match fault {
        Fault::Throttled(seconds) => {
            error(429, "RESOURCE_EXHAUSTED", words, None).header("Retry-After", seconds.to_string())
        }
        Fault::Down => error(503, "UNAVAILABLE", words, None),
        Fault::Forbidden => forbidden(Some("IAM_PERMISSION_DENIED")),
        Fault::ServiceDisabled => forbidden(Some("SERVICE_DISABLED")),
        Fault::ScopeInsufficient => forbidden(Some("ACCESS_TOKEN_SCOPE_INSUFFICIENT")),
        Fault::Hang => error(500, "INTERNAL", words, None).after(FOR_EVER),
        Fault::Huge => Answer::bytes(200, "application/json", vec![b' '; HUGE]),
        Fault::Html => Answer::bytes(200, "text/html", "<html>log in first</html>"),
        Fault::OtherJson => Answer::json(200, &json!({ "payload": { "data": ["x"] } })),
        Fault::Redirect => Answer::bytes(307, "text/plain", "")
            .header("Location", "http://127.0.0.1:1/v1/elsewhere"),
        _ => return None,
    })
}

/// CRC32C, bit by bit, and so in another way than by those who check it.
fn checksum(bytes: &[u8]) -> u32 {
    let mut sum = u32::MAX;
    for byte in bytes {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            let carry = sum & 1;
            sum = (sum >> 1) ^ (0x82f6_3b78 * carry);
        }
    }
    !sum
}
