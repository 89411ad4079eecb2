//! Files on their way to a service, byte for byte.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use openclaw_engine::{Attachment, AttachmentData, ReplyRequest};
use openclaw_testkit::{FakeServer, RunningServer};
use serde_json::json;

use crate::house::{House, Listener, program};

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
