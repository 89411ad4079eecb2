//! Names of models: `provider/model`.

use openclaw_config::Config;
use openclaw_content::shown_line;

use crate::error::ModelError;
use crate::providers::BUILTIN;
use crate::providers::table::{PROVIDERS, known};

/// How far a name may be from what was written to be meant, from 0 to 1.
const ALIKE: f64 = 0.75;

/// A name, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ModelName<'a> {
    /// Before the first `/`.
    pub(crate) provider: &'a str,
    /// What follows; there may be more of them in it.
    pub(crate) model: &'a str,
}

impl<'a> ModelName<'a> {
    /// Takes a name apart.
    pub(crate) fn parse(name: &'a str, config: &Config) -> Result<Self, ModelError> {
        let name = name.trim();
        match name.split_once('/') {
            Some((provider, model)) if !provider.is_empty() && !model.is_empty() => {
                Ok(Self { provider, model })
            }
            _ => Err(ModelError::UnknownModel {
                message: format!("{:?} is not the name of a model", shown_line(name, 100)),
                hint: suggestion(name.trim_matches('/'), config),
            }),
        }
    }
}

/// What was meant by a name without a provider.
fn suggestion(name: &str, config: &Config) -> String {
    let usual = "names are `provider/model`, such as `anthropic/claude-sonnet-4-5`";
    let configured = config.model_providers.iter().find(|(_, provider)| {
        let provider = provider.sound();
        provider.is_some_and(|it| it.models.iter().any(|model| model.id == name))
    });
    if let Some((provider, _)) = configured {
        return format!("write `{provider}/{name}`");
    }
    let families = [
        ("claude", "anthropic"),
        ("gpt", "openai"),
        ("gemini", "google"),
        ("grok", "xai"),
        ("deepseek", "deepseek"),
        ("mistral", "mistral"),
    ];
    let family = families
        .iter()
        .find(|(prefix, _)| name.to_ascii_lowercase().starts_with(prefix));
    match family {
        Some((_, provider)) => format!("write `{provider}/{}`", shown_line(name, 100)),
        None if name == "offline" => "write `builtin/offline`".to_owned(),
        None => usual.to_owned(),
    }
}

/// The error for a provider that nobody knows.
pub(crate) fn unknown_provider(provider: &str, config: &Config) -> ModelError {
    let known_ids = PROVIDERS.iter().flat_map(|it| {
        let id = std::iter::once(&it.id);
        id.chain(it.aliases).copied()
    });
    let configured = config.model_providers.keys().map(String::as_str);
    let names = configured.chain(known_ids).chain([BUILTIN]);
    let mut alike: Vec<(f64, &str)> = names
        .map(|name| {
            (
                strsim::jaro_winkler(name, &provider.to_ascii_lowercase()),
                name,
            )
        })
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .collect();
    alike.sort_by(|one, two| two.0.total_cmp(&one.0).then(one.1.cmp(two.1)));
    alike.dedup_by_key(|(_, name)| *name);
    let alike: Vec<String> = alike
        .iter()
        .take(3)
        .map(|(_, name)| format!("`{name}`"))
        .collect();
    let hint = if alike.is_empty() {
        "add it to `models.providers` with its `baseUrl`".to_owned()
    } else {
        format!(
            "did you mean {}? a service of your own needs an entry in `models.providers`",
            alike.join(" or ")
        )
    };
    ModelError::UnknownModel {
        message: format!("there is no provider {:?}", shown_line(provider, 100)),
        hint,
    }
}

/// The name under which a provider stands in the configuration, if it does: its own, or another that
/// people use.
pub(crate) fn configured_name<'c>(provider: &str, config: &'c Config) -> Option<&'c str> {
    let find = |name: &str| {
        let entry = config.model_providers.get_key_value(name);
        entry.map(|(name, _)| name.as_str())
    };
    find(provider).or_else(|| {
        let known = known(provider)?;
        let names = std::iter::once(&known.id).chain(known.aliases);
        names.into_iter().find_map(|name| find(name))
    })
}
