//! The keys of a client that the configuration names, got when a login needs them.

use std::sync::Arc;

use openclaw_config::Server;
use openclaw_oauth::{ConfiguredKeys, KeysSource, OAuthError, PendingKeys};

use super::asks;
use crate::launch::SecretSource;
use crate::supervise::{Remedy, Unresolved};

pub(super) struct ClientKeys {
    server: Arc<Server>,
    secrets: SecretSource,
}

impl ClientKeys {
    pub(super) fn of(server: &Arc<Server>, secrets: &SecretSource) -> Arc<Self> {
        Arc::new(Self {
            server: Arc::clone(server),
            secrets: secrets.clone(),
        })
    }

    async fn get(&self) -> Result<ConfiguredKeys, OAuthError> {
        let Some((_, settings)) = asks(&self.server) else {
            return Ok(ConfiguredKeys::default());
        };
        let failed = |unresolved: Unresolved| match unresolved.remedy {
            Remedy::Room | Remedy::Answer | Remedy::Consent => {
                OAuthError::passing(unresolved.reason)
            }
            Remedy::Change => OAuthError::lasting(unresolved.reason),
        };
        let name = self.server.name.as_str();
        let secrets = self.secrets.of_values(name, &settings.values()).await;
        let secrets = secrets.map_err(failed)?;
        let value = |field: &str, value: Option<&_>| {
            value
                .map(|value| secrets.value(field, value).map_err(failed))
                .transpose()
        };
        Ok(ConfiguredKeys {
            secret: value("auth.clientSecret", settings.client_secret.as_ref())?,
            private_key: value("auth.privateKey", settings.private_key.as_ref())?,
        })
    }
}

impl KeysSource for ClientKeys {
    fn keys(&self) -> PendingKeys<'_> {
        Box::pin(self.get())
    }
}
