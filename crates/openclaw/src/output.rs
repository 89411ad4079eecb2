//! The standard streams: the only place that writes to them.

use std::ffi::OsString;
use std::io::{self, Write};

use anstream::{AutoStream, ColorChoice};
use openclaw_secrets::Redactor;
use serde_json::Value as Json;

use crate::failure::{Exit, Failure, Told};

/// Where results and messages go.
pub(crate) struct Output {
    stdout: AutoStream<io::Stdout>,
    stderr: AutoStream<io::Stderr>,
    redactor: Redactor,
    /// Whether failures are written for programs.
    json: bool,
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
        Self {
            stdout: AutoStream::auto(io::stdout()),
            stderr: AutoStream::auto(io::stderr()),
            redactor: redactor.clone(),
            json: options().any(|argument| argument == "--json"),
        }
    }

    /// Whether failures are written for programs.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Whether a result may be coloured.
    pub(crate) fn is_coloured(&self) -> bool {
        self.stdout.current_choice() != ColorChoice::Never
    }

    /// Writes a piece of the result.
    pub(crate) fn print(&mut self, text: &str) -> Result<(), Failure> {
        write(&mut self.stdout, text)
    }

    /// Writes the result for programs.
    pub(crate) fn print_json(&mut self, value: &Json) -> Result<(), Failure> {
        self.print(&format!("{value:#}\n"))
    }

    /// Writes what is not the result.
    pub(crate) fn explain(&mut self, text: &str) -> Result<(), Failure> {
        write(&mut self.stderr, text)
    }

    /// Tells why a command ended without its result, and with which code to leave.
    ///
    /// A program that can't be told on stdout does not leave the person without a word.
    pub(crate) fn fail(&mut self, failure: &Failure) -> Exit {
        let told = match failure {
            Failure::ReaderGone => return Exit::Done,
            Failure::Told(told) => told,
        };
        let is_told = self.json && {
            let text = self.redactor.redact(&told.json().to_string()).into_owned();
            write(&mut self.stdout, &format!("{text}\n")).is_ok()
        };
        if !is_told {
            let text = self.redactor.redact(&words(told)).into_owned();
            // Nothing is left to be done for a reader that does not listen.
            let _ = write(&mut self.stderr, &text);
        }
        told.exit
    }
}

/// A failure for people.
fn words(told: &Told) -> String {
    let hint = match &told.hint {
        Some(hint) => format!("\nhint: {hint}"),
        None => String::new(),
    };
    format!("error: {}{hint}\n", told.message)
}

fn write(stream: &mut impl Write, text: &str) -> Result<(), Failure> {
    stream
        .write_all(text.as_bytes())
        .and_then(|()| stream.flush())
        .map_err(|error| match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::ReaderGone,
            _ => Failure::failed("output", format!("cannot write the output: {error}")),
        })
}
