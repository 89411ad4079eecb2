//! What a message consists of: text, images, sound, files.

use openclaw_content::{Base64, MediaKind, shown_line};
use openclaw_engine::{Attachment, AttachmentData};
use serde_json::{Map, Value};

use super::problem::Problem;

/// What a message consists of.
#[derive(Debug, Default)]
pub(super) struct Content {
    pub(super) text: String,
    pub(super) attachments: Vec<Attachment>,
}

/// Reads the content of a message: a text, or parts. An answer that was only calls has none.
pub(super) fn content(value: Value, at: &str) -> Result<Content, Problem> {
    let parts = match value {
        Value::Null => return Ok(Content::default()),
        Value::String(text) => {
            let attachments = Vec::new();
            return Ok(Content { text, attachments });
        }
        Value::Array(parts) => parts,
        _ => {
            let message = format!("`{at}` is neither a string nor an array of parts");
            return Err(Problem::invalid(at, message));
        }
    };
    let mut content = Content::default();
    let mut texts = Vec::new();
    for (place, part) in parts.into_iter().enumerate() {
        let at = format!("{at}[{place}]");
        match read_part(part, &at)? {
            Part::Text(text) => texts.push(text),
            Part::File(attachment) => content.attachments.push(attachment),
        }
    }
    content.text = texts.join("\n");
    Ok(content)
}

enum Part {
    Text(String),
    File(Attachment),
}

fn read_part(part: Value, at: &str) -> Result<Part, Problem> {
    let Value::Object(mut part) = part else {
        return Err(Problem::invalid(at, format!("`{at}` is no object")));
    };
    let Some(Value::String(kind)) = part.remove("type") else {
        let message = format!("`{at}.type` is missing or no string");
        return Err(Problem::invalid(format!("{at}.type"), message));
    };
    match kind.as_str() {
        "text" => Ok(Part::Text(string(&mut part, "text", at)?)),
        "refusal" => Ok(Part::Text(string(&mut part, "refusal", at)?)),
        "image_url" => image(&mut part, at).map(Part::File),
        "input_audio" => sound(&mut part, at).map(Part::File),
        "file" => file(&mut part, at).map(Part::File),
        other => {
            let other = shown_line(other, 50);
            let message = format!(
                "`{at}.type` is `{other}`; what can be read is text, image_url, input_audio and file"
            );
            Err(Problem::invalid(format!("{at}.type"), message))
        }
    }
}

/// An image: only one that is here. Nothing is fetched for whoever asks, since the gateway may reach
/// what they can't.
fn image(part: &mut Map<String, Value>, at: &str) -> Result<Attachment, Problem> {
    let at_url = format!("{at}.image_url.url");
    let url = match part.remove("image_url") {
        Some(Value::Object(mut image)) => string(&mut image, "url", &format!("{at}.image_url"))?,
        Some(Value::String(url)) => url,
        _ => {
            let message = format!("`{at}.image_url` is missing or no object");
            return Err(Problem::invalid(format!("{at}.image_url"), message));
        }
    };
    let (media_type, data) = data_url(url, &at_url)?;
    if !media_type.starts_with("image/") {
        let message = format!("`{at_url}` has no image: its type is not `image/…`");
        return Err(Problem::invalid(at_url, message));
    }
    attachment(None, media_type, data, &at_url)
}

fn sound(part: &mut Map<String, Value>, at: &str) -> Result<Attachment, Problem> {
    let at = format!("{at}.input_audio");
    let Some(Value::Object(mut sound)) = part.remove("input_audio") else {
        let message = format!("`{at}` is missing or no object");
        return Err(Problem::invalid(at, message));
    };
    let data = string(&mut sound, "data", &at)?;
    let format = string(&mut sound, "format", &at)?;
    let media_type = match format.as_str() {
        "wav" => "audio/wav",
        "mp3" => "audio/mpeg",
        "flac" => "audio/flac",
        "ogg" | "opus" => "audio/ogg",
        "m4a" | "mp4" => "audio/mp4",
        "webm" => "audio/webm",
        other => {
            let other = shown_line(other, 50);
            let message = format!("`{at}.format` is `{other}`, which is not known");
            return Err(Problem::invalid(format!("{at}.format"), message));
        }
    };
    attachment(None, media_type.to_owned(), data, &format!("{at}.data"))
}

