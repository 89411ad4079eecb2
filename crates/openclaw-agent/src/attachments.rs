//! What comes with a message.

mod text;
mod words;

use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use openclaw_content::{Base64, Excerpt, Framed, Framer, Media as Content, shown_line};
use openclaw_conversation::{Blob, Media, UserPart};
use openclaw_engine::{Attachment, AttachmentData, Audience, ReplyEvent};
use openclaw_media::MediaReader;
use tokio::task::spawn_blocking;

use self::text::decoded;
use self::words::unusable;
use crate::error::TurnError;

/// How large a message may be, in bytes.
const MESSAGE_LIMIT: usize = 16 * 1024 * 1024;
/// How large what comes with it may be, each of it and decoded.
const ATTACHMENT_LIMIT: usize = 15 * 1024 * 1024;
/// How many pieces may come with it.
const MOST: usize = 15;
/// How much of a file's text a model reads.
const TEXT_LIMIT: usize = 1024 * 1024;
/// How many pieces are put into words side by side.
const AT_ONCE: usize = 2;

/// What is needed to take in what comes with a message.
pub(crate) struct Intake<'a> {
    pub(crate) framer: &'a Framer,
    /// What puts files into words.
    pub(crate) media: &'a MediaReader,
    /// Whether the model that is asked reads documents itself.
    pub(crate) takes_documents: bool,
    /// Who is told what becomes of it.
    pub(crate) audience: &'a dyn Audience,
}

/// Refuses at once what is refused whatever is in it.
pub(crate) fn check(message: &str, attachments: &[Attachment]) -> Result<(), TurnError> {
    if message.len() > MESSAGE_LIMIT {
        return Err(TurnError::TooLarge {
            bytes: message.len(),
            limit: MESSAGE_LIMIT,
        });
    }
    if message.trim().is_empty() && attachments.is_empty() {
        return Err(TurnError::Empty);
    }
    if attachments.len() > MOST {
        return Err(TurnError::Attachment {
            name: "what comes with the message".to_owned(),
            reason: format!(
                "there are {} pieces, and {MOST} is the most",
                attachments.len()
            ),
        });
    }
    Ok(())
}

impl Intake<'_> {
    /// The parts of what a person says, which was checked.
    pub(crate) async fn user_parts(
        &self,
        message: String,
        attachments: Vec<Attachment>,
    ) -> Result<Vec<UserPart>, TurnError> {
        let mut parts = Vec::with_capacity(attachments.len() + 1);
        if !message.is_empty() {
            parts.push(UserPart::Text { text: message });
        }
        let pieces = attachments.into_iter().zip(1..);
        let pieces = pieces.map(|(attachment, number)| self.part(attachment, number));
        // Each of them is boxed: a list of futures is as large as the largest.
        let pieces: Vec<_> = pieces.map(Box::pin).collect();
        let taken: Vec<UserPart> = stream::iter(pieces).buffered(AT_ONCE).try_collect().await?;
        parts.extend(taken);
        Ok(parts)
    }

    async fn part(&self, attachment: Attachment, number: usize) -> Result<UserPart, TurnError> {
        let name = attachment.name.clone();
        let name = name.unwrap_or_else(|| format!("attachment {number}"));
        let refused = |reason: String| TurnError::Attachment {
            name: shown_line(&name, 100),
            reason,
        };
        let data = match attachment.data {
            AttachmentData::Base64(text) => Data::Text(text),
            AttachmentData::File(file) => {
                let read = spawn_blocking(move || bytes(&file)).await;
                let read = read.unwrap_or_else(|error| Err(io::Error::other(error)));
                Data::Bytes(read.map_err(|error| refused(format!("it can't be read: {error}")))?)
            }
        };
        let content = data.content(&attachment.mime_type);
        let content = content.map_err(|error| refused(error.to_string()))?;
        if content.bytes() > ATTACHMENT_LIMIT {
            let (bytes, limit) = (content.bytes(), ATTACHMENT_LIMIT);
            return Err(refused(format!(
                "it has {bytes} bytes, and {limit} is the most"
            )));
        }
        let (media_type, text) = if content.is_text() {
            if let Some(text) = decoded(&data.bytes()) {
                let excerpt = Excerpt::new(TEXT_LIMIT);
                let text = self.framed(&name, self.framer.frame_file(&name, &text, &excerpt));
                return Ok(UserPart::Foreign { text: text.text });
            }
            let why = "is not text, whatever it is called";
            self.warn(&name, &format!("{why}: it is only named"));
            let template =
                "[a file \"{}\" of type {} with {} bytes, which can't be shown here: it {}]";
            let text = unusable(template, &name, &content, why);
            ("application/octet-stream", Some(text))
        } else {
            let text = Box::pin(self.words(&name, &content, &data)).await;
            (content.media_type(), text)
        };
        Ok(UserPart::Media(Media {
            mime_type: media_type.to_owned(),
            name: attachment.name.as_deref().map(openclaw_content::clean_name),
            bytes: u64::try_from(content.bytes()).unwrap_or(u64::MAX),
            blob: Blob::Here(data.into_base64()),
            text,
        }))
    }

    /// Says what there is to say about a text that was framed.
    fn framed(&self, name: &str, framed: Framed) -> Framed {
        for pattern in framed.detections.iter() {
            tracing::warn!(pattern = pattern.name(), "a file looks like an injection");
        }
        if let Some(cut) = framed.cut {
            let (end, total) = (cut.end, cut.total);
            self.warn(
                name,
                &format!("is cut: the model reads {end} of its {total} bytes"),
            );
        }
        framed
    }

    /// Tells the person something about a file.
    fn tell(&self, name: &str, what: &str) {
        let text = format!("{} {what}", shown_line(name, 100));
        self.audience.hear(ReplyEvent::Notice { text });
    }

    /// Tells the person that a file can't be used as it should be. Many clients show nothing of that,
    /// so that it is in the log, too; how files are called is nobody's business there.
    fn warn(&self, name: &str, what: &str) {
        tracing::warn!("a file that came with a message {what}");
        self.tell(name, what);
    }
}

/// The bytes of a piece, in the form that they came in.
enum Data {
    /// In base64.
    Text(String),
    /// As they are.
    Bytes(Vec<u8>),
}

impl Data {
    fn content(&self, declared: &str) -> Result<Content, openclaw_content::Base64Error> {
        match self {
            Self::Text(text) => Content::from_base64(declared, text),
            Self::Bytes(bytes) => Ok(Content::from_bytes(declared, bytes)),
        }
    }

    fn bytes(&self) -> std::borrow::Cow<'_, [u8]> {
        match self {
            // It was checked before.
            Self::Text(text) => {
                let checked = Base64::check(text).map(|data| data.decode());
                checked.unwrap_or_default().into()
            }
            Self::Bytes(bytes) => bytes.as_slice().into(),
        }
    }

    fn into_base64(self) -> Arc<str> {
        Arc::from(match self {
            Self::Text(text) => text,
            Self::Bytes(bytes) => STANDARD.encode(bytes),
        })
    }
}

/// What a file holds: one byte more than is allowed, at most.
fn bytes(mut file: &File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    let most = u64::try_from(ATTACHMENT_LIMIT).unwrap_or(u64::MAX);
    file.take(most + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
