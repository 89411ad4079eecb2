//! Whether traces are exported, where, and with which headers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use openclaw_config::{Config, ConfigValue, OtelSettings, SecretSettings};
use openclaw_secret_stores::SecretResolver;
use openclaw_secrets::{Redactor, Secret, SecretReference, looks_like_credential};
use openclaw_telemetry::{Configured, HeaderSource, Reading, Telemetry};
use tokio::time::timeout;

use crate::runtime::Runtime;

/// How long what ends now is waited for, so that it is told how it ended.
const ENDING: Duration = Duration::from_secs(1);

/// What variables and configuration say about traces. The `.env` file of the current directory has no say:
/// it must not be able to send them elsewhere.
pub fn reading(config: &Config) -> Reading {
    let settings = config.otel.sound();
    let configured = settings.map(|it| configured(it)).unwrap_or_default();
    let variable = |name: &str| config.environment.own_variable(name).map(str::to_owned);
    Reading::new(variable, &configured)
}

fn configured(settings: &OtelSettings) -> Configured {
    Configured {
        enabled: settings.enabled,
        traces: settings.traces,
        endpoint: settings.endpoint.clone(),
        service: settings.service_name.clone(),
        share: settings.sample_rate,
        interval: settings.flush_interval,
    }
}

/// Begins to export traces, where variables or the configuration say so.
pub(crate) fn start(
    config: &Config,
    resolver: Arc<SecretResolver>,
    redactor: &Redactor,
) -> Telemetry {
    let reading = reading(config);
    for remark in reading.remarks {
        // For the log alone: whoever types a command has not asked.
        tracing::warn!(target: "openclaw_telemetry", "{remark}");
    }
    let Some(settings) = reading.settings else {
        return Telemetry::off();
    };
    let configured = config.otel.sound();
    let configured = configured.filter(|_| settings.with_configured_headers);
    let headers = Headers {
        given: settings.headers.clone(),
        configured: configured.map(|it| it.headers.clone()).unwrap_or_default(),
        settings: Arc::clone(&config.secrets),
        resolver,
        redactor: redactor.clone(),
    };
    let headers = Arc::new(headers);
    let source: HeaderSource = Arc::new(move || {
        let headers = Arc::clone(&headers);
        Box::pin(async move { headers.known().await })
    });
    Telemetry::start(settings, source, redactor.clone())
}

/// The headers of an export, of which some may be in a store of secrets.
struct Headers {
    given: Vec<(String, Secret)>,
    configured: BTreeMap<String, ConfigValue>,
    settings: Arc<SecretSettings>,
    resolver: Arc<SecretResolver>,
    redactor: Redactor,
}

impl Headers {
    async fn known(&self) -> Result<Vec<(String, Secret)>, String> {
        let references = self.configured.values().filter_map(|value| match value {
            ConfigValue::Reference { secret, .. } => Some(secret.clone()),
            ConfigValue::Plain { .. } => None,
        });
        let references: Vec<SecretReference> = references.collect();
        let answers = if references.is_empty() {
            Vec::new()
        } else {
            self.resolver.resolve(&self.settings, &references).await
        };
        let mut found = references.iter().zip(answers);
        let mut headers = BTreeMap::new();
        for (name, value) in &self.configured {
            let value = match value {
                ConfigValue::Plain { value, .. } => value.clone(),
                ConfigValue::Reference { prefix, .. } => {
                    let answer = found.next().map(|(_, answer)| answer);
                    let resolved = answer.ok_or("a secret is missing")?;
                    let resolved = resolved.map_err(|error| error.to_string())?;
                    Secret::new(format!("{prefix}{}", resolved.value.expose()))
                }
            };
            headers.insert(name.clone(), value);
        }
        headers.extend(self.given.iter().cloned());
        let credentials = headers
            .iter()
            .filter(|(name, value)| looks_like_credential(name, value.expose()));
        for (_, value) in credentials {
            // One that is too short or too common to be hidden is the collector's to refuse.
            let _ = self.redactor.learn(value);
        }
        Ok(headers.into_iter().collect())
    }
}

impl Runtime {
    /// Does what ends everything, and tells those who collect traces of what ended by it, as far as it
    /// ends soon. What takes longer is not waited for, so that both together take no longer than either.
    pub(crate) async fn telemetry_after<T>(&self, closing: impl Future<Output = T>) {
        if !self.telemetry.is_on() {
            closing.await;
            return;
        }
        let mut closing = std::pin::pin!(closing);
        if timeout(ENDING, &mut closing).await.is_ok() {
            self.telemetry.close().await;
        } else {
            tokio::join!(closing, self.telemetry.close());
        }
    }
}
