//! What is printed for people: what engines answer, and what only commands have to tell.

mod import;

pub(crate) use import::{Imported, import};
pub(crate) use openclaw_render::{
    LINE, Page, Speech, Tone, added, call, count, credential, cut, details, forgotten, framed,
    logged_out, login, media_line, name, overview, padded, prompt, prompts, qr_code, read,
    resources, servers, session_key, session_word, sessions, state_words, status_words, tools,
    transcript, word,
};

#[cfg(test)]
pub(crate) mod tests {
    use super::{Page, Speech};

    pub(crate) const PAGE: Page = Page {
        width: Some(80),
        coloured: false,
        speech: Speech::Shell,
    };

    /// A name that tries everything.
    pub(crate) const HOSTILE: &str =
        "\u{1b}[2J\u{1b}]0;owned\u{7}evil\r\nStatus: Connected\u{202e}\u{200b}";
}
