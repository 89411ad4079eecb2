//! The string of an attachment, on its way to a file.

use super::line::Settings;
use super::spool::{Spooled, Spooling};
use super::unescape::{Fault, Unescape};

/// The string of an attachment whose end has not come.
pub(super) struct Attachment {
    /// Where it begins in the line.
    at: usize,
    state: State,
}

enum State {
    /// It is kept.
    Kept(Unescape, Box<Spooling>),
    /// It is one too many, and only looked at as a string.
    Surplus(Unescape),
    /// It is no string.
    Faulty(Fault),
}

impl Attachment {
    /// One that is kept.
    pub(super) fn kept(at: usize, settings: &Settings) -> Self {
        let spooling = Spooling::new(settings.limits.attachment);
        Self {
            at,
            state: State::Kept(Unescape::default(), Box::new(spooling)),
        }
    }

    /// One too many.
    pub(super) fn surplus(at: usize) -> Self {
        Self {
            at,
            state: State::Surplus(Unescape::default()),
        }
    }

    /// Where it begins in the line.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Takes more of it.
    pub(super) fn push(&mut self, quoted: &[u8], settings: &Settings) {
        let read = match &mut self.state {
            State::Kept(unescape, spooling) => unescape.push(quoted, &mut |text| {
                spooling.push(text, &settings.directory);
            }),
            State::Surplus(unescape) => unescape.push(quoted, &mut |_| ()),
            State::Faulty(_) => Ok(()),
        };
        if let Err(fault) = read {
            self.state = State::Faulty(fault);
        }
    }

    /// Ends it.
    pub(super) fn finish(self, settings: &Settings) -> Result<Spooled, Fault> {
        match self.state {
            State::Kept(unescape, spooling) => {
                unescape.finish()?;
                Ok(spooling.finish(&settings.directory))
            }
            State::Surplus(unescape) => {
                unescape.finish()?;
                Ok(Spooled::surplus())
            }
            State::Faulty(fault) => Err(fault),
        }
    }
}
