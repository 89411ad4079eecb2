//! Images and documents on their way to services: as they are where they are taken, as words elsewhere.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use openclaw_content::note;
use openclaw_conversation::{
    AnswerPart, AssistantMessage, AssistantPart, Blob, BlobId, CallArguments, Media, Message,
    ToolAnswer, ToolCall, UserPart,
};
use openclaw_models::ToolSet;
use serde_json::{Value, json};

use crate::house::{House, service};
use crate::server::{Answer, Server};
use crate::streams::{APIS, Say, stream};

fn file(mime_type: &str, name: Option<&str>, bytes: &[u8]) -> Media {
    Media {
        mime_type: mime_type.to_owned(),
        name: name.map(str::to_owned),
        bytes: bytes.len() as u64,
        blob: Blob::Here(STANDARD.encode(bytes).into()),
        text: None,
    }
}

fn pdf(name: Option<&str>, bytes: &[u8]) -> Media {
    file("application/pdf", name, bytes)
}

fn person(media: impl IntoIterator<Item = Media>) -> Message {
    let text = "Look at this".to_owned();
    let media = media.into_iter().map(UserPart::Media);
    Message::User {
        parts: std::iter::once(UserPart::Text { text })
            .chain(media)
            .collect(),
    }
}

/// A call whose answer has this in it.
fn called(id: &str, media: Vec<Media>, is_error: bool) -> [Message; 2] {
    let call = ToolCall {
        id: id.to_owned(),
        name: "mcp_one".to_owned(),
        arguments: CallArguments::parse("{}"),
        opaque: None,
    };
    let text = AnswerPart::Text {
        text: note("what it says", &[]),
    };
    let media = media.into_iter().map(AnswerPart::Media);
    [
        Message::Assistant(AssistantMessage {
            parts: vec![AssistantPart::ToolCall(call)],
            ..AssistantMessage::default()
        }),
        Message::Tool(ToolAnswer {
            call: id.to_owned(),
            name: "mcp_one".to_owned(),
            server: None,
            parts: std::iter::once(text).chain(media).collect(),
            is_error,
            duration_ms: 1,
            called: None,
            found: Vec::new(),
        }),
    ]
}

fn house(api: &str, server: &Server, input: &[&str]) -> House {
    let models = json!([{ "id": "m", "input": input }]);
    House::new(
        &service(api, &server.origin(), &json!({ "models": models })),
        &[],
    )
}

/// What a model that takes this is asked.
async fn asked(api: &str, input: &[&str], messages: &[Message]) -> Value {
    let server = Server::start([Answer::stream(&stream(api, &[Say::Text("x")]))]);
    let house = house(api, &server, input);
    let (reply, _) = house.ask(messages, &ToolSet::none()).await;
    reply.unwrap();
    let asked = server.asked().remove(0);
    assert_eq!(asked.header("transfer-encoding"), None, "{api}");
    assert!(asked.header("content-length").is_some(), "{api}");
    asked.body
}

