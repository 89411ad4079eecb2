//! The services that are known without a configuration.

use crate::wire::Api;

/// A service that is known.
#[derive(Debug)]
pub(crate) struct KnownProvider {
    /// What stands before the `/` of a model.
    pub(crate) id: &'static str,
    /// What else people write there.
    pub(crate) aliases: &'static [&'static str],
    /// Where it is.
    pub(crate) base_url: &'static str,
    pub(crate) api: Api,
    /// The variables that may hold its key, the first that is set counts.
    pub(crate) variables: &'static [&'static str],
    /// The model that is chosen where nobody chooses; none where there is no obvious one.
    pub(crate) default_model: Option<&'static str>,
    /// Whether it answers without a key.
    pub(crate) needs_key: bool,
}

/// Where Ollama listens by itself.
pub(crate) const OLLAMA: &str = "http://127.0.0.1:11434";

/// All of them; where nobody chooses, the first whose key is there is taken.
pub(crate) const PROVIDERS: &[KnownProvider] = &[
    KnownProvider {
        id: "anthropic",
        aliases: &["claude"],
        base_url: "https://api.anthropic.com",
        api: Api::Anthropic,
        variables: &["ANTHROPIC_API_KEY"],
        default_model: Some("claude-sonnet-4-5"),
        needs_key: true,
    },
    KnownProvider {
        id: "openai",
        aliases: &[],
        base_url: "https://api.openai.com/v1",
        api: Api::Responses,
        variables: &["OPENAI_API_KEY"],
        default_model: Some("gpt-5"),
        needs_key: true,
    },
    KnownProvider {
        id: "google",
        aliases: &["gemini"],
        base_url: "https://generativelanguage.googleapis.com/v1beta",
        api: Api::Gemini,
        variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        default_model: Some("gemini-2.5-flash"),
        needs_key: true,
    },
    chat(
        "openrouter",
        "https://openrouter.ai/api/v1",
        &["OPENROUTER_API_KEY"],
        Some("openrouter/auto"),
    ),
    chat(
        "groq",
        "https://api.groq.com/openai/v1",
        &["GROQ_API_KEY"],
        Some("llama-3.3-70b-versatile"),
    ),
    chat(
        "mistral",
        "https://api.mistral.ai/v1",
        &["MISTRAL_API_KEY"],
        Some("mistral-large-latest"),
    ),
    chat(
        "deepseek",
        "https://api.deepseek.com/v1",
        &["DEEPSEEK_API_KEY"],
        Some("deepseek-chat"),
    ),
    chat(
        "xai",
        "https://api.x.ai/v1",
        &["XAI_API_KEY"],
        Some("grok-4"),
    ),
    chat(
        "together",
        "https://api.together.xyz/v1",
        &["TOGETHER_API_KEY"],
        None,
    ),
    chat(
        "cerebras",
        "https://api.cerebras.ai/v1",
        &["CEREBRAS_API_KEY"],
        None,
    ),
    chat(
        "fireworks",
        "https://api.fireworks.ai/inference/v1",
        &["FIREWORKS_API_KEY"],
        None,
    ),
    KnownProvider {
        id: "ollama",
        aliases: &[],
        base_url: OLLAMA,
        api: Api::Ollama,
        variables: &["OLLAMA_API_KEY"],
        default_model: None,
        needs_key: false,
    },
    KnownProvider {
        id: "lmstudio",
        aliases: &[],
        base_url: "http://127.0.0.1:1234/v1",
        api: Api::Chat,
        variables: &[],
        default_model: None,
        needs_key: false,
    },
];

const fn chat(
    id: &'static str,
    base_url: &'static str,
    variables: &'static [&'static str],
    default_model: Option<&'static str>,
) -> KnownProvider {
    KnownProvider {
        id,
        aliases: &[],
        base_url,
        api: Api::Chat,
        variables,
        default_model,
        needs_key: true,
    }
}

/// The service of this name.
pub(crate) fn known(name: &str) -> Option<&'static KnownProvider> {
    PROVIDERS
        .iter()
        .find(|provider| provider.id == name || provider.aliases.contains(&name))
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::*;

    #[test]
    fn every_address_can_be_asked_and_every_name_is_there_once() {
        let mut names = Vec::new();
        for provider in PROVIDERS {
            let base = Url::parse(provider.base_url).unwrap();
            let is_near = openclaw_http::is_this_machine(&base);
            assert!(base.scheme() == "https" || is_near, "{}", provider.id);
            assert!(provider.api.address(&base, "model").is_some());
            names.push(provider.id);
            names.extend(provider.aliases);
        }
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn a_key_is_looked_at_where_not_everybody_is_let_in() {
        for (name, expected) in [
            ("openrouter", "https://openrouter.ai/api/v1/key"),
            ("groq", "https://api.groq.com/openai/v1/models"),
        ] {
            let provider = known(name).unwrap();
            let base = Url::parse(provider.base_url).unwrap();
            let address = provider.api.list_address(&base).unwrap();
            assert_eq!(address.as_str(), expected);
        }
    }
}
