//! The tools that a person always allows, kept between runs.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use openclaw_state::{
    FileLock, LockError, StateDirectory, StateDirectoryError, Versioned, VersionedError, layout,
    load, store,
};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::names::ToolKey;
use crate::pins::DefinitionHash;

/// How long another process is waited for that writes the file.
const PATIENCE: Duration = Duration::from_secs(2);
/// How many tools are remembered, for all agents.
const MOST: usize = 5_000;
/// How long a name may be that is remembered, in bytes. Servers choose the names of their tools,
/// and the file must stay small enough to be read again.
const LONGEST_NAME: usize = 256;

/// Why an answer can't be remembered or looked up.
#[derive(Debug, Error)]
pub enum ApprovalError {
    /// The file can't be used.
    #[error(transparent)]
    File(#[from] VersionedError),
    /// Another process does not let go of it.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// There is no room.
    #[error("more than {MOST} tools are allowed for ever: delete {} to start anew", .0.display())]
    Full(PathBuf),
    /// The name is too long to be remembered.
    #[error("the name of the tool has more than {LONGEST_NAME} bytes")]
    LongName,
}

type ByTool = BTreeMap<String, String>;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Remembered {
    /// The hash of the definition, by agent, server and tool.
    agents: BTreeMap<String, BTreeMap<String, ByTool>>,
}

impl Versioned for Remembered {
    const FORMAT: &'static str = "openclaw approvals";
    const VERSION: u32 = 1;
    const LIMIT: u64 = 16_000_000;
}

impl Remembered {
    fn get(&self, agent: &str, tool: &ToolKey) -> Option<DefinitionHash> {
        let tools = self.agents.get(agent)?.get(&tool.server)?;
        DefinitionHash::parse(tools.get(&tool.tool)?)
    }

    fn put(&mut self, agent: &str, tool: &ToolKey, definition: DefinitionHash) {
        let servers = self.agents.entry(agent.to_owned()).or_default();
        let tools = servers.entry(tool.server.clone()).or_default();
        tools.insert(tool.tool.clone(), definition.to_string());
    }

    /// Takes a tool out, and what is empty without it.
    fn remove(&mut self, agent: &str, tool: &ToolKey) -> bool {
        let Some(servers) = self.agents.get_mut(agent) else {
            return false;
        };
        let Some(tools) = servers.get_mut(&tool.server) else {
            return false;
        };
        let was_there = tools.remove(&tool.tool).is_some();
        servers.retain(|_, tools| !tools.is_empty());
        self.agents.retain(|_, servers| !servers.is_empty());
        was_there
    }

    fn len(&self) -> usize {
        let servers = self.agents.values().flat_map(BTreeMap::values);
        servers.map(BTreeMap::len).sum()
    }
}

/// Remembers which tools a person always allows: by agent, server, tool and definition.
///
/// Nothing is held in memory: what is forgotten in one process is asked about in all others at
/// once. All calls read or write a file: in a task they belong where blocking is allowed.
#[derive(Clone, Debug)]
pub struct Approvals {
    file: PathBuf,
    lock: PathBuf,
}

impl Approvals {
    /// Those of a state directory; nothing is read yet.
    pub fn new(directory: &StateDirectory) -> Result<Self, StateDirectoryError> {
        Ok(Self {
            file: directory.file(layout::APPROVALS)?,
            lock: directory.file(layout::APPROVALS_LOCK)?,
        })
    }

    /// Whether the person always allows this tool as it is defined now.
    pub fn remembers(
        &self,
        agent: &str,
        tool: &ToolKey,
        definition: DefinitionHash,
    ) -> Result<bool, ApprovalError> {
        let known = load::<Remembered>(&self.file)?.unwrap_or_default();
        Ok(known.get(agent, tool) == Some(definition))
    }

    /// Remembers that the person always allows this tool. What was said about another definition
    /// of it is forgotten.
    pub fn remember(
        &self,
        agent: &str,
        tool: &ToolKey,
        definition: DefinitionHash,
    ) -> Result<(), ApprovalError> {
        if [agent, &tool.server, &tool.tool]
            .iter()
            .any(|name| name.len() > LONGEST_NAME)
        {
            return Err(ApprovalError::LongName);
        }
        let _lock = FileLock::acquire(&self.lock, PATIENCE)?;
        let mut known = load::<Remembered>(&self.file)?.unwrap_or_default();
        if known.get(agent, tool).is_none() && known.len() >= MOST {
            return Err(ApprovalError::Full(self.file.clone()));
        }
        known.put(agent, tool, definition);
        Ok(store(&self.file, &known)?)
    }