/// All strings of a value that hold bytes, in their order.
fn bytes_in(value: &Value) -> Vec<Vec<u8>> {
    match value {
        Value::String(text) => {
            let data = text
                .split_once(";base64,")
                .map_or(&**text, |(_, data)| data);
            let bytes = STANDARD.decode(data).ok();
            bytes.filter(|bytes| bytes.len() > 40).into_iter().collect()
        }
        Value::Array(items) => items.iter().flat_map(bytes_in).collect(),
        Value::Object(fields) => fields.values().flat_map(bytes_in).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

/// Bytes of which every value occurs.
fn varied(length: usize, step: u8) -> Vec<u8> {
    let mut byte = step;
    let next = || {
        byte = byte.wrapping_mul(5).wrapping_add(step | 1);
        byte
    };
    std::iter::repeat_with(next).take(length).collect()
}

#[tokio::test]
async fn files_are_sent_byte_for_byte_to_every_service_that_takes_them() {
    // Some are copied into the request and some are not.
    let images = [varied(100, 3), varied(1_500_001, 7), varied(12_288, 9)];
    let documents = [varied(300_002, 11), varied(50, 13)];
    for api in APIS {
        let messages = [person(
            images
                .iter()
                .map(|bytes| file("image/png", None, bytes))
                .chain(documents.iter().map(|bytes| pdf(None, bytes))),
        )];
        let body = asked(api, &["text", "image", "pdf"], &messages).await;
        let mut expected = images.to_vec();
        if api != "ollama" {
            expected.extend_from_slice(&documents);
        }
        assert!(bytes_in(&body) == expected, "{api}");
    }
}

#[tokio::test]
async fn documents_are_written_as_each_service_wants_them() {
    for api in APIS {
        let mut messages = vec![person([
            pdf(Some("report.PDF"), b"one"),
            pdf(Some("report\n2"), b"two"),
            pdf(None, b"three"),
        ])];
        let image = file("image/png", None, b"image");
        messages.extend(called("call_1", vec![pdf(Some("a.pdf"), b"four")], false));
        messages.extend(called("call_2", vec![image, pdf(None, b"five")], false));
        messages.extend(called("call_3", vec![pdf(Some("b.pdf"), b"six")], true));
        let body = asked(api, &["image", "Document"], &messages).await;
        let said = ["messages", "input", "contents"]
            .iter()
            .find_map(|field| body.get(*field));
        let said = serde_json::to_string_pretty(said.unwrap()).unwrap();
        insta::assert_snapshot!(format!("documents_{api}"), said);
    }
}

#[tokio::test]
async fn what_a_file_says_stands_for_it_where_it_can_not_be_sent() {
    let text = Some(note("The words of the report.", &[]));
    let here = Media {
        text: text.clone(),
        ..pdf(Some("report.pdf"), b"%PDF-1.7 and so on")
    };
    let kept = Media {
        blob: Blob::Kept(BlobId("abc".into())),
        ..here.clone()
    };
    let recording = Media {
        text: Some(note("The words that are spoken.", &[])),
        ..file("audio/mpeg", Some("talk.mp3"), b"ID3")
    };
    for api in APIS {
        let mut messages = vec![person([here.clone(), recording.clone()])];
        messages.extend(called("call_1", vec![here.clone()], false));
        let body = asked(api, &["text", "image"], &messages).await.to_string();
        assert_eq!(body.matches("words of the report").count(), 2, "{api}");
        assert_eq!(body.matches("that are spoken").count(), 1, "{api}");
        assert!(!body.contains("can't be shown"), "{api}: {body}");
        assert!(!body.contains("JVBERi0"), "{api}: {body}");

        // A model that takes it gets the text where the bytes are gone, and only there.
        let messages = [person([here.clone(), kept.clone()])];
        let body = asked(api, &["pdf"], &messages).await.to_string();
        let texts = if api == "ollama" { 2 } else { 1 };
        assert_eq!(body.matches("words of the report").count(), texts, "{api}");
    }
}

#[tokio::test]
async fn a_document_is_a_text_for_all_models_of_a_chain_in_which_one_does_not_take_it() {
    let report = Media {
        text: Some(note("The words of the report.", &[])),
        ..pdf(Some("report.pdf"), b"%PDF-1.7 and so on")
    };
    let messages = [person([report])];
    for (input, texts) in [(json!(["text"]), 1), (json!(["text", "pdf"]), 0)] {
        let api = "anthropic-messages";
        let server = Server::start([Answer::stream(&stream(api, &[Say::Text("x")]))]);
        let models = json!([
            { "id": "m", "input": ["text", "pdf"] },
            { "id": "o", "input": input },
        ]);
        let mut config = service(api, &server.origin(), &json!({ "models": models }));
        config["agents"]["defaults"]["model"] =
            json!({ "primary": "test/m", "fallbacks": ["test/o"] });
        let house = House::new(&config, &[]);
        let takes_documents = house.model().await.unwrap().facts().takes_documents;
        house.ask(&messages, &ToolSet::none()).await.0.unwrap();
        let asked = server.asked().remove(0).body;
        assert_eq!(asked["model"], "m");
        let body = asked.to_string();
        assert_eq!(body.matches("words of the report").count(), texts, "{body}");
        assert_eq!(body.matches("JVBERi0").count(), 1 - texts, "{body}");
        assert_eq!(takes_documents, texts == 0);
    }
}

#[tokio::test]
async fn a_file_without_words_is_named_for_what_it_is() {
    let files = [
        ("audio/ogg", "a.ogg", "a recording"),
        ("video/mp4", "b.mp4", "a video"),
        ("application/zip", "c.zip", "an archive"),
        ("application/x-tar", "d.tar", "an archive"),
        ("application/pdf", "e.pdf", "a document"),
        ("image/tiff", "f.tiff", "an image"),
        ("application/octet-stream", "g.bin", "a file"),
    ];
    let media = files.map(|(mime_type, name, _)| file(mime_type, Some(name), b"123"));
    let body = asked("openai-completions", &["image"], &[person(media)]).await;
    let body = body["messages"][1]["content"].as_str().unwrap();
    for (mime_type, name, what) in files {
        let expected = format!(
            "[{what} {name:?} of type {mime_type} with 3 bytes, which can't be shown here]"
        );
        assert!(body.contains(&expected), "{body}");
    }
}

#[tokio::test]
async fn a_request_that_is_made_again_has_everything_in_it_again() {
    let image = varied(400_000, 5);
    let document = varied(200_000, 15);
    let messages = [person([
        file("image/png", None, &image),
        pdf(None, &document),
    ])];
    let refusal = json!({ "error": { "message": "stream_options are not permitted" } });
    let server = Server::start([
        Answer::status(400, &refusal.to_string()),
        Answer::stream(&stream("openai-completions", &[Say::Text("x")])),
    ]);
    let house = house("openai-completions", &server, &["image", "pdf"]);
    let (reply, _) = house.ask(&messages, &ToolSet::none()).await;
    reply.unwrap();
    let asked = server.asked();
    assert_eq!(asked.len(), 2);
    for asked in asked {
        assert!(bytes_in(&asked.body) == [image.clone(), document.clone()]);
    }
}
