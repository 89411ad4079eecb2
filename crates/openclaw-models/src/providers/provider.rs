//! One provider: where it is, how it is spoken to, what it is shown.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use openclaw_config::{ConfigValue, Definition, Environment, ModelFacts, ModelProvider, Problem};
use openclaw_content::shown_line;
use openclaw_http::{Http, is_this_machine};
use openclaw_secrets::Secret;
use url::Url;

use crate::credentials::Credentials;
use crate::error::ModelError;
use crate::providers::name::{configured_name, unknown_provider};
use crate::providers::table::{KnownProvider, OLLAMA, known};
use crate::providers::{Current, Models};
use crate::wire::{Api, IDLE, TOTAL};

/// How many models a hint names.
const NAMED: usize = 5;

/// A provider that can be asked, if its key is there.
pub(crate) struct Provider {
    pub(crate) name: String,
    pub(crate) api: Api,
    pub(crate) base: Url,
    pub(crate) timeout: Duration,
    /// How long nothing of an answer may come.
    pub(crate) idle: Duration,
    /// Whether it was found to refuse `stream_options`.
    pub(crate) no_stream_options: Arc<AtomicBool>,
    /// What the configuration knows about its models.
    pub(crate) models: Vec<ModelFacts>,
    pub(crate) http: Arc<Http>,
    pub(crate) credentials: Arc<Credentials>,
    /// The variables that may hold its key.
    variables: &'static [&'static str],
    /// Whether it needs a key and has none.
    lacks_key: bool,
    /// Whether what it is shown is there without the `.env` file of the current directory.
    has_own_key: bool,
}

impl Provider {
    pub(super) fn new(name: &str, current: &Current, models: &Models) -> Result<Self, ModelError> {
        let config = &current.config;
        let entry = configured_name(name, config);
        let known = known(name).or_else(|| known(entry?));
        let configured = match entry.and_then(|entry| config.model_providers.get(entry)) {
            Some(Definition::Sound(configured)) => Some(&**configured),
            Some(Definition::Broken(problems)) => return Err(broken(name, problems)),
            None => None,
        };
        if known.is_none() && configured.is_none() {
            return Err(unknown_provider(name, config));
        }
        let environment = &config.environment;
        let base = base(name, known, configured, environment)?;
        let api = api(name, known, configured, &base)?;
        let is_near = is_this_machine(&base);
        let may_be_open = configured.is_some_and(|it| it.allow_insecure_http);
        if base.scheme() != "https" && !is_near && !may_be_open {
            return Err(misconfigured(
                name,
                "with `http://` everybody between could read the key and what is said",
                format!(
                    "use `https://`, or set `models.providers.{}.allowInsecureHttp`",
                    entry.unwrap_or(name)
                ),
            ));
        }
        let variables = known.map_or(&[][..], |known| known.variables);
        let given = configured.and_then(|it| it.api_key.clone());
        let headers = configured.map(|it| it.headers.clone()).unwrap_or_default();
        let shown = ["authorization", "x-api-key", "x-goog-api-key"];
        // Of others nobody knows whether they want a key; they say so if they do.
        let needs_key = known.is_some_and(|known| known.needs_key && !is_near);
        let is_given = given.is_some() || shown.iter().any(|name| headers.contains_key(*name));
        let is_own = given
            .iter()
            .chain(headers.values())
            .all(|value| is_own(value, environment));
        let has_own_key =
            is_own && (!needs_key || is_given || own_key_of(variables, environment).is_some());
        let key = given.or_else(|| key_of(variables, environment));
        let lacks_key = needs_key && !is_given && key.is_none();
        let timeout = configured.and_then(|it| it.timeout);
        let is_open = base.scheme() != "https" && !is_near;
        Ok(Self {
            name: name.to_owned(),
            api,
            timeout: timeout.unwrap_or(TOTAL),
            idle: timeout.unwrap_or_default().max(IDLE),
            no_stream_options: Arc::new(AtomicBool::new(false)),
            models: configured.map(|it| it.models.clone()).unwrap_or_default(),
            http: Arc::clone(if is_open {
                &models.open_http
            } else {
                &models.http
            }),
            credentials: Arc::new(Credentials {
                provider: name.to_owned(),
                api,
                key,
                headers,
                settings: Arc::clone(&config.secrets),
                resolver: Arc::clone(&current.resolver),
                redactor: models.redactor.clone(),
                at_hand: Mutex::new(None),
            }),
            base,
            variables,
            lacks_key,
            has_own_key,
        })
    }

    /// Whether a key is there, as far as that can be told without asking a store.
    pub(crate) fn check_key(&self) -> Result<(), ModelError> {
        if !self.lacks_key {
            return Ok(());
        }
        let name = &self.name;
        let variable = self.variables.first().copied().unwrap_or_default();
        let reason = format!("neither `{variable}` nor `models.providers.{name}.apiKey` is set");
        let hint = format!("set `{variable}`, or choose `builtin/offline`, which needs no key");
        Err(ModelError::NoKey {
            provider: name.clone(),
            reason,
            hint,
        })
    }

    /// Whether it may be chosen where nobody chooses: there is a key where one is needed, and it does
    /// not come from a directory that may be anybody's.
    pub(crate) fn may_be_chosen(&self) -> bool {
        self.has_own_key
    }

