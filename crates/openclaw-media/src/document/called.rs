//! The process that reads a document: this program under another name.

use std::io::{self, Read as _, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use super::LARGEST;
use super::pages::read;

/// The only argument with which a program is called to read a document.
pub(super) const ARGUMENT: &str = "openclaw-document-reader";

/// What came of reading a document, as the status of the process that did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Whole = 0,
    Cut = 10,
    Locked = 11,
    NoText = 12,
    NoLetters = 13,
    Broken = 14,
    TooMuch = 15,
}

impl Outcome {
    /// What a status says; nothing where it is not one of ours.
    pub(super) fn of(status: i32) -> Option<Self> {
        let all = [
            Self::Whole,
            Self::Cut,
            Self::Locked,
            Self::NoText,
            Self::NoLetters,
            Self::Broken,
            Self::TooMuch,
        ];
        all.into_iter()
            .find(|outcome| i32::from(*outcome as u8) == status)
    }
}

/// Makes this process read a document if it was called to, and then says how it is to end.
///
/// Belongs at the very beginning of `main`, before anything is opened or started.
pub fn run_if_called() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    let is_called = arguments.next().is_some_and(|first| first == ARGUMENT);
    if !is_called || arguments.next().is_some() {
        return None;
    }
    Some(match run() {
        Ok(outcome) => ExitCode::from(outcome as u8),
        Err(_) => ExitCode::FAILURE,
    })
}

fn run() -> io::Result<Outcome> {
    let mut output = output()?;
    limit()?;
    let mut document = Vec::new();
    let largest = u64::try_from(LARGEST).unwrap_or(u64::MAX);
    io::stdin().take(largest).read_to_end(&mut document)?;
    // What is read is written at once: a page that comes later may be the end of this process.
    let mut write = |text: &str| {
        output.write_all(text.as_bytes())?;
        output.flush()
    };
    // What a library did not expect is a fault of the document, as far as we are concerned.
    let read = catch_unwind(AssertUnwindSafe(|| read(document, &mut write)));
    read.unwrap_or(Ok(Outcome::Broken))
}

/// Where the text goes. What others in this process print goes to the standard error from now on.
#[cfg(unix)]
fn output() -> io::Result<impl Write> {
    let output = std::fs::File::from(rustix::io::dup(rustix::stdio::stdout())?);
    rustix::stdio::dup2_stdout(rustix::stdio::stderr())?;
    Ok(output)
}

#[cfg(not(unix))]
fn output() -> io::Result<impl Write> {
    Ok(io::stdout())
}

/// Takes from this process what it does not need.
#[cfg(unix)]
fn limit() -> io::Result<()> {
    use rustix::process::{Resource, Rlimit, setrlimit};

    let limits = [
        // Nothing but address space is counted the same everywhere.
        (Resource::As, 768 * 1024 * 1024),
        (Resource::Cpu, 10),
        (Resource::Core, 0),
        (Resource::Fsize, 0),
        (Resource::Nofile, 0),
        (Resource::Nproc, 0),
    ];
    for (resource, most) in limits {
        let limit = Rlimit {
            current: Some(most),
            maximum: Some(most),
        };
        match setrlimit(resource, limit) {
            // Some systems know less than others; on Linux all of it is there.
            Err(_) if !cfg!(target_os = "linux") => {}
            done => done?,
        }
    }
    Ok(())
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere it may fail")]
fn limit() -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_outcome_is_known_by_its_status() {
        let known = (0..=255).filter_map(|status| Some((status, Outcome::of(status)?)));
        let known: Vec<(i32, Outcome)> = known.collect();
        assert_eq!(
            known,
            [
                (0, Outcome::Whole),
                (10, Outcome::Cut),
                (11, Outcome::Locked),
                (12, Outcome::NoText),
                (13, Outcome::NoLetters),
                (14, Outcome::Broken),
                (15, Outcome::TooMuch),
            ]
        );
    }
}
