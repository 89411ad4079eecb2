//! What can name a session and a model.

use openclaw_content::shown_line;

use crate::failure::Failure;

/// How the keys of sessions begin that are for what nobody says.
const RESERVED: [&str; 4] = ["subagent:", "cron:", "acp:", "hook:"];

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
    let whole = key
        .strip_prefix("agent:")
        .and_then(|rest| rest.split_once(':'));
    let rest = whole.map_or(key, |(_, rest)| rest);
    match RESERVED.iter().find(|prefix| rest.starts_with(**prefix)) {
        None => Ok(()),
        Some(prefix) => {
            let message = format!("session keys that begin with `{prefix}` are reserved");
            Err(Failure::usage("session-key", message))
        }
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
