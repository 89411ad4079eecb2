//! Settings that count for as long as a process runs, whatever is written meanwhile.

use std::sync::Arc;

use openclaw_config::{Config, Definition, Environment, Gateway, OtelSettings, SessionRetention};
use openclaw_telemetry::Reading;

use crate::traces;

/// Variables that count as well as what stands in the file. They may be written to a `.env` file, which is read
/// anew with it.
const VARIABLES: [&str; 3] = [
    "OPENCLAW_GATEWAY_PASSWORD",
    "OPENCLAW_GATEWAY_PORT",
    "OPENCLAW_GATEWAY_TOKEN",
];

/// What a gateway began with.
pub(crate) struct Lasting {
    environment: Arc<Environment>,
    gateway: Definition<Gateway>,
    /// None where it can't be used, for whatever reason.
    otel: Option<Arc<OtelSettings>>,
    /// The same together with its variables.
    traces: Reading,
    retention: SessionRetention,
}

impl Lasting {
    pub(crate) fn of(config: &Config) -> Self {
        Self {
            environment: Arc::clone(&config.environment),
            gateway: config.gateway.clone(),
            otel: config.otel.sound().cloned(),
            traces: traces::reading(config),
            retention: config.session_retention,
        }
    }

    /// Where settings stand that are others in a configuration than those that count.
    pub(crate) fn unlike(&self, config: &Config) -> Vec<&'static str> {
        let (before, now) = (&self.environment, &config.environment);
        let is_as_before = |name: &&str| before.own_variable(name) == now.own_variable(name);
        let variables_are = VARIABLES.iter().all(is_as_before);
        let traces_are =
            self.otel.as_ref() == config.otel.sound() && self.traces == traces::reading(config);
        let all = [
            ("gateway", variables_are && self.gateway == config.gateway),
            ("diagnostics.otel", traces_are),
            (
                "session.retention",
                self.retention == config.session_retention,
            ),
        ];
        let unlike = all.into_iter().filter(|(_, is_same)| !is_same);
        unlike.map(|(place, _)| place).collect()
    }
}

/// Says so.
pub(crate) fn told(place: &str) -> String {
    format!(
        "`{place}` has changed, and counts once the gateway is started anew; `openclaw doctor` says how"
    )
}
