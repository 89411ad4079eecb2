//! What is wrong with a configuration: all of it, each with its place.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::path::JsonPath;
use crate::source::{FileId, Position, SourceMap, Span};

/// Whether a problem keeps something from working.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// What has the problem cannot be used.
    Error,
    /// It works, but probably not as it was meant.
    Warning,
}

/// What sort of problem it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The file is not there, not readable, not text.
    File,
    /// The text is not JSON5.
    Syntax,
    /// A key stands twice in one object.
    DuplicateKey,
    /// An `$include` that can't be followed.
    Include,
    /// A value of another type than the field has.
    Type,
    /// A value that is outside of what the field takes.
    Value,
    /// A key that no server has.
    UnknownKey,
    /// Fields that don't go together, or one that is missing.
    Rule,
    /// A `${VAR}` that is not set: the server that needs it can't start.
    MissingVariable,
    /// A credential in plain text.
    PlaintextCredential,
    /// Something else that is worth a look.
    Advice,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    pub(crate) severity: Severity,
    pub(crate) kind: Kind,
    pub(crate) path: JsonPath,
    pub(crate) message: String,
    pub(crate) span: Option<Span>,
    pub(crate) also: Option<(Span, &'static str)>,
    pub(crate) help: Option<String>,
    pub(crate) suggestion: Option<String>,
}

impl Problem {
    fn new(severity: Severity, kind: Kind, path: &JsonPath, message: impl Into<String>) -> Self {
        Self {
            severity,
            kind,
            path: path.clone(),
            message: message.into(),
            span: None,
            also: None,
            help: None,
            suggestion: None,
        }
    }

    pub(crate) fn error(kind: Kind, path: &JsonPath, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, kind, path, message)
    }

    pub(crate) fn warning(kind: Kind, path: &JsonPath, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, kind, path, message)
    }

    pub(crate) fn at(mut self, span: Span) -> Self {
        self.span = Some(span);
        self
    }

    pub(crate) fn at_opt(mut self, span: Option<Span>) -> Self {
        self.span = span;
        self
    }

    /// Names the file, where there is no place in it to point at.
    pub(crate) fn in_file(self, file: FileId, start: usize) -> Self {
        self.at(Span {
            file,
            start,
            end: start,
        })
    }

    /// Points at a second place that belongs to the problem.
    pub(crate) fn also(mut self, span: Span, label: &'static str) -> Self {
        self.also = Some((span, label));
        self
    }

    /// Says what to do.
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Gives the text that was probably meant.
    pub(crate) fn suggest(mut self, suggestion: impl Into<String>) -> Self {
        self.suggestion = Some(suggestion.into());
        self
    }

    /// Whether it is an error or a warning.
    pub fn severity(&self) -> Severity {
        self.severity
    }

    /// What sort of problem it is.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Where in the configuration it is.
    pub fn path(&self) -> &JsonPath {
        &self.path
    }

    /// What is wrong, in one sentence.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What to do about it.
    pub fn help_text(&self) -> Option<&str> {
        self.help.as_deref()
    }

    /// The text that was probably meant.
    pub fn suggestion(&self) -> Option<&str> {
        self.suggestion.as_deref()
    }

    /// The server whose problem it is; `None` where it concerns the whole file.
    pub fn server(&self) -> Option<&str> {
        self.path.server()
    }

    /// Whether it concerns only a part of the configuration, which can be left out.
    pub fn is_in_a_part(&self) -> bool {
        self.path.is_in_a_part()
    }

    pub(crate) fn is_in_the_gateway(&self) -> bool {
        self.path.key_inside(&JsonPath::of(&["gateway"])).is_some()
    }

    /// Whether it concerns all skills, and not the settings of one.
    pub(crate) fn is_in_all_skills(&self) -> bool {
        let inside = |keys: &[&str]| self.path.key_inside(&JsonPath::of(keys)).is_some();
        inside(&["skills"]) && !inside(&["skills", "entries"])
    }

    pub(crate) fn is_in_media(&self) -> bool {
        self.path.key_inside(&JsonPath::of(&["media"])).is_some()
    }

    pub(crate) fn is_in_otel(&self) -> bool {
        let otel = JsonPath::of(&["diagnostics", "otel"]);
        self.path == otel || self.path.key_inside(&otel).is_some()
    }

    /// Whether what has the problem cannot be used.
    pub(crate) fn blocks(&self) -> bool {
        self.severity == Severity::Error || self.kind == Kind::MissingVariable
    }
}

