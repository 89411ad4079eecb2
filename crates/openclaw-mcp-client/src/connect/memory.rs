//! Which era servers speak, remembered between runs so that it is not found out every time.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use openclaw_state::{
    FileLock, StateDirectory, StateDirectoryError, Versioned, layout, load, store,
};
use serde::{Deserialize, Serialize};

use crate::session::Era;

/// How many servers are remembered.
const SERVERS: usize = 1_000;
/// How long another process is waited for that writes the file.
const PATIENCE: Duration = Duration::from_millis(500);

/// What a server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RememberedEra {
    /// The second era.
    Modern,
    /// The first era, over the transport that is usual.
    Legacy,
    /// The first era, over HTTP with server-sent events.
    LegacyEvents,
}

impl RememberedEra {
    pub(super) fn era(self) -> Era {
        match self {
            Self::Modern => Era::Modern,
            Self::Legacy | Self::LegacyEvents => Era::Legacy,
        }
    }
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Eras {
    servers: BTreeMap<String, RememberedEra>,
}

impl Versioned for Eras {
    const FORMAT: &'static str = "openclaw server eras";
    const VERSION: u32 = 1;
}

/// Remembers what servers speak, by fingerprint.
#[derive(Clone, Debug)]
pub struct EraMemory {
    file: PathBuf,
    lock: PathBuf,
    eras: Arc<Mutex<Option<Eras>>>,
}

impl EraMemory {
    /// The memory in a state directory; nothing is read yet.
    pub fn new(directory: &StateDirectory) -> Result<Self, StateDirectoryError> {
        Ok(Self {
            file: directory.file(layout::ERAS)?,
            lock: directory.file(layout::ERAS_LOCK)?,
            eras: Arc::default(),
        })
    }

    /// What the server with this fingerprint spoke last.
    pub fn recall(&self, fingerprint: &str) -> Option<RememberedEra> {
        let mut eras = self.lock();
        let eras = eras.get_or_insert_with(|| self.read());
        eras.servers.get(fingerprint).copied()
    }

    /// Remembers what it speaks. A failure is logged: next time it is found out again.
    pub async fn remember(&self, fingerprint: &str, spoken: RememberedEra) {
        if self.recall(fingerprint) == Some(spoken) {
            return;
        }
        let (memory, fingerprint) = (self.clone(), fingerprint.to_owned());
        let writing = tokio::task::spawn_blocking(move || {
            memory.change(|servers| {
                servers.insert(fingerprint, spoken);
            });
        });
        let _ = writing.await;
    }

    /// Forgets what it spoke.
    pub async fn forget(&self, fingerprint: &str) {
        if self.recall(fingerprint).is_none() {
            return;
        }
        let (memory, fingerprint) = (self.clone(), fingerprint.to_owned());
        let writing = tokio::task::spawn_blocking(move || {
            memory.change(|servers| {
                servers.remove(&fingerprint);
            });
        });
        let _ = writing.await;
    }

    fn change(&self, change: impl FnOnce(&mut BTreeMap<String, RememberedEra>)) {
        let changed = FileLock::acquire(&self.lock, PATIENCE)
            .map_err(|error| error.to_string())
            .and_then(|_lock| {
                // Others may have written meanwhile.
                let mut eras = self.read();
                change(&mut eras.servers);
                while eras.servers.len() > SERVERS {
                    eras.servers.pop_first();
                }
                store(&self.file, &eras).map_err(|error| error.to_string())?;
                Ok(eras)
            });
        match changed {
            Ok(eras) => *self.lock() = Some(eras),
            Err(error) => tracing::warn!("what servers speak can't be remembered: {error}"),
        }
    }

    fn read(&self) -> Eras {
        match load(&self.file) {
            Ok(eras) => eras.unwrap_or_default(),
            Err(error) => {
                tracing::warn!("what servers speak can't be read: {error}");
                Eras::default()
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Eras>> {
        self.eras.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
