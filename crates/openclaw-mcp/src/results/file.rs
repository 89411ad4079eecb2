//! One kept result as a file: a line that says what it is, then the text.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

const FORMAT: &str = "openclaw result";
/// The version that is written.
pub(super) const VERSION: u32 = 1;
/// How long the first line may be.
const LONGEST_HEADER: usize = 16 * 1024;
/// How much of a name is kept: more than is ever shown of one.
const NAME: usize = 400;
/// How many bytes a character has at most.
const LONGEST_CHARACTER: u64 = 4;

/// What the first line says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Header {
    format: String,
    version: u32,
    /// A hash of those who may read it.
    pub(super) owner: String,
    pub(super) server: String,
    pub(super) tool: String,
    /// How many bytes the text has.
    pub(super) bytes: u64,
}

/// Only what every version has.
#[derive(Deserialize)]
struct AnyHeader {
    format: String,
    version: u32,
}

/// Why a file can't be read.
#[derive(Debug)]
pub(super) enum FileError {
    Io(io::Error),
    /// It is not what we wrote.
    Corrupt(&'static str),
    /// A newer program wrote it.
    Newer(u32),
}

impl From<io::Error> for FileError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// The contents of a file: its first line, and the text.
pub(super) fn contents(owner: String, origin: (&str, &str), text: &str) -> io::Result<Vec<u8>> {
    let name = |text: &str| text.chars().take(NAME).collect();
    let header = Header {
        format: FORMAT.to_owned(),
        version: VERSION,
        owner,
        server: name(origin.0),
        tool: name(origin.1),
        bytes: text.len() as u64,
    };
    let mut contents = serde_json::to_vec(&header)?;
    contents.reserve_exact(1 + text.len());
    contents.push(b'\n');
    contents.extend_from_slice(text.as_bytes());
    Ok(contents)
}

/// A result that was opened; its text is still on disk.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) header: Header,
    pub(super) modified: SystemTime,
    file: File,
    /// Where the text begins.
    begins: u64,
}

impl Opened {
    /// Opens a file and reads its first line.
    pub(super) fn open(path: &Path) -> Result<Self, FileError> {
        // Looked at before it is opened: links are not followed, and opening a pipe would wait.
        let is_file = |metadata: &fs::Metadata| {
            let reason = FileError::Corrupt("it is not a file");
            metadata.is_file().then_some(()).ok_or(reason)
        };
        is_file(&fs::symlink_metadata(path)?)?;
        let mut file = File::open(path)?;
        let metadata = file.metadata()?;
        is_file(&metadata)?;
        let mut beginning = Vec::with_capacity(LONGEST_HEADER);
        file.by_ref()
            .take(LONGEST_HEADER as u64)
            .read_to_end(&mut beginning)?;
        let end = beginning
            .iter()
            .position(|byte| *byte == b'\n')
            .ok_or(FileError::Corrupt("it has no first line"))?;
        let header = header(beginning.get(..end).unwrap_or_default())?;
        let begins = end as u64 + 1;
        if begins.checked_add(header.bytes) != Some(metadata.len()) {
            return Err(FileError::Corrupt("it is not as long as it should be"));
        }
        Ok(Self {
            header,
            modified: metadata.modified()?,
            file,
            begins,
        })
    }

    /// Reads the part of the text that begins at a byte, or at the character that this byte
    /// belongs to, and has at most so many bytes, but at least one character. Says where it begins.
    pub(super) fn part(&mut self, offset: u64, most: usize) -> Result<(u64, String), FileError> {
        let total = self.header.bytes;
        let offset = offset.min(total);
        // A little more on both sides, to see where characters begin.
        let from = offset.saturating_sub(LONGEST_CHARACTER - 1);
        let wanted = offset.saturating_add(most as u64);
        let to = wanted.saturating_add(LONGEST_CHARACTER).min(total);
        self.file.seek(SeekFrom::Start(self.begins + from))?;
        let mut bytes = Vec::new();
        self.file.by_ref().take(to - from).read_to_end(&mut bytes)?;
        if bytes.len() as u64 != to - from {
            return Err(FileError::Corrupt("it became shorter"));
        }
        // Both fit: they are within what was read.
        let place = |byte: u64| usize::try_from(byte - from).unwrap_or(usize::MAX);
        let start = floor(&bytes, place(offset));
        let mut end = floor(&bytes, start.saturating_add(most));
        if end <= start {
            end = ceil(&bytes, start + 1);
        }
        let part = bytes.get(start..end).unwrap_or_default();
        match std::str::from_utf8(part) {
            Ok(text) => Ok((from + start as u64, text.to_owned())),
            Err(_) => Err(FileError::Corrupt("it is not text")),
        }
    }
}

