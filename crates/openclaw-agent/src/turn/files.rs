//! Files of earlier turns: those that the model is sent again, and what is said of the others.

use openclaw_content::shown_line;
use openclaw_conversation::Message;
use openclaw_engine::ReplyEvent;

use super::Running;
use crate::error::TurnError;

impl Running<'_> {
    /// Fetches the files that the model is sent again, and says of which it gets no more than the name.
    pub(super) async fn fetch_files(&mut self) -> Result<(), TurnError> {
        let store = &*self.asking.agents.store;
        self.conversation.fetch_media(store).await?;
        if !self.has_told_of_files {
            self.has_told_of_files = true;
            self.tell_of_files();
        }
        Ok(())
    }

    /// Says which files are only named, in the turn in which that begins.
    fn tell_of_files(&self) {
        if !self.is_something_new() {
            return;
        }
        let mut named = self.conversation.named_files(self.before);
        let Some(first) = named.next() else { return };
        let first = first.name.as_deref().unwrap_or("a file");
        let first = shown_line(first, 100);
        let text = match named.count() {
            0 => format!("{first} of an earlier turn is only named to the model"),
            1 => format!("{first} and another file of earlier turns are only named to the model"),
            others => format!(
                "{first} and {others} other files of earlier turns are only named to the model"
            ),
        };
        tracing::debug!("files of earlier turns are only named to the model");
        let text = format!("{text}: send what it needs again");
        self.hear(ReplyEvent::Notice { text });
    }

    /// Whether files can have become too many, or the model is another one than before.
    fn is_something_new(&self) -> bool {
        let messages = self.conversation.messages();
        let (before, now) = messages.split_at(self.before.min(messages.len()));
        let last = before.iter().rev().find_map(|message| match message {
            Message::Assistant(said) => Some(said.model.as_str()),
            _ => None,
        });
        let is_other = last.is_some_and(|last| last != self.asking.model.name());
        is_other || now.iter().any(|message| message.media().next().is_some())
    }
}
