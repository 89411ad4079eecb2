//! How models are: whether their credentials are there, and what their services say.

use std::time::Duration;

use http::{Method, Request};
use openclaw_config::Agent;
use openclaw_http::Outgoing;
use openclaw_secrets::Redactor;
use serde_json::Value;
use tokio::time::timeout;

use crate::error::ModelError;
use crate::providers::name::ModelName;
use crate::providers::provider::Provider;
use crate::providers::{BUILTIN, Current, Models, builtin};
use crate::wire::{Api, Complaint, Parties};

/// How long a service may take to list its models.
const PATIENCE: Duration = Duration::from_secs(5);
/// How large the list may be.
const LARGEST: usize = 4 * 1024 * 1024;

/// How a model is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelStanding {
    /// `provider/model`
    pub name: String,
    /// Whether it stands in for another.
    pub is_fallback: bool,
    /// Whether there is what its service wants to see.
    pub credentials: ModelCredentials,
    /// Why it can't be used, where that is known.
    pub error: Option<ModelError>,
}

/// Whether there is what a service wants to see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelCredentials {
    /// It is there, or nothing is needed.
    Present,
    /// It is not.
    Missing,
    /// The model is built in.
    Builtin,
}

impl Models {
    /// How the models of an agent are, each in a line of its own. Services are asked only with `ask`,
    /// all at the same time.
    pub async fn standing(&self, agent: &Agent, ask: bool) -> Vec<ModelStanding> {
        let current = self.current();
        let names = match self.names(&current, agent).await {
            Ok(names) => names,
            // Nothing else is asked before anything is chosen.
            Err(error) => {
                return vec![ModelStanding {
                    name: "ollama".to_owned(),
                    is_fallback: false,
                    credentials: ModelCredentials::Missing,
                    error: Some(error),
                }];
            }
        };
        let standings = names.into_iter().enumerate().map(async |(place, name)| {
            let (credentials, error) = self.stands(&current, &name, ask).await;
            ModelStanding {
                name,
                is_fallback: place > 0,
                credentials,
                error,
            }
        });
        futures_util::future::join_all(standings).await
    }

    async fn stands(
        &self,
        current: &Current,
        name: &str,
        ask: bool,
    ) -> (ModelCredentials, Option<ModelError>) {
        let parsed = match ModelName::parse(name, &current.config) {
            Ok(parsed) => parsed,
            Err(error) => return (ModelCredentials::Missing, Some(error)),
        };
        if parsed.provider == BUILTIN {
            let error = match builtin(name) {
                Some(_) => None,
                None => self.model(current, name).err(),
            };
            return (ModelCredentials::Builtin, error);
        }
        let provider = match self.provider(current, parsed.provider) {
            Ok(provider) => provider,
            Err(error) => return (ModelCredentials::Missing, Some(error)),
        };
        if let Err(error) = provider.check_key() {
            return (ModelCredentials::Missing, Some(error));
        }
        if !ask {
            return (ModelCredentials::Present, None);
        }
        let asked = timeout(PATIENCE, listed(&provider, &self.redactor)).await;
        let listed = asked.unwrap_or_else(|_| {
            Err(ModelError::TimedOut {
                model: name.to_owned(),
                within: PATIENCE,
            })
        });
        match listed {
            Err(error @ ModelError::NoKey { .. }) => (ModelCredentials::Missing, Some(error)),
            Err(error) => (ModelCredentials::Present, Some(error)),
            Ok(models) => {
                let error = missing(&provider, parsed.model, &models);
                (ModelCredentials::Present, error)
            }
        }
    }
}

