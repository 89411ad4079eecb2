//! Definitions as they were at first sight, kept between runs.

use std::borrow::Borrow;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use openclaw_mcp_client::Tool;
use openclaw_state::{
    FileLock, LockError, StateDirectory, StateDirectoryError, Versioned, VersionedError, layout,
    load, store,
};
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::hash::DefinitionHash;

/// How long another process is waited for that writes the file.
const PATIENCE: Duration = Duration::from_secs(2);
/// How many tools are remembered, of all servers.
const MOST: usize = 50_000;
/// How many of one server, so that none can use up the room of the others.
const MOST_OF_ONE: usize = 10_000;
/// How long a name may be that is written as it is; a longer one is written as a hash.
const NAME: usize = 128;

/// What is known about the definition of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is seen for the first time, and remembered.
    First,
    /// It is what it was.
    Same,
    /// It is not what it was.
    Changed {
        /// What it was.
        before: DefinitionHash,
        /// What it is now.
        now: DefinitionHash,
    },
    /// It is not remembered: there are too many.
    Unknown,
}

/// Why definitions can't be remembered.
#[derive(Debug, Error)]
pub enum PinError {
    /// The file can't be used.
    #[error(transparent)]
    File(#[from] VersionedError),
    /// Another process does not let go of it.
    #[error(transparent)]
    Lock(#[from] LockError),
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Remembered {
    /// By server and tool.
    servers: BTreeMap<String, BTreeMap<String, String>>,
}

impl Versioned for Remembered {
    const FORMAT: &'static str = "openclaw tool definitions";
    const VERSION: u32 = 1;
    const LIMIT: u64 = 16_000_000;
}

impl Remembered {
    fn get(&self, server: &str, tool: &str) -> Option<DefinitionHash> {
        DefinitionHash::parse(self.servers.get(server)?.get(&*written(tool))?)
    }

    fn put(&mut self, server: &str, tool: &str, hash: DefinitionHash) {
        let tools = self.servers.entry(server.to_owned()).or_default();
        tools.insert(written(tool).into_owned(), hash.to_string());
    }

    fn of(&self, server: &str) -> usize {
        self.servers.get(server).map_or(0, BTreeMap::len)
    }

    fn len(&self) -> usize {
        self.servers.values().map(BTreeMap::len).sum()
    }
}

/// The name of a tool as it is written: servers choose names, and a file has to hold them.
fn written(tool: &str) -> Cow<'_, str> {
    // What JSON has to escape takes more room than it seems.
    if tool.len() <= NAME && !tool.contains(char::is_control) {
        return Cow::Borrowed(tool);
    }
    let digest = digest(&SHA256, tool.as_bytes());
    let digits = digest.as_ref().iter().map(|byte| format!("{byte:02x}"));
    Cow::Owned(format!("sha256 {}", digits.collect::<String>()))
}

/// Remembers the definitions of tools.
#[derive(Debug)]
pub struct Pins {
    file: PathBuf,
    lock: PathBuf,
    /// What the file said last.
    known: Mutex<Option<Arc<Remembered>>>,
}

impl Pins {
    /// Those of a state directory; nothing is read yet.
    pub fn new(directory: &StateDirectory) -> Result<Self, StateDirectoryError> {
        Ok(Self {
            file: directory.file(layout::PINS)?,
            lock: directory.file(layout::PINS_LOCK)?,
            known: Mutex::default(),
        })
    }

    /// Compares the tools of a server with what they were, and remembers those that are new. The
    /// verdicts are in the order of the tools.
    ///
    /// A file that can't be read is an error, never "nothing is known": that would accept whatever
    /// a server says now.
    pub fn check(
        &self,
        server: &str,
        tools: &[impl Borrow<Tool>],
    ) -> Result<Vec<Verdict>, PinError> {
        let tools: Vec<&Tool> = tools.iter().map(Borrow::borrow).collect();
        let hashes: Vec<_> = tools.iter().map(|tool| DefinitionHash::of(tool)).collect();
        let known = self.read()?;
        let is_new = |tool: &&Tool| known.get(server, &tool.name).is_none();
        if !tools.iter().any(is_new) {
            return Ok(verdicts(server, &tools, &hashes, &known, &known));
        }
        let _lock = FileLock::acquire(&self.lock, PATIENCE)?;
        // Others may have written meanwhile, and what they saw first counts.
        let before = load::<Remembered>(&self.file)?.unwrap_or_default();
        let mut after = before.clone();
        let room = MOST.saturating_sub(before.len());
        let mut room = room.min(MOST_OF_ONE.saturating_sub(before.of(server)));
        for (tool, hash) in tools.iter().zip(&hashes) {
            if after.get(server, &tool.name).is_none() && room > 0 {
                after.put(server, &tool.name, *hash);
                room -= 1;
            }
        }
        store(&self.file, &after)?;
        let found = verdicts(server, &tools, &hashes, &before, &after);
        self.keep(after);
        Ok(found)
    }

    /// Accepts what a tool is now.
    pub fn approve(&self, server: &str, tool: &Tool) -> Result<(), PinError> {
        let _lock = FileLock::acquire(&self.lock, PATIENCE)?;
        let mut known = load::<Remembered>(&self.file)?.unwrap_or_default();
        known.put(server, &tool.name, DefinitionHash::of(tool));
        store(&self.file, &known)?;
        self.keep(known);
        Ok(())
    }

    /// What is known, read once; a changed file is noticed when something new is to be written.
    fn read(&self) -> Result<Arc<Remembered>, PinError> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = &*known {
            return Ok(known.clone());
        }
        let read = Arc::new(load::<Remembered>(&self.file)?.unwrap_or_default());
        *known = Some(read.clone());
        Ok(read)
    }

    fn keep(&self, remembered: Remembered) {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(remembered));
    }
}

