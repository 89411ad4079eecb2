//! Names of files that go back: clean, with an extension, and no two alike in one reply.

use std::collections::HashMap;

use openclaw_content::clean_name;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// What a file is called that has no name.
const UNNAMED: &str = "attachment";
/// The longest extension.
const EXTENSION: usize = 10;
/// What stands in an address as it is (RFC 3986 §2.3).
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// The names that a reply has so far.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Each name in small letters, for file systems that don't tell them apart, and which number to try
    /// next for it.
    taken: HashMap<String, usize>,
}

impl Names {
    /// The address of a file under a name that nothing else in the reply has.
    pub(super) fn address(&mut self, name: Option<&str>, mime_type: &str) -> String {
        let name = self.unique(file_name(name, mime_type));
        let name = utf8_percent_encode(&name, RESERVED);
        format!("attachment://{name}")
    }

    fn unique(&mut self, name: String) -> String {
        let Some(mut number) = self.taken.get(&name.to_lowercase()).copied() else {
            self.taken.insert(name.to_lowercase(), 2);
            return name;
        };
        let (stem, extension) = name.split_at(extension_at(&name).unwrap_or(name.len()));
        let other = loop {
            let other = format!("{stem}-{number}{extension}");
            number += 1;
            if !self.taken.contains_key(&other.to_lowercase()) {
                break other;
            }
        };
        self.taken.insert(name.to_lowercase(), number);
        self.taken.insert(other.to_lowercase(), 2);
        other
    }
}

/// A name for a file, with an extension where one is known.
pub(super) fn file_name(name: Option<&str>, mime_type: &str) -> String {
    let segments = name.unwrap_or_default().rsplit(['/', '\\']);
    let last = segments
        .map(str::trim)
        .find(|segment| !segment.is_empty())
        .filter(|segment| segment.chars().any(|character| character != '.'));
    let mut name = match last {
        Some(last) => clean_name(last),
        None => UNNAMED.to_owned(),
    };
    // Of a name that was too long, the end is missing.
    name.truncate(name.trim_end_matches('…').len());
    if extension_at(&name).is_none()
        && let Some(extension) = extension(mime_type)
    {
        name.push('.');
        name.push_str(extension);
    }
    name
}

/// Where the extension of a name begins, with its dot.
fn extension_at(name: &str) -> Option<usize> {
    let (stem, extension) = name.rsplit_once('.')?;
    let is_one = !stem.is_empty()
        && (1..=EXTENSION).contains(&extension.len())
        && extension.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_one.then_some(stem.len())
}

/// The usual extension of a type.
fn extension(mime_type: &str) -> Option<&'static str> {
    Some(match mime_type {
        "application/pdf" => "pdf",
        "application/json" => "json",
        "application/xml" | "text/xml" => "xml",
        "application/zip" => "zip",
        "application/gzip" => "gz",
        "application/x-tar" => "tar",
        "application/x-compressed-tar" | "application/x-tgz" => "tgz",
        "application/msword" => "doc",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document" => "docx",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet" => "xlsx",
        "application/vnd.openxmlformats-officedocument.presentationml.presentation" => "pptx",
        "application/octet-stream" => "bin",
        "text/plain" => "txt",
        "text/markdown" => "md",
        "text/html" => "html",
        "text/csv" => "csv",
        "image/png" => "png",
        "image/jpeg" => "jpg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        "image/svg+xml" => "svg",
        "image/avif" => "avif",
        "image/heic" | "image/heif" => "heic",
        "image/bmp" => "bmp",
        "image/tiff" => "tiff",
        "audio/mpeg" => "mp3",
        "audio/wav" | "audio/x-wav" => "wav",
        "audio/ogg" => "ogg",
        "audio/opus" => "opus",
        "audio/mp4" => "m4a",
        "audio/aac" => "aac",
        "audio/flac" => "flac",
        "video/mp4" => "mp4",
        "video/webm" => "webm",
        "video/quicktime" => "mov",
        "video/x-msvideo" => "avi",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_the_last_part_of_paths_and_have_an_extension() {
        let cases = [
            (Some("report.pdf"), "application/pdf", "report.pdf"),
            (Some("/tmp/a b.pdf"), "application/pdf", "a b.pdf"),
            (Some("C:\\docs\\plan"), "text/markdown", "plan.md"),
            (Some("folder/"), "application/zip", "folder.zip"),
            (Some("attachment"), "application/pdf", "attachment.pdf"),
            (Some("../.."), "application/pdf", "attachment.pdf"),
            (Some(" "), "application/x-thing", "attachment"),
            (Some(".profile"), "text/plain", ".profile.txt"),
            (Some("v1.2 notes"), "text/plain", "v1.2 notes.txt"),
            (Some("a\n<b>.txt"), "text/plain", "a _b_.txt"),
            (None, "image/svg+xml", "attachment.svg"),
        ];
        for (name, mime_type, file) in cases {
            assert_eq!(file_name(name, mime_type), file);
        }
        let long = file_name(Some(&"x".repeat(1000)), "application/pdf");
        assert_eq!(long, format!("{}.pdf", "x".repeat(200)));
    }

    #[test]
    fn no_two_names_of_a_reply_are_alike() {
        let mut names = Names::default();
        let mut next = |name| names.address(Some(name), "application/pdf");
        assert_eq!(next("a.pdf"), "attachment://a.pdf");
        assert_eq!(next("a-2.pdf"), "attachment://a-2.pdf");
        assert_eq!(next("a.pdf"), "attachment://a-3.pdf");
        assert_eq!(next("A.pdf"), "attachment://A-4.pdf");
        assert_eq!(next("a-2.pdf"), "attachment://a-2-2.pdf");
        assert_eq!(next("ü ?#%.pdf"), "attachment://%C3%BC%20%3F%23%25.pdf");
    }

    proptest! {
        #[test]
        fn addresses_stay_addresses(names in prop::collection::vec("(?s).{0,12}|a|a-2", 0..8)) {
            let mut all = Names::default();
            let mut seen = std::collections::HashSet::new();
            for name in &names {
                let address = all.address(Some(name), "text/plain");
                let rest = address.strip_prefix("attachment://").unwrap();
                let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~%".contains(&byte);
                prop_assert!(!rest.is_empty() && rest.bytes().all(fits), "{}", address);
                prop_assert!(seen.insert(address.to_lowercase()));
            }
        }
    }
}
