//! What stands before a line that is edited.

use std::borrow::Cow;

use reedline::{PromptEditMode, PromptHistorySearch, PromptHistorySearchStatus};

/// What stands before a line.
pub(super) struct Prompt(String);

impl Prompt {
    pub(super) fn new(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl reedline::Prompt for Prompt {
    fn render_prompt_left(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.0)
    }

    fn render_prompt_right(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    fn render_prompt_indicator(&self, _mode: PromptEditMode) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        Cow::Borrowed("… ")
    }

    fn render_prompt_history_search_indicator(&self, search: PromptHistorySearch) -> Cow<'_, str> {
        let found = match search.status {
            PromptHistorySearchStatus::Passing => "",
            PromptHistorySearchStatus::Failing => "nothing ",
        };
        Cow::Owned(format!("({found}found for: {}) ", search.term))
    }
}
