//! Types by magic bytes.

use super::declared::is_plain_text;

/// A type that is known by its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MediaKind {
    /// `image/png`
    Png,
    /// `image/jpeg`
    Jpeg,
    /// `image/gif`
    Gif,
    /// `image/webp`
    Webp,
    /// `image/avif`
    Avif,
    /// `image/heic`
    Heic,
    /// `image/svg+xml`, which is text
    Svg,
    /// `application/pdf`
    Pdf,
    /// `audio/mpeg`
    Mp3,
    /// `audio/wav`
    Wav,
    /// `audio/ogg`, or video in the same container
    Ogg,
    /// `audio/flac`
    Flac,
    /// `audio/aac`
    Aac,
    /// `audio/mp4`
    M4a,
    /// `video/mp4`
    Mp4,
    /// `video/quicktime`
    QuickTime,
    /// `video/x-msvideo`
    Avi,
    /// `video/webm`, or Matroska
    Webm,
    /// `application/zip`, or what is a ZIP archive beneath
    Zip,
    /// `application/gzip`
    Gzip,
    /// `application/x-tar`
    Tar,
}

impl MediaKind {
    /// How many bytes it takes at most to recognise a type.
    pub const HEAD: usize = 512;

    /// Recognises a type by the first bytes; [`HEAD`](Self::HEAD) of them are enough.
    pub fn sniff(head: &[u8]) -> Option<Self> {
        let at = |offset: usize, magic: &[u8]| {
            head.get(offset..)
                .is_some_and(|rest| rest.starts_with(magic))
        };
        let kind = if at(0, b"\x89PNG\r\n\x1a\n") {
            Self::Png
        } else if at(0, b"\xff\xd8\xff") {
            Self::Jpeg
        } else if at(0, b"GIF87a") || at(0, b"GIF89a") {
            Self::Gif
        } else if at(0, b"RIFF") && at(8, b"WEBP") {
            Self::Webp
        } else if (at(0, b"RIFF") || at(0, b"RF64")) && at(8, b"WAVE") {
            Self::Wav
        } else if at(0, b"RIFF") && at(8, b"AVI ") {
            Self::Avi
        } else if is_atom(head, *b"ftyp") {
            Self::by_brand(head)
        } else if [b"moov", b"mdat", b"wide", b"pnot"]
            .iter()
            .any(|atom| is_atom(head, **atom))
        {
            Self::QuickTime
        } else if at(0, b"%PDF-") {
            Self::Pdf
        } else if at(0, b"OggS\0") {
            Self::Ogg
        } else if at(0, b"fLaC\0") || at(0, b"fLaC\x80") {
            Self::Flac
        } else if at(0, b"\x1a\x45\xdf\xa3") {
            Self::Webm
        } else if at(0, b"PK\x03\x04") || at(0, b"PK\x05\x06") || at(0, b"PK\x07\x08") {
            Self::Zip
        } else if at(0, b"\x1f\x8b\x08") {
            Self::Gzip
        } else if has_tag(head) {
            let behind = behind_tag(head).and_then(Self::sniff);
            behind
                .filter(|kind| matches!(kind, Self::Flac | Self::Aac))
                .unwrap_or(Self::Mp3)
        } else if is_mpeg_audio(head) {
            Self::Mp3
        } else if is_aac(head) {
            Self::Aac
        } else if is_tar(head) {
            Self::Tar
        } else if is_svg(head) {
            Self::Svg
        } else {
            return None;
        };
        Some(kind)
    }

    /// The brands of an ISO base media file: the major one, or one of those it is compatible with.
    fn by_brand(head: &[u8]) -> Self {
        let size = head
            .get(..4)
            .and_then(|size| size.try_into().ok())
            .map_or(0, u32::from_be_bytes);
        let end = usize::try_from(size)
            .unwrap_or(0)
            .clamp(12, head.len().max(12));
        let brands = head.get(8..end).unwrap_or_default().chunks_exact(4);
        brands
            .enumerate()
            .filter_map(|(place, brand)| match brand {
                b"avif" | b"avis" => Some(Self::Avif),
                b"heic" | b"heix" | b"hevc" | b"heim" | b"heis" | b"hevm" | b"mif1" | b"msf1" => {
                    Some(Self::Heic)
                }
                b"M4A " | b"M4B " | b"M4P " => Some(Self::M4a),
                // Many films say that QuickTime can show them, too.
                b"qt  " if place == 0 => Some(Self::QuickTime),
                _ => None,
            })
            // AVIF files name the general brands of images too.
            .min_by_key(|kind| *kind != Self::Avif)
            .unwrap_or(Self::Mp4)
    }

