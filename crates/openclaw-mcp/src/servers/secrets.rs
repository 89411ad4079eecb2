//! Where the secrets of all servers come from.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};

use futures_util::future::join_all;
use openclaw_config::{Config, PlacedReference, ValueOwner};
use openclaw_mcp_client::Connector;
use openclaw_secret_stores::{Remark, SecretError, SecretResolver, Surroundings};
use openclaw_secrets::Redactor;

use super::Servers;
use crate::launch::SecretSource;

/// A reference, and what a person should know of its secret or why there is none.
pub type CheckedSecret = (PlacedReference, Result<Vec<Remark>, SecretError>);

impl Servers {
    /// Asks for every secret that the configuration refers to, or those of one server, to see whether
    /// it can be had: for each that needs some by itself, as it does when it starts.
    pub async fn check_secrets(&self, server: Option<&str>) -> Vec<CheckedSecret> {
        let wanted = |owner: &ValueOwner| match (server, owner) {
            (None, _) => true,
            (Some(name), ValueOwner::Server(owner)) => owner == name,
            (Some(_), _) => false,
        };
        let mut owners: BTreeMap<ValueOwner, Vec<PlacedReference>> = BTreeMap::new();
        for placed in self.config().references() {
            if wanted(&placed.owner) {
                owners.entry(placed.owner.clone()).or_default().push(placed);
            }
        }
        let source = self.secret_source();
        let checking = owners.into_values().map(async |placed| {
            let references: Vec<_> = placed.iter().map(|it| it.reference.clone()).collect();
            let answers = source
                .resolver()
                .resolve(&source.settings, &references)
                .await;
            let answers = answers.into_iter();
            let answers = answers.map(|answer| answer.map(|resolved| resolved.remarks));
            placed.into_iter().zip(answers).collect::<Vec<_>>()
        });
        join_all(checking).await.into_iter().flatten().collect()
    }

    /// What fetches secrets, for those beside the servers that need some.
    pub fn secret_resolver(&self) -> Arc<SecretResolver> {
        self.secret_source().resolver()
    }

    /// Where secrets come from.
    pub(crate) fn secret_source(&self) -> SecretSource {
        let settings = Arc::clone(&self.plan().config.secrets);
        SecretSource::new(Arc::clone(&self.secrets), settings)
    }

    /// Goes over to the variables of another configuration: what opens the stores of secrets may
    /// have changed. Where it has not, what was opened stays.
    pub(super) fn renew_secrets(&self, config: &Config) {
        if *self.config().environment != *config.environment {
            let resolver = resolver(config, &self.connector, &self.redactor);
            *self.secrets.write().unwrap_or_else(PoisonError::into_inner) = resolver;
        }
    }
}

/// What gets secrets with the variables of a configuration.
pub(super) fn resolver(
    config: &Config,
    connector: &Connector,
    redactor: &Redactor,
) -> Arc<SecretResolver> {
    Arc::new(SecretResolver::new(Surroundings {
        environment: Arc::clone(&config.environment),
        launcher: Arc::clone(connector.launcher()),
        redactor: redactor.clone(),
    }))
}
