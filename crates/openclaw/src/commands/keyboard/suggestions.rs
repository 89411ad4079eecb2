//! How a line can go on, asked of whoever knows.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::Duration;

use reedline::{Completer, CompletionResult, Span, Suggestion};
use tokio::sync::mpsc::Sender;

/// How long somebody who types waits for suggestions.
const PATIENCE: Duration = Duration::from_millis(500);

/// Asks how a line can go on.
pub(in crate::commands) struct Wanted {
    /// The line up to the cursor.
    pub(in crate::commands) text: String,
    /// Where the answer goes. Nobody may listen any more.
    pub(in crate::commands) answer: SyncSender<Vec<Suggested>>,
}

/// How a line can go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::commands) struct Suggested {
    /// The byte of the line from which on it is replaced.
    pub(in crate::commands) start: usize,
    /// What would be typed.
    pub(in crate::commands) text: String,
    /// What it is, in one line.
    pub(in crate::commands) description: Option<String>,
    /// Whether the word ends with it.
    pub(in crate::commands) is_whole: bool,
}

/// Suggests what whoever is asked says in time.
pub(super) struct Suggesting(Sender<Wanted>);

impl Suggesting {
    pub(super) fn new(ask: Sender<Wanted>) -> Self {
        Self(ask)
    }
}

impl Completer for Suggesting {
    fn complete(&mut self, line: &str, cursor: usize) -> CompletionResult {
        let text = line.get(..cursor).unwrap_or(line);
        let (answer, suggested) = sync_channel(1);
        let wanted = Wanted {
            text: text.to_owned(),
            answer,
        };
        // Typing goes on, whoever does not answer.
        let suggested = match self.0.try_send(wanted) {
            Ok(()) => suggested.recv_timeout(PATIENCE).unwrap_or_default(),
            Err(_) => Vec::new(),
        };
        let suggestions: Vec<Suggestion> = suggested
            .into_iter()
            .filter(|it| text.is_char_boundary(it.start))
            .map(|it| Suggestion {
                value: it.text,
                description: it.description,
                span: Span::new(it.start, text.len()),
                append_whitespace: it.is_whole,
                ..Suggestion::default()
            })
            .collect();
        CompletionResult::fresh(suggestions)
    }
}
