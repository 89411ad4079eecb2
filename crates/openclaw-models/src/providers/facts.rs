//! What is known about models without asking.

use openclaw_config::ModelFacts as Configured;

use crate::model::ModelFacts;
use crate::wire::{Api, Host};

/// What is known of the models whose names begin so.
struct Family {
    prefix: &'static str,
    context_window: u64,
    max_tokens: u64,
    takes_images: bool,
}

const fn family(
    prefix: &'static str,
    context_window: u64,
    max_tokens: u64,
    takes_images: bool,
) -> Family {
    Family {
        prefix,
        context_window,
        max_tokens,
        takes_images,
    }
}

/// What is assumed of a model that is not known.
const UNKNOWN: Family = family("", 32_768, 8192, false);

/// The more special names come first.
const FAMILIES: &[Family] = &[
    family("claude-3-5-haiku", 200_000, 8192, true),
    family("claude-3-5", 200_000, 8192, true),
    family("claude-3-7", 200_000, 32_000, true),
    family("claude-3.5", 200_000, 8192, true),
    family("claude-3.7", 200_000, 32_000, true),
    family("claude-3", 200_000, 4096, true),
    family("claude", 200_000, 32_000, true),
    family("gpt-5", 400_000, 32_000, true),
    family("gpt-4.1", 1_000_000, 32_000, true),
    family("gpt-4o", 128_000, 16_384, true),
    family("gpt-4-turbo", 128_000, 4096, true),
    family("gpt-4", 8192, 4096, false),
    family("gpt-3.5", 16_385, 4096, false),
    family("gpt-oss", 131_072, 32_000, false),
    family("chatgpt-4o", 128_000, 16_384, true),
    family("o1-mini", 128_000, 32_000, false),
    family("o3-mini", 200_000, 32_000, false),
    family("o1", 200_000, 32_000, true),
    family("o3", 200_000, 32_000, true),
    family("o4", 200_000, 32_000, true),
    family("gemini-1", 1_000_000, 8192, true),
    family("gemini-2.0", 1_000_000, 8192, true),
    family("gemini", 1_000_000, 32_000, true),
    family("grok-4", 256_000, 32_000, true),
    family("grok", 131_072, 8192, false),
    family("deepseek", 128_000, 8192, false),
    family("pixtral", 128_000, 8192, true),
    family("mistral-medium", 128_000, 8192, true),
    family("mistral-small", 128_000, 8192, true),
    family("mistral", 128_000, 8192, false),
    family("magistral", 128_000, 8192, false),
    family("codestral", 256_000, 8192, false),
    family("ministral", 128_000, 8192, false),
    family("llama-3.1", 131_072, 8192, false),
    family("llama-3.3", 131_072, 8192, false),
    family("kimi", 131_072, 8192, false),
];

/// The words of the configuration for documents.
const DOCUMENTS: [&str; 3] = ["pdf", "document", "file"];

/// What is known about a model: what the configuration says, and what its name does.
pub(crate) fn facts(
    model: &str,
    api: Api,
    host: Host,
    configured: Option<&Configured>,
) -> ModelFacts {
    let family = family_of(model, api);
    let input = configured.map(|facts| &facts.input);
    let input = input.filter(|input| !input.is_empty());
    ModelFacts {
        context_window: configured
            .and_then(|facts| facts.context_window)
            .unwrap_or(family.context_window),
        max_tokens: configured
            .and_then(|facts| facts.max_tokens)
            .unwrap_or(family.max_tokens),
        takes_images: input.map_or(family.takes_images, |input| names(input, &["image"])),
        takes_documents: match input {
            // There is no way to send one there.
            _ if api == Api::Ollama => false,
            Some(input) if names(input, &DOCUMENTS) => true,
            // Who speaks of images need not know that there is a word for documents, but who speaks
            // of text alone means it.
            Some(input) if !names(input, &["image"]) => false,
            Some(_) | None => takes_documents(family, api, host),
        },
        most_tools: host.most_tools(),
    }
}

/// Whether one of these words is in a list, in capitals or not.
fn names(input: &[String], words: &[&str]) -> bool {
    let is_one = |kind: &String| words.iter().any(|word| kind.eq_ignore_ascii_case(word));
    input.iter().any(is_one)
}

