//! Types by magic bytes.

/// How many bytes at the beginning are looked at.
pub(super) const HEAD: usize = 512;

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
    /// `audio/mp4`
    M4a,
    /// `video/mp4`
    Mp4,
    /// `video/webm`, or Matroska
    Webm,
    /// `application/zip`, or what is a ZIP archive beneath
    Zip,
    /// `application/gzip`
    Gzip,
}

impl MediaKind {
    /// Recognises a type by the first bytes; 512 are enough.
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
        } else if at(0, b"RIFF") && at(8, b"WAVE") {
            Self::Wav
        } else if at(4, b"ftyp") {
            Self::by_brand(head)
        } else if at(0, b"%PDF-") {
            Self::Pdf
        } else if at(0, b"OggS") {
            Self::Ogg
        } else if at(0, b"fLaC") {
            Self::Flac
        } else if at(0, b"\x1a\x45\xdf\xa3") {
            Self::Webm
        } else if at(0, b"PK\x03\x04") || at(0, b"PK\x05\x06") || at(0, b"PK\x07\x08") {
            Self::Zip
        } else if at(0, b"\x1f\x8b\x08") {
            Self::Gzip
        } else if at(0, b"ID3") || is_mpeg_audio(head) {
            Self::Mp3
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
            .filter_map(|brand| match brand {
                b"avif" | b"avis" => Some(Self::Avif),
                b"heic" | b"heix" | b"hevc" | b"heim" | b"heis" | b"hevm" | b"mif1" | b"msf1" => {
                    Some(Self::Heic)
                }
                b"M4A " | b"M4B " | b"M4P " => Some(Self::M4a),
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
            Self::M4a => "audio/mp4",
            Self::Mp4 => "video/mp4",
            Self::Webm => "video/webm",
            Self::Zip => "application/zip",
            Self::Gzip => "application/gzip",
        }
    }

    /// Whether it is text, and has to be treated as such: SVG is.
    pub const fn is_text(self) -> bool {
        matches!(self, Self::Svg)
    }

    /// Whether it is an archive, of which more may come out than went in.
    pub const fn is_archive(self) -> bool {
        matches!(self, Self::Zip | Self::Gzip)
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
                    "application/x-gzip" | "application/x-tar" | "application/x-tgz"
                ),
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
mod tests {
    use super::*;

    #[test]
    fn types_are_recognised_by_their_first_bytes() {
        let cases: &[(&[u8], MediaKind)] = &[
            (b"\x89PNG\r\n\x1a\n", MediaKind::Png),
            (b"\xff\xd8\xff\xe0", MediaKind::Jpeg),
            (b"GIF89a", MediaKind::Gif),
            (b"RIFF\0\0\0\0WEBPVP8 ", MediaKind::Webp),
            (b"RIFF\0\0\0\0WAVEfmt ", MediaKind::Wav),
            (b"\0\0\0\x1cftypavif\0\0\0\0mif1avifmiaf", MediaKind::Avif),
            (b"\0\0\0\x1cftypmif1\0\0\0\0mif1avifmiaf", MediaKind::Avif),
            (b"\0\0\0\x18ftypheic\0\0\0\0mif1heic", MediaKind::Heic),
            (b"\0\0\0\x18ftypM4A \0\0\0\0mp42isom", MediaKind::M4a),
            (b"\0\0\0\x18ftypisom\0\0\0\0mp42isom", MediaKind::Mp4),
            (b"%PDF-1.7", MediaKind::Pdf),
            (b"ID3\x04\0", MediaKind::Mp3),
            (b"\xff\xfb\x90\x64", MediaKind::Mp3),
            (b"OggS\0", MediaKind::Ogg),
            (b"fLaC\0", MediaKind::Flac),
            (b"\x1a\x45\xdf\xa3\x01", MediaKind::Webm),
            (b"PK\x03\x04", MediaKind::Zip),
            (b"\x1f\x8b\x08\0", MediaKind::Gzip),
            (b"<svg xmlns='x'/>", MediaKind::Svg),
            (
                b"\xef\xbb\xbf<?xml version='1.0'?>\n<!-- a > b -->\n<!DOCTYPE svg>\n<svg>",
                MediaKind::Svg,
            ),
        ];
        for (head, kind) in cases {
            assert_eq!(
                MediaKind::sniff(head),
                Some(*kind),
                "{}",
                head.escape_ascii()
            );
            assert!(kind.allows(kind.media_type()));
        }
    }

    #[test]
    fn other_bytes_are_of_no_known_type() {
        let cases: &[&[u8]] = &[
            b"",
            b"\x89PN",
            b"RIFF",
            b"hello",
            b"<svgx>",
            b"<html><svg>",
            b"\xff\xff\xff",
            b"<?xml",
        ];
        for head in cases {
            assert_eq!(MediaKind::sniff(head), None, "{}", head.escape_ascii());
        }
    }
}
