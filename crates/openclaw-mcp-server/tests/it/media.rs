//! What comes with messages.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use openclaw_testkit::pictures::png;
use serde_json::json;

use crate::client::{Client, text};

const MIB: usize = 1024 * 1024;

#[test]
fn attachments_reach_the_agent_byte_for_byte() {
    let mut client = Client::of("2025-11-25");
    let (image, pdf) = (png(100_000), b"%PDF-1.7\n%\xff\0".to_vec());
    let line = json!({
        "jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": { "name": "order_openclaw", "arguments": {
            "message": "look",
            "images": [{ "data": STANDARD.encode(&image), "mimeType": "image/png", "filename": "../a.png" }],
            "files": [{ "data": STANDARD.encode(&pdf), "mimeType": "application/pdf" }],
        } },
    });
    // As some write it in JSON.
    client.write(line.to_string().replace('/', "\\/").as_bytes());
    client.write(b"\n");
    assert_eq!(text(&client.next().unwrap()["result"]), "look");
    assert!(client.has_clean_spool());
    let asked = client.engine.asked();
    let attachments = &asked[0].attachments;
    assert_eq!(
        attachments[0],
        (Some("a.png".to_owned()), "image/png".to_owned(), image)
    );
    assert_eq!(attachments[1], (None, "application/pdf".to_owned(), pdf));
    client.ends();
}

#[test]
fn fifteen_mebibytes_are_taken_and_one_byte_more_is_not() {
    let mut client = Client::of("2025-11-25");
    for (length, is_error) in [(15 * MIB, false), (15 * MIB + 1, true)] {
        let image = json!({ "data": STANDARD.encode(png(length)), "mimeType": "image/png" });
        let result = client.ordered(1, json!({ "message": "look", "images": [image] }));
        assert_eq!(result["isError"], is_error, "{length}");
        if is_error {
            let limit = 15 * MIB;
            let expected =
                format!("Error: `images[0]` has {length} bytes, and {limit} is the most");
            assert_eq!(text(&result), expected);
        }
    }
    client.ends();
}

#[test]
fn what_can_not_be_used_is_refused_and_nothing_is_left() {
    let mut client = Client::of("2025-11-25");
    let image = |data: &str| json!({ "message": "look", "images": [{ "data": data, "mimeType": "image/png" }] });
    let good = STANDARD.encode(png(64));
    for (number, data) in ["", "!!!!", "QQ", &good[1..], &format!("{good}\n")]
        .into_iter()
        .enumerate()
    {
        let result = client.ordered(number as u64 + 1, image(data));
        assert_eq!(result["isError"], true, "{data}");
        assert!(text(&result).starts_with("Error: `images[0]"), "{result}");
    }
    let many: Vec<_> = (0..11)
        .map(|_| json!({ "data": good, "mimeType": "image/png" }))
        .collect();
    let result = client.ordered(20, json!({ "message": "look", "images": many }));
    assert_eq!(
        text(&result),
        "Error: there are 11 images, and 10 is the most"
    );
    assert!(client.engine.asked().is_empty());
    client.ends();
}