    /// The type's name.
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Gif => "image/gif",
            Self::Webp => "image/webp",
            Self::Avif => "image/avif",
            Self::Heic => "image/heic",
            Self::Svg => "image/svg+xml",
            Self::Pdf => "application/pdf",
            Self::Mp3 => "audio/mpeg",
            Self::Wav => "audio/wav",
            Self::Ogg => "audio/ogg",
            Self::Flac => "audio/flac",
            Self::Aac => "audio/aac",
            Self::M4a => "audio/mp4",
            Self::Mp4 => "video/mp4",
            Self::QuickTime => "video/quicktime",
            Self::Avi => "video/x-msvideo",
            Self::Webm => "video/webm",
            Self::Zip => "application/zip",
            Self::Gzip => "application/gzip",
            Self::Tar => "application/x-tar",
        }
    }

    /// Whether it is text, and has to be treated as such: SVG is.
    pub const fn is_text(self) -> bool {
        matches!(self, Self::Svg)
    }

    /// Whether it is an archive, of which more may come out than went in.
    pub const fn is_archive(self) -> bool {
        matches!(self, Self::Zip | Self::Gzip | Self::Tar)
    }

    /// Whether a declared type is this one, under this or another name.
    pub(super) fn allows(self, declared: &str) -> bool {
        declared == self.media_type()
            || match self {
                Self::Jpeg => matches!(declared, "image/jpg" | "image/pjpeg"),
                Self::Png => matches!(declared, "image/x-png" | "image/apng"),
                Self::Heic => matches!(declared, "image/heif" | "image/heic-sequence"),
                Self::Svg => matches!(declared, "text/xml" | "application/xml" | "image/svg"),
                Self::Pdf => declared == "application/x-pdf",
                Self::Mp3 => matches!(declared, "audio/mp3" | "audio/x-mp3" | "audio/mpeg3"),
                Self::Wav => matches!(declared, "audio/x-wav" | "audio/wave" | "audio/vnd.wave"),
                Self::Ogg => matches!(
                    declared,
                    "video/ogg" | "application/ogg" | "audio/opus" | "audio/vorbis"
                ),
                Self::Flac => declared == "audio/x-flac",
                Self::Aac => matches!(declared, "audio/aacp" | "audio/x-aac"),
                Self::M4a => matches!(declared, "audio/m4a" | "audio/x-m4a" | "video/mp4"),
                Self::Mp4 => matches!(
                    declared,
                    "audio/mp4" | "audio/m4a" | "audio/x-m4a" | "video/quicktime" | "video/x-m4v"
                ),
                Self::Webm => matches!(
                    declared,
                    "audio/webm" | "video/x-matroska" | "audio/x-matroska"
                ),
                Self::Zip => is_zip_beneath(declared),
                Self::Gzip => matches!(
                    declared,
                    "application/x-gzip"
                        | "application/x-tar"
                        | "application/x-tgz"
                        | "application/x-compressed-tar"
                ),
                Self::Tar => declared == "application/tar",
                Self::Avi => matches!(declared, "video/avi" | "video/msvideo"),
                // Cameras and telephones call the one what is the other.
                Self::QuickTime => declared == "video/mp4",
                Self::Gif | Self::Webp | Self::Avif => false,
            }
    }
}

/// Whether a type is one whose files are ZIP archives.
fn is_zip_beneath(declared: &str) -> bool {
    declared == "application/x-zip-compressed"
        || declared == "application/java-archive"
        || declared.ends_with("+zip")
        || declared.starts_with("application/vnd.openxmlformats-officedocument.")
        || declared.starts_with("application/vnd.oasis.opendocument.")
}

