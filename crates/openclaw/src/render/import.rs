//! What was taken over from other clients.

use openclaw_content::shown_line;
use openclaw_engine::{ImportOutcome, ImportedFile, ServerImport};
use serde_json::{Value as Json, json};
use unicode_width::UnicodeWidthStr;

use crate::render::{LINE, Page, Tone, count, credential, name, padded};

/// The columns of a name that stands beside its target.
const WIDEST: usize = 30;

/// What became of everything that was found.
#[derive(Debug)]
pub(crate) struct Imported<'i> {
    pub(crate) files: &'i [ImportedFile],
    /// Whether nothing was to be written.
    pub(crate) is_rehearsal: bool,
}

impl Imported<'_> {
    /// For programs.
    pub(crate) fn json(&self) -> Json {
        let (mut imported, mut skipped, mut problems) = (Vec::new(), Vec::new(), Vec::new());
        for file in self.files {
            let (from, path) = (&file.client, &file.path);
            for line in &file.servers {
                let name = &line.name;
                match &line.outcome {
                    ImportOutcome::Taken {
                        target,
                        notes,
                        stored,
                        written,
                        ..
                    } => imported.push(json!({
                        "name": name, "from": from, "path": path,
                        "target": target, "notes": notes, "stored": stored,
                        "written": written,
                    })),
                    ImportOutcome::Skipped { reason } => skipped.push(json!({
                        "name": name, "from": from, "path": path, "reason": reason,
                    })),
                }
            }
            let messages = file.problems.iter();
            problems.extend(
                messages.map(|message| json!({ "from": from, "path": path, "message": message })),
            );
        }
        json!({ "imported": imported, "skipped": skipped, "problems": problems })
    }

    /// Whether there was something, but no server in it.
    pub(crate) fn is_nothing_but_problems(&self) -> bool {
        self.files.iter().all(|file| file.servers.is_empty())
            && self.files.iter().any(|file| !file.problems.is_empty())
    }

    fn count(&self, counted: impl Fn(&ImportOutcome) -> bool) -> usize {
        let lines = self.files.iter().flat_map(|file| &file.servers);
        lines.filter(|line| counted(&line.outcome)).count()
    }
}

/// By client and file. `config` is the file that is written to.
pub(crate) fn import(report: &Imported<'_>, config: &str, page: Page) -> String {
    let files = report.files.iter();
    let files = files.filter(|file| !file.servers.is_empty() || !file.problems.is_empty());
    let mut text = String::new();
    for file in files {
        let path = shown_line(&file.path, LINE);
        let client = page.paint(Tone::Strong, &file.client);
        text.push_str(&format!("{client}: {path}\n"));
        let widths = file.servers.iter().map(|line| name(&line.name).width());
        let column = widths.filter(|width| *width <= WIDEST).max().unwrap_or(0) + 4;
        for line in &file.servers {
            text.push_str(&server(line, column, page));
        }
        for problem in &file.problems {
            let problem = shown_line(problem, LINE);
            let word = page.paint(Tone::Attention, "problem:");
            text.push_str(&format!("  {word} {problem}\n"));
        }
        text.push('\n');
    }
    text.push_str(&summary(report, config));
    text
}

fn server(line: &ServerImport, column: usize, page: Page) -> String {
    let margin = " ".repeat(column);
    let shown = name(&line.name);
    let beginning = if shown.width() + 4 <= column {
        format!("  {}", padded(&shown, column - 2))
    } else {
        format!("  {shown}\n{margin}")
    };
    match &line.outcome {
        ImportOutcome::Taken {
            target,
            notes,
            stored,
            written,
            ..
        } => {
            let mut text = format!("{beginning}{}\n", page.line(target, column));
            for note in notes {
                text.push_str(&format!("{margin}note: {}\n", shown_line(note, LINE)));
            }
            let verb = if *written {
                "stored in"
            } else {
                "would be stored in"
            };
            for stored in stored {
                text.push_str(&format!("{margin}{}", credential(stored, verb)));
            }
            text
        }
        ImportOutcome::Skipped { reason } => {
            let word = page.paint(Tone::Attention, "skipped:");
            format!("{beginning}{word} {}\n", shown_line(reason, LINE))
        }
    }
}

fn summary(report: &Imported<'_>, config: &str) -> String {
    let taken = report.count(|outcome| matches!(outcome, ImportOutcome::Taken { .. }));
    let written = report.count(|outcome| {
        let ImportOutcome::Taken { written, .. } = outcome else {
            return false;
        };
        *written
    });
    let skipped = report.count(|outcome| matches!(outcome, ImportOutcome::Skipped { .. }));
    if taken + skipped == 0 {
        return "no servers of other MCP clients were found; name a client or a file with \
                `--from`\n"
            .to_owned();
    }
    let skipped = match skipped {
        0 => String::new(),
        skipped => format!(", {skipped} skipped"),
    };
    if report.is_rehearsal {
        let taken = count(taken, "server");
        return format!("{taken} would be imported{skipped}; nothing was written\n");
    }
    let taken = count(written, "server");
    let place = if written == 0 {
        "nothing was written".to_owned()
    } else {
        format!("written to {config}")
    };
    format!("{taken} imported{skipped}; {place}\n")
}
