//! What a server answered, made into what the model gets.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::SystemTime;

use openclaw_content::{Excerpt, Media, Origin, binary_note, clean_name, note};
use openclaw_mcp_client::{Content, Embedded, ToolResult};
use serde_json::Value;

use super::{Call, Part};
use crate::arguments::OutputCheck;
use crate::servers::{PlannedServer, Servers};

/// What a result is of.
pub(crate) struct ResultOf<'a> {
    pub(crate) server: &'a PlannedServer,
    /// The tool or the resource, by its name at the server.
    pub(crate) item: &'a str,
    /// What it has to fit, if anything.
    pub(crate) output: Option<&'a OutputCheck>,
}

/// A text and binary contents, in the order in which they came.
#[derive(Default)]
struct Gathered<'a> {
    texts: Vec<Cow<'a, str>>,
    media: Vec<Binary<'a>>,
}

/// A piece of binary content.
struct Binary<'a> {
    declared: &'a str,
    /// What a file of it would be called, if the server says so.
    name: Option<String>,
    data: &'a str,
}

impl Servers {
    /// What the model gets.
    pub(crate) async fn present(
        &self,
        call: &Call<'_>,
        of: &ResultOf<'_>,
        origin: &Origin,
        result: &ToolResult,
    ) -> Vec<Part> {
        let gathered = gather(result);
        let mut parts = Vec::new();
        let text = match gathered.texts.as_slice() {
            [] => Cow::Borrowed(""),
            [only] => Cow::Borrowed(only.as_ref()),
            several => Cow::Owned(several.join("\n")),
        };
        // Once more as a whole: keys of data and types of media are part of it.
        let text = self.redactor.redact_learned(&text);
        if !text.is_empty() || gathered.media.is_empty() || result.is_error {
            let framed = self.framed(call, of, origin, &text, result).await;
            parts.push(Part::Text(framed));
        }
        if let Some(problem) = unfit(of, result) {
            tracing::warn!(server = origin.server(), tool = origin.item(), "{problem}");
            // It quotes the server.
            let framed = self.framer.frame(origin, &problem, &Excerpt::default());
            parts.push(Part::Text(framed.text));
        }
        for missing in &result.missing {
            let told = "A part of the result is missing: {}";
            parts.push(Part::Text(note(told, &[missing])));
        }
        for Binary {
            declared,
            name,
            data,
        } in gathered.media
        {
            match Media::from_base64(declared, data) {
                Ok(media) => {
                    parts.push(Part::Text(binary_note(origin, &media)));
                    let data = data.to_owned();
                    parts.push(Part::Media { media, name, data });
                }
                Err(error) => {
                    let told = "Binary content of the result can't be read: {}";
                    parts.push(Part::Text(note(told, &[&error.to_string()])));
                }
            }
        }
        parts
    }

    async fn framed(
        &self,
        call: &Call<'_>,
        of: &ResultOf<'_>,
        origin: &Origin,
        text: &str,
        result: &ToolResult,
    ) -> openclaw_content::ModelText {
        let most = of.server.server().map(|server| server.max_result_bytes);
        let most = most.and_then(|most| usize::try_from(most).ok());
        let excerpt = most.map_or_else(Excerpt::default, Excerpt::new);
        let id = match excerpt.cut(text) {
            Some(_) => self.keep(call, of, text).await,
            None => None,
        };
        let excerpt = match &id {
            Some(id) => excerpt.stored_as(id),
            None => excerpt,
        };
        let framed = if result.is_error {
            self.framer.frame_error(origin, text, &excerpt)
        } else {
            self.framer.frame(origin, text, &excerpt)
        };
        for pattern in framed.detections.iter() {
            tracing::warn!(
                server = origin.server(),
                tool = origin.item(),
                pattern = pattern.name(),
                correlation = call.correlation,
                "a result looks like an injection"
            );
        }
        framed.text
    }

