//! Which model an agent has where the configuration chooses none.

use std::sync::PoisonError;
use std::time::Duration;

use openclaw_config::Agent;
use tokio::time::{Instant, timeout};

use crate::error::ModelError;
use crate::providers::provider::own_key_of;
use crate::providers::standing::{Listed, listed};
use crate::providers::table::PROVIDERS;
use crate::providers::{Current, Models, OFFLINE};

/// How long Ollama is waited for.
const PROBE: Duration = Duration::from_millis(300);
/// How long what it said holds.
const HOLDS: Duration = Duration::from_mins(1);

/// What Ollama had, and until when that holds.
pub(super) struct Probed {
    model: Option<String>,
    until: Instant,
}

impl Models {
    /// The names of an agent's models: the first, then its fallbacks.
    pub(super) async fn names(
        &self,
        current: &Current,
        agent: &Agent,
    ) -> Result<Vec<String>, ModelError> {
        let Some(choice) = &agent.model else {
            return Ok(vec![self.found(current).await?]);
        };
        let mut names = vec![choice.primary.clone()];
        for name in &choice.fallbacks {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        Ok(names)
    }

    /// The model that is taken where none is chosen.
    async fn found(&self, current: &Current) -> Result<String, ModelError> {
        if let Some(name) = self.configured(current).or_else(|| with_key(current)) {
            return Ok(name);
        }
        let ollama = self.ollama(current).await?;
        Ok(ollama.unwrap_or_else(|| OFFLINE.to_owned()))
    }

    /// The first model that the configuration lists, of a provider whose key is there.
    fn configured(&self, current: &Current) -> Option<String> {
        let providers = current.config.model_providers.iter();
        providers
            .filter_map(|(name, provider)| Some((name, provider.sound()?.models.first()?)))
            .find(|(name, _)| {
                let provider = self.provider(current, name);
                provider.is_ok_and(|provider| provider.may_be_chosen())
            })
            .map(|(name, model)| format!("{name}/{}", model.id))
    }

    /// The first model that Ollama has, if it runs. Where it can't be asked for what is set, that is
    /// said: whoever names a machine means it.
    async fn ollama(&self, current: &Current) -> Result<Option<String>, ModelError> {
        let said = current.config.environment.own_variable("OLLAMA_HOST");
        if said.is_some_and(|said| {
            let said = said.trim();
            said.is_empty() || said.eq_ignore_ascii_case("off")
        }) {
            return Ok(None);
        }
        let now = Instant::now();
        let known = {
            let probed = current
                .probed
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            let probed = probed.as_ref().filter(|probed| now < probed.until);
            probed.map(|probed| probed.model.clone())
        };
        if let Some(model) = known {
            return Ok(model);
        }
        let provider = self.provider(current, "ollama")?;
        let listed = timeout(PROBE, listed(&provider, &self.redactor)).await;
        let models = listed.ok().and_then(Result::ok).unwrap_or_default();
        let model = talking(&models).map(|model| format!("ollama/{model}"));
        let probed = Probed {
            model: model.clone(),
            until: now + HOLDS,
        };
        *current
            .probed
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(probed);
        Ok(model)
    }
}

/// The usual model of the first service whose key is in a variable, not counting the `.env` file
/// of the current directory: it has no say in where conversations go.
fn with_key(current: &Current) -> Option<String> {
    let environment = &current.config.environment;
    PROVIDERS
        .iter()
        .filter(|known| own_key_of(known.variables, environment).is_some())
        .find_map(|known| Some(format!("{}/{}", known.id, known.default_model?)))
}

/// The first model that can be talked to, as far as can be told: rather one of which Ollama says of what
/// family it is.
fn talking(models: &[Listed]) -> Option<&str> {
    let mut talking = models.iter().filter(|model| !model.is_for_embeddings());
    let known = talking.clone().find(|model| !model.families.is_empty());
    known
        .or_else(|| talking.next())
        .map(|model| model.name.as_str())
}
