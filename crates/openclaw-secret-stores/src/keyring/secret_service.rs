//! The Secret Service of Linux desktops, over the session bus.

mod trouble;

use std::collections::HashMap;
use std::path::Path;

use futures_util::StreamExt as _;
use openclaw_config::Environment;
use openclaw_secrets::Secret;
use secret_service::{Collection, EncryptionType, Error, Item, SecretService};
use zbus::connection;
use zbus::fdo::DBusProxy;

use crate::error::SecretError;
use crate::keyring::Asking;
use crate::value;

pub(super) use trouble::UNLOCKING;

/// The schema that libsecret gives to what `secret-tool` stores.
const SCHEMA: (&str, &str) = ("xdg:schema", "org.freedesktop.Secret.Generic");
/// What libsecret expects of a password.
const CONTENT_TYPE: &str = "text/plain";
/// What the service is called on the bus.
const NAME: &str = "org.freedesktop.secrets";
/// What the keyring is called that is made where there is none.
const NEW_KEYRING: &str = "Default keyring";

/// How an entry is stored by hand.
pub(super) fn storing(service: &str, account: &str) -> String {
    let (service, account) = (quoted(service), quoted(account));
    format!(
        "store it with `secret-tool store --label openclaw service {service} username {account}`"
    )
}

/// A word for a shell.
fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:@".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Where the session bus is.
#[derive(Clone)]
pub(super) struct Place {
    address: Option<String>,
}

impl Place {
    /// The bus that the variables name, or the one that systemd gives to this user. Clients that
    /// start us may leave out the variables.
    ///
    /// A `.env` file has no say in it: an address can name a program to start, and whoever left such
    /// a file in a directory would be sent the credentials.
    pub(super) fn of(environment: &Environment) -> Self {
        let variable = |wanted: &str| {
            let mut variables = environment.process_variables();
            let found = variables.find(|(name, value)| *name == wanted && !value.is_empty());
            found.map(|(_, value)| value)
        };
        if let Some(address) = variable("DBUS_SESSION_BUS_ADDRESS") {
            return Self {
                address: Some(address.to_owned()),
            };
        }
        let directory = match variable("XDG_RUNTIME_DIR") {
            Some(directory) => directory.to_owned(),
            None => format!("/run/user/{}", rustix::process::getuid().as_raw()),
        };
        let bus = Path::new(&directory).join("bus");
        Self {
            address: bus.exists().then(|| format!("unix:path={}", bus.display())),
        }
    }

    /// Connects to the Secret Service. Secrets cross the bus encrypted.
    pub(super) async fn open(&self, asking: Asking) -> Result<Open, SecretError> {
        let addresses = self.address.as_deref().ok_or_else(trouble::no_bus)?;
        let bus = connect(addresses).await?;
        let service = SecretService::connect_with_existing(EncryptionType::Dh, bus.clone()).await;
        Ok(Open {
            service: service.map_err(trouble::no_service)?,
            bus,
            asking,
        })
    }
}

/// Connects to the first bus of a list that can be reached. If none can, one that is there and does
/// not work says more than one that is not there.
async fn connect(addresses: &str) -> Result<zbus::Connection, SecretError> {
    let mut failure: Option<SecretError> = None;
    for address in addresses.split(';').filter(|it| !it.trim().is_empty()) {
        let connected = match connection::Builder::address(address.trim()) {
            Ok(builder) => builder.build().await,
            Err(error) => Err(error),
        };
        let error = match connected {
            Ok(bus) => return Ok(bus),
            Err(error) => trouble::unusable_bus(error),
        };
        if failure.as_ref().is_none_or(SecretError::is_absence) {
            failure = Some(error);
        }
    }
    Err(failure.unwrap_or_else(trouble::no_bus))
}

/// A connection to the Secret Service. It is closed when this is dropped, and with it every window
/// that asks for a password in our name.
pub(super) struct Open {
    service: SecretService<'static>,
    bus: zbus::Connection,
    asking: Asking,
}

impl Open {
    pub(super) async fn check(&self) -> Result<(), SecretError> {
        let collections = self.service.get_all_collections().await;
        collections.map(drop).map_err(trouble::told)
    }

    pub(super) async fn get(
        &self,
        service: &str,
        account: &str,
    ) -> Result<Option<Secret>, SecretError> {
        let Some(item) = self.find(service, account).await? else {
            return Ok(None);
        };
        let bytes = item.get_secret().await.map_err(trouble::told)?;
        value::from_bytes(bytes).map(Some)
    }