/// The error for a model that a service does not list. Only Ollama lists everything that it answers
/// for: others have names that stand for the newest of a kind, and lists of many pages.
fn missing(provider: &Provider, model: &str, listed: &[Listed]) -> Option<ModelError> {
    let is_listed = |listed: &Listed| {
        let name = listed.name.as_str();
        name == model || name.strip_suffix(":latest") == Some(model)
    };
    if provider.api != Api::Ollama || listed.iter().any(is_listed) {
        return None;
    }
    Some(ModelError::UnknownModel {
        message: format!("{} does not have {model}", provider.name),
        hint: provider.alternatives(model),
    })
}

/// A model in the list of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) name: String,
    /// The families that it is of, where the service says so.
    pub(super) families: Vec<String>,
}

impl Listed {
    /// Whether it turns texts into numbers, and can't be talked to.
    pub(super) fn is_for_embeddings(&self) -> bool {
        let is_bert = |family: &String| family.to_ascii_lowercase().contains("bert");
        self.name.to_ascii_lowercase().contains("embed") || self.families.iter().any(is_bert)
    }
}

/// Asks a service for the names of its models.
pub(super) async fn listed(
    provider: &Provider,
    redactor: &Redactor,
) -> Result<Vec<Listed>, ModelError> {
    let parties = Parties {
        provider: &provider.name,
        model: &provider.name,
        alternatives: "check the address of the provider",
        redactor,
    };
    let known = provider.credentials.known().await?;
    let refused = |reason: String| ModelError::Refused {
        model: provider.name.clone(),
        reason,
    };
    let address = provider.api.list_address(&provider.base);
    let address = address.ok_or_else(|| refused("its address can't have a path".to_owned()))?;
    let mut request = Request::builder().method(Method::GET).uri(address.as_str());
    if let Some(headers) = request.headers_mut() {
        known.put(headers);
    }
    let request = request.body(Outgoing::default());
    let request = request.map_err(|error| refused(error.to_string()))?;
    let unavailable = |reason: &str| ModelError::Unavailable {
        model: provider.name.clone(),
        reason: parties.shown(reason),
        retry_after: None,
    };
    let answer = provider.http.open(request).await;
    let answer = answer.map_err(|error| unavailable(&error.to_string()))?;
    let (head, mut rest) = answer.into_parts();
    let mut body = Vec::new();
    while let Some(more) = rest
        .next()
        .await
        .map_err(|error| unavailable(&error.to_string()))?
    {
        body.extend_from_slice(&more);
        if body.len() > LARGEST {
            return Err(ModelError::Unreadable {
                model: provider.name.clone(),
                reason: "its list of models is too long".to_owned(),
            });
        }
    }
    let status = head.status.as_u16();
    // Not everybody who answers has a list: then nothing can be told from it.
    if matches!(status, 404 | 405) && provider.api != Api::Ollama {
        tracing::debug!(
            provider = provider.name,
            "the service has no list of models"
        );
        return Ok(Vec::new());
    }
    if !head.status.is_success() {
        return Err(Complaint::of_response(status, &head.headers, &body).into_error(parties));
    }
    let list: Value = serde_json::from_slice(&body).map_err(|error| ModelError::Unreadable {
        model: provider.name.clone(),
        reason: format!("its list of models can't be read: {error}"),
    })?;
    Ok(models(&list))
}

/// The models in a list, in any of the ways in which services write it.
fn models(list: &Value) -> Vec<Listed> {
    let models = ["data", "models"]
        .iter()
        .find_map(|field| list.get(*field)?.as_array());
    let models = models.into_iter().flatten().filter_map(|model| {
        let name = model.get("id").or_else(|| model.get("name"))?.as_str()?;
        let details = model.get("details");
        let family = details.and_then(|details| details.get("family"));
        let families = details.and_then(|details| details.get("families")?.as_array());
        let families = family.into_iter().chain(families.into_iter().flatten());
        let families = families.filter_map(Value::as_str).map(str::to_owned);
        Some(Listed {
            name: name.strip_prefix("models/").unwrap_or(name).to_owned(),
            families: families.filter(|family| !family.is_empty()).collect(),
        })
    });
    models.collect()
}
