//! Answers and chunks as JSON.

use openclaw_engine::{ReplyPart, ReplyReport, UsageReport};
use serde_json::{Map, Value, json};

use super::telling::BETWEEN;

/// What all parts of one answer have in common.
#[derive(Clone, Debug)]
pub(super) struct Naming {
    /// The name of the answer.
    pub(super) id: String,
    /// When it was begun, in seconds since 1970.
    pub(super) created: u64,
    /// The model, as it was named by whoever asked.
    pub(super) model: String,
}

impl Naming {
    /// A whole answer.
    pub(super) fn completion(&self, report: &ReplyReport) -> Value {
        let mut message = Map::new();
        message.insert("role".to_owned(), json!("assistant"));
        message.insert("content".to_owned(), json!(text(report)));
        message.insert("refusal".to_owned(), Value::Null);
        let mut counted = Counted::default();
        for (kind, part) in report.parts.iter().filter_map(|part| counted.media(part)) {
            let all = message.entry(kind).or_insert_with(|| json!([]));
            if let Value::Array(all) = all {
                all.push(part);
            }
        }
        json!({
            "id": self.id,
            "object": "chat.completion",
            "created": self.created,
            "model": self.model,
            "choices": [{
                "index": 0,
                "message": message,
                "logprobs": null,
                "finish_reason": finish_reason(report.cut_off),
            }],
            "usage": usage(report.usage),
        })
    }

    /// The first chunk: who speaks.
    pub(super) fn role(&self) -> Value {
        self.delta(json!({ "role": "assistant", "content": "", "refusal": null }))
    }

    /// More text.
    pub(super) fn text(&self, text: &str) -> Value {
        self.delta(json!({ "content": text }))
    }

    /// Something that is not text.
    pub(super) fn media(&self, part: &ReplyPart, counted: &mut Counted) -> Option<Value> {
        let (kind, part) = counted.media(part)?;
        Some(self.delta(json!({ kind: [part] })))
    }

    /// The end of the text.
    pub(super) fn finish(&self, cut_off: bool) -> Value {
        let reason = finish_reason(cut_off);
        let choice = json!({
            "index": 0, "delta": {}, "logprobs": null, "finish_reason": reason,
        });
        self.chunk(json!([choice]))
    }

    /// What it cost.
    pub(super) fn usage(&self, cost: Option<UsageReport>) -> Value {
        let mut chunk = self.chunk(json!([]));
        if let Value::Object(chunk) = &mut chunk {
            chunk.insert("usage".to_owned(), usage(cost));
        }
        chunk
    }

    fn delta(&self, delta: Value) -> Value {
        let mut choice = json!({ "index": 0, "logprobs": null, "finish_reason": null });
        if let Value::Object(choice) = &mut choice {
            choice.insert("delta".to_owned(), delta);
        }
        self.chunk(Value::Array(vec![choice]))
    }

    fn chunk(&self, choices: Value) -> Value {
        let mut chunk = json!({
            "id": self.id,
            "object": "chat.completion.chunk",
            "created": self.created,
            "model": self.model,
        });
        if let Value::Object(chunk) = &mut chunk {
            chunk.insert("choices".to_owned(), choices);
        }
        chunk
    }
}

/// Why the text ends: the model has said all, or may not say more.
fn finish_reason(cut_off: bool) -> &'static str {
    if cut_off { "length" } else { "stop" }
}

/// All texts of a turn, as they are streamed.
pub(super) fn text(report: &ReplyReport) -> String {
    let texts = report.parts.iter().filter_map(|part| match part {
        ReplyPart::Text { text } => Some(text.as_str()),
        ReplyPart::Image { .. } | ReplyPart::Audio { .. } | ReplyPart::Resource { .. } => None,
    });
    let texts: Vec<&str> = texts.filter(|text| !text.trim().is_empty()).collect();
    if texts.is_empty() {
        return report.reply.clone();
    }
    texts.join(BETWEEN)
}

/// How many images and files an answer has so far: each says its place in its list, by which clients
/// put together what comes in chunks.
#[derive(Debug, Default)]
pub(super) struct Counted {
    images: usize,
    files: usize,
}

impl Counted {
    /// Something that is not text, and the list that it belongs to. Clients know `images` from other
    /// services; what is no image stands in `files`, in the form in which files are sent to us.
    fn media(&mut self, part: &ReplyPart) -> Option<(&'static str, Value)> {
        match part {
            ReplyPart::Text { .. } => None,
            ReplyPart::Image { mime_type, data } => {
                let index = next(&mut self.images);
                let url = data_url(mime_type, data);
                let image = json!({
                    "index": index, "type": "image_url", "image_url": { "url": url },
                });
                Some(("images", image))
            }
            ReplyPart::Audio { mime_type, data } => Some(self.file("audio", mime_type, data)),
            ReplyPart::Resource {
                name,
                mime_type,
                data,
            } => Some(self.file(name, mime_type, data)),
        }
    }

    fn file(&mut self, name: &str, mime_type: &str, data: &str) -> (&'static str, Value) {
        let index = next(&mut self.files);
        let file = json!({ "filename": name, "file_data": data_url(mime_type, data) });
        let file = json!({ "index": index, "type": "file", "file": file });
        ("files", file)
    }
}

fn next(count: &mut usize) -> usize {
    let next = *count;
    *count += 1;
    next
}

fn data_url(mime_type: &str, data: &str) -> String {
    format!("data:{mime_type};base64,{data}")
}

/// What a turn cost; nothing where that is not known, since clients count on a number.
fn usage(usage: Option<UsageReport>) -> Value {
    let usage = usage.unwrap_or_default();
    json!({
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens.saturating_add(usage.output_tokens),
        "prompt_tokens_details": { "cached_tokens": usage.cached_tokens },
    })
}
