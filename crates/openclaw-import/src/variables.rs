//! `${…}` of each client, as `${VAR}` of ours.

use std::collections::BTreeMap;
use std::path::{MAIN_SEPARATOR_STR, Path};

use crate::client::{Client, Scope};
use crate::printable::{Messages, printable};
use crate::surroundings::Variables;

/// Where a server comes from: what its texts are read with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin<'a> {
    pub(crate) client: Client,
    pub(crate) scope: Scope,
    /// The project that its file speaks for, or the current one.
    pub(crate) workspace: &'a Path,
    pub(crate) home: &'a Path,
    pub(crate) inputs: &'a BTreeMap<String, String>,
    pub(crate) variables: &'a Variables,
}

/// A text with variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Template(Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Variable(String),
}

impl Template {
    /// A text that means itself.
    pub(crate) fn literal(text: &str) -> Self {
        let mut template = Self::default();
        template.push(Piece::Text(text.to_owned()));
        template
    }

    /// Only an environment variable of the client's, under the name that it has to have here.
    pub(crate) fn variable(name: &str, field: &str, notes: &mut Messages) -> Self {
        Self(vec![environment(name, field, notes)])
    }

    // Neighbouring texts become one, so that no `${VAR}` arises where two of them meet.
    fn push(&mut self, piece: Piece) {
        match (self.0.last_mut(), piece) {
            (Some(Piece::Text(before)), Piece::Text(text)) => before.push_str(&text),
            (_, piece) => self.0.push(piece),
        }
    }

    /// The text as `openclaw.json` has it: what looks like a variable and is none is escaped.
    pub(crate) fn render(&self) -> String {
        let pieces = self.0.iter().map(|piece| match piece {
            Piece::Text(text) => escaped(text),
            Piece::Variable(name) => format!("${{{name}}}"),
        });
        pieces.collect()
    }

    /// The text with something harmless in place of its variables, to look at its form.
    pub(crate) fn sample(&self) -> String {
        let pieces = self.0.iter().map(|piece| match piece {
            Piece::Text(text) => text.as_str(),
            Piece::Variable(_) => "1",
        });
        pieces.collect()
    }

    /// The text itself, where it has no variables.
    pub(crate) fn plain(&self) -> Option<&str> {
        match self.0.as_slice() {
            [] => Some(""),
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    pub(crate) fn begins_with_variable(&self) -> bool {
        matches!(self.0.first(), Some(Piece::Variable(_)))
    }

    /// Says what `openclaw.json` reads differently from the client.
    fn note_differences(&self, (client, field): (Client, &str), notes: &mut Messages) {
        for pair in self.0.windows(2) {
            if let [Piece::Text(text), Piece::Variable(name)] = pair
                && text.ends_with('$')
            {
                notes.add(format!(
                    "`{field}`: a `$` before `${{{name}}}` makes openclaw take it as text"
                ));
            }
        }
        for piece in &self.0 {
            if let Piece::Text(text) = piece
                && escaped(text) != *text
            {
                notes.add(format!(
                    "`{field}`: {} does not fill in what looks like a variable there, so it stays \
                     text; write `${{NAME}}` with one `$` for a variable",
                    client.title()
                ));
            }
        }
    }
}

/// Puts a `$` before each `${VAR}`, which makes it a text.
fn escaped(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let (before, reference) = rest.split_at(start);
        result.push_str(before);
        let name = reference[2..].split_once('}').map(|(name, _)| name);
        if name.is_some_and(is_variable) {
            result.push('$');
        }
        result.push_str("${");
        rest = &reference[2..];
    }
    result.push_str(rest);
    result
}

/// Whether a name can stand in `${…}` of `openclaw.json`.
pub(crate) fn is_variable(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase() || c == '_')
        && name
            .chars()
            .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

/// A name that can stand there.
fn variable_name(name: &str) -> String {
    let mut result: String = name
        .chars()
        .take(128)
        .map(|c| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_uppercase()
            } else {
                '_'
            }
        })
        .collect();
    if !is_variable(&result) {
        result.insert(0, '_');
    }
    result
}

fn environment(name: &str, field: &str, notes: &mut Messages) -> Piece {
    let known = variable_name(name);
    if known != name {
        notes.add(format!(
            "`{field}`: openclaw's variables are in upper case: set {known} to what `{}` holds",
            printable(name)
        ));
    }
    Piece::Variable(known)
}

