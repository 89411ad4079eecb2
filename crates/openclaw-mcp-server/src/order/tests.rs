use std::fs::File;
use std::io::{Read as _, Seek as _, Write as _};
use std::sync::Arc;

use openclaw_content::Base64Error;
use serde_json::json;

use super::*;
use crate::intake::Spooled;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";

fn spooled(bytes: &[u8]) -> Spooled {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    Spooled {
        bytes: bytes.len() as u64,
        head: bytes.get(..512).unwrap_or(bytes).to_vec(),
        file: Ok(Arc::new(file)),
    }
}

fn read(arguments: Value, pieces: Vec<Spooled>) -> Result<Order, String> {
    let Value::Object(arguments) = arguments else {
        panic!("{arguments}");
    };
    Order::read(arguments, &Luggage::new(pieces)).map_err(|refusal| refusal.to_string())
}

/// One attachment, in the list that takes its type.
fn attached(mime_type: &str, bytes: &[u8]) -> Result<Order, String> {
    let list = if mime_type.starts_with("image/") {
        "images"
    } else {
        "files"
    };
    let arguments = json!({
        "message": "look",
        list: [{ "data": "0", "mimeType": mime_type }],
    });
    read(arguments, vec![spooled(bytes)])
}

fn contents(attachment: &Attachment) -> Vec<u8> {
    let AttachmentData::File(file) = &attachment.data else {
        panic!("{attachment:?}");
    };
    let mut file: &File = file;
    let mut bytes = Vec::new();
    file.rewind().unwrap();
    file.read_to_end(&mut bytes).unwrap();
    bytes
}

#[test]
fn a_message_is_taken_as_it_is() {
    let message = "  /mcp servers \u{0} \n";
    let order = read(json!({ "message": message, "else": [1] }), vec![]).unwrap();
    assert_eq!(order.message, message);
    assert!(order.session.is_none() && order.attachments.is_empty());
    let order = read(
        json!({ "message": "x", "sessionKey": "k", "images": null }),
        vec![],
    );
    assert_eq!(order.unwrap().session.as_deref(), Some("k"));
}

#[test]
fn arguments_of_wrong_types_are_named() {
    for (arguments, expected) in [
        (json!({}), "`message` is missing"),
        (json!({ "message": null }), "`message` is missing"),
        (
            json!({ "message": 5 }),
            "`message` must be a string, and is a number",
        ),
        (
            json!({ "message": " \n" }),
            "`message` is empty, and nothing comes with it",
        ),
        (
            json!({ "message": "x", "sessionKey": ["k"] }),
            "`sessionKey` must be a string, and is an array",
        ),
        (
            json!({ "message": "x", "images": {} }),
            "`images` must be an array, and is an object",
        ),
        (
            json!({ "message": "x", "files": ["a"] }),
            "`files[0]` must be an object, and is a string",
        ),
        (
            json!({ "message": "x", "files": [{ "mimeType": "text/plain" }] }),
            "`files[0].data` is missing",
        ),
        (
            json!({ "message": "x", "files": [{ "data": "0" }] }),
            "`files[0].mimeType` is missing",
        ),
        (
            json!({ "message": "x", "files": [{ "data": {}, "mimeType": "text/plain" }] }),
            "`files[0].data` must be a string, and is an object",
        ),
        (
            json!({ "message": "x", "files": [{ "data": "0", "mimeType": "text/plain", "filename": 1 }] }),
            "`files[0].filename` must be a string, and is a number",
        ),
    ] {
        let refusal = read(arguments.clone(), vec![spooled(b"hello")]).unwrap_err();
        assert_eq!(refusal, expected, "{arguments}");
    }
}

#[test]
fn attachments_come_in_their_order_images_first() {
    let arguments = json!({
        "message": "",
        "files": [{ "data": "0", "mimeType": "Text/Plain; charset=utf-8", "filename": "a.txt" }],
        "images": [{ "data": "1", "mimeType": "image/png" }],
    });
    let order = read(arguments, vec![spooled(b"hello"), spooled(PNG)]).unwrap();
    let [image, file] = &order.attachments[..] else {
        panic!("{order:?}");
    };
    assert_eq!(
        (image.mime_type.as_str(), &image.name),
        ("image/png", &None)
    );
    assert_eq!(contents(image), PNG);
    assert_eq!(file.mime_type, "text/plain");
    assert_eq!(file.name.as_deref(), Some("a.txt"));
    assert_eq!(contents(file), b"hello");
    assert_eq!(order.bytes, 5 + PNG.len() as u64);
}

