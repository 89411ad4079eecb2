//! What makes one connection the same as another.

use std::collections::BTreeMap;
use std::fmt;

use openclaw_secrets::SecretReference;
use openclaw_state::StateKey;
use ring::hmac;
use url::Url;

use crate::config::{Config, Definition, SecretProgram, SecretProviderSettings};
use crate::raw::ConfigValue;
use crate::server::{
    Authorization, InheritedEnvironment, Launch, OAuthSettings, RemoteLaunch, RemoteTransport,
    Server, StdioLaunch,
};

/// A hash of all that decides how a server is started or reached, and as whom.
///
/// Servers with the same fingerprint can share a connection, whatever they are called. Secrets
/// count by reference, never by value; other values are hashed with a key of the state directory,
/// so that the hash of a password that stands in the file can't be guessed from outside.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint([u8; 32]);

/// Makes the fingerprints of the servers of one configuration.
pub struct Fingerprints<'a> {
    key: hmac::Key,
    providers: &'a BTreeMap<String, Definition<SecretProviderSettings>>,
}

impl<'a> Fingerprints<'a> {
    /// For the servers of a configuration, with the key of a state directory.
    pub fn new(config: &'a Config, key: &StateKey) -> Self {
        Self {
            key: hmac::Key::new(hmac::HMAC_SHA256, key.as_bytes()),
            providers: &config.secrets.providers,
        }
    }

    /// The fingerprint of a server.
    pub fn of(&self, server: &Server) -> Fingerprint {
        let mut hash = Hash {
            context: hmac::Context::with_key(&self.key),
            providers: self.providers,
        };
        hash.text("openclaw launch 1");
        // Sessions that have a connection each do not share it with those who share one.
        hash.text(server.scope.as_str());
        match &server.launch {
            Launch::Stdio(launch) => hash.stdio(launch),
            Launch::Remote(launch) => {
                hash.remote(launch);
                // Logins are kept per server name.
                if let Authorization::OAuth(settings) = &launch.authorization {
                    hash.text(server.name.as_str());
                    hash.oauth(settings);
                }
            }
        }
        let mut bytes = [0; 32];
        bytes.copy_from_slice(hash.context.sign().as_ref());
        Fingerprint(bytes)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .iter()
            .try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Fingerprint({self})")
    }
}

/// Feeds values so that no two different definitions give the same bytes.
struct Hash<'a> {
    context: hmac::Context,
    providers: &'a BTreeMap<String, Definition<SecretProviderSettings>>,
}

