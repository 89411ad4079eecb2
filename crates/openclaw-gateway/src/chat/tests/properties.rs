//! What holds for all requests and all turns.

use openclaw_engine::ReplyEvent;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::chat::reading;
use crate::chat::telling::Telling;

/// A text of a turn, as the parts in which it comes, the last of which only its end has.
fn text() -> impl Strategy<Value = Vec<String>> {
    proptest::collection::vec("[ \\n]{0,2}[a-z\u{e4}]{0,3}", 1..5)
}

/// JSON of any shape, with the names that requests have.
fn any_json() -> impl Strategy<Value = Value> {
    let name = proptest::sample::select(vec![
        "messages",
        "role",
        "content",
        "type",
        "text",
        "image_url",
        "url",
        "file",
        "file_data",
        "input_audio",
        "data",
        "format",
        "model",
        "stream",
        "n",
        "tools",
        "modalities",
    ]);
    let word = proptest::sample::select(vec![
        "user",
        "assistant",
        "system",
        "tool",
        "text",
        "image_url",
        "file",
        "input_audio",
        "",
        "data:",
        "data:image/png;base64,",
        "data:,;base64,",
        "aGVsbG8=",
        "\u{e4}\u{e4}\u{e4}",
        "openclaw/x",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        word.prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 4, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((name.clone(), inner), 0..5).prop_map(|all| {
                let all = all.into_iter().map(|(name, it)| (name.to_owned(), it));
                Value::Object(all.collect())
            }),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_streamed_is_each_text_once_with_an_empty_line_between(
        texts in proptest::collection::vec(text(), 1..5),
    ) {
        let mut telling = Telling::default();
        let mut streamed = String::new();
        let count = texts.len();
        for (number, parts) in texts.iter().enumerate() {
            let (_, sent) = parts.split_last().unwrap();
            for part in sent {
                let text = part.clone();
                streamed += &telling.hear(ReplyEvent::Partial { text });
            }
            let text = parts.concat();
            if number + 1 == count {
                streamed += &telling.hear(ReplyEvent::Final { text });
                continue;
            }
            // As agents have it: a text without words is none.
            if !text.trim().is_empty() {
                streamed += &telling.hear(ReplyEvent::Block { text });
            }
            let (id, name) = (String::new(), String::new());
            streamed += &telling.hear(ReplyEvent::tool_started(id, name));
        }
        let texts = texts.iter().map(|parts| parts.concat());
        let texts: Vec<_> = texts.filter(|text| !text.trim().is_empty()).collect();
        prop_assert_eq!(streamed, texts.join("\n\n"));
    }

    #[test]
    fn no_request_breaks_the_reading_of_it(
        messages in proptest::collection::vec(any_json(), 0..4),
        part in any_json(),
    ) {
        let _ = reading::read(Value::from(messages.clone()).to_string().as_bytes());
        let _ = reading::read(json!({ "messages": messages }).to_string().as_bytes());
        let said = json!({ "messages": [{ "role": "user", "content": [part] }] });
        if let Ok(asked) = reading::read(said.to_string().as_bytes()) {
            prop_assert!(!asked.message.trim().is_empty() || !asked.attachments.is_empty());
        }
    }

    #[test]
    fn no_bytes_break_the_reading_of_them(bytes: Vec<u8>) {
        let _ = reading::read(&bytes);
    }
}
