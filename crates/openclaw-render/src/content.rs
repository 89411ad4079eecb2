//! Parts of results, resources and prompts.

use openclaw_content::{Media, shown_line, shown_text};
use openclaw_engine::CallReport;
use serde_json::Value as Json;

use crate::{name, size};

/// The result of a call.
pub fn call(report: &CallReport) -> String {
    let text: String = report.content.iter().map(block).collect();
    match &report.structured_content {
        // Data that has no text beside it is all there is.
        Some(data) if text.is_empty() => ended(&shown_text(&format!("{data:#}"))),
        _ if text.is_empty() => "(the result is empty)\n".to_owned(),
        _ => text,
    }
}

/// What the model would read.
pub fn framed(report: &CallReport) -> String {
    ended(&shown_text(report.framed.as_deref().unwrap_or_default()))
}

/// One part of what a server sent.
pub fn block(block: &Json) -> String {
    let text = |key: &str| block.get(key).and_then(Json::as_str);
    let kind = text("type").unwrap_or_default();
    match kind {
        "text" => ended(&shown_text(text("text").unwrap_or_default())),
        "image" | "audio" => {
            let line = blob_line(kind, text("mimeType"), text("data").unwrap_or_default());
            format!("{line}\n")
        }
        "resource" => block.get("resource").map_or_else(String::new, resource),
        "resource_link" => {
            let uri = shown_line(text("uri").unwrap_or_default(), 500);
            format!("[link: {} {uri}]\n", name(text("name").unwrap_or_default()))
        }
        other => format!("[{}: not shown]\n", name(other)),
    }
}

fn resource(resource: &Json) -> String {
    let text = |key: &str| resource.get(key).and_then(Json::as_str);
    let uri = shown_line(text("uri").unwrap_or_default(), 500);
    match (text("text"), text("blob")) {
        (Some(contents), _) => format!("[resource: {uri}]\n{}", ended(&shown_text(contents))),
        (None, Some(blob)) => {
            let what = format!("resource {uri}");
            format!("{}\n", blob_line(&what, text("mimeType"), blob))
        }
        (None, None) => format!("[resource: {uri}]\n"),
    }
}

/// One line about what is not text.
pub fn blob_line(what: &str, declared: Option<&str>, data: &str) -> String {
    match Media::from_base64(declared.unwrap_or_default(), data) {
        Ok(media) => {
            let bytes = u64::try_from(media.bytes()).unwrap_or(u64::MAX);
            format!("[{what}: {}, {}]", media.media_type(), size(bytes))
        }
        Err(_) => format!("[{what}: not valid base64]"),
    }
}

/// A text that ends with a line's end.
fn ended(text: &str) -> String {
    if text.ends_with('\n') {
        text.to_owned()
    } else {
        format!("{text}\n")
    }
}
