//! Documents and recordings, put into words for models that can't take them as they are.

use std::pin::pin;
use std::time::Duration;

use openclaw_content::{Excerpt, Media as Content, MediaKind, ModelText, note};
use openclaw_media::Recording;
use tokio::time::timeout;

use super::{Data, Intake, TEXT_LIMIT};

/// How long it may take without a word.
const SILENT: Duration = Duration::from_secs(1);

impl Intake<'_> {
    /// What stands for a piece in words, where something can be had that does. Where it should and
    /// can't, that is what stands there: the person is told, and whoever asks the model.
    pub(super) async fn words(
        &self,
        name: &str,
        content: &Content,
        data: &Data,
    ) -> Option<ModelText> {
        if content.kind() == Some(MediaKind::Pdf) {
            if self.takes_documents {
                return None;
            }
            return Some(self.document(name, content, data).await);
        }
        let is_sound = content.media_type().starts_with("audio/");
        if is_sound && self.media.transcribes() {
            return Some(self.recording(name, content, data).await);
        }
        None
    }

    async fn document(&self, name: &str, content: &Content, data: &Data) -> ModelText {
        let pdf = data.bytes();
        let reading = self.patiently(name, "is being read", self.media.document_text(&pdf));
        let read = match reading.await {
            Ok(read) => read,
            Err(error) => {
                self.warn(name, &format!("can't be read as text: {error}"));
                let template = "[a document \"{}\" of type {} with {} bytes, which can't be shown \
                                here: it can't be read as text: {}]";
                return unusable(template, name, content, &error.to_string());
            }
        };
        if read.is_cut {
            let bytes = read.text.len();
            self.warn(
                name,
                &format!("is cut: the model reads the first {bytes} bytes of its text"),
            );
        }
        let excerpt = Excerpt::new(TEXT_LIMIT);
        let framed = self.framer.frame_file(name, &read.text, &excerpt);
        self.framed(name, framed).text
    }

    async fn recording(&self, name: &str, content: &Content, data: &Data) -> ModelText {
        let recording = Recording {
            media_type: content.media_type(),
            bytes: data.bytes().into_owned(),
        };
        let heard = self.patiently(
            name,
            "is being transcribed",
            self.media.transcript(recording),
        );
        match heard.await {
            Ok(text) => {
                let excerpt = Excerpt::new(TEXT_LIMIT);
                let framed = self.framer.frame_transcript(name, &text, &excerpt);
                self.framed(name, framed).text
            }
            Err(error) => {
                self.warn(name, &format!("can't be transcribed: {error}"));
                let template = "[a recording \"{}\" of type {} with {} bytes, which can't be shown \
                                here: it can't be transcribed: {}]";
                unusable(template, name, content, &error.to_string())
            }
        }
    }

    /// Waits, and says so where it takes a while.
    async fn patiently<T>(&self, name: &str, what: &str, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        match timeout(SILENT, &mut work).await {
            Ok(done) => done,
            Err(_) => {
                self.tell(name, what);
                work.await
            }
        }
    }
}

/// What stands for a piece that can't be used: a template for its name, its type, its size and why.
pub(super) fn unusable(
    template: &'static str,
    name: &str,
    content: &Content,
    why: &str,
) -> ModelText {
    // There are no quotes within a name.
    let why = why.replace(['`', '\'', '"'], "");
    let bytes = content.bytes().to_string();
    note(template, &[name, content.media_type(), &bytes, &why])
}