#[test]
fn what_was_spooled_can_not_be_named_twice_or_from_outside() {
    let twice = json!({
        "message": "x",
        "images": [
            { "data": "0", "mimeType": "image/png" },
            { "data": "0", "mimeType": "image/png" },
        ],
    });
    let refusal = read(twice, vec![spooled(PNG)]).unwrap_err();
    assert_eq!(refusal, "`images[1].data` is missing");
    let forged = json!({ "message": "x", "files": [{ "data": "7", "mimeType": "text/plain" }] });
    assert!(read(forged, vec![]).is_err());
}

#[test]
fn there_may_be_ten_images_and_five_files() {
    for (list, mime_type, bytes, most) in [
        ("images", "image/png", PNG, 10),
        ("files", "text/plain", &b"text"[..], 5),
    ] {
        let arguments = |count: usize| {
            let entries =
                (0..count).map(|at| json!({ "data": at.to_string(), "mimeType": mime_type }));
            json!({ "message": "x", list: entries.collect::<Vec<_>>() })
        };
        let pieces = |count: usize| (0..count).map(|_| spooled(bytes)).collect();
        let order = read(arguments(most), pieces(most)).unwrap();
        assert_eq!(order.attachments.len(), most);
        let refusal = read(arguments(most + 1), pieces(most + 1)).unwrap_err();
        let count = most + 1;
        assert_eq!(
            refusal,
            format!("there are {count} {list}, and {most} is the most")
        );
    }
}

#[test]
fn bytes_that_could_not_be_spooled_say_why() {
    let refusal = |problem: SpoolProblem| {
        let piece = Spooled {
            bytes: 9,
            head: vec![],
            file: Err(problem),
        };
        let arguments =
            json!({ "message": "x", "images": [{ "data": "0", "mimeType": "image/png" }] });
        read(arguments, vec![piece]).unwrap_err()
    };
    assert_eq!(
        refusal(SpoolProblem::Base64(Base64Error::Malformed(4))),
        "`images[0].data` can't be used: base64 is malformed at offset 4"
    );
    let (bytes, limit) = (16, 15);
    assert_eq!(
        refusal(SpoolProblem::TooLarge { bytes, limit }),
        "`images[0]` has 16 bytes, and 15 is the most"
    );
    assert_eq!(
        attached("text/plain", b"").unwrap_err(),
        "`files[0].data` is empty"
    );
}

/// The beginning of a tar archive.
fn tar() -> Vec<u8> {
    let mut header = vec![0_u8; 512];
    header[..5].copy_from_slice(b"a.txt");
    header[148..156].fill(b' ');
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    header
}

#[test]
fn every_type_of_the_tables_is_taken_and_its_bytes_are_looked_at() {
    let tar = tar();
    let cases: &[(&str, &[u8])] = &[
        ("image/jpeg", b"\xff\xd8\xff\xe0"),
        ("image/png", PNG),
        ("image/gif", b"GIF89a"),
        ("image/webp", b"RIFF\0\0\0\0WEBPVP8 "),
        ("application/pdf", b"%PDF-1.7"),
        ("text/plain", b"hello"),
        ("text/markdown", b"# hello"),
        ("text/html", b"<svg></svg>"),
        ("text/csv", b"a,b"),
        ("application/json", b"{}"),
        ("audio/mpeg", b"ID3\x04\0"),
        ("audio/wav", b"RIFF\0\0\0\0WAVEfmt "),
        ("audio/ogg", b"OggS\0"),
        ("audio/mp4", b"\0\0\0\x18ftypM4A \0\0\0\0mp42isom"),
        ("audio/aac", b"\xff\xf1\x50\x80"),
        ("audio/flac", b"fLaC\0"),
        ("audio/opus", b"OggS\0"),
        ("video/mp4", b"\0\0\0\x18ftypisom\0\0\0\0mp42isom"),
        ("video/webm", b"\x1a\x45\xdf\xa3\x01"),
        ("video/quicktime", b"\0\0\0\x14ftypqt  \0\0\0\0qt  "),
        ("video/x-msvideo", b"RIFF\0\0\0\0AVI LIST"),
        ("application/zip", b"PK\x03\x04"),
        ("application/gzip", b"\x1f\x8b\x08\0"),
        ("application/x-tar", &tar),
        ("application/x-compressed-tar", b"\x1f\x8b\x08\0"),
    ];
    for (mime_type, bytes) in cases {
        let order = attached(mime_type, bytes);
        assert_eq!(order.unwrap().attachments[0].mime_type, *mime_type);
        // The bytes of any other kind contradict it.
        let other: &[u8] = if *mime_type == "image/png" {
            b"GIF89a"
        } else {
            PNG
        };
        let refusal = attached(mime_type, other).unwrap_err();
        assert!(refusal.contains("look like image/"), "{refusal}");
    }
}