/// Whether an atom of this type begins here: its size is one that such an atom can have. Ordinary words
/// have these letters in the same place, but no such size before them.
fn is_atom(head: &[u8], name: [u8; 4]) -> bool {
    let Some((size, rest)) = head.split_first_chunk::<4>() else {
        return false;
    };
    if !rest.starts_with(&name) {
        return false;
    }
    match u32::from_be_bytes(*size) {
        8 => true,
        // The size follows the name, with eight bytes.
        1 => {
            let large = rest.get(4..).and_then(|rest| rest.first_chunk::<8>());
            large.is_some_and(|size| (16..1 << 40).contains(&u64::from_be_bytes(*size)))
        }
        size => (9..1 << 24).contains(&size) && name != *b"wide",
    }
}

/// Whether a tag of ID3 begins here, of a version that there is.
pub(super) fn has_tag(head: &[u8]) -> bool {
    head.starts_with(b"ID3") && head.get(3).is_some_and(|version| (2..=4).contains(version))
}

/// What follows a tag of ID3, if that is here.
pub(super) fn behind_tag(head: &[u8]) -> Option<&[u8]> {
    let size = head.get(6..10)?.iter();
    let size = size.fold(0, |size, byte| size << 7 | usize::from(byte & 0x7f));
    let has_footer = head.get(5).is_some_and(|flags| flags & 0x10 != 0);
    let end = size + if has_footer { 20 } else { 10 };
    head.get(end..)
        .filter(|rest| rest.len() >= 5 && !has_tag(rest))
}

/// Whether a frame of MPEG audio, layer III, begins here.
fn is_mpeg_audio(head: &[u8]) -> bool {
    let [first, second, third, ..] = head else {
        return false;
    };
    // Sync, a known version, layer III; a bit rate and a sampling rate that exist.
    *first == 0xff
        && second & 0xe6 == 0xe2
        && second & 0x18 != 0x08
        && third & 0xf0 != 0xf0
        && third & 0x0c != 0x0c
}

/// Whether a frame of AAC begins here, as it is sent without a container (ADTS), or a whole file of it
/// (ADIF).
fn is_aac(head: &[u8]) -> bool {
    let [first, second, third, ..] = head else {
        return false;
    };
    // Sync, layer 0; a sampling rate that exists.
    let is_frame = *first == 0xff && second & 0xf6 == 0xf0 && third & 0x3c < 0x34;
    is_frame || (head.starts_with(b"ADIF") && !is_plain_text(head))
}

/// Whether this is the first header of a tar archive: the sum of its bytes is written in it.
fn is_tar(head: &[u8]) -> bool {
    let Some(header) = head.get(..512) else {
        return false;
    };
    let written = header.get(148..156).unwrap_or_default();
    let digits: Vec<u8> = written
        .iter()
        .copied()
        .skip_while(|byte| *byte == b' ')
        .take_while(|byte| (b'0'..=b'7').contains(byte))
        .collect();
    let written = digits.iter().try_fold(0_u32, |sum, digit| {
        sum.checked_mul(8)?.checked_add(u32::from(digit - b'0'))
    });
    let sum: u32 = header
        .iter()
        .enumerate()
        .map(|(place, byte)| {
            let is_sum = (148..156).contains(&place);
            u32::from(if is_sum { b' ' } else { *byte })
        })
        .sum();
    !digits.is_empty() && written == Some(sum) && header.first() != Some(&0)
}

/// Whether the first element of a text is `svg`.
fn is_svg(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    let mut rest = text.trim_start_matches('\u{feff}').trim_start();
    while let Some(prolog) = ["<?", "<!--", "<!"]
        .iter()
        .find(|prolog| rest.starts_with(**prolog))
    {
        let end = if *prolog == "<!--" { "-->" } else { ">" };
        let Some((_, after)) = rest.split_once(end) else {
            return false;
        };
        rest = after.trim_start();
    }
    let name = rest.get(..4).unwrap_or_default();
    let after = rest.as_bytes().get(4);
    name.eq_ignore_ascii_case("<svg")
        && after.is_none_or(|byte| byte.is_ascii_whitespace() || matches!(byte, b'>' | b'/'))
}

#[cfg(test)]
mod tests;
