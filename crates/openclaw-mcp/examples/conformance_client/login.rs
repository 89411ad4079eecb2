//! Logs in as a person with a browser would: opens the address, is sent back, brings what that says.

use std::sync::Arc;

use bytes::Bytes;
use openclaw_config::Environment;
use openclaw_http::{Http, HttpSettings};
use openclaw_mcp::ServerLogin;
use openclaw_mcp_client::{Authorizer, Unauthorized};
use openclaw_oauth::{
    Arrival, Challenge, Clock, ConfiguredKeys, Grant, Keeper, KeysSource, LoginDesk, LoginStore,
    PendingKeys, Redirect, Resource,
};
use openclaw_secret_stores::Keyring;
use openclaw_secrets::{Redactor, Secret};
use openclaw_state::StateDirectory;
use serde_json::Value;
use url::Url;

use crate::Failure;

/// The address of a document about us that the suite knows.
const METADATA_URL: &str = "https://conformance-test.local/client-metadata.json";

/// What the context of a scenario says about a client.
struct Keys(ConfiguredKeys);

impl KeysSource for Keys {
    fn keys(&self) -> PendingKeys<'_> {
        Box::pin(async { Ok(self.0.clone()) })
    }
}

pub(crate) struct Login {
    desk: LoginDesk,
    authorizer: Arc<ServerLogin>,
    url: Url,
    /// Where tokens are kept for the time of one scenario.
    _directory: tempfile::TempDir,
}

impl Login {
    pub(crate) fn new(url: &Url, scenario: &str, context: &Value) -> Result<Self, Failure> {
        let text = |name: &str| context[name].as_str().map(ToOwned::to_owned);
        let keys = ConfiguredKeys {
            secret: text("client_secret").map(Secret::new),
            private_key: text("private_key_pem").map(Secret::new),
        };
        let resource = Resource {
            server: "conformance".to_owned(),
            url: url.clone(),
            grant: if scenario.contains("client-credentials") {
                Grant::ClientCredentials
            } else {
                Grant::AuthorizationCode
            },
            client_id: text("client_id"),
            key_id: None,
            client_metadata_url: Some(METADATA_URL.parse()?),
            authorization_server: None,
            scopes: None,
            redirect: Redirect::default(),
            authorities: None,
            verify: true,
            identity: None,
        };
        let directory = tempfile::tempdir()?;
        let environment = Environment::new([], None, directory.path());
        let state = StateDirectory::open(directory.path())?;
        let store = LoginStore::new(state, Keyring::new(&environment));
        let keys: Arc<dyn KeysSource> = Arc::new(Keys(keys));
        let (redactor, clock) = (Redactor::new(), Clock::system());
        let keeper = Keeper::new(
            resource.clone(),
            store.of(&resource.server, &resource.url),
            Arc::clone(&keys),
            redactor.clone(),
            clock.clone(),
        );
        Ok(Self {
            authorizer: ServerLogin::new(resource.server.clone(), url.clone(), keeper),
            desk: LoginDesk::new(resource, &store, keys, redactor, clock),
            url: url.clone(),
            _directory: directory,
        })
    }

    pub(crate) fn authorizer(&self) -> Arc<dyn Authorizer> {
        self.authorizer.clone()
    }

    /// Logs in for what a server asked for.
    pub(crate) async fn log_in(&self, refused: &Unauthorized) -> Result<(), Failure> {
        let challenges = refused.failure.as_ref().map(|it| it.challenges.clone());
        let challenge = Challenge::read(&challenges.unwrap_or_default(), &self.url);
        let running = Box::pin(self.desk.begin(&challenge, Arrival::Here, true)).await?;
        // The browser: it is not sent on to us, but brings where it would have been sent to.
        let browser = Http::new(HttpSettings::default());
        let request = http::Request::get(running.begun().url.as_str()).body(Bytes::new())?;
        let answer = browser.send(request).await?;
        let location = answer.headers().get("location").ok_or("not sent back")?;
        self.desk.finish(&Secret::new(location.to_str()?)).await?;
        Ok(())
    }
}