/// Whether models of a family take documents where they are asked like this. Others may show the same
/// model and not know what a document is, so that is assumed only of those who say so.
fn takes_documents(family: &Family, api: Api, host: Host) -> bool {
    match api {
        // It came with 3.5, and belongs to the protocol.
        Api::Anthropic => family.prefix.starts_with("claude") && family.prefix != "claude-3",
        Api::Gemini => family.prefix.starts_with("gemini"),
        Api::Chat | Api::Responses => {
            family.takes_images && matches!(host, Host::OpenAi | Host::OpenRouter)
        }
        Api::Ollama => false,
    }
}

fn family_of(model: &str, api: Api) -> &'static Family {
    if api == Api::Ollama {
        // How much it holds depends on the machine: names of models promise more than it has.
        return &UNKNOWN;
    }
    // Those who pass requests on put the name of the service before the model's.
    let name = model.rsplit('/').next().unwrap_or(model);
    let name = name.to_ascii_lowercase();
    let found = FAMILIES
        .iter()
        .find(|family| name.starts_with(family.prefix));
    found.unwrap_or(&UNKNOWN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_a_model_holds_and_the_configuration_wins() {
        let known = facts("anthropic/claude-sonnet-4-5", Api::Chat, Host::Other, None);
        assert_eq!((known.context_window, known.takes_images), (200_000, true));
        let configured = Configured {
            id: "claude-sonnet-4-5".to_owned(),
            context_window: Some(1_000_000),
            max_tokens: None,
            input: vec!["text".to_owned()],
        };
        let known = facts(
            "claude-sonnet-4-5",
            Api::Anthropic,
            Host::Other,
            Some(&configured),
        );
        assert_eq!(known.context_window, 1_000_000);
        assert_eq!(known.max_tokens, 32_000);
        assert!(!known.takes_images && !known.takes_documents);
    }

    #[test]
    fn documents_are_for_those_who_are_known_to_take_them_and_the_configuration_wins() {
        let takes = |model: &str, api, host, input: &[&str]| {
            let configured = Configured {
                id: model.to_owned(),
                context_window: None,
                max_tokens: None,
                input: input.iter().map(|kind| (*kind).to_owned()).collect(),
            };
            facts(model, api, host, Some(&configured)).takes_documents
        };
        for (model, api, host, expected) in [
            ("claude-sonnet-4-5", Api::Anthropic, Host::Other, true),
            ("claude-3-5-haiku-latest", Api::Anthropic, Host::Other, true),
            ("claude-3-opus-20240229", Api::Anthropic, Host::Other, false),
            ("somebodys-model", Api::Anthropic, Host::Other, false),
            ("gemini-2.5-flash", Api::Gemini, Host::Other, true),
            ("gemma-3", Api::Gemini, Host::Other, false),
            ("gpt-5", Api::Responses, Host::OpenAi, true),
            ("gpt-5", Api::Chat, Host::OpenAi, true),
            ("gpt-4", Api::Chat, Host::OpenAi, false),
            ("gpt-5", Api::Chat, Host::Other, false),
            ("google/gemini-2.5-pro", Api::Chat, Host::OpenRouter, true),
            ("deepseek/deepseek-chat", Api::Chat, Host::OpenRouter, false),
        ] {
            assert_eq!(takes(model, api, host, &[]), expected, "{model}");
            assert_eq!(takes(model, api, host, &["text", "image"]), expected);
            assert!(takes(model, api, host, &["text", "PDF"]), "{model}");
            assert!(takes(model, api, host, &["Document"]), "{model}");
            assert!(takes(model, api, host, &["file"]), "{model}");
            assert!(!takes(model, api, host, &["text"]), "{model}");
        }
        assert!(!takes("llava", Api::Ollama, Host::Other, &["pdf"]));
    }

    #[test]
    fn of_others_little_is_assumed() {
        let unknown = ModelFacts {
            context_window: 32_768,
            max_tokens: 8192,
            takes_images: false,
            takes_documents: false,
            most_tools: None,
        };
        assert_eq!(
            facts("somebodys-model", Api::Chat, Host::Other, None),
            unknown
        );
        assert_eq!(
            facts("llama-3.3:70b", Api::Ollama, Host::Other, None),
            unknown
        );
    }

    #[test]
    fn no_family_hides_behind_a_shorter_name() {
        for (place, family) in FAMILIES.iter().enumerate() {
            let earlier = FAMILIES.get(..place).unwrap_or_default();
            for before in earlier {
                assert!(
                    !family.prefix.starts_with(before.prefix),
                    "{}",
                    family.prefix
                );
            }
        }
    }
}
