//! Reading a configuration from its file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use openclaw_secrets::Secret;
use openclaw_state::ReadError;

use crate::config::Config;
use crate::environment::{DotenvFinding, Environment};
use crate::expand::expand;
use crate::include;
use crate::location::Location;
use crate::parse::parse;
use crate::path::JsonPath;
use crate::presence::Presence;
use crate::raw::RawRoot;
use crate::report::{Kind, Problem, Report};
use crate::resolve::resolve;
use crate::shape::{Context, Shape, UsedCredentials};
use crate::source::{SourceError, read_text};
use crate::tree::{Node, Value};

/// How large the main file may be.
const LARGEST: u64 = 8_000_000;

/// A configuration with everything that is wrong with it.
#[derive(Debug)]
pub struct Loaded {
    /// The configuration; `None` where an error concerns the whole file.
    pub config: Option<Config>,
    /// What is wrong.
    pub report: Report,
    /// The credentials that variables put into it, for the filter that keeps them out of every
    /// output; also where there is no configuration.
    pub credentials: Vec<Secret>,
    /// The files that it was read from, and those that would have been read if they were there: when
    /// one of them changes, so may the configuration. Where links lead to one, they are named, too.
    pub files: Vec<PathBuf>,
}

/// Reads, checks and resolves the configuration at a location.
///
/// A missing file means defaults. A bad server, provider or gateway costs only itself; any other
/// error leaves no configuration, because a policy that can't be read must not count as none.
pub fn load(location: &Location, environment: &Environment) -> Loaded {
    let root = JsonPath::default();
    match read_text(&location.config, LARGEST) {
        Ok(text) => load_text(text, location, environment),
        Err(SourceError::Read(ReadError::Missing(_))) => {
            let mut loading = Loading::new(location, environment);
            if location.named {
                let message = "there is no such file: defaults apply";
                let problem = Problem::warning(Kind::File, &root, message);
                loading.report.add(problem);
            }
            loading.finish(Some(&RawRoot::default()))
        }
        Err(error) => {
            let mut loading = Loading::new(location, environment);
            let problem = Problem::error(Kind::File, &root, error.to_string());
            loading.report.add(problem);
            loading.finish(None)
        }
    }
}

/// Checks and resolves a text as if it stood in the file at a location.
pub(crate) fn load_text(text: String, location: &Location, environment: &Environment) -> Loaded {
    let mut loading = Loading::new(location, environment);
    let raw = loading.read(text);
    loading.finish(raw.as_ref())
}

/// A configuration on its way.
struct Loading<'a> {
    location: &'a Location,
    environment: Environment,
    report: Report,
    used: UsedCredentials,
    presence: Presence,
    files: Vec<PathBuf>,
}

impl<'a> Loading<'a> {
    fn new(location: &'a Location, environment: &Environment) -> Self {
        let mut environment = environment.clone();
        let mut report = Report::new(location.config.clone());
        let mut files = vec![location.config.clone()];
        files.extend(std::fs::canonicalize(&location.config).ok());
        files.extend(environment.dotenv_files(&location.state));
        for finding in environment.read_dotenv(&location.state) {
            report_dotenv(finding, &mut report);
        }
        Self {
            location,
            environment,
            report,
            used: UsedCredentials::new(),
            presence: Presence::default(),
            files,
        }
    }

    /// Parses the text of the main file and the files that it includes.
    fn read(&mut self, text: String) -> Option<RawRoot> {
        let root = JsonPath::default();
        let path = &self.location.config;
        let file = self.report.sources.add(path.clone(), text);
        let text = self.report.sources.file(file).text.clone();
        let tree = parse(&text, file, &root, &mut self.report)?;
        let tree = include::resolve(tree, path, &mut self.report, &mut self.files);
        advise(&tree, &mut self.report);
        add_own_variables(&tree, &mut self.environment);
        self.presence = Presence::of_file(&tree, &self.environment);
        let mut context = Context {
            environment: &self.environment,
            report: &mut self.report,
            path: root,
            used: &mut self.used,
        };
        RawRoot::decode(&tree, &mut context)
    }

    fn finish(mut self, raw: Option<&RawRoot>) -> Loaded {
        // Files are looked for beside the real file, also where a link leads to it.
        let file = std::fs::canonicalize(&self.location.config);
        let file = file.as_ref().unwrap_or(&self.location.config);
        let directory = file.parent().unwrap_or(Path::new("."));
        let presence = Arc::new(self.presence);
        let config = raw.map(|raw| {
            resolve(
                raw,
                presence,
                directory,
                &self.environment,
                &mut self.report,
            )
        });
        self.report.sort();
        self.files.sort_unstable();
        self.files.dedup();
        let usable = !self.report.is_fatal();
        Loaded {
            config: config.filter(|_| usable),
            report: self.report,
            credentials: self.used.into_values().collect(),
            files: self.files,
        }
    }
}

/// Points out servers that stand where other programs have them.
fn advise(tree: &Node, report: &mut Report) {
    let key = "mcpServers";
    if let Some(member) = tree.as_object().and_then(|root| root.get(key)) {
        let message = "servers are read from `mcp.servers`: this key has no effect";
        let problem = Problem::warning(Kind::Advice, &JsonPath::of(&[key]), message);
        report.add(problem.at(member.key_span).suggest("mcp.servers"));
    }
}

/// Adds `env.vars`, which the rest of the file may name.
///
/// They may name variables in turn; one that names a missing one is missing itself.
fn add_own_variables(tree: &Node, environment: &mut Environment) {
    let section = tree
        .as_object()
        .and_then(|root| root.get("env"))
        .and_then(|env| env.value.as_object())
        .and_then(|env| env.get("vars"))
        .and_then(|vars| vars.value.as_object());
    let before = environment.clone();
    for member in section.into_iter().flat_map(|vars| &vars.members) {
        if let Value::String(source) = &member.value.value {
            let text = expand(source, &before);
            if text.is_complete() {
                environment.add_fallback(&member.key, &text.value);
            }
        }
    }
}

fn report_dotenv(finding: DotenvFinding, report: &mut Report) {
    let root = JsonPath::default();
    match finding {
        DotenvFinding::Unreadable { path, message } => {
            let file = report.sources.add_hidden(path, String::new());
            report.add(Problem::warning(Kind::File, &root, message).in_file(file, 0));
        }
        DotenvFinding::Lines { path, text, lines } => {
            let file = report.sources.add_hidden(path, text);
            for (line, fault) in lines {
                let start = report.sources.file(file).line_start(line);
                report.add(Problem::warning(Kind::File, &root, fault).in_file(file, start));
            }
        }
    }
}
