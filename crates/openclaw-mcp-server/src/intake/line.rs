//! One line: what is kept of it, within limits, and what it amounts to.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;

use super::attachment::Attachment;
use super::identifier::Identifier;
use super::limits::Limits;
use super::quoted::Quoted;
use super::spool::Spooled;
use super::trail::{AttachmentKind, Field, Role, Trail};
use super::unescape::Fault;
use super::{Incoming, Problem};

/// What all lines of a stream have in common.
#[derive(Debug)]
pub(super) struct Settings {
    /// How much there may be of everything.
    pub(super) limits: Limits,
    /// Where files are made.
    pub(super) directory: PathBuf,
}

/// A line whose end has not come.
pub(super) struct Line {
    settings: Arc<Settings>,
    /// How many bytes have come.
    bytes: usize,
    /// What is kept of them: all but attachments.
    skeleton: Vec<u8>,
    /// Where attachments stood.
    removed: Vec<Removed>,
    trail: Trail,
    mode: Mode,
    identifier: Identifier,
    values: usize,
    spooled: Vec<Spooled>,
    counts: Counts,
    /// What is wrong with an attachment's string: the rest of the line can't tell.
    fault: Option<(usize, Fault)>,
    /// The limit that is exceeded: nothing is kept any longer but the identifier.
    excess: Option<Problem>,
}

/// What the next byte belongs to.
enum Mode {
    /// Nothing but itself.
    Between,
    /// A string that is kept as it is.
    Text(Quoted, Kind),
    /// The string of an attachment.
    Attachment(Quoted, Attachment),
}

/// A string that is kept as it is.
enum Kind {
    /// A key, with its text as far as it can matter.
    Key(Vec<u8>),
    Identifier,
    Other,
}

/// A string that was taken out of a line.
struct Removed {
    /// Where the skeleton goes on behind it.
    skeleton: usize,
    /// Where the line goes on behind it.
    line: usize,
}

/// How many attachments there were.
#[derive(Default)]
struct Counts {
    /// In this message.
    images: usize,
    /// In this message.
    files: usize,
    /// Kept in the whole line.
    kept: usize,
}

impl Line {
    /// The beginning of a line.
    pub(super) fn new(settings: Arc<Settings>) -> Self {
        Self {
            settings,
            bytes: 0,
            skeleton: Vec::new(),
            removed: Vec::new(),
            trail: Trail::new(),
            mode: Mode::Between,
            identifier: Identifier::default(),
            values: 0,
            spooled: Vec::new(),
            counts: Counts::default(),
            fault: None,
            excess: None,
        }
    }

    /// Gives it the buffer of a line that has ended, to keep what comes in.
    pub(super) fn reuse(&mut self, buffer: Vec<u8>) {
        if self.skeleton.is_empty() {
            self.skeleton = buffer;
        }
    }

