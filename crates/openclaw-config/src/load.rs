//! Reading a configuration from its file.

use std::path::Path;

use openclaw_state::ReadError;

use crate::config::Config;
use crate::environment::Environment;
use crate::include;
use crate::location::Location;
use crate::parse::parse;
use crate::path::JsonPath;
use crate::raw::RawRoot;
use crate::report::{Kind, Problem, Report};
use crate::resolve::resolve;
use crate::shape::{Context, Field, Shape};
use crate::source::{SourceError, read_text};
use crate::tree::Node;

/// How large the main file may be.
const LARGEST: u64 = 8_000_000;

/// A configuration with everything that is wrong with it.
#[derive(Debug)]
pub struct Loaded {
    /// The configuration; `None` where an error concerns the whole file.
    pub config: Option<Config>,
    /// What is wrong.
    pub report: Report,
}

/// Reads, checks and resolves the configuration at a location.
///
/// A missing file means defaults. A bad server costs only itself; any other error leaves no
/// configuration, because a policy that can't be read must not count as none.
pub fn load(location: &Location, environment: &Environment) -> Loaded {
    let root = JsonPath::default();
    match read_text(&location.config, LARGEST) {
        Ok(text) => load_text(text, location, environment),
        Err(SourceError::Read(ReadError::Missing(_))) => {
            let mut loading = Loading::new(location, environment);
            if location.named {
                let message = "there is no such file: defaults are used";
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
}

impl<'a> Loading<'a> {
    fn new(location: &'a Location, environment: &Environment) -> Self {
        let mut environment = environment.clone();
        let mut report = Report::new(location.config.clone());
        for (path, message) in environment.read_dotenv(&location.state) {
            let file = report.sources.add(path, String::new());
            let problem = Problem::warning(Kind::File, &JsonPath::default(), message);
            report.add(problem.in_file(file));
        }
        Self {
            location,
            environment,
            report,
        }
    }

    /// Parses the text of the main file and the files that it includes.
    fn read(&mut self, text: String) -> Option<RawRoot> {
        let root = JsonPath::default();
        let path = &self.location.config;
        let file = self.report.sources.add(path.clone(), text);
        let text = self.report.sources.file(file).text.clone();
        let tree = parse(&text, file, &root, &mut self.report)?;
        let tree = include::resolve(tree, path, &mut self.report);
        advise(&tree, &mut self.report);
        add_own_variables(&tree, &mut self.environment);
        let mut context = Context {
            environment: &self.environment,
            report: &mut self.report,
            path: root,
        };
        RawRoot::decode(&tree, &mut context)
    }

    fn finish(mut self, raw: Option<&RawRoot>) -> Loaded {
        let directory = self.location.config.parent().unwrap_or(Path::new("."));
        let config = raw.map(|raw| resolve(raw, directory, &self.environment, &mut self.report));
        self.report.sort();
        let usable = !self.report.is_fatal();
        Loaded {
            config: config.filter(|_| usable),
            report: self.report,
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
fn add_own_variables(tree: &Node, environment: &mut Environment) {
    // Mistakes are reported when the whole file is read.
    let mut ignored = Report::default();
    let before = environment.clone();
    let mut context = Context {
        environment: &before,
        report: &mut ignored,
        path: JsonPath::default(),
    };
    let section = tree
        .as_object()
        .and_then(|root| root.get("env"))
        .and_then(|env| env.value.as_object())
        .and_then(|env| env.get("vars"));
    let Some(section) = section else {
        return;
    };
    let mut vars: Field<crate::shape::Named<crate::expand::Text>> = Field::Absent;
    context.field(section, "vars", &mut vars);
    for (name, text) in vars.value().cloned().unwrap_or_default().0 {
        if text.is_complete() {
            environment.add_fallback(&name, &text.value);
        }
    }
}