/// A file, as a data URL or as base64 alone.
fn file(part: &mut Map<String, Value>, at: &str) -> Result<Attachment, Problem> {
    let at = format!("{at}.file");
    let Some(Value::Object(mut file)) = part.remove("file") else {
        let message = format!("`{at}` is missing or no object");
        return Err(Problem::invalid(at, message));
    };
    if !file.contains_key("file_data") && file.contains_key("file_id") {
        let at = format!("{at}.file_id");
        let message = "no files are kept here: send `file_data`";
        return Err(Problem::invalid(at, message));
    }
    let data = string(&mut file, "file_data", &at)?;
    let name = match file.remove("filename") {
        Some(Value::String(name)) => Some(shown_line(&name, 200)).filter(|it| !it.is_empty()),
        _ => None,
    };
    let at = format!("{at}.file_data");
    if data.starts_with("data:") {
        let (media_type, data) = data_url(data, &at)?;
        return attachment(name, media_type, data, &at);
    }
    let media_type = recognised(&data, &at)?.to_owned();
    attachment(name, media_type, data, &at)
}

/// The type of what is in base64, by what it is.
fn recognised(data: &str, at: &str) -> Result<&'static str, Problem> {
    let bytes = Base64::check(data).map_err(|error| not_base64(at, &error))?;
    let bytes = bytes.decode();
    // Drawings in SVG are text, and nothing that takes images takes them.
    let kind = MediaKind::sniff(bytes.get(..MediaKind::HEAD).unwrap_or(&bytes));
    let is_text = || std::str::from_utf8(&bytes).is_ok_and(|text| !text.contains('\0'));
    Ok(match kind.filter(|kind| *kind != MediaKind::Svg) {
        Some(kind) => kind.media_type(),
        None if is_text() => "text/plain",
        None => "application/octet-stream",
    })
}

fn attachment(
    name: Option<String>,
    mime_type: String,
    data: String,
    at: &str,
) -> Result<Attachment, Problem> {
    Base64::check(&data).map_err(|error| not_base64(at, &error))?;
    if data.is_empty() {
        return Err(Problem::invalid(at, format!("`{at}` is empty")));
    }
    Ok(Attachment {
        name,
        mime_type,
        data: AttachmentData::Base64(data),
    })
}

fn not_base64(at: &str, error: &dyn std::error::Error) -> Problem {
    Problem::invalid(at, format!("`{at}` is not base64: {error}"))
}

/// The type and the data of a data URL (RFC 2397) in base64.
fn data_url(mut url: String, at: &str) -> Result<(String, String), Problem> {
    let is_data = url
        .get(..5)
        .is_some_and(|it| it.eq_ignore_ascii_case("data:"));
    if !is_data {
        let message = format!("`{at}` has to be a data URL: nothing is fetched from elsewhere");
        return Err(Problem::invalid(at, message));
    }
    // What stands before the data is short.
    let end = url.bytes().take(500).position(|byte| byte == b',');
    let head = end.and_then(|end| url.get(5..end));
    let head = head
        .and_then(|it| it.strip_suffix(";base64"))
        .map(str::to_owned);
    let (Some(end), Some(head)) = (end, head) else {
        let message = format!("`{at}` has to be a data URL in base64");
        return Err(Problem::invalid(at, message));
    };
    let data = url.split_off(end + 1);
    let media_type = head.split(';').next().unwrap_or_default();
    let media_type = media_type.trim().to_ascii_lowercase();
    let media_type = if media_type.is_empty() {
        // RFC 2397 §2
        "text/plain".to_owned()
    } else {
        media_type
    };
    Ok((media_type, data))
}

/// A member that has to be there and be a string.
fn string(object: &mut Map<String, Value>, name: &str, at: &str) -> Result<String, Problem> {
    match object.remove(name) {
        Some(Value::String(text)) => Ok(text),
        _ => {
            let at = format!("{at}.{name}");
            let message = format!("`{at}` is missing or no string");
            Err(Problem::invalid(at, message))
        }
    }
}