    /// Takes more of the line, in which there is no line feed.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let limit = self.settings.limits.line;
        if self.bytes + bytes.len() > limit {
            self.exceed(Problem::TooLarge {
                limit,
                without_attachments: false,
            });
        }
        let mut bytes = bytes;
        while !bytes.is_empty() {
            let taken = match std::mem::replace(&mut self.mode, Mode::Between) {
                Mode::Between => self.between(bytes),
                Mode::Text(quoted, kind) => self.text(quoted, kind, bytes),
                Mode::Attachment(quoted, attachment) => self.attachment(quoted, attachment, bytes),
            };
            self.bytes += taken;
            bytes = &bytes[taken..];
        }
    }

    /// Reads up to the next string, and with its first quote. Returns how many bytes that are.
    fn between(&mut self, bytes: &[u8]) -> usize {
        for (at, &byte) in bytes.iter().enumerate() {
            match byte {
                b'"' => return self.string(bytes, at),
                b'{' | b'[' => {
                    self.values += 1;
                    self.identifier.spoil();
                    if self.trail.open(byte) {
                        self.counts.images = 0;
                        self.counts.files = 0;
                    }
                }
                b'}' | b']' => {
                    self.identifier.end();
                    self.trail.close();
                }
                b',' => {
                    self.values += 1;
                    self.identifier.end();
                    self.trail.comma();
                }
                b':' => {
                    if self.trail.colon() {
                        self.identifier.begin();
                    }
                }
                _ => self.identifier.push(&[byte]),
            }
        }
        self.keep(bytes);
        bytes.len()
    }

    /// A string begins at this place.
    fn string(&mut self, bytes: &[u8], at: usize) -> usize {
        let role = self.trail.string();
        self.keep(&bytes[..at]);
        let kind = match role {
            Role::Data(kind) if self.excess.is_none() => {
                let begins = self.bytes + at;
                let attachment = if self.admits(kind) {
                    Attachment::kept(begins, &self.settings)
                } else {
                    Attachment::surplus(begins)
                };
                self.mode = Mode::Attachment(Quoted::default(), attachment);
                return at + 1;
            }
            Role::Data(_) | Role::Other => Kind::Other,
            Role::Key => Kind::Key(Vec::new()),
            Role::Identifier => {
                self.identifier.push(b"\"");
                Kind::Identifier
            }
        };
        self.keep(b"\"");
        self.mode = Mode::Text(Quoted::default(), kind);
        at + 1
    }

    /// Counts an attachment. Says whether it is kept.
    fn admits(&mut self, kind: AttachmentKind) -> bool {
        let limits = &self.settings.limits;
        let (count, most) = match kind {
            AttachmentKind::Image => (&mut self.counts.images, limits.images),
            AttachmentKind::File => (&mut self.counts.files, limits.files),
        };
        *count += 1;
        let is_kept = *count <= most && self.counts.kept < limits.kept;
        self.counts.kept += usize::from(is_kept);
        is_kept
    }

    /// Reads on in a string that is kept.
    fn text(&mut self, mut quoted: Quoted, mut kind: Kind, bytes: &[u8]) -> usize {
        let end = quoted.end(bytes);
        let text = &bytes[..end.unwrap_or(bytes.len())];
        // With its last quote.
        let taken = &bytes[..end.map_or(bytes.len(), |end| end + 1)];
        self.keep(taken);
        match &mut kind {
            Kind::Key(key) => {
                // One that is longer by a byte is none that matters either.
                let room = Field::LONGEST + 1 - key.len();
                key.extend_from_slice(text.get(..room).unwrap_or(text));
            }
            Kind::Identifier => self.identifier.push(taken),
            Kind::Other => {}
        }
        match (end, kind) {
            (None, kind) => self.mode = Mode::Text(quoted, kind),
            (Some(_), Kind::Key(key)) => self.trail.key(Field::of(&key)),
            (Some(_), Kind::Identifier | Kind::Other) => {}
        }
        taken.len()
    }

    /// Reads on in the string of an attachment.
    fn attachment(
        &mut self,
        mut quoted: Quoted,
        mut attachment: Attachment,
        bytes: &[u8],
    ) -> usize {
        let end = quoted.end(bytes);
        if self.excess.is_none() {
            attachment.push(&bytes[..end.unwrap_or(bytes.len())], &self.settings);
        }
        let Some(end) = end else {
            self.mode = match self.excess {
                None => Mode::Attachment(quoted, attachment),
                Some(_) => Mode::Text(quoted, Kind::Other),
            };
            return bytes.len();
        };
        if self.excess.is_none() {
            self.replace(attachment, self.bytes + end + 1);
        }
        end + 1
    }

    /// Puts the place of an attachment, which has ended here, where its string stood.
    fn replace(&mut self, attachment: Attachment, line: usize) {
        let place = format!("\"{}\"", self.spooled.len());
        let at = attachment.at();
        match attachment.finish(&self.settings) {
            Ok(spooled) => self.spooled.push(spooled),
            // The line is refused, so nobody asks for it.
            Err(fault) => self.fault = self.fault.or(Some((at, fault))),
        }
        self.keep(place.as_bytes());
        self.removed.push(Removed {
            skeleton: self.skeleton.len(),
            line,
        });
    }

    /// Ends the line. Returns what it amounts to, unless it is blank, and the buffer.
    pub(super) fn finish(mut self) -> (Option<Incoming>, Vec<u8>) {
        let mut buffer = std::mem::take(&mut self.skeleton);
        let incoming = self.amounts_to(&buffer);
        buffer.clear();
        (incoming, buffer)
    }

    fn amounts_to(self, skeleton: &[u8]) -> Option<Incoming> {
        let problem = if let Some(problem) = self.excess {
            problem
        } else if skeleton.iter().all(|byte| b" \t\r".contains(byte)) {
            return None;
        } else {
            match serde_json::from_slice::<Value>(skeleton) {
                Ok(value) if self.fault.is_none() => {
                    return Some(Incoming::Message {
                        value,
                        spooled: self.spooled,
                    });
                }
                read => self.not_json(read.err()),
            }
        };
        Some(Incoming::Refused {
            id: self.identifier.value(),
            problem,
        })
    }

    /// What is wrong with the line, and where; the first of what is.
    fn not_json(&self, error: Option<serde_json::Error>) -> Problem {
        let error = error.map(|error| {
            let place = format!(" at line {} column {}", error.line(), error.column());
            let text = error.to_string();
            let reason = text.strip_suffix(&place).unwrap_or(&text).to_owned();
            (self.origin(error.column()), reason)
        });
        let fault = self
            .fault
            .map(|(at, fault)| (at + 1, format!("{fault} in the string")));
        let (at, reason) = error.into_iter().chain(fault).min().unwrap_or_default();
        Problem::NotJson(format!("{reason} at byte {at}"))
    }

    /// Where a byte of the skeleton stood in the line.
    fn origin(&self, skeleton: usize) -> usize {
        let before = self
            .removed
            .partition_point(|removed| removed.skeleton < skeleton);
        match before
            .checked_sub(1)
            .and_then(|last| self.removed.get(last))
        {
            Some(removed) => removed.line + (skeleton - removed.skeleton),
            None => skeleton,
        }
    }

    /// Keeps bytes as they are.
    fn keep(&mut self, bytes: &[u8]) {
        let Limits {
            skeleton, values, ..
        } = self.settings.limits;
        if self.excess.is_some() {
            return;
        }
        if self.skeleton.len() + bytes.len() > skeleton {
            self.exceed(Problem::TooLarge {
                limit: skeleton,
                without_attachments: true,
            });
        } else if self.values > values {
            self.exceed(Problem::TooManyValues { limit: values });
        } else {
            self.skeleton.extend_from_slice(bytes);
        }
    }

    /// Gives up everything but the identifier.
    fn exceed(&mut self, problem: Problem) {
        if self.excess.is_none() {
            self.excess = Some(problem);
            self.skeleton = Vec::new();
            self.removed = Vec::new();
            self.spooled = Vec::new();
        }
    }
}
