//! The variables that `${VAR}` can name, and where each comes from.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::dotenv;
use crate::source::read_text;

/// How large a `.env` file may be.
const DOTENV_LIMIT: u64 = 1_000_000;

/// What a person should know about a `.env` file.
#[derive(Debug)]
pub(crate) enum DotenvFinding {
    /// It can't be read.
    Unreadable { path: PathBuf, message: String },
    /// Some of its lines are not what they should be.
    Lines {
        path: PathBuf,
        text: String,
        lines: Vec<(usize, &'static str)>,
    },
}

/// Everything about the surroundings of a process that a configuration depends on.
///
/// Passed in rather than asked for, so that tests need not touch the machine.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Environment {
    process: BTreeMap<String, String>,
    /// Of the `.env` file of the directory that the process happens to be in.
    here: BTreeMap<String, String>,
    /// Of the user's own files: the `.env` of the state directory and the configuration.
    files: BTreeMap<String, String>,
    home: Option<PathBuf>,
    directory: PathBuf,
}

impl Environment {
    /// The environment of this process. Variables that are not UTF-8 are left out.
    pub fn of_process() -> Self {
        let process = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        Self {
            process,
            here: BTreeMap::new(),
            files: BTreeMap::new(),
            home: std::env::home_dir().filter(|home| !home.as_os_str().is_empty()),
            directory: std::env::current_dir().unwrap_or_else(|_| PathBuf::from(".")),
        }
    }

    /// An environment of just these variables, for a process in `directory`.
    pub fn new<const N: usize>(
        variables: [(&str, &str); N],
        home: Option<&Path>,
        directory: &Path,
    ) -> Self {
        Self {
            process: variables
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            here: BTreeMap::new(),
            files: BTreeMap::new(),
            home: home.map(Path::to_owned),
            directory: directory.to_owned(),
        }
    }

    /// The same environment with one more variable of the process.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.process.insert(name.to_owned(), value.to_owned());
        self
    }

    /// A variable of the process itself, for settings that a file must not change.
    pub(crate) fn process_variable(&self, name: &str) -> Option<&str> {
        self.process
            .get(name)
            .map(String::as_str)
            .filter(|value| !value.is_empty())
    }

    /// The variables of the process itself.
    pub fn process_variables(&self) -> impl Iterator<Item = (&str, &str)> {
        let variables = self.process.iter();
        variables.map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// A variable, from the process or from a `.env` file.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.process
            .get(name)
            .or_else(|| self.here.get(name))
            .or_else(|| self.files.get(name))
            .map(String::as_str)
    }

    /// A variable that decides whom we trust: which program is run, who is sent a credential. The
    /// `.env` file of the current directory has no say in that, since it may be anybody's: a
    /// directory is entered before what is in it is known.
    pub fn own_variable(&self, name: &str) -> Option<&str> {
        self.process
            .get(name)
            .or_else(|| self.files.get(name))
            .map(String::as_str)
    }

    /// The home directory: `OPENCLAW_HOME`, else the user's.
    pub fn home(&self) -> Option<PathBuf> {
        match self.process_variable("OPENCLAW_HOME") {
            Some(home) => Some(self.directory.join(self.expand_user_home(home))),
            None => self.home.clone(),
        }
    }

    /// The directory the process was started in.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Replaces a leading `~` by the home directory.
    pub(crate) fn expand_home(&self, path: &str) -> PathBuf {
        Self::expand(path, self.home())
    }

    fn expand_user_home(&self, path: &str) -> PathBuf {
        Self::expand(path, self.home.clone())
    }

    fn expand(path: &str, home: Option<PathBuf>) -> PathBuf {
        match (path.strip_prefix('~'), home) {
            (Some(""), Some(home)) => home,
            (Some(rest), Some(home)) if rest.starts_with(['/', '\\']) => home.join(&rest[1..]),
            _ => PathBuf::from(path),
        }
    }

    /// The `.env` files that are looked for.
    pub(crate) fn dotenv_files(&self, state: &Path) -> [PathBuf; 2] {
        [self.directory.join(".env"), state.join(".env")]
    }

    /// Reads `./.env` and the one of the state directory, the first winning over the second and
    /// the process over both. Returns what a person should know about them.
    pub(crate) fn read_dotenv(&mut self, state: &Path) -> Vec<DotenvFinding> {
        let mut findings = Vec::new();
        let [here, there] = self.dotenv_files(state);
        let places = [
            (here != there).then_some((here, &mut self.here)),
            Some((there, &mut self.files)),
        ];
        for (path, variables) in places.into_iter().flatten() {
            if !path.is_file() {
                continue;
            }
            match read_text(&path, DOTENV_LIMIT) {
                Ok(text) => {
                    let (assignments, bad) = dotenv::parse(&text);
                    for (name, value) in assignments {
                        variables.entry(name).or_insert(value);
                    }
                    if !bad.is_empty() {
                        let lines = bad
                            .into_iter()
                            .map(|line| (line.line, line.fault))
                            .collect();
                        findings.push(DotenvFinding::Lines { path, text, lines });
                    }
                }
                Err(error) => findings.push(DotenvFinding::Unreadable {
                    path,
                    message: error.to_string(),
                }),
            }
        }
        findings
    }

    /// Whether Google's credentials are found where its programs look for them.
    pub(crate) fn has_google_credentials(&self) -> bool {
        let default = ".config/gcloud/application_default_credentials.json";
        self.process_variable("GOOGLE_APPLICATION_CREDENTIALS")
            .is_some()
            || self.home().is_some_and(|home| home.join(default).is_file())
    }

    /// Adds a variable of the configuration's own `env.vars`, which gives way to all others.
    pub(crate) fn add_fallback(&mut self, name: &str, value: &str) {
        self.files
            .entry(name.to_owned())
            .or_insert_with(|| value.to_owned());
    }
}

