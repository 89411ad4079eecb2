//! The bytes of an attachment, decoded and put into a file without a name.

use std::fs::File;
use std::io::{self, Seek as _, Write as _};
use std::path::Path;
use std::sync::Arc;

use openclaw_content::{Base64Decoder, Base64Error, MediaKind};

/// How many bytes are written at once.
const BUFFER: usize = 64 * 1024;

/// What stood in the `data` of an attachment.
#[derive(Debug)]
pub(crate) struct Spooled {
    /// How many bytes it has when decoded, also where it is too large to be kept; none where it is not
    /// base64 or was not looked at.
    pub(crate) bytes: u64,
    /// The first of them, as many as it takes to recognise a type.
    pub(crate) head: Vec<u8>,
    /// Where they are: a file without a name, only for us (0600), which is gone with its last handle
    /// and thus after any kill. It stands at its beginning, and is there for no bytes, too.
    pub(crate) file: Result<Arc<File>, SpoolProblem>,
}

/// Why bytes were not kept.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SpoolProblem {
    /// They are not what they should be.
    #[error(transparent)]
    Base64(#[from] Base64Error),
    /// They are more than one attachment may have.
    #[error("it has {bytes} bytes, and {limit} is the most")]
    TooLarge {
        /// How many there are.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// There are more attachments than a message, or a whole batch, may have.
    #[error("there are more attachments than may come at once")]
    Surplus,
    /// They could not be written.
    #[error("it can't be kept: {0}")]
    Unwritable(#[source] io::Error),
}

impl Spooled {
    /// An attachment beyond those that are looked at.
    pub(super) fn surplus() -> Self {
        Self::lost(SpoolProblem::Surplus)
    }

    fn lost(problem: SpoolProblem) -> Self {
        Self {
            bytes: 0,
            head: Vec::new(),
            file: Err(problem),
        }
    }
}

/// An attachment whose end has not come.
pub(super) struct Spooling {
    decoder: Base64Decoder,
    kept: Kept,
}

/// What is kept of an attachment so far.
struct Kept {
    limit: u64,
    bytes: u64,
    head: Vec<u8>,
    /// What is not written yet.
    buffer: Vec<u8>,
    file: Option<File>,
    /// Why nothing more is written.
    failure: Option<io::Error>,
}

impl Spooling {
    /// Begins an attachment that may have so many bytes.
    pub(super) fn new(limit: u64) -> Self {
        Self {
            decoder: Base64Decoder::new(),
            kept: Kept {
                limit,
                bytes: 0,
                head: Vec::new(),
                buffer: Vec::new(),
                file: None,
                failure: None,
            },
        }
    }

    /// Takes more of its base64; files are made in this directory.
    pub(super) fn push(&mut self, text: &[u8], directory: &Path) {
        let kept = &mut self.kept;
        self.decoder.push(text, |bytes| kept.push(bytes, directory));
    }

    /// Ends it.
    pub(super) fn finish(self, directory: &Path) -> Spooled {
        let mut kept = self.kept;
        // What is wrong with the attachment is told rather than what is wrong with the disk.
        match self.decoder.finish(|bytes| kept.push(bytes, directory)) {
            Err(error) => Spooled::lost(error.into()),
            Ok(_) => Spooled {
                bytes: kept.bytes,
                head: std::mem::take(&mut kept.head),
                file: kept.finish(directory).map(Arc::new),
            },
        }
    }
}

impl Kept {
    fn push(&mut self, bytes: &[u8], directory: &Path) {
        let wanted = MediaKind::HEAD - self.head.len();
        self.head
            .extend_from_slice(bytes.get(..wanted).unwrap_or(bytes));
        self.bytes += bytes.len() as u64;
        if self.bytes > self.limit {
            // The rest is only counted.
            self.file = None;
            self.buffer = Vec::new();
        } else if self.failure.is_none() {
            self.buffer.extend_from_slice(bytes);
            if self.buffer.len() >= BUFFER {
                match self.written(directory) {
                    Ok(file) => self.file = Some(file),
                    Err(error) => {
                        self.failure = Some(error);
                        self.buffer = Vec::new();
                    }
                }
            }
        }
    }

    fn finish(mut self, directory: &Path) -> Result<File, SpoolProblem> {
        if self.bytes > self.limit {
            return Err(SpoolProblem::TooLarge {
                bytes: self.bytes,
                limit: self.limit,
            });
        }
        if let Some(error) = self.failure.take() {
            return Err(SpoolProblem::Unwritable(error));
        }
        self.written(directory)
            .and_then(|mut file| file.rewind().map(|()| file))
            .map_err(SpoolProblem::Unwritable)
    }

    /// Writes what is in the buffer. Returns the file, which is made if there is none.
    fn written(&mut self, directory: &Path) -> io::Result<File> {
        let mut file = match self.file.take() {
            Some(file) => file,
            None => nameless(directory)?,
        };
        file.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(file)
    }
}

/// A file without a name, only for us.
fn nameless(directory: &Path) -> io::Result<File> {
    let file = tempfile::tempfile_in(directory)?;
    // Where the system makes it without a name from the start, it has the permissions of any file.
    #[cfg(unix)]
    {
        use std::fs::Permissions;
        use std::os::unix::fs::PermissionsExt as _;

        file.set_permissions(Permissions::from_mode(0o600))?;
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    use super::*;

    fn spooled(text: &str, limit: u64, directory: &Path) -> Spooled {
        let mut spooling = Spooling::new(limit);
        for piece in text.as_bytes().chunks(1000) {
            spooling.push(piece, directory);
        }
        spooling.finish(directory)
    }

    fn content(spooled: &Spooled) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut file = spooled.file.as_ref().unwrap().as_ref();
        file.read_to_end(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn bytes_are_in_a_file_that_has_no_name() {
        let directory = tempfile::tempdir().unwrap();
        for length in [0, 1, 511, 512, 513, BUFFER - 1, BUFFER, 3 * BUFFER + 1] {
            let bytes: Vec<u8> = (0..=250).cycle().take(length).collect();
            let spooled = spooled(&STANDARD.encode(&bytes), 1 << 20, directory.path());
            assert_eq!(spooled.bytes, length as u64);
            assert_eq!(spooled.head, bytes[..length.min(512)]);
            assert_eq!(content(&spooled), bytes);
            assert_eq!(directory.path().read_dir().unwrap().count(), 0);
        }
    }

    #[cfg(unix)]
    #[test]
    fn the_file_is_only_for_us() {
        use std::os::unix::fs::PermissionsExt as _;

        let directory = tempfile::tempdir().unwrap();
        let spooled = spooled("QUJD", 3, directory.path());
        let mode = spooled.file.unwrap().metadata().unwrap().permissions();
        assert_eq!(mode.mode() & 0o777, 0o600);
    }

    #[test]
    fn the_limit_itself_is_allowed() {
        let directory = tempfile::tempdir().unwrap();
        let limit = BUFFER as u64 * 2;
        let text = STANDARD.encode(vec![7; BUFFER * 2]);
        assert!(spooled(&text, limit, directory.path()).file.is_ok());
        let larger = spooled(&text, limit - 1, directory.path());
        assert_eq!(larger.bytes, limit, "what is too large is counted");
        assert_eq!(larger.head.len(), MediaKind::HEAD);
        let problem = larger.file.unwrap_err();
        assert!(
            matches!(problem, SpoolProblem::TooLarge { bytes, limit: most } if bytes == limit && most == limit - 1),
            "{problem}"
        );
    }

    #[test]
    fn what_is_not_base64_is_told_whatever_else_is_wrong() {
        for text in ["QUJ", "QU J", "QUJD=", "-_-_"] {
            let lost = spooled(text, 0, Path::new("/missing"));
            assert!(matches!(lost.file, Err(SpoolProblem::Base64(_))), "{text}");
            assert_eq!((lost.bytes, lost.head.len()), (0, 0));
        }
    }

    #[test]
    fn what_can_not_be_written_is_still_counted() {
        let directory = tempfile::tempdir().unwrap().path().join("missing");
        for length in [0, 1, BUFFER * 2] {
            let lost = spooled(&STANDARD.encode(vec![7; length]), 1 << 20, &directory);
            assert_eq!(lost.bytes, length as u64);
            assert!(matches!(lost.file, Err(SpoolProblem::Unwritable(_))));
        }
    }
}