/// How many problems are kept; whoever has more has one problem.
const MOST: usize = 10_000;

/// All problems of one configuration and the files they are in.
#[derive(Debug, Default)]
pub struct Report {
    problems: Vec<Problem>,
    seen: HashSet<(Option<Span>, JsonPath, String)>,
    /// The servers that were warned about credentials in plain text.
    plaintext: HashSet<String>,
    /// How many problems were found beyond those that are kept.
    omitted: usize,
    /// How many problems were found that keep something from being used, kept or not.
    blocking: usize,
    is_fatal: bool,
    main: PathBuf,
    pub(crate) sources: SourceMap,
}

impl Report {
    pub(crate) fn new(main: PathBuf) -> Self {
        Self {
            main,
            ..Self::default()
        }
    }

    /// Adds a problem once, however many agents share what has it.
    pub(crate) fn add(&mut self, problem: Problem) {
        if problem.kind == Kind::PlaintextCredential
            && let Some(server) = problem.server()
            && !self.plaintext.insert(server.to_owned())
        {
            return;
        }
        self.is_fatal |= problem.severity == Severity::Error && !problem.is_in_a_part();
        self.blocking += usize::from(problem.blocks());
        let identity = (problem.span, problem.path.clone(), problem.message.clone());
        if !self.seen.insert(identity) {
            return;
        }
        // Errors find room behind any number of warnings.
        let room = match problem.severity {
            Severity::Error => 2 * MOST,
            Severity::Warning => MOST,
        };
        if self.problems.len() < room {
            self.problems.push(problem);
        } else {
            self.omitted += 1;
        }
    }

    pub(crate) fn extend(&mut self, problems: impl IntoIterator<Item = Problem>) {
        for problem in problems {
            self.add(problem);
        }
    }

    /// Takes out what was said since `start` about variables that are not set.
    pub(crate) fn take_missing_variables(&mut self, start: usize) {
        let start = start.min(self.problems.len());
        let tail = self.problems.split_off(start);
        for problem in tail {
            if problem.kind == Kind::MissingVariable {
                self.seen
                    .remove(&(problem.span, problem.path, problem.message));
            } else {
                self.problems.push(problem);
            }
        }
    }

    /// How many problems were found so far that keep something from being used.
    pub(crate) fn blocking(&self) -> usize {
        self.blocking
    }

    /// How many problems were found beyond those that are listed.
    pub fn omitted(&self) -> usize {
        self.omitted
    }

    pub(crate) fn len(&self) -> usize {
        self.problems.len()
    }

    pub(crate) fn since(&self, start: usize) -> &[Problem] {
        &self.problems[start.min(self.problems.len())..]
    }

    /// Puts the problems into the order in which a reader of the files meets them.
    pub(crate) fn sort(&mut self) {
        self.problems.sort_by_key(|problem| {
            problem
                .span
                .map_or((0, 0), |span| (span.file.number(), span.start))
        });
    }

    /// All problems in the order of the files.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// The errors.
    pub fn errors(&self) -> impl Iterator<Item = &Problem> {
        self.with(Severity::Error)
    }

    /// The warnings.
    pub fn warnings(&self) -> impl Iterator<Item = &Problem> {
        self.with(Severity::Warning)
    }

    fn with(&self, severity: Severity) -> impl Iterator<Item = &Problem> {
        self.problems
            .iter()
            .filter(move |problem| problem.severity == severity)
    }

    /// Whether an error concerns the whole file, so that nothing of it can be used.
    pub fn is_fatal(&self) -> bool {
        self.is_fatal
    }

    /// Whether this stands anywhere in the files that were read, be it in a comment or in a part
    /// that has mistakes.
    pub fn is_in_files(&self, text: &str) -> bool {
        self.sources.contain(text)
    }

    /// The file a problem is in.
    pub fn file(&self, problem: &Problem) -> &Path {
        problem
            .span
            .map_or(&self.main, |span| &self.sources.file(span.file).path)
    }

    /// The place of a problem in its file, where it has one.
    pub fn position(&self, problem: &Problem) -> Option<Position> {
        problem
            .span
            .map(|span| self.sources.file(span.file).position(span.start))
    }
}