fn verdicts(
    server: &str,
    tools: &[&Tool],
    hashes: &[DefinitionHash],
    before: &Remembered,
    after: &Remembered,
) -> Vec<Verdict> {
    let verdict = |(tool, now): (&&Tool, &DefinitionHash)| {
        let known = before.get(server, &tool.name);
        // Listed twice with different definitions: the first one counts.
        match known.or_else(|| after.get(server, &tool.name)) {
            Some(kept) if kept == *now && known.is_some() => Verdict::Same,
            Some(kept) if kept == *now => Verdict::First,
            Some(before) => Verdict::Changed { before, now: *now },
            None => Verdict::Unknown,
        }
    };
    tools.iter().zip(hashes).map(verdict).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::hash::tests::tool;
    use super::*;

    fn pins(directory: &tempfile::TempDir) -> Pins {
        let state = StateDirectory::open(&directory.path().join("state")).unwrap();
        Pins::new(&state).unwrap()
    }

    #[test]
    fn a_change_is_noticed_across_runs_until_it_is_approved() {
        let directory = tempfile::tempdir().unwrap();
        let (read, write) = (
            tool("read", "Reads", json!({})),
            tool("write", "Writes", json!({})),
        );
        let tools = [read.clone(), write.clone()];
        assert_eq!(
            pins(&directory).check("files", &tools).unwrap(),
            [Verdict::First; 2]
        );
        let pins_again = pins(&directory);
        assert_eq!(
            pins_again.check("files", &tools).unwrap(),
            [Verdict::Same; 2]
        );
        let other = tool("read", "Reads, and sends what it read elsewhere", json!({}));
        let tools = [other.clone(), write, tool("new", "New", json!({}))];
        let found = pins(&directory).check("files", &tools).unwrap();
        let before = DefinitionHash::of(&read);
        let now = DefinitionHash::of(&other);
        let changed = Verdict::Changed { before, now };
        assert_eq!(found, [changed, Verdict::Same, Verdict::First]);
        // Seeing it again does not make it known.
        assert_eq!(pins_again.check("files", &tools).unwrap()[0], changed);
        pins_again.approve("files", &other).unwrap();
        assert_eq!(
            pins(&directory).check("files", &tools).unwrap(),
            [Verdict::Same; 3]
        );
        // The same tool of another server is another tool.
        assert_eq!(
            pins(&directory).check("other", &[read]).unwrap(),
            [Verdict::First]
        );
    }

    #[test]
    fn a_tool_that_is_listed_twice_is_known_by_its_first_definition() {
        let directory = tempfile::tempdir().unwrap();
        let tools = [tool("a", "one", json!({})), tool("a", "two", json!({}))];
        let found = pins(&directory).check("files", &tools).unwrap();
        assert_eq!(found[0], Verdict::First);
        assert!(matches!(found[1], Verdict::Changed { .. }));
    }

    #[test]
    fn what_can_not_be_read_is_an_error_and_stays() {
        let directory = tempfile::tempdir().unwrap();
        let pins = pins(&directory);
        std::fs::write(&pins.file, "{ not ours").unwrap();
        assert!(pins.check("files", &[tool("a", "A", json!({}))]).is_err());
        assert_eq!(std::fs::read_to_string(&pins.file).unwrap(), "{ not ours");
    }
}
