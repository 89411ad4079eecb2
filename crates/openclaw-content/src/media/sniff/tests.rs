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
        (b"\0\0\0\x14ftypqt  \0\0\0\0qt  ", MediaKind::QuickTime),
        (b"\0\0\0\x08wide\0\0\0\0mdat", MediaKind::QuickTime),
        (b"\0\0\x1f\0moov\0\0\0\x6cmvhd", MediaKind::QuickTime),
        (b"\0\0\0\x01mdat\0\0\0\0\0\xf0\0\0", MediaKind::QuickTime),
        // Others can show it, too.
        (b"\0\0\0\x18ftypmp42\0\0\0\0qt  mp42", MediaKind::Mp4),
        (b"RIFF\0\0\0\0AVI LIST", MediaKind::Avi),
        (b"RF64\xff\xff\xff\xffWAVEds64", MediaKind::Wav),
        (b"ID3\x03\0\0\0\0\0\x02..\xff\xfb\x90\x64\0", MediaKind::Mp3),
        (b"ID3\x03\0\0\0\0\0\x02..fLaC\0\0\0\x22", MediaKind::Flac),
        (b"ID3\x04\0\0\0\0\0\x02..\xff\xf1\x50\x80\0", MediaKind::Aac),
        (b"ADIF\0\x10\x80", MediaKind::Aac),
        (b"\xff\xf1\x50\x80", MediaKind::Aac),
        (b"\xff\xf9\x50\x80", MediaKind::Aac),
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
        b"The wide river",
        b"\0\0\0\x09wide.",
        b"And moov on",
        b"The ftyp box",
        b"\0\0\0\x01mdat",
        b"ADIF Export by a logbook",
        b"ID3 tags explained",
        b"OggS is four letters",
        b"fLaC is free",
    ];
    for head in cases {
        assert_eq!(MediaKind::sniff(head), None, "{}", head.escape_ascii());
    }
}