fn header(line: &[u8]) -> Result<Header, FileError> {
    let unreadable = |_| FileError::Corrupt("its first line can't be read");
    let any: AnyHeader = serde_json::from_slice(line).map_err(unreadable)?;
    if any.format != FORMAT {
        return Err(FileError::Corrupt("it has another format"));
    }
    match any.version {
        VERSION => serde_json::from_slice(line).map_err(unreadable),
        newer if newer > VERSION => Err(FileError::Newer(newer)),
        _ => Err(FileError::Corrupt("its version never existed")),
    }
}

/// Whether a character begins here, or the text ends.
fn is_boundary(bytes: &[u8], place: usize) -> bool {
    bytes.get(place).is_none_or(|byte| byte & 0xC0 != 0x80)
}

/// The last place up to here at which a character begins.
fn floor(bytes: &[u8], place: usize) -> usize {
    let place = place.min(bytes.len());
    let near = place.saturating_sub(3)..=place;
    near.rev()
        .find(|place| is_boundary(bytes, *place))
        .unwrap_or(place)
}

/// The first place from here on at which a character begins.
fn ceil(bytes: &[u8], place: usize) -> usize {
    let place = place.min(bytes.len());
    (place..bytes.len())
        .find(|place| is_boundary(bytes, *place))
        .unwrap_or(bytes.len())
}

#[cfg(test)]
mod tests {
    use openclaw_content::Excerpt;
    use proptest::prelude::*;

    use super::*;

    fn written(contents: &[u8]) -> (tempfile::TempDir, std::path::PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x");
        fs::write(&path, contents).unwrap();
        (directory, path)
    }

    #[test]
    fn what_is_damaged_is_told_apart_from_what_is_newer() {
        let good = contents("o".to_owned(), ("s", "t"), "some text").unwrap();
        let (_directory, path) = written(&good);
        assert_eq!(
            Opened::open(&path).unwrap().part(5, 100).unwrap(),
            (5, "text".to_owned())
        );
        let newer = String::from_utf8(good.clone())
            .unwrap()
            .replace("\"version\":1", "\"version\":2,\"key\":[]");
        for (damaged, expected) in [
            (&b""[..], "no first line"),
            (b"{\n", "can't be read"),
            (
                b"{\"format\":\"colours\",\"version\":1}\n",
                "another format",
            ),
            (
                b"{\"format\":\"openclaw result\",\"version\":0}\n",
                "never existed",
            ),
            (
                b"{\"format\":\"openclaw result\",\"version\":1}\n",
                "can't be read",
            ),
            (&good[..good.len() - 1], "not as long"),
            (&[&good[..], b"x"].concat(), "not as long"),
            (&vec![b' '; LONGEST_HEADER + 10], "no first line"),
            (newer.as_bytes(), "newer 2"),
        ] {
            let (_directory, path) = written(damaged);
            let found = match Opened::open(&path).unwrap_err() {
                FileError::Corrupt(reason) => reason.to_owned(),
                FileError::Newer(version) => format!("newer {version}"),
                FileError::Io(error) => error.to_string(),
            };
            assert!(found.contains(expected), "{found}");
        }
        let mut binary = good;
        let last = binary.len() - 1;
        binary[last] = 0xFF;
        let (_directory, path) = written(&binary);
        let error = Opened::open(&path).unwrap().part(0, 100).unwrap_err();
        assert!(matches!(error, FileError::Corrupt("it is not text")));
    }

    #[test]
    fn names_of_any_length_fit_into_the_first_line() {
        let name = "\u{1}".repeat(1_000_000);
        let contents = contents("o".repeat(32), (&name, &name), "text").unwrap();
        let (_directory, path) = written(&contents);
        let opened = Opened::open(&path).unwrap();
        assert_eq!(opened.header.tool.len(), NAME);
    }

    proptest! {
        #[test]
        fn a_part_is_what_would_be_cut_from_the_whole(
            text in "[aäß€😀\n]{0,12}",
            offset in 0_usize..40,
            most in 0_usize..12,
        ) {
            let contents = contents(String::new(), ("s", "t"), &text).unwrap();
            let (_directory, path) = written(&contents);
            let (start, part) = Opened::open(&path).unwrap().part(offset as u64, most).unwrap();
            let cut = Excerpt::new(most).from_offset(offset).cut(&text);
            let (from, to) = cut.map_or((0, text.len()), |cut| (cut.start, cut.end));
            prop_assert_eq!(start, from as u64);
            prop_assert_eq!(part, &text[from..to]);
        }

        #[test]
        fn no_file_makes_it_fail_otherwise_than_by_an_error(
            header in "[{}\":a-z0-9, ]{0,60}",
            rest in prop::collection::vec(any::<u8>(), 0..30),
            offset in any::<u64>(),
        ) {
            let (_directory, path) = written(&[header.as_bytes(), b"\n", &rest].concat());
            if let Ok(mut opened) = Opened::open(&path) {
                let _ = opened.part(offset, 10);
            }
        }
    }
}
