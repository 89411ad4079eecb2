//! The standard streams: the only place that writes to them.

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};

use anstream::{AutoStream, ColorChoice};
use openclaw_content::shown_line;
use openclaw_secrets::Redactor;
use serde::Serialize;
use serde_json::Value as Json;

use crate::failure::{Exit, Failure, Told};
use crate::render::{Page, Speech, cut};

/// Where results and messages go.
pub(crate) struct Output {
    stdout: Box<dyn Write>,
    /// The same without any filter, for what is not text.
    bytes: Box<dyn Write>,
    stderr: Box<dyn Write>,
    redactor: Redactor,
    /// Whether failures are written for programs.
    json: bool,
    page: Page,
    /// Whether somebody looks at the results.
    is_terminal: bool,
    /// Whether somebody looks at the messages.
    is_watched: bool,
    /// Whether a line about progress stands on the terminal.
    has_progress: bool,
}

impl Output {
    /// The streams of this process.
    ///
    /// Looks at the arguments itself, because a command line that can't be parsed has to be
    /// answered in the right form as well.
    pub(crate) fn standard(arguments: &[OsString], redactor: &Redactor) -> Self {
        let options = || {
            arguments
                .iter()
                .skip(1)
                .take_while(|argument| *argument != "--")
        };
        if options().any(|argument| argument == "--no-color") {
            ColorChoice::Never.write_global();
        }
        let stdout = AutoStream::auto(io::stdout());
        let is_terminal = io::stdout().is_terminal();
        let width = terminal_size::terminal_size_of(io::stdout())
            .filter(|_| is_terminal)
            .map(|(width, _)| usize::from(width.0));
        Self {
            page: Page {
                width,
                coloured: stdout.current_choice() != ColorChoice::Never,
                speech: Speech::Shell,
            },
            stdout: Box::new(stdout),
            bytes: Box::new(io::stdout()),
            stderr: Box::new(AutoStream::auto(io::stderr())),
            redactor: redactor.clone(),
            json: options().any(|argument| argument == "--json"),
            is_terminal,
            is_watched: io::stderr().is_terminal(),
            has_progress: false,
        }
    }

    /// Whether failures are written for programs.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Whether a result may be coloured.
    pub(crate) fn is_coloured(&self) -> bool {
        self.page.coloured
    }

    /// What results for people are laid out on.
    pub(crate) fn page(&self) -> Page {
        self.page
    }

    /// Whether somebody looks at the results.
    pub(crate) fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// Whether somebody sees what is going on.
    pub(crate) fn is_watched(&self) -> bool {
        self.is_watched
    }

    /// Writes a piece of the result. Credentials of ours are not in it, and if they were they would
    /// not get out here.
    pub(crate) fn print(&mut self, text: &str) -> Result<(), Failure> {
        self.progress(None);
        let text = self.redactor.redact_learned(text);
        write(&mut self.stdout, text.as_bytes())
    }

    /// Writes a result that is not text.
    pub(crate) fn print_bytes(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.progress(None);
        write(&mut self.bytes, bytes)
    }

    /// The results as they are, for what speaks a protocol there.
    pub(crate) fn wire(&mut self) -> &mut dyn Write {
        &mut *self.bytes
    }

    /// Writes one line of a result for programs.
    pub(crate) fn print_json_line(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        self.progress(None);
        let mut value = as_json(value)?;
        self.hide(&mut value);
        let text = format!("{value}\n");
        write(&mut self.stdout, escaped(&text).as_bytes())
    }

    /// Writes the result for programs. What is hidden is hidden in its texts, so that it stays JSON.
    pub(crate) fn print_json(&mut self, value: &Json) -> Result<(), Failure> {
        self.progress(None);
        let mut value = value.clone();
        self.hide(&mut value);
        let text = format!("{value:#}\n");
        write(&mut self.stdout, escaped(&text).as_bytes())
    }

