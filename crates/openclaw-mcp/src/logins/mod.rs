//! Logins to servers: what shows their tokens, and what a login is begun with.
//!
//! | module | owns |
//! |---|---|
//! | `resource` | from a definition to what a login is about |
//! | `keys` | the keys of a client that the configuration names |
//! | `authorizer` | the token for each request, and what is done about a refusal |

mod authorizer;
mod keys;
mod resource;

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use openclaw_config::{
    Authorization, Fingerprint, GrantType, Launch, OAuthSettings, RemoteLaunch, Server,
};
use openclaw_oauth::{
    Clock, Keeper, KeysSource, LoginDesk, LoginStore, Remark, Resource, is_this_machine,
};
use openclaw_secrets::Redactor;
use url::Url;

pub use self::authorizer::ServerLogin;
use self::keys::ClientKeys;
use self::resource::resource;
use crate::launch::SecretSource;

/// The logins to all servers.
pub(crate) struct Logins {
    store: LoginStore,
    redactor: Redactor,
    clock: Clock,
    /// Where the document is that describes us to authorization servers, if we publish one. It does not
    /// change: logins that are under way name it.
    published: Option<Url>,
    /// One for each definition, so that all connections see the same token.
    servers: Mutex<HashMap<Fingerprint, Arc<ServerLogin>>>,
}

impl Logins {
    pub(crate) fn new(store: LoginStore, redactor: Redactor, published: Option<Url>) -> Self {
        Self {
            store,
            redactor,
            clock: Clock::system(),
            published,
            servers: Mutex::default(),
        }
    }

    /// Where the document is that describes us, if we publish one.
    pub(crate) fn published(&self) -> Option<&Url> {
        self.published.as_ref()
    }

    /// The login to a server, if it is one that may ask for one.
    pub(crate) fn of(
        &self,
        server: &Arc<Server>,
        fingerprint: Fingerprint,
        secrets: &SecretSource,
    ) -> Option<Arc<ServerLogin>> {
        let (launch, settings) = asks(server)?;
        let mut servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        let login = servers.entry(fingerprint).or_insert_with(|| {
            let resource = resource(server, launch, settings, self.published());
            let keeper = Keeper::new(
                resource.clone(),
                self.store.of(&resource.server, &resource.url),
                ClientKeys::of(server, secrets),
                self.redactor.clone(),
                self.clock.clone(),
            );
            ServerLogin::new(resource.server, resource.url, keeper)
        });
        Some(Arc::clone(login))
    }

    /// Where one logs in to a server, if it is one that may ask for it.
    pub(crate) fn desk(&self, server: &Arc<Server>, secrets: &SecretSource) -> Option<LoginDesk> {
        let (launch, settings) = asks(server)?;
        Some(LoginDesk::new(
            resource(server, launch, settings, self.published()),
            &self.store,
            ClientKeys::of(server, secrets),
            self.redactor.clone(),
            self.clock.clone(),
        ))
    }

    /// Where a login is given up that the configuration says nothing about any more.
    pub(crate) fn desk_of(&self, resource: Resource, keys: Arc<dyn KeysSource>) -> LoginDesk {
        let (redactor, clock) = (self.redactor.clone(), self.clock.clone());
        LoginDesk::new(resource, &self.store, keys, redactor, clock)
    }

    /// What a person should know about how logins are kept.
    pub(crate) fn remark(&self) -> Option<Remark> {
        self.store.remark()
    }

    /// Waits until no token is being renewed: what an authorization server has answered must not be
    /// lost with this process.
    pub(crate) async fn settled(&self) {
        self.store.settled().await;
    }

    /// Forgets the logins of definitions that nobody has any longer.
    pub(crate) fn retain(&self, known: &BTreeSet<Fingerprint>) {
        let mut servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        servers.retain(|fingerprint, _| known.contains(fingerprint));
    }
}

/// Whether a person can do something about a server that does not let us in, by logging in to it.
pub(crate) fn a_person_logs_in(server: &Server) -> bool {
    let settings = asks(server).map(|(_, settings)| settings.grant_type);
    settings == Some(GrantType::AuthorizationCode)
}

/// What a definition says about logging in, if nothing else proves who we are.
fn asks(server: &Server) -> Option<(&RemoteLaunch, &OAuthSettings)> {
    let Launch::Remote(launch) = &server.launch else {
        return None;
    };
    // Everybody between could read the token (RFC 6750 §5.3).
    let is_readable = launch.url.scheme() != "https" && !is_this_machine(&launch.url);
    match &launch.authorization {
        Authorization::OAuth(_) if is_readable => None,
        Authorization::OAuth(settings) => Some((launch, settings)),
        Authorization::Header(_) | Authorization::ApiKey(_) => None,
    }
}
