//! Which models there are, and how each is reached.

mod choice;
mod facts;
mod name;
mod provider;
mod standing;
mod table;

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use openclaw_config::{Agent, Config};
use openclaw_http::{Http, HttpSettings};
use openclaw_secret_stores::SecretResolver;
use openclaw_secrets::Redactor;

use self::choice::Probed;
use self::name::ModelName;
use self::provider::Provider;
pub use self::standing::{ModelCredentials, ModelStanding};
use crate::chance::{Chance, Dice};
use crate::error::ModelError;
use crate::fallback::Fallback;
use crate::model::{Model, ModelRequest};
use crate::offline::OfflineModel;
use crate::retry::Retry;
use crate::service::Service;
use crate::wire::{Api, BODY, Host};

/// The provider of models that need no service.
pub(crate) const BUILTIN: &str = "builtin";
/// The model that is always there.
pub(crate) const OFFLINE: &str = "builtin/offline";

/// What models are made of.
pub struct ModelsSetup {
    /// Which there are, and which are chosen.
    pub config: Arc<Config>,
    /// What gets their keys.
    pub resolver: Arc<SecretResolver>,
    /// What learns their keys.
    pub redactor: Redactor,
}

/// The models of a configuration, and of another once that is in force.
pub struct Models {
    current: RwLock<Arc<Current>>,
    redactor: Redactor,
    /// Whether models are asked again.
    is_patient: bool,
    chance: Arc<dyn Chance>,
    /// Asks services.
    http: Arc<Http>,
    /// Asks those that may be asked without TLS, wherever they are.
    open_http: Arc<Http>,
}

/// What is known of the models of one configuration. A question is answered from one of them, whatever
/// comes meanwhile.
struct Current {
    config: Arc<Config>,
    resolver: Arc<SecretResolver>,
    /// Those that were used; they share connections and credentials.
    providers: Mutex<BTreeMap<String, Arc<Provider>>>,
    /// What Ollama had the last time.
    probed: Mutex<Option<Probed>>,
}

impl Current {
    fn new(config: Arc<Config>, resolver: Arc<SecretResolver>) -> Arc<Self> {
        Arc::new(Self {
            config,
            resolver,
            providers: Mutex::new(BTreeMap::new()),
            probed: Mutex::new(None),
        })
    }

    /// Whether what another configuration says about models is the same.
    fn is_like(&self, config: &Config, resolver: &Arc<SecretResolver>) -> bool {
        self.config.model_providers == config.model_providers
            && self.config.environment == config.environment
            && self.config.secrets == config.secrets
            && Arc::ptr_eq(&self.resolver, resolver)
    }
}

impl Models {
    /// Takes a configuration; nothing is asked.
    pub fn new(setup: ModelsSetup) -> Self {
        let settings = HttpSettings {
            largest_answer: BODY,
            ..HttpSettings::default()
        };
        let open_settings = HttpSettings {
            largest_answer: BODY,
            is_near: |_| true,
            ..HttpSettings::default()
        };
        Self {
            current: RwLock::new(Current::new(setup.config, setup.resolver)),
            redactor: setup.redactor,
            is_patient: true,
            chance: Arc::new(Dice::new()),
            http: Arc::new(Http::new(settings)),
            open_http: Arc::new(Http::new(open_settings)),
        }
    }

    /// Goes over to another configuration. Models that were chosen before stay as they are; where
    /// nothing about models changed, what is known of them is kept.
    pub fn renew(&self, config: Arc<Config>, resolver: Arc<SecretResolver>) {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        if !current.is_like(&config, &resolver) {
            *current = Current::new(config, resolver);
        }
    }