    /// Takes credentials out of all texts of a value.
    fn hide(&self, value: &mut Json) {
        match value {
            Json::String(text) => {
                if let Cow::Owned(hidden) = self.redactor.redact_learned(text) {
                    *text = hidden;
                }
            }
            Json::Array(items) => items.iter_mut().for_each(|item| self.hide(item)),
            Json::Object(fields) => fields.values_mut().for_each(|value| self.hide(value)),
            Json::Null | Json::Bool(_) | Json::Number(_) => {}
        }
    }

    /// Writes what an engine answered for programs.
    pub(crate) fn print_report(&mut self, report: &impl Serialize) -> Result<(), Failure> {
        self.print_json(&as_json(report)?)
    }

    /// Writes what is not the result.
    pub(crate) fn explain(&mut self, text: &str) -> Result<(), Failure> {
        self.progress(None);
        let text = self.redactor.redact(text);
        write(&mut self.stderr, text.as_bytes())
    }

    /// Shows an address to open, beside the result. It holds what only looks like a credential, and a
    /// person needs all of it.
    pub(crate) fn show_address(&mut self, address: &str) -> Result<(), Failure> {
        self.progress(None);
        let address = self.redactor.redact_learned(address);
        let address: String = address.chars().filter(char::is_ascii_graphic).collect();
        write(&mut self.stderr, format!("\n  {address}\n\n").as_bytes())
    }

    /// Shows something that we have drawn, beside the result.
    pub(crate) fn show_drawing(&mut self, drawing: &str) -> Result<(), Failure> {
        self.progress(None);
        write(&mut self.stderr, drawing.as_bytes())
    }

    /// What messages are laid out on.
    pub(crate) fn messages_page(&self) -> Page {
        let width = terminal_size::terminal_size_of(io::stderr());
        Page {
            width: width
                .filter(|_| self.is_watched)
                .map(|(width, _)| usize::from(width.0)),
            coloured: self.is_watched && AutoStream::choice(&io::stderr()) != ColorChoice::Never,
            speech: Speech::Shell,
        }
    }

    /// Writes sentences that a person should know beside the result.
    pub(crate) fn warn(&mut self, sentences: &[String]) -> Result<(), Failure> {
        for sentence in sentences {
            let sentence = self.redactor.redact(sentence);
            let sentence = shown_line(&sentence, 2000);
            self.explain(&format!("warning: {sentence}\n"))?;
        }
        Ok(())
    }

    /// Says in one line what is going on, in place of what was said before; nothing wipes it off.
    ///
    /// Only where somebody sees it: elsewhere the lines would pile up.
    pub(crate) fn progress(&mut self, line: Option<&str>) {
        if !self.is_watched || (line.is_none() && !self.has_progress) {
            return;
        }
        self.has_progress = line.is_some();
        // A line that is wrapped could not be wiped off.
        let width = self.messages_page().width.unwrap_or(usize::MAX);
        let line = line.map(|line| cut(line, width.saturating_sub(1).max(1)));
        // Who can't be told what is going on is told how it ended.
        let _ = write!(
            self.stderr,
            "\r\u{1b}[2K{}",
            line.as_deref().unwrap_or_default()
        );
        let _ = self.stderr.flush();
    }

    /// Tells why a command ended without its result, and with which code to leave.
    ///
    /// A program that can't be told on stdout does not leave the person without a word.
    pub(crate) fn fail(&mut self, failure: &Failure) -> Exit {
        self.progress(None);
        let told = match failure {
            Failure::ReaderGone => return Exit::Done,
            Failure::Interrupted(signal) => return Exit::Interrupted(*signal),
            Failure::Told(told) => told,
        };
        let is_told = self.json && {
            let text = self.redactor.redact(&told.json().to_string()).into_owned();
            write(&mut self.stdout, format!("{}\n", escaped(&text)).as_bytes()).is_ok()
        };
        if !is_told {
            let text = self.redactor.redact(&words(told)).into_owned();
            // Nothing is left to be done for a reader that does not listen.
            let _ = write(&mut self.stderr, text.as_bytes());
        }
        told.exit
    }
}

fn as_json(value: &impl Serialize) -> Result<Json, Failure> {
    serde_json::to_value(value)
        .map_err(|error| Failure::failed("output", format!("cannot write the output: {error}")))
}

