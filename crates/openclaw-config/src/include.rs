//! `$include`: parts of the configuration in files of their own.

use std::collections::HashMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use openclaw_state::ReadError;

use crate::parse::{parse, printable};
use crate::path::JsonPath;
use crate::report::{Kind, Problem, Report};
use crate::source::{SourceError, Span, read_text};
use crate::tree::{Member, Node, Object, Value};

const KEY: &str = "$include";
/// How deep files may include files.
const DEEPEST: usize = 10;
/// How large an included file may be: 2 MiB, as in the TypeScript OpenClaw.
const LARGEST: u64 = 2 << 20;
/// How large all included files together may be.
const LARGEST_IN_ALL: usize = 32 << 20;
/// How many files one configuration may include, since a few that include each other's
/// neighbours would otherwise multiply.
const MOST: usize = 200;

/// Puts included files in place of their `$include`.
///
/// A string replaces the object that holds it, an array of strings is merged deeply in its order,
/// and the keys beside `$include` win over both. All files lie in the directory of the main one.
/// Their names are added to `files`, also where they can't be read.
pub(crate) fn resolve(
    root: Node,
    main: &Path,
    report: &mut Report,
    files: &mut Vec<PathBuf>,
) -> Node {
    // The directory of the real file, also where a link leads to it.
    let main = fs::canonicalize(main).unwrap_or_else(|_| main.to_owned());
    let mut resolver = Resolver {
        boundary: main.parent().unwrap_or(Path::new(".")).to_owned(),
        open: vec![main],
        count: 0,
        bytes: 0,
        path: JsonPath::default(),
        report,
        files,
    };
    resolver.node(root)
}

struct Resolver<'a> {
    boundary: PathBuf,
    /// The files that are being read, from the main one to the innermost.
    open: Vec<PathBuf>,
    count: usize,
    bytes: usize,
    path: JsonPath,
    report: &'a mut Report,
    files: &'a mut Vec<PathBuf>,
}

