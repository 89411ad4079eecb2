//! `FastMCP`'s client, driven by a script: what the clients for the command line can't do.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use openclaw_testkit::partners;
use serde_json::{Value as Json, json};

use super::{Offer, assert_the_tool, texts};
use crate::lab::{Lab, SOON};
use crate::streaming::SpokenModel;

/// The eras by the names that the client has for them.
const ERAS: [&str; 2] = ["legacy", "2026-07-28"];

/// A pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

impl Offer {
    /// Connects in an era, lists, and makes the calls one after the other.
    fn fastmcp(&self, mode: &str, calls: &[Json]) -> Json {
        let script =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/real/clients/fastmcp_client.py");
        let mut command = self.client(partners().join("python/bin/python"));
        let plan = json!({ "server": self.entry(), "mode": mode, "calls": calls });
        let run = self.finish(command.arg(script), &plan.to_string());
        assert_eq!(run.code, Some(0), "{mode}: {run}");
        run.json()
    }
}

fn order(message: &str) -> Json {
    json!({ "arguments": { "message": message } })
}

#[test]
fn fastmcp_speaks_both_eras_and_hears_of_progress() {
    let offer = Offer::new();
    for (mode, revision) in [
        ("legacy", "2025-11-25"),
        ("2026-07-28", "2026-07-28"),
        // What it does unless it is told: it asks.
        ("auto", "2026-07-28"),
    ] {
        let report = offer.fastmcp(
            mode,
            &[order("echo hello"), order("fake/slow ms=300 steps=3")],
        );
        assert_eq!(report["protocolVersion"], revision, "{mode}: {report:#}");
        assert_the_tool(&report["tools"]);
        let [quick, slow] = [&report["calls"][0], &report["calls"][1]];
        assert!(texts(quick).contains("hello"), "{mode}: {quick:#}");
        assert!(texts(slow).contains("took 3 steps"), "{mode}: {slow:#}");
        let heard = slow["progress"].as_array().unwrap();
        let has = |words: &str| {
            heard
                .iter()
                .any(|it| it["message"].to_string().contains(words))
        };
        assert!(has("mcp_fake_slow"), "{mode}: {heard:#?}");
        assert!(has("step 2 of 3"), "{mode}: {heard:#?}");
        let grows = |pair: &[Json]| pair[0]["progress"].as_f64() < pair[1]["progress"].as_f64();
        assert!(heard.windows(2).all(grows), "{mode}: {heard:#?}");
    }
}

#[test]
fn media_of_tools_come_back_as_blocks_and_mistakes_as_errors() {
    let offer = Offer::new();
    let mistake = json!({ "arguments": { "message": "echo hello", "sessionKey": "cron:daily" } });
    for mode in ERAS {
        let report = offer.fastmcp(mode, &[order("fake/image"), mistake.clone()]);
        let [image, mistake] = [&report["calls"][0], &report["calls"][1]];
        let content = image["content"].as_array().unwrap();
        let block = content.iter().find(|block| block["type"] == "image");
        let block = block.unwrap_or_else(|| panic!("{mode}: {image:#}"));
        assert_eq!(block["mimeType"], "image/png", "{mode}");
        let bytes = STANDARD.decode(block["data"].as_str().unwrap()).unwrap();
        assert!(bytes.starts_with(b"\x89PNG"), "{mode}");
        assert_eq!(mistake["isError"], true, "{mode}: {mistake:#}");
        assert!(texts(mistake).starts_with("Error: "), "{mode}: {mistake:#}");
    }
}

/// A document of one page.
fn pdf() -> Vec<u8> {
    let page = "BT /F1 18 Tf 20 40 Td (The heron stands still.) Tj ET";
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 100] /Contents 4 0 R \
         /Resources << /Font << /F1 5 0 R >> >> >>"
            .to_owned(),
        format!("<< /Length {} >>\nstream\n{page}\nendstream", page.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
    ];
    let mut text = "%PDF-1.4\n".to_owned();
    let mut places = String::new();
    for (number, object) in (1..).zip(&objects) {
        places.push_str(&format!("{:010} 00000 n \n", text.len()));
        text.push_str(&format!("{number} 0 obj\n{object}\nendobj\n"));
    }
    let start = text.len();
    text.push_str(&format!(
        "xref\n0 6\n0000000000 65535 f \n{places}trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n"
    ));
    text.into_bytes()
}

/// What a model that takes these kinds is asked when a client sends these attachments.
fn asked_with(input: &[&str], attachments: &Json) -> String {
    let model = SpokenModel::start();
    let offer = Offer::of(Lab::empty().settings(model.settings()).settings(json!({
        "models": { "providers": { "spoken": { "models": [{ "id": "model", "input": input }] } } },
    })));
    let mut call = order("What do you see?");
    for (list, entries) in attachments.as_object().unwrap() {
        call["arguments"][list] = entries.clone();
    }
    model.says("A heron.");
    model.ends();
    let report = offer.fastmcp("auto", &[call]);
    assert_eq!(texts(&report["calls"][0]), "A heron.", "{report:#}");
    let asked = model.is_asked()["messages"].to_string();
    assert!(asked.contains("What do you see?"), "{asked}");
    asked
}

#[test]
fn an_image_arrives_at_the_model_byte_for_byte() {
    let image = json!({ "data": PNG, "mimeType": "image/png", "filename": "pixel.png" });
    let asked = asked_with(&["text", "image"], &json!({ "images": [image] }));
    assert!(
        asked.contains(&format!("data:image/png;base64,{PNG}")),
        "{asked}"
    );
}

#[test]
fn a_document_arrives_as_it_is_where_the_model_takes_it_and_as_text_elsewhere() {
    let data = STANDARD.encode(pdf());
    let file = json!({ "data": data, "mimeType": "application/pdf", "filename": "heron.pdf" });
    let files = json!({ "files": [file] });
    for (input, takes_documents) in [(&["text", "pdf"][..], true), (&["text"], false)] {
        let asked = asked_with(input, &files);
        assert!(asked.contains("heron.pdf"), "{asked}");
        assert_eq!(asked.contains(&data), takes_documents, "{asked}");
        let is_read = asked.contains("The heron stands still.");
        assert_eq!(is_read, !takes_documents, "{asked}");
    }
}

#[test]
fn a_call_that_a_client_gives_up_stops_the_agent_and_the_next_one_works() {
    for mode in ERAS {
        let offer = Offer::new();
        let journal = offer.lab.journal();
        let given_up = json!({
            "arguments": { "message": "fake/sleep ms=100000", "sessionKey": "nap" },
            "giveUpWhen": { "file": journal.path(), "has": "tools/call" },
        });
        let report = offer.fastmcp(mode, &[given_up, order("echo hello")]);
        assert_eq!(report["calls"][0]["givenUp"], true, "{mode}: {report:#}");
        let next = texts(&report["calls"][1]);
        assert!(next.contains("hello"), "{mode}: {report:#}");
        let cancelled = |it: &Json| it.to_string().contains("notifications/cancelled");
        assert!(journal.wait_for(SOON, cancelled).is_some(), "{mode}");
        let session = offer.lab.json(&["sessions", "show", "nap"]);
        let first = &session["messages"][0];
        assert_eq!(first["text"], "fake/sleep ms=100000", "{mode}: {session:#}");
        assert_eq!(first["interrupted"], true, "{mode}: {session:#}");
    }
}
