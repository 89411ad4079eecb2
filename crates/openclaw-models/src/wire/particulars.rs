//! What is special about a service or a model, by its host and by its name.

use url::Url;

/// How many tools OpenAI takes.
const OPENAI_TOOLS: usize = 128;

/// Who is asked, where that makes a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Host {
    /// OpenAI, in its own house or in Microsoft's.
    OpenAi,
    /// Mistral.
    Mistral,
    /// `OpenRouter`.
    OpenRouter,
    /// Anybody else.
    Other,
}

impl Host {
    /// The one of this address.
    pub(crate) fn of(base: &Url) -> Self {
        let host = base.host_str().unwrap_or_default();
        let is_below = |domain: &str| {
            let rest = host.strip_suffix(domain);
            rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        };
        if is_below("openai.com") || is_below("openai.azure.com") {
            Self::OpenAi
        } else if is_below("mistral.ai") {
            Self::Mistral
        } else if is_below("openrouter.ai") {
            Self::OpenRouter
        } else {
            Self::Other
        }
    }

    /// How many tools it takes, where there is a limit.
    pub(crate) fn most_tools(self) -> Option<usize> {
        (self == Self::OpenAi).then_some(OPENAI_TOOLS)
    }
}

/// Whether a model of OpenAI is one of those that think before they answer.
pub(crate) fn is_thinking(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model);
    let name = name.to_ascii_lowercase();
    let name = name.strip_prefix("ft:").unwrap_or(&name);
    let is_numbered = name
        .strip_prefix('o')
        .is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()));
    // Those for chats are named after the others.
    let is_five = name.starts_with("gpt-5") && !name.contains("-chat");
    is_numbered || is_five || name.starts_with("codex-")
}

/// The name of a model as Google has it in its addresses: without the list that it is in.
pub(crate) fn google_name(model: &str) -> &str {
    model.strip_prefix("models/").unwrap_or(model)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_known_by_the_end_of_their_names() {
        for (address, expected) in [
            ("https://api.openai.com/v1", Host::OpenAi),
            ("https://eu.api.openai.com/v1", Host::OpenAi),
            ("https://team.openai.azure.com/openai/v1", Host::OpenAi),
            ("https://api.mistral.ai/v1", Host::Mistral),
            ("https://openrouter.ai/api/v1", Host::OpenRouter),
            ("https://notopenai.com/v1", Host::Other),
            ("https://openai.com.example.org/v1", Host::Other),
            ("http://127.0.0.1:1", Host::Other),
        ] {
            assert_eq!(
                Host::of(&Url::parse(address).unwrap()),
                expected,
                "{address}"
            );
        }
    }

    #[test]
    fn models_that_think_are_known_by_their_names() {
        for model in [
            "o1",
            "o3-mini",
            "o4-mini",
            "gpt-5",
            "gpt-5.1",
            "openai/gpt-5-codex",
        ] {
            assert!(is_thinking(model), "{model}");
        }
        assert!(is_thinking("codex-mini-latest"));
        for model in [
            "gpt-4o",
            "gpt-4.1",
            "gpt-5-chat-latest",
            "olmo",
            "o",
            "m",
            "",
        ] {
            assert!(!is_thinking(model), "{model}");
        }
    }
}
