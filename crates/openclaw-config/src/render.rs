//! Problems as people read them, with the text they are about underlined.

use std::collections::HashMap;
use std::ops::Range;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use crate::hide::Hidden;
use crate::report::{Problem, Report, Severity};
use crate::source::{FileId, SourceFile, Span};

/// The longest line that is shown; a file without line breaks is no help to a reader.
const LONGEST_LINE: usize = 1_000;
/// How many warnings are shown before the rest is only counted.
const MOST_WARNINGS: usize = 100;

/// Lines of the files of a report, credentials hidden. Those are looked for once in each file.
pub struct ShownLines<'r> {
    report: &'r Report,
    hidden: HashMap<FileId, Hidden>,
}

impl<'r> ShownLines<'r> {
    /// The lines of a report's files.
    pub fn new(report: &'r Report) -> Self {
        Self {
            report,
            hidden: HashMap::new(),
        }
    }

    /// The line that a problem is in, with asterisks in place of its credentials; none where it is not
    /// worth showing or must not be shown.
    pub fn of(&mut self, problem: &Problem) -> Option<String> {
        let readable = |span: &Span| self.report.is_readable(*span);
        let span = problem.span.filter(readable)?;
        let file = self.report.sources.file(span.file);
        let (window, _) = line_of(file, span);
        Some(self.look_into(span.file).line(&file.text, window))
    }

    /// Finds the credentials of a file, if that was not done before.
    fn look_into(&mut self, file: FileId) -> &Hidden {
        let text = &self.report.sources.file(file).text;
        self.hidden.entry(file).or_insert_with(|| Hidden::of(text))
    }
}

impl Report {
    /// All problems as text, in the manner of a compiler; empty where there are none.
    pub fn render(&self, colour: bool) -> String {
        let renderer = if colour {
            Renderer::styled()
        } else {
            Renderer::plain()
        }
        .decor_style(DecorStyle::Ascii);
        let mut text = String::new();
        let mut lines = ShownLines::new(self);
        let (mut warnings, mut left) = (0, self.omitted());
        for problem in self.problems() {
            // Errors are never hidden behind warnings.
            let is_warning = problem.severity == Severity::Warning;
            warnings += usize::from(is_warning);
            if is_warning && warnings > MOST_WARNINGS {
                left += 1;
                continue;
            }
            let spans = [problem.span, problem.also.map(|(span, _)| span)];
            for file in spans.into_iter().flatten().map(|span| span.file) {
                lines.look_into(file);
            }
            text.push_str(&renderer.render(&[self.group(problem, &lines.hidden)]));
            text.push_str("\n\n");
        }
        if left > 0 {
            text.push_str(&format!("… and {left} more\n\n"));
        }
        text
    }

    fn group<'a>(&'a self, problem: &'a Problem, hidden: &HashMap<FileId, Hidden>) -> Group<'a> {
        let level = match problem.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let title = level.primary_title(problem.message.as_str());
        let mut group = match problem.span {
            Some(span) if self.is_readable(span) => {
                title.element(self.snippet(span, AnnotationKind::Primary, None, hidden))
            }
            Some(_) | None => title.element(self.origin(problem)),
        };
        if let Some((span, label)) = problem.also.filter(|(span, _)| self.is_readable(*span)) {
            group = group.element(self.snippet(span, AnnotationKind::Context, Some(label), hidden));
        }
        let path = problem.path.to_string();
        if !path.is_empty() {
            group = group.element(Level::NOTE.message(format!("at `{path}`")));
        }
        if let Some(help) = &problem.help {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        group
    }

    /// Whether the line of a span is worth showing.
    fn is_readable(&self, span: Span) -> bool {
        let file = self.sources.file(span.file);
        let line = line_of(file, span).0;
        file.is_shown && !line.is_empty() && line.len() <= LONGEST_LINE
    }

    /// The place of a problem without its line.
    fn origin<'a>(&'a self, problem: &Problem) -> Origin<'a> {
        let origin = Origin::path(self.file(problem).display().to_string());
        match self.position(problem) {
            None => origin,
            Some(position) => origin.line(position.line).char_column(position.column),
        }
    }

    fn snippet<'a>(
        &'a self,
        span: Span,
        kind: AnnotationKind,
        label: Option<&'a str>,
        hidden: &HashMap<FileId, Hidden>,
    ) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
        let file = self.sources.file(span.file);
        let (window, line) = line_of(file, span);
        // A value of several lines is known by its first one.
        let start = span.start - window.start;
        let end = span.end.min(window.end).max(span.start) - window.start;
        let line_text = hidden
            .get(&span.file)
            .map(|hidden| hidden.line(&file.text, window))
            .unwrap_or_default();
        Snippet::source(line_text)
            .line_start(line)
            .path(file.path.display().to_string())
            .annotation(kind.span(start..end).label(label))
    }
}

/// The bytes of the line in which a span begins, and the number of that line.
fn line_of(file: &SourceFile, span: Span) -> (Range<usize>, usize) {
    let start = file.text[..span.start]
        .rfind('\n')
        .map_or(0, |index| index + 1);
    let end = file.text[span.start..]
        .find('\n')
        .map_or(file.text.len(), |index| span.start + index);
    let end = start + file.text[start..end].trim_end_matches('\r').len();
    (start..end, file.position(span.start).line)
}