impl Origin<'_> {
    /// Reads a text of the client's.
    pub(crate) fn fill(&self, text: &str, field: &str, notes: &mut Messages) -> Template {
        let mut template = Template::default();
        let mut rest = text;
        while let Some(start) = rest.find("${") {
            let (before, reference) = rest.split_at(start);
            template.push(Piece::Text(before.to_owned()));
            let inner = reference[2..].split_once('}');
            match inner.and_then(|(inner, after)| Some((self.resolve(inner, field, notes)?, after)))
            {
                Some((piece, after)) => {
                    template.push(piece);
                    rest = after;
                }
                None => {
                    template.push(Piece::Text("${".to_owned()));
                    rest = &reference[2..];
                }
            }
        }
        template.push(Piece::Text(rest.to_owned()));
        template
            .0
            .retain(|piece| *piece != Piece::Text(String::new()));
        template.note_differences((self.client, field), notes);
        template
    }

    fn resolve(&self, inner: &str, field: &str, notes: &mut Messages) -> Option<Piece> {
        let (shell, editor) = match self.client {
            Client::ClaudeDesktop | Client::Codex => (false, false),
            Client::ClaudeCode => (true, false),
            Client::Cursor | Client::VsCode | Client::Windsurf => (false, true),
            Client::Unknown => (true, true),
        };
        let found = editor
            .then(|| self.of_editor(inner, field, notes))
            .flatten();
        found.or_else(|| shell.then(|| self.of_shell(inner, field, notes)).flatten())
    }

    /// `NAME` and `NAME:-default`.
    fn of_shell(&self, inner: &str, field: &str, notes: &mut Messages) -> Option<Piece> {
        let (name, default) = match inner.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inner, None),
        };
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_name {
            return None;
        }
        let Some(default) = default else {
            return Some(environment(name, field, notes));
        };
        if self.variables.get(name).is_some() {
            notes.add(format!(
                "`{field}`: the default of {name} is left out, since the variable is set and \
                 openclaw has no defaults"
            ));
            return Some(environment(name, field, notes));
        }
        notes.add(format!(
            "`{field}`: the default of {name} is written, since the variable is not set and \
             openclaw has no defaults; write `${{{}}}` for the variable",
            variable_name(name)
        ));
        Some(Piece::Text(default.to_owned()))
    }

    /// `kind:name` and the words for places.
    fn of_editor(&self, inner: &str, field: &str, notes: &mut Messages) -> Option<Piece> {
        let (kind, name) = match inner.split_once(':') {
            Some((kind, name)) => (kind, Some(name)),
            None => (inner, None),
        };
        match (kind, name) {
            ("env", Some(name)) if !name.is_empty() => Some(environment(name, field, notes)),
            ("input", Some(id)) if !id.is_empty() => Some(self.input(id, field, notes)),
            ("config" | "command" | "file", Some(_)) => {
                let name = variable_name(inner);
                notes.add(format!(
                    "`{field}`: openclaw has nothing like `${{{}}}`: set {name} to what it stands \
                     for",
                    printable(inner)
                ));
                Some(Piece::Variable(name))
            }
            ("userHome", None) => path_piece(self.home, (inner, field), notes),
            ("workspaceFolder" | "workspaceRoot", _) | ("cwd", None) => {
                path_piece(self.workspace, (inner, field), notes)
            }
            ("workspaceFolderBasename", None) => {
                let name = self.workspace.file_name().unwrap_or_default();
                path_piece(Path::new(name), (inner, field), notes)
            }
            ("pathSeparator" | "/", None) => Some(Piece::Text(MAIN_SEPARATOR_STR.to_owned())),
            _ => None,
        }
    }

    fn input(&self, id: &str, field: &str, notes: &mut Messages) -> Piece {
        let name = variable_name(&format!("INPUT_{id}"));
        let description = self.inputs.get(id).map(|text| printable(text));
        let description = description.filter(|text| !text.is_empty());
        let asked = description.map_or_else(String::new, |text| format!(" ({text})"));
        notes.add(format!(
            "`{field}`: {} asks for `{}`{asked}: set {name}, or put a value in place of \
             `${{{name}}}`",
            self.client.title(),
            printable(id)
        ));
        Piece::Variable(name)
    }
}

/// A place of this machine, written out.
fn path_piece(path: &Path, (word, field): (&str, &str), notes: &mut Messages) -> Option<Piece> {
    let text = path.to_str()?;
    notes.add(format!(
        "`{field}`: `${{{}}}` is written as `{}`",
        printable(word),
        printable(text)
    ));
    Some(Piece::Text(text.to_owned()))
}

#[cfg(test)]
mod tests;