    /// What to do when the service does not know a model.
    pub(crate) fn alternatives(&self, model: &str) -> String {
        let others: Vec<String> = self
            .models
            .iter()
            .filter(|facts| facts.id != model)
            .take(NAMED)
            .map(|facts| format!("`{}/{}`", self.name, facts.id))
            .collect();
        if !others.is_empty() {
            return format!("the configuration also has {}", others.join(", "));
        }
        match self.api {
            Api::Ollama => format!("get it with `ollama pull {}`", shown_line(model, 100)),
            _ => format!(
                "check the name, and `models.providers.{}.baseUrl` if it is set",
                self.name
            ),
        }
    }
}

fn broken(name: &str, problems: &[Problem]) -> ModelError {
    let problems: Vec<&str> = problems.iter().map(Problem::message).collect();
    misconfigured(
        name,
        &problems.join("; "),
        format!("correct `models.providers.{name}`"),
    )
}

fn misconfigured(name: &str, reason: &str, hint: String) -> ModelError {
    ModelError::Misconfigured {
        provider: shown_line(name, 100),
        reason: reason.to_owned(),
        hint,
    }
}

/// Where the provider is.
fn base(
    name: &str,
    known: Option<&KnownProvider>,
    configured: Option<&ModelProvider>,
    environment: &Environment,
) -> Result<Url, ModelError> {
    if let Some(base) = configured.and_then(|it| it.base_url.clone()) {
        return Ok(base);
    }
    let Some(known) = known else {
        return Err(misconfigured(
            name,
            "it has no address",
            format!("set `models.providers.{name}.baseUrl`"),
        ));
    };
    if known.api == Api::Ollama
        && let Some(address) = ollama_host(environment)
    {
        return Ok(address);
    }
    Url::parse(known.base_url).map_err(|error| {
        let hint = format!("set `models.providers.{name}.baseUrl`");
        misconfigured(name, &error.to_string(), hint)
    })
}

/// How the provider is spoken to.
fn api(
    name: &str,
    known: Option<&KnownProvider>,
    configured: Option<&ModelProvider>,
    base: &Url,
) -> Result<Api, ModelError> {
    if let Some(word) = configured.and_then(|it| it.api.as_deref()) {
        return Api::named(word).ok_or_else(|| {
            let known: Vec<String> = Api::ALL
                .iter()
                .map(|api| format!("`{}`", api.word()))
                .collect();
            misconfigured(
                name,
                &format!("there is no protocol {:?}", shown_line(word, 100)),
                format!(
                    "set `models.providers.{name}.api` to one of {}",
                    known.join(", ")
                ),
            )
        });
    }
    let Some(known) = known else {
        return Ok(Api::Chat);
    };
    let usual = Url::parse(known.base_url).ok();
    let is_elsewhere = usual.is_none_or(|usual| usual.host_str() != base.host_str());
    // Those who are compatible with OpenAI are so with what it spoke first.
    if known.api == Api::Responses && is_elsewhere {
        return Ok(Api::Chat);
    }
    Ok(known.api)
}

/// The key of the first of these variables that is set. One of the `.env` file of the current
/// directory is the last to be taken: it must not replace the key that the user has.
pub(crate) fn key_of(variables: &[&str], environment: &Environment) -> Option<ConfigValue> {
    own_key_of(variables, environment)
        .or_else(|| first_key(variables, |name| environment.variable(name)))
}

/// The same, without the `.env` file of the current directory.
pub(crate) fn own_key_of(variables: &[&str], environment: &Environment) -> Option<ConfigValue> {
    first_key(variables, |name| environment.own_variable(name))
}

fn first_key<'v>(
    variables: &[&str],
    value: impl Fn(&str) -> Option<&'v str>,
) -> Option<ConfigValue> {
    let mut values = variables.iter().filter_map(|name| {
        let value = value(name)?.trim();
        (!value.is_empty()).then_some((*name, value))
    });
    let (name, value) = values.next()?;
    Some(ConfigValue::Plain {
        value: Secret::new(value),
        variables: vec![name.to_owned()],
        written: Secret::new(""),
    })
}

/// Whether a value has nothing of the `.env` file of the current directory.
fn is_own(value: &ConfigValue, environment: &Environment) -> bool {
    let ConfigValue::Plain { variables, .. } = value else {
        return true;
    };
    variables
        .iter()
        .all(|name| environment.own_variable(name) == environment.variable(name))
}

/// Where `OLLAMA_HOST` says that Ollama is. The `.env` file of the current directory has no say in
/// where conversations go.
pub(crate) fn ollama_host(environment: &Environment) -> Option<Url> {
    let value = environment.own_variable("OLLAMA_HOST")?.trim();
    if value.is_empty() || value.eq_ignore_ascii_case("off") {
        return None;
    }
    let has_scheme = value.contains("://");
    let text = if has_scheme {
        value.to_owned()
    } else {
        format!("http://{value}")
    };
    let mut address = Url::parse(&text).ok()?;
    // The same variable tells the server where to listen: everywhere is here.
    if matches!(address.host_str(), Some("0.0.0.0" | "[::]")) {
        address.set_host(Some("127.0.0.1")).ok()?;
    }
    if address.port().is_none() && !has_scheme {
        let usual = Url::parse(OLLAMA).ok()?.port();
        address.set_port(usual).ok()?;
    }
    Some(address)
}

#[cfg(test)]
mod tests;