#[test]
fn bytes_of_no_type_are_only_text_if_they_can_be() {
    assert_eq!(
        attached("image/png", b"hello").unwrap_err(),
        "`images[0]` is declared as image/png, and its bytes are not"
    );
    assert_eq!(
        attached("text/plain", b"a\0b").unwrap_err(),
        "`files[0]` is declared as text/plain, and its bytes are no text"
    );
    assert!(attached("text/plain", b"\xff\xfea\0b\0").is_ok());
}

#[test]
fn words_that_begin_like_a_file_are_text() {
    for words in [
        "The wide river",
        "ADIF Export",
        "ID3 tags explained",
        "GIF89a is a format",
        "OggS",
        "%PDF-1.7 comes first",
        "fLaC",
    ] {
        for mime_type in ["text/plain", "text/markdown", "text/csv"] {
            assert!(attached(mime_type, words.as_bytes()).is_ok(), "{words}");
        }
    }
    assert_eq!(
        attached("text/plain", b"GIF89a\x01\0").unwrap_err(),
        "`files[0]` is declared as text/plain, and its bytes look like image/gif"
    );
}

#[test]
fn bytes_that_say_little_are_what_they_are_declared_to_be() {
    let tagged = b"ID3\x04\0\0\0\0\x7f\x7fTIT2";
    for (mime_type, bytes) in [
        ("audio/aac", &tagged[..]),
        ("audio/flac", tagged),
        ("audio/mpeg", tagged),
        ("application/pdf", b"\r\n%PDF-1.7"),
        ("application/x-tar", &[0; 1024]),
        ("video/mp4", b"\0\0\0\x14ftypqt  \0\0\0\0qt  "),
        ("video/quicktime", b"\0\0\0\x18ftypisom\0\0\0\0mp42isom"),
    ] {
        assert!(attached(mime_type, bytes).is_ok(), "{mime_type}");
    }
}

proptest::proptest! {
    #[test]
    fn no_printable_text_is_refused(
        text in "(GIF89a|%PDF-|OggS|fLaC|ID3|ADIF|The wide|The moov|RIFF[a-z ]{4}WAVE)?[\\PC\\n\\t]{1,600}",
    ) {
        let taken = attached("text/plain", text.as_bytes());
        proptest::prop_assert!(taken.is_ok(), "{:?}", taken);
    }
}

#[test]
fn other_types_are_refused_with_those_that_are_taken() {
    let refusal = attached("image/bmp", b"BM").unwrap_err();
    assert_eq!(
        refusal,
        "`images[0].mimeType` is `image/bmp`, and images takes: image/jpeg, image/png, image/gif, image/webp"
    );
    for mime_type in [
        "",
        "image",
        "application/octet-stream",
        "text/plain\n\u{1b}[2J",
    ] {
        let refusal = attached(mime_type, b"x").unwrap_err();
        assert!(refusal.contains("files takes: "), "{refusal}");
        assert!(!refusal.contains('\u{1b}'), "{refusal}");
    }
}

#[test]
fn names_of_files_lead_nowhere_and_harm_nothing() {
    for (written, expected) in [
        ("report.pdf", Some("report.pdf")),
        ("../../etc/passwd", Some("passwd")),
        ("C:\\Users\\x\\notes.txt", Some("notes.txt")),
        ("/etc/", None),
        ("..", None),
        ("", None),
        ("a\nb\u{1b}[31m<<<c>>>.txt", Some("a b___c___.txt")),
    ] {
        assert_eq!(file_name(written).as_deref(), expected, "{written:?}");
    }
    let long = "x".repeat(10_000);
    assert!(file_name(&long).unwrap().chars().count() < 300);
}