impl Hash<'_> {
    fn text(&mut self, text: &str) {
        self.number(text.len());
        self.context.update(text.as_bytes());
    }

    fn number(&mut self, number: usize) {
        self.context.update(&(number as u64).to_le_bytes());
    }

    fn texts<'t>(&mut self, texts: impl ExactSizeIterator<Item = &'t String>) {
        self.number(texts.len());
        for text in texts {
            self.text(text);
        }
    }

    fn optional<T>(&mut self, value: Option<T>, feed: impl FnOnce(&mut Self, T)) {
        match value {
            None => self.number(0),
            Some(value) => {
                self.number(1);
                feed(self, value);
            }
        }
    }

    fn value(&mut self, value: &ConfigValue) {
        match value {
            ConfigValue::Plain { value, .. } => {
                self.number(0);
                self.text(value.expose());
            }
            ConfigValue::Reference { prefix, secret } => {
                self.number(1);
                self.text(prefix);
                self.text(&secret.to_string());
                if let SecretReference::Configured { provider, .. } = secret {
                    self.provider(provider);
                }
            }
        }
    }

    /// A reference means another secret when its provider is set up in another way.
    fn provider(&mut self, name: &str) {
        match self
            .providers
            .get(name)
            .and_then(Definition::sound)
            .map(|provider| &**provider)
        {
            None => self.number(0),
            Some(SecretProviderSettings::Environment { allowlist }) => {
                self.number(1);
                self.optional(allowlist.as_ref(), |hash, names| hash.texts(names.iter()));
            }
            Some(SecretProviderSettings::File { path, mode }) => {
                self.number(2);
                self.path(path);
                self.text(mode.as_str());
            }
            Some(SecretProviderSettings::Exec(SecretProgram {
                command,
                args,
                environment,
                pass_environment,
                timeout: _,
                max_output_bytes: _,
            })) => {
                self.number(3);
                self.path(command);
                self.texts(args.iter());
                self.texts(environment.keys());
                self.texts(environment.values());
                self.texts(pass_environment.iter());
            }
        }
    }

    fn values<'v>(&mut self, values: impl ExactSizeIterator<Item = (&'v String, &'v ConfigValue)>) {
        self.number(values.len());
        for (name, value) in values {
            self.text(name);
            self.value(value);
        }
    }

    fn addresses(&mut self, addresses: &Vec<Url>) {
        self.number(addresses.len());
        for address in addresses {
            self.text(address.as_str());
        }
    }

    fn path(&mut self, path: &std::path::Path) {
        let bytes = path.as_os_str().as_encoded_bytes();
        self.number(bytes.len());
        self.context.update(bytes);
    }

    fn stdio(&mut self, launch: &StdioLaunch) {
        let StdioLaunch {
            command,
            args,
            environment,
            inherited,
            directory,
            protocol,
            roots,
        } = launch;
        self.text("stdio");
        self.text(command);
        self.texts(args.iter());
        self.values(environment.iter());
        match inherited {
            InheritedEnvironment::Nothing => self.number(0),
            InheritedEnvironment::All => self.number(1),
            InheritedEnvironment::Names(names) => {
                self.number(2);
                self.texts(names.iter());
            }
        }
        self.optional(directory.as_deref(), Self::path);
        self.text(protocol.as_str());
        self.optional(roots.as_ref(), Self::addresses);
    }

    fn remote(&mut self, launch: &RemoteLaunch) {
        let RemoteLaunch {
            transport,
            url,
            headers,
            authorization,
            tls,
            protocol,
            roots,
        } = launch;
        self.text(match transport {
            RemoteTransport::Http => "http",
            RemoteTransport::Sse => "sse",
        });
        self.text(url.as_str());
        self.values(headers.iter());
        match authorization {
            Authorization::Header(value) => {
                self.text("header");
                self.value(value);
            }
            Authorization::ApiKey(value) => {
                self.text("key");
                self.value(value);
            }
            Authorization::OAuth(_) => self.text("oauth"),
        }
        self.number(usize::from(tls.verify));
        self.optional(tls.authorities.as_deref(), Self::path);
        self.optional(tls.identity.as_ref(), |hash, identity| {
            hash.path(&identity.certificate);
            hash.optional(identity.key.as_deref(), Self::path);
        });
        self.text(protocol.as_str());
        self.optional(roots.as_ref(), Self::addresses);
    }

    fn oauth(&mut self, settings: &OAuthSettings) {
        let OAuthSettings {
            required,
            grant_type,
            client_id,
            client_secret,
            private_key,
            key_id,
            authorization_server,
            scopes,
            redirect_url,
            client_metadata_url,
            callback_host,
            callback_port,
            callback_path,
        } = settings;
        self.number(usize::from(*required));
        self.optional(client_id.as_deref(), Self::text);
        self.optional(client_secret.as_ref(), Self::value);
        self.text(grant_type.as_str());
        self.optional(private_key.as_ref(), Self::value);
        self.optional(key_id.as_deref(), Self::text);
        for url in [authorization_server, redirect_url, client_metadata_url] {
            self.optional(url.as_ref(), |hash, url| hash.text(url.as_str()));
        }
        self.optional(scopes.as_ref(), |hash, scopes| hash.texts(scopes.iter()));
        self.text(callback_host.as_str());
        self.optional(*callback_port, |hash, port| hash.number(usize::from(port)));
        self.text(callback_path);
    }
}