    /// Keeps a text that is too long to be shown at once.
    async fn keep(&self, call: &Call<'_>, of: &ResultOf<'_>, text: &str) -> Option<String> {
        let (server, item) = (of.server.name().to_owned(), of.item.to_owned());
        let agent = call.agent.agent.id.to_string();
        let session = call.session.map(str::to_owned);
        let (results, text) = (Arc::clone(&self.results), text.to_owned());
        let keeping = tokio::task::spawn_blocking(move || {
            let origin = (server.as_str(), item.as_str());
            results.keep(&agent, session.as_deref(), origin, &text, SystemTime::now())
        });
        let kept = keeping.await.map_err(std::io::Error::other).flatten();
        kept.inspect_err(|error| tracing::warn!("a long result is not kept: {error}"))
            .ok()
            .map(|id| id.to_string())
    }
}

/// What is wrong with a structured result, if anything.
fn unfit(of: &ResultOf<'_>, result: &ToolResult) -> Option<String> {
    // A failure need not have the promised form.
    if result.is_error {
        return None;
    }
    let check = of.output?;
    match &result.structured {
        Some(value) => check.check(value).err(),
        None => Some("the structured result that the tool promises is missing".to_owned()),
    }
}

fn gather(result: &ToolResult) -> Gathered<'_> {
    let mut gathered = Gathered::default();
    for content in &result.content {
        match content {
            Content::Text { text, .. } => gathered.texts.push(Cow::Borrowed(text)),
            Content::Image {
                data, mime_type, ..
            }
            | Content::Audio {
                data, mime_type, ..
            } => gathered.media(mime_type, data),
            Content::Resource(embedded) => gathered.embedded(embedded),
            Content::Link {
                uri,
                name,
                title,
                description,
                mime_type,
                ..
            } => {
                let mut line = format!("[resource link: {uri}");
                for more in [
                    Some(name),
                    title.as_ref(),
                    description.as_ref(),
                    mime_type.as_ref(),
                ] {
                    if let Some(more) = more.filter(|more| !more.is_empty()) {
                        line.push_str("; ");
                        line.push_str(more);
                    }
                }
                line.push(']');
                gathered.texts.push(Cow::Owned(line));
            }
            Content::Unknown(value) => gathered.texts.push(Cow::Owned(value.to_string())),
        }
    }
    if let Some(structured) = &result.structured
        && !gathered.texts.iter().any(|text| is_same(text, structured))
    {
        gathered.texts.push(Cow::Owned(structured.to_string()));
    }
    gathered
}

impl<'a> Gathered<'a> {
    /// Notes binary content, and where it stands among the texts.
    fn media(&mut self, declared: &'a str, data: &'a str) {
        let name = None;
        self.media.push(Binary {
            declared,
            name,
            data,
        });
        let number = self.media.len();
        self.texts
            .push(Cow::Owned(format!("[attachment {number}]")));
    }

    fn embedded(&mut self, embedded: &'a Embedded) {
        if let Some(text) = &embedded.text {
            let uri = &embedded.uri;
            self.texts
                .push(Cow::Owned(format!("[resource: {uri}]\n{text}")));
        }
        if let Some(blob) = &embedded.blob {
            let uri = &embedded.uri;
            let number = self.media.len() + 1;
            let line = format!("[resource: {uri}, attachment {number}]");
            self.texts.push(Cow::Owned(line));
            let declared = embedded.mime_type.as_deref().unwrap_or_default();
            self.media.push(Binary {
                declared,
                name: file_name(uri),
                data: blob,
            });
        }
    }
}

/// The name of a file at the end of an address, cleaned.
fn file_name(uri: &str) -> Option<String> {
    let path = uri.split(['?', '#']).next().unwrap_or_default();
    let name = path.rsplit('/').next().unwrap_or_default();
    // What has no extension is most likely a number or a word for something else.
    let is_file = name.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty() && extension.chars().all(char::is_alphanumeric)
    });
    is_file.then(|| clean_name(name))
}

/// Whether a text is the same data: servers are asked to send both.
fn is_same(text: &str, structured: &Value) -> bool {
    text.trim_start().starts_with(['{', '[', '"'])
        && serde_json::from_str::<Value>(text).is_ok_and(|value| value == *structured)
}
