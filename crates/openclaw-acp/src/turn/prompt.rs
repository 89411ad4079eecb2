//! What was asked, as the engine takes it.

use std::path::Path;

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{ContentBlock, EmbeddedResourceResource, ResourceLink};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use openclaw_content::{clean_name, shown_line};
use openclaw_engine::{Attachment, AttachmentData};

use super::places::local_path;
use crate::problems::unfit;

/// How large a prompt may be, decoded.
const LIMIT: usize = 32 * 1024 * 1024;
/// How long a title may be, in characters, and one more that says that it goes on.
const TITLE: usize = 79;
/// How long an address may be, in characters.
const ADDRESS: usize = 2000;

/// What was asked.
#[derive(Debug, Default)]
pub(super) struct Message {
    /// The words. Nothing stands before those of the person: a command is known by its first letter.
    pub(super) text: String,
    /// What comes with them.
    pub(super) attachments: Vec<Attachment>,
    /// The first line of them.
    pub(super) title: String,
}

impl Message {
    /// Reads a prompt about a project.
    pub(super) fn read(blocks: Vec<ContentBlock>, project: &Path) -> Result<Self, Error> {
        let size: usize = blocks.iter().map(size).sum();
        if size > LIMIT {
            return Err(unfit(format!(
                "the prompt has {size} bytes, and {LIMIT} is the most"
            )));
        }
        let mut message = Self::default();
        let mut has_words = false;
        let mut ahead = Vec::new();
        for block in blocks {
            match block {
                ContentBlock::Text(words) => {
                    has_words |= !words.text.trim().is_empty();
                    message.text.push_str(&words.text);
                }
                ContentBlock::ResourceLink(link) if has_words => message.mention(&link),
                ContentBlock::ResourceLink(link) => ahead.push(link),
                ContentBlock::Image(image) => {
                    let name = image.uri.map(|uri| file_name(&uri, project));
                    message.attach(name, image.mime_type, image.data);
                }
                ContentBlock::Audio(audio) => message.attach(None, audio.mime_type, audio.data),
                ContentBlock::Resource(resource) => message.embed(resource.resource, project)?,
                _ => return Err(unfit("the prompt has content of a kind that is not known")),
            }
        }
        message.title = title(&message.text);
        for link in ahead {
            message.mention(&link);
        }
        if message.text.trim().is_empty() && message.attachments.is_empty() {
            return Err(unfit("the prompt is empty"));
        }
        Ok(message)
    }

    /// Names something that the agent may look at by itself.
    fn mention(&mut self, link: &ResourceLink) {
        if !self.text.is_empty() && !self.text.ends_with(char::is_whitespace) {
            self.text.push(' ');
        }
        let address = shown_line(&link.uri, ADDRESS);
        let address = address.replace(['(', ')', ' ', '<', '>'], "_");
        let name = clean_name(&link.name);
        self.text.push_str(&format!("[{name}]({address})"));
    }

    /// Takes in what the editor read. As an attachment, it gets the frame that all foreign text gets, and
    /// can't be taken for words of the person.
    fn embed(&mut self, resource: EmbeddedResourceResource, project: &Path) -> Result<(), Error> {
        match resource {
            EmbeddedResourceResource::TextResourceContents(file) => {
                let kind = file.mime_type.filter(|kind| kind.starts_with("text/"));
                let kind = kind.unwrap_or_else(|| "text/plain".to_owned());
                let name = file_name(&file.uri, project);
                self.attach(Some(name), kind, STANDARD.encode(file.text));
            }
            EmbeddedResourceResource::BlobResourceContents(file) => {
                let kind = file.mime_type;
                let kind = kind.unwrap_or_else(|| "application/octet-stream".to_owned());
                let name = file_name(&file.uri, project);
                self.attach(Some(name), kind, file.blob);
            }
            _ => {
                return Err(unfit(
                    "the prompt has a resource of a kind that is not known",
                ));
            }
        }
        Ok(())
    }

    fn attach(&mut self, name: Option<String>, mime_type: String, data: String) {
        self.attachments.push(Attachment {
            name,
            mime_type,
            data: AttachmentData::Base64(data),
        });
    }
}

/// How large a part of a prompt is, decoded.
fn size(block: &ContentBlock) -> usize {
    let decoded = |base64: &str| base64.len() / 4 * 3;
    match block {
        ContentBlock::Text(words) => words.text.len(),
        ContentBlock::Image(image) => decoded(&image.data),
        ContentBlock::Audio(audio) => decoded(&audio.data),
        ContentBlock::ResourceLink(link) => link.uri.len() + link.name.len(),
        ContentBlock::Resource(resource) => match &resource.resource {
            EmbeddedResourceResource::TextResourceContents(file) => file.text.len(),
            EmbeddedResourceResource::BlobResourceContents(file) => decoded(&file.blob),
            _ => 0,
        },
        _ => 0,
    }
}

/// What a file is called in its project, with the lines that are meant; the end of its address, if it is not
/// a file.
fn file_name(uri: &str, project: &Path) -> String {
    let (address, lines) = match uri.split_once('#') {
        Some((address, lines)) => (address, format!("#{lines}")),
        None => (uri, String::new()),
    };
    let name = match local_path(address) {
        Some(path) => {
            let within = path.strip_prefix(project).unwrap_or(&path);
            within.to_string_lossy().into_owned()
        }
        None => {
            let address = address.trim_end_matches('/');
            let end = address.rsplit('/').next();
            end.unwrap_or(address).to_owned()
        }
    };
    shown_line(&(name + &lines), ADDRESS)
}

fn title(text: &str) -> String {
    let first = text.lines().map(str::trim).find(|line| !line.is_empty());
    shown_line(first.unwrap_or_default(), TITLE)
}

#[cfg(test)]
mod tests;