    fn current(&self) -> Arc<Current> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&current)
    }

    /// The same models, each asked only once whatever happens: for those who ask again themselves.
    #[must_use]
    pub fn asked_once(mut self) -> Self {
        self.is_patient = false;
        self
    }

    /// The model of an agent with its fallbacks, or the one that is wanted instead, without any. It
    /// is asked again where that may help.
    ///
    /// A fallback that can't be used is left out, and so is the first one where there are others.
    pub async fn chosen(
        &self,
        agent: &Agent,
        wanted: Option<&str>,
    ) -> Result<Arc<dyn Model>, ModelError> {
        let current = self.current();
        let names = match wanted {
            Some(wanted) => vec![wanted.to_owned()],
            None => self.names(&current, agent).await?,
        };
        let mut failure = None;
        let mut models: Vec<Found> = Vec::with_capacity(names.len());
        for name in names {
            match self.model(&current, &name) {
                Ok(model) => models.push(model),
                Err(error) => {
                    tracing::warn!(model = name, %error, "a model can't be used");
                    failure.get_or_insert(error);
                }
            }
        }
        let count = models.len();
        // A text is made of a document unless all of them take it, and then it is that for each of
        // them: a document here and a text there would be another conversation in every turn.
        let takes_documents = models.iter().all(Found::takes_documents);
        let mut models = models.into_iter().enumerate().map(|(place, model)| {
            // Where another one stands in, nobody waits long.
            let times = if place + 1 == count { 3 } else { 1 };
            self.patient(model.taking_documents(takes_documents), times)
        });
        let Some(first) = models.next() else {
            return Err(failure.unwrap_or_else(no_model));
        };
        let others: Vec<Arc<dyn Model>> = models.collect();
        if others.is_empty() {
            return Ok(first);
        }
        Ok(Arc::new(Fallback::new(first, others)))
    }

    /// What the model of this name would be sent, to be looked at: nothing is sent, and no key is
    /// needed.
    pub fn written(&self, name: &str, request: &ModelRequest<'_>) -> Result<Vec<u8>, ModelError> {
        let current = self.current();
        let parsed = ModelName::parse(name, &current.config)?;
        let provider = self.provider(&current, parsed.provider)?;
        self.service(&provider, parsed.model).written(request)
    }

    /// The model of this name.
    fn model(&self, current: &Current, name: &str) -> Result<Found, ModelError> {
        let parsed = ModelName::parse(name, &current.config)?;
        if parsed.provider == BUILTIN {
            let builtin = builtin(name.trim()).map(Found::Builtin);
            return builtin.ok_or_else(|| unknown_builtin(parsed.model));
        }
        let provider = self.provider(current, parsed.provider)?;
        provider.check_key()?;
        let service = self.service(&provider, parsed.model);
        Ok(Found::Service(Box::new(service)))
    }

    /// The same model, asked again so many times where that may help.
    fn patient(&self, inner: Arc<dyn Model>, times: usize) -> Arc<dyn Model> {
        if !self.is_patient {
            return inner;
        }
        Arc::new(Retry {
            inner,
            times,
            chance: Arc::clone(&self.chance),
        })
    }

    fn service(&self, provider: &Provider, model: &str) -> Service {
        let configured = provider.models.iter().find(|facts| facts.id == model);
        let host = Host::of(&provider.base);
        let facts = facts::facts(model, provider.api, host, configured);
        let limit = configured.and_then(|facts| facts.max_tokens);
        Service {
            name: format!("{}/{model}", provider.name),
            provider: provider.name.clone(),
            model: model.to_owned(),
            api: provider.api,
            base: provider.base.clone(),
            // Others answer as much as they can where nobody says how much.
            max_tokens: match provider.api {
                Api::Anthropic => Some(facts.max_tokens),
                Api::Chat | Api::Responses | Api::Gemini | Api::Ollama => limit,
            },
            facts,
            timeout: provider.timeout,
            idle: provider.idle,
            no_stream_options: Arc::clone(&provider.no_stream_options),
            has_told: AtomicBool::new(false),
            alternatives: provider.alternatives(model),
            http: Arc::clone(&provider.http),
            credentials: Arc::clone(&provider.credentials),
            redactor: self.redactor.clone(),
            chance: Arc::clone(&self.chance),
        }
    }

    /// The provider of this name, made when it is needed first.
    fn provider(&self, current: &Current, name: &str) -> Result<Arc<Provider>, ModelError> {
        let mut providers = current
            .providers
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(provider) = providers.get(name) {
            return Ok(Arc::clone(provider));
        }
        let provider = Arc::new(Provider::new(name, current, self)?);
        providers.insert(name.to_owned(), Arc::clone(&provider));
        Ok(provider)
    }
}

/// A model that was found by its name.
enum Found {
    /// One that needs no service.
    Builtin(Arc<dyn Model>),
    /// One of a service.
    Service(Box<Service>),
}

impl Found {
    fn takes_documents(&self) -> bool {
        match self {
            Self::Builtin(model) => model.facts().takes_documents,
            Self::Service(service) => service.facts.takes_documents,
        }
    }

    /// It, and whether it is to get documents as they are.
    fn taking_documents(self, takes_documents: bool) -> Arc<dyn Model> {
        match self {
            Self::Builtin(model) => model,
            Self::Service(mut service) => {
                service.facts.takes_documents = takes_documents;
                Arc::from(service as Box<dyn Model>)
            }
        }
    }
}

/// The model of this name that needs no service.
pub(crate) fn builtin(name: &str) -> Option<Arc<dyn Model>> {
    (name == OFFLINE).then(|| Arc::new(OfflineModel::new()) as Arc<dyn Model>)
}

fn unknown_builtin(model: &str) -> ModelError {
    ModelError::UnknownModel {
        message: format!(
            "there is no built-in model {:?}",
            openclaw_content::shown_line(model, 100)
        ),
        hint: format!("write `{OFFLINE}`"),
    }
}

fn no_model() -> ModelError {
    ModelError::UnknownModel {
        message: "no model is chosen".to_owned(),
        hint: "set `agents.defaults.model`".to_owned(),
    }
}
