//! A message to an agent with what comes with it, as JSON and descriptors.

use std::fs::File;
use std::sync::Arc;

use openclaw_engine::{
    Attachment, AttachmentData, EarlierMessage, EngineFailure, ReplyRequest, SessionChoice,
};
use serde::{Deserialize, Serialize};

/// How many descriptors can travel with a message: the kernel takes 253.
pub(crate) const MOST_FILES: usize = 200;

/// A message to an agent, as it travels.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TravellingRequest {
    agent: Option<String>,
    #[serde(default)]
    session: SessionChoice,
    #[serde(default)]
    message: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    attachments: Vec<TravellingAttachment>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    earlier: Vec<EarlierMessage>,
    instructions: Option<String>,
    model: Option<String>,
    #[serde(default)]
    approved: bool,
    #[serde(default)]
    correlation: String,
    /// Whether the audience can be asked.
    #[serde(default)]
    pub(crate) can_answer: bool,
}

/// What comes with a message, as it travels: its bytes in base64, or the number of a descriptor that
/// travels beside it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct TravellingAttachment {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    mime_type: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    data: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    file: Option<usize>,
}

impl TravellingRequest {
    /// Makes a request ready to travel, with the files whose descriptors go with it.
    pub(crate) fn pack(
        request: ReplyRequest,
        can_answer: bool,
    ) -> Result<(Self, Vec<Arc<File>>), EngineFailure> {
        let mut files = Vec::new();
        let attachments = request.attachments.into_iter().map(|attachment| {
            let (data, file) = match attachment.data {
                AttachmentData::Base64(text) => (Some(text), None),
                AttachmentData::File(file) => {
                    files.push(file);
                    (None, Some(files.len() - 1))
                }
            };
            TravellingAttachment {
                name: attachment.name,
                mime_type: attachment.mime_type,
                data,
                file,
            }
        });
        let request = Self {
            agent: request.agent,
            session: request.session,
            message: request.message,
            attachments: attachments.collect(),
            earlier: request.earlier,
            instructions: request.instructions,
            model: request.model,
            approved: request.approved,
            correlation: request.correlation,
            can_answer,
        };
        if files.len() > MOST_FILES {
            let count = files.len();
            let message =
                format!("{count} files can't be handed over at once, and {MOST_FILES} can");
            return Err(EngineFailure::asker("too-many-files", message));
        }
        Ok((request, files))
    }

    /// Makes a request of what arrived.
    pub(crate) fn unpack(self, files: &[Arc<File>]) -> Result<ReplyRequest, EngineFailure> {
        let attachments = self.attachments.into_iter();
        let attachments = attachments.map(|attachment| attachment.unpack(files));
        Ok(ReplyRequest {
            agent: self.agent,
            session: self.session,
            message: self.message,
            attachments: attachments.collect::<Result<_, _>>()?,
            earlier: self.earlier,
            instructions: self.instructions,
            model: self.model,
            approved: self.approved,
            correlation: self.correlation,
        })
    }
}

impl TravellingAttachment {
    fn unpack(self, files: &[Arc<File>]) -> Result<Attachment, EngineFailure> {
        let refused = |reason: &str| {
            let message = format!("something that comes with the message can't be used: {reason}");
            EngineFailure::asker("bad-attachment", message)
        };
        let data = match (self.data, self.file) {
            (Some(text), None) => AttachmentData::Base64(text),
            (None, Some(number)) => {
                let file = files.get(number);
                let file = file.ok_or_else(|| refused("its file did not come with it"))?;
                // Reading something else could wait for ever.
                let is_file = file.metadata().is_ok_and(|metadata| metadata.is_file());
                if !is_file {
                    return Err(refused("it is not a file"));
                }
                AttachmentData::File(Arc::clone(file))
            }
            (None, None) => return Err(refused("it has no `data`")),
            (Some(_), Some(_)) => return Err(refused("it has both `data` and `file`")),
        };
        Ok(Attachment {
            name: self.name,
            mime_type: self.mime_type,
            data,
        })
    }
}

#[cfg(test)]
mod tests;
