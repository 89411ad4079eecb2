use agent_client_protocol::v1::schema::{
    AudioContent, BlobResourceContents, EmbeddedResource, ImageContent, TextContent,
    TextResourceContents,
};

use super::*;

fn read(blocks: Vec<ContentBlock>) -> Message {
    Message::read(blocks, Path::new("/project")).unwrap()
}

fn text(text: &str) -> ContentBlock {
    ContentBlock::Text(TextContent::new(text))
}

fn link(name: &str, uri: &str) -> ContentBlock {
    ContentBlock::ResourceLink(ResourceLink::new(name, uri))
}

fn embedded(uri: &str, text: &str) -> ContentBlock {
    let file = TextResourceContents::new(text, uri);
    let file = EmbeddedResourceResource::TextResourceContents(file);
    ContentBlock::Resource(EmbeddedResource::new(file))
}

fn attached(message: &Message) -> Vec<(Option<&str>, &str, &str)> {
    let attachments = message.attachments.iter();
    attachments
        .map(|it| {
            let AttachmentData::Base64(data) = &it.data else {
                panic!("bytes come as base64");
            };
            (it.name.as_deref(), it.mime_type.as_str(), data.as_str())
        })
        .collect()
}

#[test]
fn words_stay_together_with_what_they_mention() {
    let message = read(vec![
        text("Look at "),
        link("a.rs", "file:///project/a.rs"),
        text(" and at"),
        link("b](x", "file:///b (1).rs"),
        text("!\nNow."),
    ]);
    assert_eq!(
        message.text,
        "Look at [a.rs](file:///project/a.rs) and at [b_(x](file:///b__1_.rs)!\nNow."
    );
    assert_eq!(message.title.lines().count(), 1);
}

#[test]
fn nothing_stands_before_a_command() {
    let message = read(vec![
        link("a.rs", "file:///a.rs"),
        embedded("file:///project/src/b.rs#L1-2", "fn main() {}"),
        text("/help me"),
    ]);
    assert_eq!(message.text, "/help me [a.rs](file:///a.rs)");
    assert_eq!(message.title, "/help me");
    let data = STANDARD.encode("fn main() {}");
    assert_eq!(
        attached(&message),
        [(Some("src/b.rs#L1-2"), "text/plain", data.as_str())]
    );
}

#[test]
fn media_are_attached() {
    let blob = BlobResourceContents::new("QUJD", "https://example.com/a/b.bin/");
    let blob = EmbeddedResourceResource::BlobResourceContents(blob);
    let message = read(vec![
        ContentBlock::Image(ImageContent::new("AAAA", "image/png")),
        ContentBlock::Audio(AudioContent::new("BBBB", "audio/wav")),
        ContentBlock::Resource(EmbeddedResource::new(blob)),
    ]);
    assert_eq!(message.text, "");
    assert_eq!(
        attached(&message),
        [
            (None, "image/png", "AAAA"),
            (None, "audio/wav", "BBBB"),
            (Some("b.bin"), "application/octet-stream", "QUJD"),
        ]
    );
}

#[test]
fn a_title_is_the_first_line_and_short() {
    let message = read(vec![text("\n  Fix \u{1b}[31mthis\n\nplease")]);
    assert_eq!(message.title, "Fix this");
    let message = read(vec![text(&"x".repeat(500))]);
    assert_eq!(message.title.chars().count(), 80);
}

#[test]
fn what_is_empty_or_too_large_is_refused() {
    let refused = |blocks| Message::read(blocks, Path::new("/")).unwrap_err().message;
    assert_eq!(refused(vec![]), "the prompt is empty");
    assert_eq!(refused(vec![text(" \n")]), "the prompt is empty");
    let large = "x".repeat(LIMIT / 2 + 1);
    let error = refused(vec![text(&large), embedded("file:///a", &large)]);
    assert!(error.ends_with("33554432 is the most"), "{error}");
}
