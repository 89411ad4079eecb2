//! The message: its text, from the command line or the standard input, and what comes with it.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use openclaw_content::{MediaKind, shown_line};
use openclaw_engine::{Attachment, AttachmentData};

use crate::cli::AgentOptions;
use crate::failure::Failure;

/// How long a message may be.
const LARGEST_MESSAGE: u64 = 16 * 1024 * 1024;
/// How large a file may be that comes with it.
const LARGEST_FILE: u64 = 15 * 1024 * 1024;
/// How many images a message can have.
pub(in crate::commands) const MOST_IMAGES: usize = 10;
/// How many other files.
pub(in crate::commands) const MOST_FILES: usize = 5;
/// How many bytes tell what a file is.
const HEAD: usize = 512;
/// How much of a file's name is kept.
const NAME: usize = 200;

/// Where a message can be read from.
pub(super) struct Input<R> {
    pub(super) stream: R,
    /// Whether somebody would have to type it.
    pub(super) is_terminal: bool,
}

/// Puts a message together. Reads before anything is started: a writer may take as long as it likes.
pub(super) fn compose(
    options: &AgentOptions,
    input: Input<impl Read>,
) -> Result<(String, Vec<Attachment>), Failure> {
    for (given, most, option) in [
        (options.images.len(), MOST_IMAGES, "--image"),
        (options.files.len(), MOST_FILES, "--file"),
    ] {
        if given > most {
            let message =
                format!("`{option}` can be given {most} times at most, not {given} times");
            return Err(Failure::usage("usage", message));
        }
    }
    let hint = "send any other file with `--file`";
    let images = options.images.iter().map(|path| image(path, hint));
    let files = options.files.iter().map(|path| file(path));
    let attachments: Vec<Attachment> = images.chain(files).collect::<Result<_, _>>()?;
    let message = text(options, input, !attachments.is_empty())?;
    if message.trim().is_empty() && attachments.is_empty() {
        return Err(Failure::usage("usage", "the message is empty"));
    }
    Ok((message, attachments))
}

fn text(
    options: &AgentOptions,
    input: Input<impl Read>,
    has_attachments: bool,
) -> Result<String, Failure> {
    match options.message.as_deref().or(options.said.as_deref()) {
        Some("-") => standard_input(input.stream),
        Some(text) if text.len() as u64 > LARGEST_MESSAGE => Err(too_long()),
        Some(text) => Ok(text.to_owned()),
        None if !input.is_terminal => standard_input(input.stream),
        None if has_attachments => Ok(String::new()),
        None => Err(
            Failure::usage("usage", "there is no message: give one with `-m TEXT`")
                .hint("`-m -` reads it from the standard input, until Ctrl-D"),
        ),
    }
}

fn standard_input(stream: impl Read) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    stream
        .take(LARGEST_MESSAGE + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| {
            let message = format!("cannot read the message from the standard input: {error}");
            Failure::failed("input", message)
        })?;
    if bytes.len() as u64 > LARGEST_MESSAGE {
        return Err(too_long());
    }
    let mut text = String::from_utf8(bytes).map_err(|_| {
        Failure::usage("usage", "the message on the standard input is not UTF-8")
            .hint("send a file along with `--file`")
    })?;
    // The end of the last line belongs to whoever wrote it there, not to what is said.
    if text.ends_with('\n') {
        text.pop();
        if text.ends_with('\r') {
            text.pop();
        }
    }
    Ok(text)
}

fn too_long() -> Failure {
    Failure::usage("usage", "the message is longer than the limit of 16 MB")
        .hint("send a file along with `--file`, or let the agent read it with a tool")
}

/// Reads an image; the hint says how other files are sent.
pub(in crate::commands) fn image(path: &Path, hint: &str) -> Result<Attachment, Failure> {
    let bytes = contents(path)?;
    let kind = sniffed(&bytes).filter(|kind| {
        use MediaKind::{Gif, Jpeg, Png, Webp};
        matches!(kind, Png | Jpeg | Gif | Webp)
    });
    match kind {
        Some(kind) => Ok(attachment(path, kind.media_type(), &bytes)),
        None => {
            let message = format!("{} is not a PNG, JPEG, GIF or WebP image", shown(path));
            Err(Failure::usage("attachment", message).hint(hint))
        }
    }
}

/// Reads any other file.
pub(in crate::commands) fn file(path: &Path) -> Result<Attachment, Failure> {
    let bytes = contents(path)?;
    // Drawings in SVG are text, and nothing that takes images takes them.
    let kind = sniffed(&bytes).filter(|kind| *kind != MediaKind::Svg);
    let media_type = match kind {
        Some(kind) => kind.media_type(),
        None if is_text(&bytes) => "text/plain",
        None => "application/octet-stream",
    };
    Ok(attachment(path, media_type, &bytes))
}

fn sniffed(bytes: &[u8]) -> Option<MediaKind> {
    MediaKind::sniff(bytes.get(..HEAD).unwrap_or(bytes))
}

fn is_text(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| !text.contains('\0'))
}

fn attachment(path: &Path, media_type: &str, bytes: &[u8]) -> Attachment {
    let name = path.file_name().map(|name| {
        let name = name.to_string_lossy();
        shown_line(&name, NAME)
    });
    Attachment {
        name: name.filter(|name| !name.is_empty()),
        mime_type: media_type.to_owned(),
        data: AttachmentData::Base64(STANDARD.encode(bytes)),
    }
}

/// What a file holds. Anything but a regular file is refused: a pipe may never end.
fn contents(path: &Path) -> Result<Vec<u8>, Failure> {
    let unreadable = |error: std::io::Error| {
        let message = format!("cannot read {}: {error}", shown(path));
        Failure::usage("attachment", message)
    };
    if !path.metadata().map_err(unreadable)?.is_file() {
        let message = format!("{} is not a regular file", shown(path));
        return Err(Failure::usage("attachment", message));
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(LARGEST_FILE + 1)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    if bytes.len() as u64 > LARGEST_FILE {
        let message = format!("{} is larger than the limit of 15 MB", shown(path));
        return Err(Failure::usage("attachment", message));
    }
    Ok(bytes)
}

fn shown(path: &Path) -> String {
    shown_line(&PathBuf::from(path).display().to_string(), 500)
}

#[cfg(test)]
mod tests;