    /// Forgets what was said about a tool, and says whether there was anything to forget.
    pub fn forget(&self, agent: &str, tool: &ToolKey) -> Result<bool, ApprovalError> {
        let _lock = FileLock::acquire(&self.lock, PATIENCE)?;
        let mut known = load::<Remembered>(&self.file)?.unwrap_or_default();
        if !known.remove(agent, tool) {
            return Ok(false);
        }
        store(&self.file, &known)?;
        Ok(true)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::approval) fn approvals(directory: &tempfile::TempDir) -> Approvals {
        let state = StateDirectory::open(&directory.path().join("state")).unwrap();
        Approvals::new(&state).unwrap()
    }

    fn hash(digit: char) -> DefinitionHash {
        DefinitionHash::parse(&digit.to_string().repeat(32)).unwrap()
    }

    #[test]
    fn what_was_said_holds_for_one_agent_and_one_definition_across_runs() {
        let directory = tempfile::tempdir().unwrap();
        let (tool, now) = (ToolKey::new("files", "write"), hash('a'));
        approvals(&directory).remember("main", &tool, now).unwrap();
        let approvals = approvals(&directory);
        let remembers = |agent, tool: &ToolKey, definition| {
            approvals.remembers(agent, tool, definition).unwrap()
        };
        assert!(remembers("main", &tool, now));
        assert!(!remembers("main", &tool, hash('b')), "another definition");
        assert!(!remembers("other", &tool, now), "another agent");
        assert!(!remembers("main", &ToolKey::new("files", "read"), now));
        assert!(!remembers("main", &ToolKey::new("other", "write"), now));
        approvals.remember("main", &tool, hash('b')).unwrap();
        assert!(remembers("main", &tool, hash('b')) && !remembers("main", &tool, now));
    }

    #[test]
    fn what_another_process_forgets_is_forgotten_at_once() {
        let directory = tempfile::tempdir().unwrap();
        let (tool, now) = (ToolKey::new("files", "write"), hash('a'));
        let running = approvals(&directory);
        assert!(!running.forget("main", &tool).unwrap());
        running.remember("main", &tool, now).unwrap();
        assert!(running.remembers("main", &tool, now).unwrap());
        assert!(approvals(&directory).forget("main", &tool).unwrap());
        assert!(!running.remembers("main", &tool, now).unwrap());
        let known = load::<Remembered>(&running.file).unwrap().unwrap();
        assert_eq!(known, Remembered::default(), "nothing empty stays");
    }

    #[test]
    fn several_remember_at_once_and_nothing_is_lost() {
        let directory = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for number in 0..8 {
                let approvals = approvals(&directory);
                let tool = ToolKey::new("files", number.to_string());
                scope.spawn(move || approvals.remember("main", &tool, hash('a')).unwrap());
            }
        });
        let approvals = approvals(&directory);
        let known = load::<Remembered>(&approvals.file).unwrap().unwrap();
        assert_eq!(known.len(), 8);
    }

    #[test]
    fn what_can_not_be_read_is_an_error_and_the_file_never_grows_too_large() {
        let directory = tempfile::tempdir().unwrap();
        let approvals = approvals(&directory);
        let tool = ToolKey::new("files", "write");
        std::fs::write(&approvals.file, "{ not ours").unwrap();
        assert!(approvals.remembers("main", &tool, hash('a')).is_err());
        assert!(approvals.remember("main", &tool, hash('a')).is_err());
        let kept = std::fs::read_to_string(&approvals.file).unwrap();
        assert_eq!(kept, "{ not ours");

        let mut full = Remembered::default();
        for number in 0..MOST {
            let name = format!("{number:0>LONGEST_NAME$}").replace('0', "\u{1}");
            full.put("main", &ToolKey::new("files", name), hash('a'));
        }
        std::fs::remove_file(&approvals.file).unwrap();
        store(&approvals.file, &full).unwrap();
        assert!(std::fs::metadata(&approvals.file).unwrap().len() < Remembered::LIMIT);
        let error = approvals.remember("main", &tool, hash('a')).unwrap_err();
        assert!(matches!(error, ApprovalError::Full(_)), "{error}");
        let long = ToolKey::new("files", "x".repeat(LONGEST_NAME + 1));
        let error = approvals.remember("main", &long, hash('a')).unwrap_err();
        assert!(matches!(error, ApprovalError::LongName), "{error}");
    }
}
