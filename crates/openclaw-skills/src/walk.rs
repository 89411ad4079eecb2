//! The directories below a root. Links are followed as long as they stay inside of it.

use std::collections::HashSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::problem::{Problem, ProblemKind};
use crate::roots::{Origin, Root};

/// The file that makes a directory a skill.
pub(crate) const FILE: &str = "SKILL.md";
/// How many entries of directories are looked at below one root.
const MOST_ENTRIES: usize = 1_000;
/// How many skills there may be.
const MOST_SKILLS: usize = 200;
/// How many problems are kept; whoever has more has one problem.
const MOST_PROBLEMS: usize = 100;

/// Where a skill is, without any link on the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    root: PathBuf,
    directory: PathBuf,
}

impl Place {
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// The name of the directory.
    pub(crate) fn name(&self) -> String {
        let name = self.directory.file_name();
        name.map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default()
    }

    /// The file `SKILL.md` as people know it.
    pub(crate) fn shown_file(&self) -> PathBuf {
        self.directory.join(FILE)
    }

    /// The real file `SKILL.md`, if it has not gone and no link leads out of the root.
    pub(crate) fn file(&self) -> Result<PathBuf, &'static str> {
        let Ok(file) = self.shown_file().canonicalize() else {
            return Err("there is no such file, or a link leads nowhere");
        };
        if file.starts_with(&self.root) {
            Ok(file)
        } else {
            Err("a link that leads out of the directory of skills is not followed")
        }
    }
}

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Walk {
    pub(crate) places: Vec<(Origin, Place)>,
    pub(crate) problems: Vec<Problem>,
    /// The real directories that were looked at.
    seen: HashSet<PathBuf>,
    /// Whether there are more skills than are taken.
    is_full: bool,
}

impl Walk {
    /// Notes what a skill is left out for.
    pub(crate) fn problem(&mut self, path: &Path, line: Option<usize>, message: &str) {
        self.note(Problem::new(ProblemKind::LeftOut, path, line, message));
    }

    /// Notes something that costs no skill.
    pub(crate) fn remark(&mut self, path: &Path, message: &str) {
        self.note(Problem::new(ProblemKind::Remark, path, None, message));
    }

    fn note(&mut self, problem: Problem) {
        if self.problems.len() < MOST_PROBLEMS {
            self.problems.push(problem);
        }
    }

    /// Looks for skills below a root.
    pub(crate) fn look(&mut self, root: &Root) {
        if self.is_full {
            return;
        }
        let real = match root.path.canonicalize() {
            Ok(real) => real,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                if root.origin == Origin::Extra {
                    self.remark(&root.path, "there is no such directory");
                }
                return;
            }
            Err(error) => return self.unreadable(&root.path, &error),
        };
        let within = root.within.as_ref();
        let is_inside = within.is_none_or(|within| {
            let within = within.canonicalize();
            within.is_ok_and(|within| real.starts_with(within))
        });
        if !is_inside {
            let message = "a link that leads out of the workspace is not followed";
            return self.problem(&root.path, None, message);
        }
        let mut branch = Branch {
            origin: root.origin,
            root: real.clone(),
            entries: 0,
        };
        self.directory(&mut branch, real, 0);
    }

    /// Looks at one directory: it is a skill, or there are some below it.
    fn directory(&mut self, branch: &mut Branch, real: PathBuf, depth: usize) {
        if !self.seen.insert(real.clone()) {
            return;
        }
        // Whatever is there under this name is looked at when it is read.
        if fs::symlink_metadata(real.join(FILE)).is_ok() {
            if self.places.len() < MOST_SKILLS {
                let root = branch.root.clone();
                let directory = real;
                self.places.push((branch.origin, Place { root, directory }));
            } else {
                let message =
                    format!("there are more than {MOST_SKILLS} skills: the rest is left out");
                self.problem(&branch.root, None, &message);
                self.is_full = true;
            }
            return;
        }
        // A root, and directories that only group skills.
        if depth > 1 {
            return;
        }
        for path in self.entries(branch, &real) {
            if self.is_full {
                return;
            }
            match path.canonicalize() {
                Ok(inside) if inside.starts_with(&branch.root) => {
                    if inside.is_dir() {
                        self.directory(branch, inside, depth + 1);
                    }
                }
                Ok(_) => {
                    let message =
                        "a link that leads out of the directory of skills is not followed";
                    self.problem(&path, None, message);
                }
                // It may have gone by now, or leads nowhere, or in circles.
                Err(error) => self.unreadable(&path, &error),
            }
        }
    }

    /// The entries of a directory that may be directories, in the order of their names.
    fn entries(&mut self, branch: &mut Branch, directory: &Path) -> Vec<PathBuf> {
        let entries = match fs::read_dir(directory) {
            Ok(entries) => entries,
            // A root may be a file, or be nobody's business.
            Err(error) => {
                self.unreadable(directory, &error);
                return Vec::new();
            }
        };
        let mut paths = Vec::new();
        for entry in entries.flatten() {
            if branch.entries == MOST_ENTRIES {
                let message = format!("only the first {MOST_ENTRIES} entries are looked at");
                self.problem(directory, None, &message);
                break;
            }
            branch.entries += 1;
            let name = entry.file_name();
            let is_hidden = name.as_encoded_bytes().starts_with(b".");
            let may_be_directory = entry
                .file_type()
                .is_ok_and(|kind| kind.is_dir() || kind.is_symlink());
            if may_be_directory && !is_hidden && name != "node_modules" {
                paths.push(entry.path());
            }
        }
        paths.sort();
        paths
    }

    fn unreadable(&mut self, path: &Path, error: &std::io::Error) {
        self.problem(path, None, &format!("cannot be read: {error}"));
    }
}

/// A root that is being looked at.
struct Branch {
    origin: Origin,
    /// The real directory.
    root: PathBuf,
    /// How many entries were looked at.
    entries: usize,
}
