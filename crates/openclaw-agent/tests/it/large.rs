//! Files on their way to a service: byte for byte, and in memory once.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use openclaw_engine::{Attachment, AttachmentData, ReplyRequest};
use openclaw_testkit::{FakeServer, RunningServer, memory};
use serde_json::json;

use crate::house::{House, Listener, program};

const FILES: &str = "OPENCLAW_LARGE_FILES";
const ORIGIN: &str = "OPENCLAW_LARGE_ORIGIN";

/// The most that may come with a message, each of it.
const EACH: usize = 15 * 1024 * 1024;
const COUNT: usize = 10;

/// A file whose bytes nothing could make up or compress.
fn write_image(path: &Path, seed: u64) {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut bytes = b"\x89PNG\r\n\x1a\n".to_vec();
    bytes.reserve_exact(EACH - bytes.len());
    while bytes.len() < EACH {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    std::fs::write(path, bytes).unwrap();
}

fn image(directory: &Path, number: usize) -> PathBuf {
    directory.join(format!("{number}.png"))
}

/// A service that keeps what it is asked here.
fn recording(directory: &Path) -> RunningServer {
    let server = program().with_file_name("fake_model_server");
    let server = FakeServer::at(&server).flag("--record").flag(directory);
    server.start().unwrap()
}

#[tokio::test]
async fn files_reach_the_services_of_all_protocols_byte_for_byte() {
    let image = STANDARD.encode(b"\x89PNG\r\n\x1a\n\0\xff not really".repeat(1000));
    let document = STANDARD.encode(b"%PDF-1.7\n%\xe2\xe3 not really\n%%EOF\n".repeat(2000));
    for (api, base) in [
        ("anthropic-messages", ""),
        ("openai-completions", "/v1"),
        ("openai-responses", "/v1"),
        ("google-generative-ai", "/v1beta"),
        ("ollama", ""),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let server = recording(directory.path());
        let mut files = vec![("image/png", &image)];
        // There is no way to send a document there.
        if api != "ollama" {
            files.push(("application/pdf", &document));
        }
        let house = House::new(
            &json!({
                "agents": { "defaults": { "model": "test/m" } },
                "models": { "providers": { "test": {
                    "api": api, "apiKey": "key-of-the-tests",
                    "baseUrl": format!("{}{base}", server.origin()),
                    "models": [{ "id": "m", "input": ["text", "image", "pdf"] }],
                } } },
            }),
            &[],
        );
        let attachments = files.iter().map(|(mime_type, data)| Attachment {
            name: None,
            mime_type: (*mime_type).to_owned(),
            data: AttachmentData::Base64((*data).clone()),
        });
        let request = ReplyRequest {
            message: "Look.".to_owned(),
            attachments: attachments.collect(),
            ..ReplyRequest::default()
        };
        let listener = Listener::default();
        let report = Box::pin(house.agents.reply(request, &listener)).await;
        assert_eq!(report.unwrap().reply, "fine", "{api}");
        let asked = server.journal().events("asked").remove(0);
        let recorded = std::fs::read_to_string(asked["file"].as_str().unwrap()).unwrap();
        serde_json::from_str::<serde_json::Value>(&recorded).unwrap();
        for (mime_type, data) in files {
            assert_eq!(
                recorded.matches(data.as_str()).count(),
                1,
                "{api} {mime_type}"
            );
        }
        house.finish().await;
    }
}

#[test]
fn a_turn_with_ten_large_images_holds_them_once_and_sends_them_as_they_are() {
    let directory = tempfile::tempdir().unwrap();
    for number in 0..COUNT {
        write_image(&image(directory.path(), number), number as u64 + 1);
    }
    let server = recording(directory.path());
    let output = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "large::in_a_process_of_its_own",
            "--ignored",
            "--nocapture",
        ])
        .env(FILES, directory.path())
        .env(ORIGIN, server.origin())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{complaint}");
    eprint!("{complaint}");
    let peak = said.lines().find_map(|line| line.strip_prefix("> peak "));
    let peak: u64 = peak.unwrap().parse().unwrap();

    let asked = server.journal().events("asked");
    assert_eq!(asked.len(), 1);
    let recorded = std::fs::read_to_string(asked[0]["file"].as_str().unwrap()).unwrap();
    // A service that is told how much comes can refuse it at once.
    let length = asked[0]["headers"]["content-length"].as_str().unwrap();
    assert_eq!(length, recorded.len().to_string());
    let mut rest = recorded.as_str();
    for number in 0..COUNT {
        let (_, data) = rest.split_once("\"data\":\"").unwrap();
        let expected = STANDARD.encode(std::fs::read(image(directory.path(), number)).unwrap());
        let (sent, after) = data.split_at(expected.len());
        assert!(sent == expected, "image {number} was changed");
        assert!(after.starts_with('"'), "image {number} was changed");
        rest = after;
    }
    assert!(!rest.contains("\"data\":\""));

    let decoded = (EACH * COUNT) as u64;
    let (peak_mib, decoded_mib) = (peak >> 20, decoded >> 20);
    eprintln!("{decoded_mib} MiB of images: the most memory was {peak_mib} MiB");
    assert!(peak < 3 * decoded, "{peak_mib} MiB for {decoded_mib} MiB");
}

#[tokio::test]
#[ignore = "it is run by another test, in a process whose memory nobody else uses"]
async fn in_a_process_of_its_own() {
    let (Some(files), Ok(origin)) = (std::env::var_os(FILES), std::env::var(ORIGIN)) else {
        return;
    };
    let files = PathBuf::from(files);
    let house = House::new(
        &json!({
            "agents": { "defaults": { "model": "test/claude-sonnet-4-5" } },
            "models": { "providers": { "test": {
                "api": "anthropic-messages", "baseUrl": origin, "apiKey": "key-of-the-tests",
            } } },
        }),
        &[],
    );
    let attachments = (0..COUNT).map(|number| Attachment {
        name: Some(format!("{number}.png")),
        mime_type: "image/png".to_owned(),
        data: AttachmentData::File(Arc::new(File::open(image(&files, number)).unwrap())),
    });
    let request = ReplyRequest {
        message: "What do they show?".to_owned(),
        attachments: attachments.collect(),
        ..ReplyRequest::default()
    };
    let begun = std::time::Instant::now();
    let listener = Listener::default();
    let report = Box::pin(house.agents.reply(request, &listener)).await;
    assert_eq!(report.unwrap().reply, "fine");
    println!("> peak {}", memory::peak().unwrap());
    eprintln!("the turn took {:?}", begun.elapsed());
    house.finish().await;
}
