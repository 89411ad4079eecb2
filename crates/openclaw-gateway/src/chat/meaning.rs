//! Which agent, model and session a request means.

use http::{HeaderMap, HeaderName, HeaderValue};
use openclaw_engine::SessionChoice;
use ring::rand::{SecureRandom as _, SystemRandom};

use super::problem::Problem;

/// The session that a request goes on with, and that an answer belongs to.
pub(super) const SESSION: HeaderName = HeaderName::from_static("x-openclaw-session-key");
/// The agent, for clients that can't choose the model.
pub(super) const AGENT: HeaderName = HeaderName::from_static("x-openclaw-agent-id");

/// The model that stands for the default agent.
pub(super) const DEFAULT: &str = "openclaw";
/// How the name of a session begins that a request without one gets.
const FRESH: &str = "openai";
/// What may stand before the name of an agent.
const PREFIXES: [&str; 3] = ["openclaw/", "openclaw:", "agent:"];

/// Who is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Addressee {
    /// The agent, if it is not the session's or the default one.
    pub(super) agent: Option<String>,
    /// Another model than the agent's.
    pub(super) model: Option<String>,
}

/// Who is meant by the name of a model.
pub(super) fn addressee(model: &str) -> Result<Addressee, Problem> {
    if model.is_empty() || model == DEFAULT {
        return Ok(Addressee::default());
    }
    let agent = PREFIXES.iter().find_map(|it| model.strip_prefix(it));
    match agent {
        Some("") => Err(Problem::unknown_model(model)),
        Some(agent) => Ok(Addressee {
            agent: Some(agent.to_owned()),
            model: None,
        }),
        None if model.contains('/') => Ok(Addressee {
            agent: None,
            model: Some(model.to_owned()),
        }),
        None => Err(Problem::unknown_model(model)),
    }
}

impl Addressee {
    /// The same, where a header may name the agent.
    pub(super) fn of_headers(mut self, headers: &HeaderMap) -> Result<Self, Problem> {
        let Some(named) = text(headers, &AGENT)? else {
            return Ok(self);
        };
        if self.agent.as_ref().is_some_and(|agent| *agent != named) {
            return Err(Problem::invalid(
                AGENT.as_str(),
                "the header and `model` name different agents",
            ));
        }
        self.agent = Some(named);
        Ok(self)
    }
}

/// The session that a request goes on with, or a new one.
pub(super) fn session(headers: &HeaderMap) -> Result<SessionChoice, Problem> {
    Ok(match text(headers, &SESSION)? {
        Some(key) => SessionChoice::Key(key),
        None => SessionChoice::Fresh(FRESH.to_owned()),
    })
}

/// The text of a header; an empty one counts as none.
fn text(headers: &HeaderMap, name: &HeaderName) -> Result<Option<String>, Problem> {
    let Some(value) = headers.get(name) else {
        return Ok(None);
    };
    let text = std::str::from_utf8(value.as_bytes());
    let text = text.map_err(|_| Problem::invalid(name.as_str(), "the header is not UTF-8"))?;
    let text = text.trim();
    Ok((!text.is_empty()).then(|| text.to_owned()))
}

/// The value of a header, if it can be one.
pub(super) fn header(text: &str) -> Option<HeaderValue> {
    HeaderValue::from_bytes(text.as_bytes()).ok()
}

/// A name that nobody else has.
pub(super) fn random() -> String {
    let mut bytes = [0; 12];
    // It has to differ from others, and nobody has to be unable to guess it: without randomness it is
    // what it is.
    let _ = SystemRandom::new().fill(&mut bytes);
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
