//! What can name a session and a model.

use openclaw_config::AgentId;
use openclaw_content::shown_line;
use openclaw_sessions::SessionKey;

use crate::failure::Failure;

/// The agent whose a session is, where its key says so.
pub(super) fn owner_of(key: &str) -> Option<&str> {
    let (owner, _) = key.strip_prefix("agent:")?.split_once(':')?;
    Some(owner)
}

/// Refuses what can't name a model: it would only be noticed with the next message.
pub(super) fn check_model(model: &str) -> Result<(), Failure> {
    match model.trim().split_once('/') {
        Some((provider, model)) if !provider.is_empty() && !model.is_empty() => Ok(()),
        _ => {
            let message = format!("{:?} is not the name of a model", shown_line(model, 100));
            let hint = "names are `provider/model`, such as `anthropic/claude-sonnet-4-5`";
            Err(Failure::usage("unknown-model", message).hint(hint))
        }
    }
}

/// Refuses a session that nobody can speak in: it would only be noticed with the next message.
pub(super) fn check_key(key: &str) -> Result<(), Failure> {
    // Whose a bare key is makes no difference to whether it is one.
    match SessionKey::parse(key, &AgentId::main()) {
        Ok(_) => Ok(()),
        Err(error) => Err(Failure::usage("session-key", error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_can_be_no_model_is_refused() {
        for model in ["anthropic/claude-sonnet-4-5", "x/y/z"] {
            assert!(check_model(model).is_ok(), "{model}");
        }
        for model in ["", "nonsense", "/x", "x/"] {
            assert!(check_model(model).is_err(), "{model}");
        }
    }

    #[test]
    fn a_session_that_nobody_can_speak_in_is_refused() {
        for key in ["main", "agent:main:work", "crontab", "agent:cron:x"] {
            assert!(check_key(key).is_ok(), "{key}");
        }
        for key in ["cron:x", "agent:main:subagent:1"] {
            assert!(check_key(key).is_err(), "{key}");
        }
    }
}