/// A failure for people.
fn words(told: &Told) -> String {
    let hint = match &told.hint {
        Some(hint) => format!("\nhint: {hint}"),
        None => String::new(),
    };
    format!("error: {}{hint}\n", told.message)
}

/// JSON whose texts can't move a cursor or hide themselves; its values are the same.
///
/// JSON itself asks for escapes of only some of the characters that terminals act on.
fn escaped(json: &str) -> Cow<'_, str> {
    let acts = |character: char| {
        (character.is_control() && character != '\n')
            || matches!(character,
                '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
    };
    if !json.contains(acts) {
        return Cow::Borrowed(json);
    }
    let mut text = String::with_capacity(json.len());
    for character in json.chars() {
        if acts(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                text.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            text.push(character);
        }
    }
    Cow::Owned(text)
}

fn write(stream: &mut impl Write, bytes: &[u8]) -> Result<(), Failure> {
    stream
        .write_all(bytes)
        .and_then(|()| stream.flush())
        .map_err(|error| match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::ReaderGone,
            _ => Failure::failed("output", format!("cannot write the output: {error}")),
        })
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    /// What was written to a stream.
    #[derive(Clone, Default)]
    pub(crate) struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Kept {
        pub(crate) fn bytes(&self) -> Vec<u8> {
            self.0.lock().unwrap().clone()
        }

        pub(crate) fn text(&self) -> String {
            String::from_utf8(self.bytes()).unwrap()
        }
    }

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Output {
        /// Streams whose contents are kept: those of the results, and those of the messages.
        pub(crate) fn kept(json: bool) -> (Self, Kept, Kept) {
            let (stdout, stderr) = (Kept::default(), Kept::default());
            let output = Self {
                stdout: Box::new(stdout.clone()),
                bytes: Box::new(stdout.clone()),
                stderr: Box::new(stderr.clone()),
                redactor: Redactor::new(),
                json,
                page: Page {
                    width: Some(80),
                    coloured: false,
                    speech: Speech::Shell,
                },
                is_terminal: false,
                is_watched: false,
                has_progress: false,
            };
            (output, stdout, stderr)
        }

        /// The same in front of a person.
        pub(crate) fn watched(mut self) -> Self {
            self.is_terminal = true;
            self.is_watched = true;
            self
        }
    }

    #[test]
    fn progress_is_wiped_off_before_anything_else_is_said() {
        let (output, stdout, stderr) = Output::kept(false);
        let mut output = output.watched();
        output.progress(Some("connecting: a"));
        output.progress(Some("connecting: b"));
        output.print("done\n").unwrap();
        output.progress(None);
        assert_eq!(stdout.text(), "done\n");
        assert_eq!(
            stderr.text(),
            "\r\u{1b}[2Kconnecting: a\r\u{1b}[2Kconnecting: b\r\u{1b}[2K"
        );
    }

    #[test]
    fn nobody_is_shown_progress_where_nobody_looks() {
        let (mut output, _, stderr) = Output::kept(false);
        output.progress(Some("connecting: a"));
        assert_eq!(stderr.text(), "");
    }

    #[test]
    fn json_has_the_same_values_and_nothing_that_a_terminal_acts_on() {
        let value = serde_json::json!({ "a\u{9b}": "\u{1b}\u{202e}\u{e0041}\u{7f}é日" });
        let text = format!("{value:#}");
        let shown = escaped(&text);
        assert_eq!(
            shown,
            "{\n  \"a\\u009b\": \"\\u001b\\u202e\\udb40\\udc41\\u007fé日\"\n}"
        );
        assert_eq!(serde_json::from_str::<Json>(&shown).unwrap(), value);
    }

    #[test]
    fn an_interruption_is_not_explained() {
        let (mut output, stdout, stderr) = Output::kept(true);
        let signal = crate::failure::Signal::Interrupt;
        let exit = output.fail(&Failure::Interrupted(signal));
        assert_eq!(exit, Exit::Interrupted(signal));
        assert_eq!(
            (stdout.text(), stderr.text()),
            (String::new(), String::new())
        );
    }
}