impl std::fmt::Debug for Environment {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Values are left out: the environment is where people keep their keys.
        formatter
            .debug_struct("Environment")
            .field("process", &self.process.len())
            .field("files", &(self.here.len() + self.files.len()))
            .field("home", &self.home)
            .field("directory", &self.directory)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_process_wins_over_files_and_the_nearer_file_over_the_farther() {
        let directory = tempfile::tempdir().unwrap();
        let (here, state) = (
            directory.path().join("here"),
            directory.path().join("state"),
        );
        fs::create_dir_all(&here).unwrap();
        fs::create_dir_all(&state).unwrap();
        fs::write(here.join(".env"), "A=here\nB=here\n").unwrap();
        fs::write(state.join(".env"), "A=state\nB=state\nC=state\nnonsense\n").unwrap();
        let mut environment = Environment::new([("A", "process")], None, &here);
        let findings = environment.read_dotenv(&state);
        environment.add_fallback("C", "config");
        environment.add_fallback("D", "config");
        let values = ["A", "B", "C", "D"].map(|name| environment.variable(name).unwrap());
        assert_eq!(values, ["process", "here", "state", "config"]);
        let values = ["A", "B", "C", "D"].map(|name| environment.own_variable(name).unwrap());
        assert_eq!(values, ["process", "state", "state", "config"]);
        match &findings[..] {
            [DotenvFinding::Lines { lines, .. }] => assert_eq!(lines[0].0, 4),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn openclaw_home_replaces_the_home_directory() {
        let environment = Environment::new(
            [("OPENCLAW_HOME", "~/other")],
            Some(Path::new("/home/ada")),
            Path::new("/here"),
        );
        assert_eq!(environment.home().unwrap(), Path::new("/home/ada/other"));
        assert_eq!(
            environment.expand_home("~/x"),
            Path::new("/home/ada/other/x")
        );
        assert_eq!(environment.expand_home("~user/x"), Path::new("~user/x"));
    }
}