impl Resolver<'_> {
    fn node(&mut self, node: Node) -> Node {
        let span = node.span;
        let value = match node.value {
            Value::Array(elements) => Value::Array(
                elements
                    .into_iter()
                    .enumerate()
                    .map(|(index, element)| {
                        self.path.push_index(index);
                        let element = self.node(element);
                        self.path.pop();
                        element
                    })
                    .collect(),
            ),
            Value::Object(object) => return self.object(object, span),
            scalar => scalar,
        };
        Node { span, value }
    }

    fn object(&mut self, object: Object, span: Span) -> Node {
        let mut include = None;
        let mut siblings = Vec::with_capacity(object.members.len());
        for member in object.members {
            if member.key == KEY {
                include = Some(member);
                continue;
            }
            self.path.push_key(&member.key);
            let value = self.node(member.value);
            self.path.pop();
            siblings.push(Member { value, ..member });
        }
        let rest = Node {
            span,
            value: Value::Object(Object { members: siblings }),
        };
        let Some(include) = include else {
            return rest;
        };
        let mut whole: Option<Node> = None;
        for file in self.names(&include) {
            if let Some(part) = self.file(&file.0, file.1) {
                whole = Some(match whole {
                    Some(before) => merge(before, part),
                    None => part,
                });
            }
        }
        let Some(whole) = whole else {
            return rest;
        };
        let has_siblings = rest
            .as_object()
            .is_some_and(|object| !object.members.is_empty());
        if !has_siblings {
            return whole;
        }
        if whole.as_object().is_none() {
            self.problem(
                include.key_span,
                "keys beside `$include` need a file that holds an object",
            );
            return rest;
        }
        merge(whole, rest)
    }

    fn names(&mut self, include: &Member) -> Vec<(String, Span)> {
        let node = &include.value;
        match &node.value {
            Value::String(name) => vec![(name.clone(), node.span)],
            Value::Array(elements) => elements
                .iter()
                .filter_map(|element| match &element.value {
                    Value::String(name) => Some((name.clone(), element.span)),
                    _ => {
                        let message =
                            format!("`$include` takes names of files, not {}", element.kind());
                        self.problem(element.span, message);
                        None
                    }
                })
                .collect(),
            _ => {
                let message = format!(
                    "`$include` takes the name of a file or an array of names, not {}",
                    node.kind()
                );
                self.problem(node.span, message);
                Vec::new()
            }
        }
    }

    /// Reads one included file, with the files that it includes in turn.
    fn file(&mut self, name: &str, at: Span) -> Option<Node> {
        self.count += 1;
        if self.count > MOST {
            self.problem(at, format!("more than {MOST} files are included"));
            return None;
        }
        if self.open.len() > DEEPEST {
            self.problem(
                at,
                format!("files are included more than {DEEPEST} levels deep"),
            );
            return None;
        }
        let path = self.locate(name, at)?;
        let text = match read_text(&path, LARGEST) {
            Ok(text) => text,
            Err(error) => {
                self.problem(at, error.to_string());
                return None;
            }
        };
        self.bytes += text.len();
        if self.bytes > LARGEST_IN_ALL {
            let message = format!("more than {} MiB are included", LARGEST_IN_ALL >> 20);
            self.problem(at, message);
            return None;
        }
        let file = self.report.sources.add(path.clone(), text.clone());
        let node = parse(&text, file, &self.path, self.report)?;
        self.open.push(path);
        let node = self.node(node);
        self.open.pop();
        Some(node)
    }

    /// Finds the real path of an included file, and makes sure that it may be read.
    fn locate(&mut self, name: &str, at: Span) -> Option<PathBuf> {
        if name.is_empty() || name.contains('\0') || name.len() >= 4096 {
            self.problem(at, "`$include` takes the name of a file");
            return None;
        }
        let including = self.open.last()?.parent()?.to_owned();
        let written = including.join(name);
        let found = fs::canonicalize(&written);
        // What leads out of the directory is not looked at.
        if found
            .as_ref()
            .is_ok_and(|it| it.starts_with(&self.boundary))
            || (found.is_err() && is_below(&written, &self.boundary))
        {
            self.files.push(written.clone());
            self.files.extend(found.as_ref().ok().cloned());
        }
        let path = match found {
            Ok(path) => path,
            Err(error) => {
                let error = match error.kind() {
                    std::io::ErrorKind::NotFound => ReadError::Missing(written),
                    _ => ReadError::Io {
                        path: written,
                        source: error,
                    },
                };
                self.problem(at, SourceError::from(error).to_string());
                return None;
            }
        };
        // Compared after links were followed: a link must not lead out either.
        if !path.starts_with(&self.boundary) {
            let problem = Problem::error(
                Kind::Include,
                &self.path,
                format!(
                    "`{}` is outside of the configuration's directory",
                    printable(name)
                ),
            )
            .at(at)
            .help(format!("move it into {}", self.boundary.display()));
            self.report.add(problem);
            return None;
        }
        if self.open.contains(&path) {
            let chain: Vec<String> = self
                .open
                .iter()
                .chain([&path])
                .map(|path| {
                    path.file_name()
                        .unwrap_or_default()
                        .to_string_lossy()
                        .into_owned()
                })
                .collect();
            self.problem(
                at,
                format!(
                    "files include each other in a circle: {}",
                    chain.join(" → ")
                ),
            );
            return None;
        }
        Some(path)
    }

    fn problem(&mut self, at: Span, message: impl Into<String>) {
        self.report
            .add(Problem::error(Kind::Include, &self.path, message).at(at));
    }
}

/// Whether a path that may lead nowhere stays in a directory by its words alone.
fn is_below(path: &Path, directory: &Path) -> bool {
    let leaves = |part| matches!(part, Component::ParentDir);
    path.starts_with(directory) && !path.components().any(leaves)
}

/// Merges objects key by key and joins arrays; anything else is replaced by what comes later.
///
/// Arrays are joined as in the TypeScript OpenClaw: lists of what is denied must not get shorter
/// by being spread over files.
fn merge(before: Node, after: Node) -> Node {
    match (before.value, after.value) {
        (Value::Object(mut base), Value::Object(over)) => {
            let places: HashMap<String, usize> = base
                .members
                .iter()
                .enumerate()
                .map(|(place, member)| (member.key.clone(), place))
                .collect();
            for member in over.members {
                let Some(known) = places
                    .get(&member.key)
                    .and_then(|place| base.members.get_mut(*place))
                else {
                    base.members.push(member);
                    continue;
                };
                let placeholder = Node {
                    span: known.value.span,
                    value: Value::Null,
                };
                let value = std::mem::replace(&mut known.value, placeholder);
                known.value = merge(value, member.value);
                known.key_span = member.key_span;
            }
            Node {
                span: after.span,
                value: Value::Object(base),
            }
        }
        (Value::Array(mut base), Value::Array(more)) => {
            base.extend(more);
            Node {
                span: after.span,
                value: Value::Array(base),
            }
        }
        (_, value) => Node {
            span: after.span,
            value,
        },
    }
}