    pub(super) async fn get_unlocked(
        &self,
        service: &str,
        account: &str,
    ) -> Result<Option<Secret>, SecretError> {
        if let Some(secret) = self.get(service, account).await? {
            return Ok(Some(secret));
        }
        let collection = match self.service.get_default_collection().await {
            Ok(collection) => collection,
            Err(Error::NoResult) => return Ok(None),
            Err(error) => return Err(trouble::told(error)),
        };
        // The specification lets a locked collection keep what it has to itself, and not every
        // service looks into one.
        if self.unlock(&collection).await? {
            self.get(service, account).await
        } else {
            Ok(None)
        }
    }

    pub(super) async fn set(
        &self,
        service: &str,
        account: &str,
        secret: &Secret,
    ) -> Result<(), SecretError> {
        let bytes = secret.expose().as_bytes();
        if let Some(item) = self.find(service, account).await? {
            let changed = item.set_secret(bytes, CONTENT_TYPE).await;
            return changed.map_err(trouble::told);
        }
        let collection = self.default_collection().await?;
        let label = format!("{service}: {account}");
        let mut attributes = attributes(service, account);
        attributes.insert(SCHEMA.0, SCHEMA.1);
        let created = collection.create_item(&label, attributes, bytes, true, CONTENT_TYPE);
        created.await.map(drop).map_err(trouble::told)
    }

    pub(super) async fn delete(&self, service: &str, account: &str) -> Result<bool, SecretError> {
        let Some(item) = self.find(service, account).await? else {
            return Ok(false);
        };
        self.person(item.delete()).await?;
        Ok(true)
    }

    /// The entry of a service and an account, unlocked.
    async fn find(&self, service: &str, account: &str) -> Result<Option<Item<'_>>, SecretError> {
        let found = self.service.search_items(attributes(service, account));
        let found = found.await.map_err(trouble::told)?;
        let is_locked = found.unlocked.is_empty();
        let mut items = found.unlocked;
        items.extend(found.locked);
        if items.len() > 1 {
            return Err(trouble::ambiguous(service, account, items.len()));
        }
        let Some(item) = items.pop() else {
            return Ok(None);
        };
        if is_locked {
            self.check_asking()?;
            self.person(item.unlock()).await?;
        }
        Ok(Some(item))
    }

    /// Where new entries go, unlocked; made where there is none, as libsecret does it.
    async fn default_collection(&self) -> Result<Collection<'_>, SecretError> {
        let collection = match self.service.get_default_collection().await {
            Ok(collection) => collection,
            Err(Error::NoResult) => {
                self.check_asking()?;
                let created = self.service.create_collection(NEW_KEYRING, "default");
                return self.person(created).await;
            }
            Err(error) => return Err(trouble::told(error)),
        };
        self.unlock(&collection).await?;
        Ok(collection)
    }

    /// Unlocks a collection, and says whether that was needed.
    async fn unlock(&self, collection: &Collection<'_>) -> Result<bool, SecretError> {
        let is_locked = collection.is_locked().await.map_err(trouble::told)?;
        if is_locked {
            self.check_asking()?;
            self.person(collection.unlock()).await?;
        }
        Ok(is_locked)
    }

    /// Makes sure that a person may be asked for the password.
    fn check_asking(&self) -> Result<(), SecretError> {
        if self.asking.is_forbidden() {
            Err(trouble::told(Error::Locked))
        } else {
            Ok(())
        }
    }

    /// Does something that a person may be asked about, while the service is there: one that has
    /// gone away would be waited for until time is up.
    async fn person<T>(
        &self,
        asked: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, SecretError> {
        let names = DBusProxy::new(&self.bus).await;
        let names = names.map_err(trouble::unusable_bus)?;
        let owners = names.receive_name_owner_changed_with_args(&[(0, NAME)]);
        let mut owners = owners.await.map_err(trouble::unusable_bus)?;
        self.asking.begin();
        let answer = tokio::select! {
            biased;
            answer = asked => answer.map_err(trouble::told),
            _ = owners.next() => Err(trouble::gone()),
        };
        self.asking.end();
        answer
    }
}

fn attributes<'a>(service: &'a str, account: &'a str) -> HashMap<&'static str, &'a str> {
    HashMap::from([("service", service), ("username", account)])
}
