//! What we and the guardian say to each other: length-prefixed messages over a socket.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// The largest message; a command line and an environment are far smaller on every system.
pub(crate) const LARGEST: usize = 8 << 20;

/// The number that we give a program.
pub(crate) type Number = u64;

/// What we ask for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// Starts a program; three descriptors for its standard streams come with the message.
    Start(Start),
    /// Asks all processes of a program to end.
    Terminate(Number),
    /// Ends all processes of a program.
    Kill(Number),
}

/// A program to start.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Start {
    pub(crate) number: Number,
    pub(crate) program: OsString,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) environment: Vec<(OsString, OsString)>,
    pub(crate) directory: Option<OsString>,
}

/// What the guardian tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A program was started.
    Started { number: Number, pid: u32 },
    /// A program was not started, for the reason that the system gave.
    NotStarted { number: Number, error: i32 },
    /// A program ended; its status as `wait` has it.
    Ended { number: Number, status: i32 },
    /// Nothing that the program started is left.
    Gone { number: Number },
}

/// A message that is not one: the other side is not what it should be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

impl Request {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Encoder::default();
        match self {
            Self::Start(start) => {
                out.number(0);
                out.number(start.number);
                out.text(&start.program);
                out.number(start.arguments.len() as u64);
                for argument in &start.arguments {
                    out.text(argument);
                }
                out.number(start.environment.len() as u64);
                for (name, value) in &start.environment {
                    out.text(name);
                    out.text(value);
                }
                match &start.directory {
                    None => out.number(0),
                    Some(directory) => {
                        out.number(1);
                        out.text(directory);
                    }
                }
            }
            Self::Terminate(number) => {
                out.number(1);
                out.number(*number);
            }
            Self::Kill(number) => {
                out.number(2);
                out.number(*number);
            }
        }
        out.0
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut input = Decoder(bytes);
        let request = match input.number()? {
            0 => {
                let number = input.number()?;
                let program = input.text()?;
                let mut arguments = Vec::new();
                for _ in 0..input.count()? {
                    arguments.push(input.text()?);
                }
                let mut environment = Vec::new();
                for _ in 0..input.count()? {
                    environment.push((input.text()?, input.text()?));
                }
                let directory = match input.number()? {
                    0 => None,
                    _ => Some(input.text()?),
                };
                Self::Start(Start {
                    number,
                    program,
                    arguments,
                    environment,
                    directory,
                })
            }
            1 => Self::Terminate(input.number()?),
            2 => Self::Kill(input.number()?),
            _ => return Err(Malformed),
        };
        input.end().map(|()| request)
    }
}

impl Event {
    pub(crate) fn encode(self) -> Vec<u8> {
        let mut out = Encoder::default();
        let fields = match self {
            Self::Started { number, pid } => [0, number, u64::from(pid)],
            Self::NotStarted { number, error } => [1, number, u64::from(error.cast_unsigned())],
            Self::Ended { number, status } => [2, number, u64::from(status.cast_unsigned())],
            Self::Gone { number } => [3, number, 0],
        };
        for field in fields {
            out.number(field);
        }
        out.0
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut input = Decoder(bytes);
        let (kind, number, value) = (input.number()?, input.number()?, input.number()?);
        let value = u32::try_from(value).map_err(|_| Malformed)?;
        let event = match kind {
            0 => Self::Started { number, pid: value },
            1 => Self::NotStarted {
                number,
                error: value.cast_signed(),
            },
            2 => Self::Ended {
                number,
                status: value.cast_signed(),
            },
            3 => Self::Gone { number },
            _ => return Err(Malformed),
        };
        input.end().map(|()| event)
    }
}

#[derive(Default)]
struct Encoder(Vec<u8>);

impl Encoder {
    fn number(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    fn text(&mut self, text: &OsStr) {
        self.number(text.len() as u64);
        self.0.extend_from_slice(text.as_bytes());
    }
}

struct Decoder<'a>(&'a [u8]);

impl Decoder<'_> {
    fn number(&mut self) -> Result<u64, Malformed> {
        let (bytes, rest) = self.0.split_first_chunk().ok_or(Malformed)?;
        self.0 = rest;
        Ok(u64::from_le_bytes(*bytes))
    }

    /// A number of things, each of which takes at least eight bytes.
    fn count(&mut self) -> Result<usize, Malformed> {
        let count = usize::try_from(self.number()?).map_err(|_| Malformed)?;
        (count <= self.0.len() / 8)
            .then_some(count)
            .ok_or(Malformed)
    }

    fn text(&mut self) -> Result<OsString, Malformed> {
        let length = usize::try_from(self.number()?).map_err(|_| Malformed)?;
        let (bytes, rest) = self.0.split_at_checked(length).ok_or(Malformed)?;
        self.0 = rest;
        Ok(OsString::from_vec(bytes.to_vec()))
    }

    fn end(&self) -> Result<(), Malformed> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(Malformed)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_back_as_they_were() {
        let start = Request::Start(Start {
            number: 7,
            program: "/bin/x".into(),
            arguments: vec!["".into(), OsString::from_vec(vec![0xff, b' '])],
            environment: vec![("A".into(), "b=c".into())],
            directory: Some("/".into()),
        });
        for request in [start, Request::Terminate(1), Request::Kill(u64::MAX)] {
            assert_eq!(Request::decode(&request.encode()), Ok(request));
        }
        for event in [
            Event::Started { number: 1, pid: 2 },
            Event::NotStarted {
                number: 1,
                error: 13,
            },
            Event::Ended {
                number: 1,
                status: -1,
            },
            Event::Gone { number: 9 },
        ] {
            assert_eq!(Event::decode(&event.encode()), Ok(event));
        }
    }

    #[test]
    fn what_is_no_message_is_refused() {
        let whole = Request::Terminate(1).encode();
        for cut in 0..whole.len() {
            assert_eq!(Request::decode(&whole[..cut]), Err(Malformed));
        }
        let mut longer = whole;
        longer.push(0);
        assert_eq!(Request::decode(&longer), Err(Malformed));
        // A count that promises more than there is must not reserve memory for it.
        let mut liar = Encoder::default();
        for number in [0, 1, 0, u64::MAX] {
            liar.number(number);
        }
        assert_eq!(Request::decode(&liar.0), Err(Malformed));
    }
}
