//! What text is laid out on, and pieces of lines.

use openclaw_config::shell_word;
use openclaw_content::shown_line;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// How many characters of a name are shown at most; no honest one is longer.
const NAME: usize = 100;
/// How many characters of any other line are shown where the page has no width.
pub const LINE: usize = 2000;

/// What text is laid out on.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// How many columns a line has; no limit where nobody looks.
    pub width: Option<usize>,
    /// Whether it may be coloured.
    pub coloured: bool,
    /// How whoever reads it writes commands about servers.
    pub speech: Speech,
}

/// How commands about servers are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Speech {
    /// In a shell: `openclaw mcp …`.
    #[default]
    Shell,
    /// In a conversation: `/mcp …`.
    Chat,
}

impl Speech {
    /// How every command begins.
    pub fn command(self) -> &'static str {
        match self {
            Self::Shell => "openclaw mcp",
            Self::Chat => "/mcp",
        }
    }
}

/// What a colour says; never the only one to say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// All is well.
    Good,
    /// Somebody should look.
    Attention,
    /// Something is wrong.
    Bad,
    /// Beside the point.
    Quiet,
    /// The point.
    Strong,
}

impl Page {
    /// Where nobody knows how wide it is or what colours it has: messages of a conversation.
    pub const CHAT: Self = Self {
        width: None,
        coloured: false,
        speech: Speech::Chat,
    };

    /// A text in a colour, where there are any.
    pub fn paint(self, tone: Tone, text: &str) -> String {
        if !self.coloured {
            return text.to_owned();
        }
        let code = match tone {
            Tone::Good => "32",
            Tone::Attention => "33",
            Tone::Bad => "31",
            Tone::Quiet => "2",
            Tone::Strong => "1",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }

    /// One line of a foreign text, cut to what is left of the page behind so many columns.
    pub fn line(self, text: &str, behind: usize) -> String {
        let room = self
            .width
            .map_or(LINE, |width| width.saturating_sub(behind).max(20));
        let line = shown_line(text, room.min(LINE));
        if self.width.is_some() {
            cut(&line, room)
        } else {
            line
        }
    }

    /// A line across the page.
    pub fn rule(self) -> String {
        let width = self.width.unwrap_or(usize::MAX).min(58);
        format!("{}\n", "─".repeat(width))
    }
}

/// A foreign name in one line.
pub fn name(text: &str) -> String {
    let shown = shown_line(text, NAME);
    if shown.is_empty() {
        "(no name)".to_owned()
    } else {
        shown
    }
}

/// A foreign name as a word of a command that somebody is told to run.
pub fn word(text: &str) -> String {
    shell_word(&name(text)).into_owned()
}

/// The beginning of a line that has at most so many columns.
pub fn cut(line: &str, columns: usize) -> String {
    if line.width() <= columns {
        return line.to_owned();
    }
    let mut taken = 0;
    let mut shown: String = line
        .chars()
        .take_while(|character| {
            taken += character.width().unwrap_or(0);
            taken < columns
        })
        .collect();
    shown.truncate(shown.trim_end().len());
    shown.push('…');
    shown
}

/// A text filled up with spaces to so many columns.
pub fn padded(text: &str, columns: usize) -> String {
    let missing = columns.saturating_sub(text.width());
    format!("{text}{}", " ".repeat(missing))
}

/// A number with its noun.
pub fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// A number of bytes for people.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KB", "MB", "GB", "TB"];
    if bytes < 1024 {
        return count(usize::try_from(bytes).unwrap_or(usize::MAX), "byte");
    }
    // In tenths, so that no floating point is needed.
    let mut tenths = u128::from(bytes) * 10 / 1024;
    let mut unit = 0;
    while tenths >= 10_240 && unit + 1 < UNITS.len() {
        tenths /= 1024;
        unit += 1;
    }
    format!("{}.{} {}", tenths / 10, tenths % 10, UNITS[unit])
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;

    pub(crate) const PAGE: Page = Page {
        width: Some(80),
        coloured: false,
        speech: Speech::Shell,
    };

    /// A name that tries everything.
    pub(crate) const HOSTILE: &str =
        "\u{1b}[2J\u{1b}]0;owned\u{7}evil\r\nStatus: Connected\u{202e}\u{200b}";

    #[test]
    fn sizes_are_readable() {
        let sizes = [0, 1, 1023, 1024, 1536, 1_048_576, u64::MAX].map(size);
        insta::assert_compact_debug_snapshot!(sizes, @r#"["0 bytes", "1 byte", "1023 bytes", "1.0 KB", "1.5 KB", "1.0 MB", "16777215.9 TB"]"#);
    }

    #[test]
    fn wide_characters_count_as_two_columns() {
        assert_eq!(cut("日本語", 6), "日本語");
        assert_eq!(cut("日本語", 5), "日本…");
        assert_eq!(padded("日", 4), "日  ");
    }

    #[test]
    fn a_name_of_nothing_is_said_to_be_one() {
        assert_eq!(name("\u{200b}\u{1b}[0m"), "(no name)");
        assert_eq!(name(HOSTILE), "evil Status: Connected");
    }

    proptest! {
        #[test]
        fn a_cut_line_fits(text in "\\PC{0,200}", columns in 1_usize..100) {
            prop_assert!(cut(&text, columns).width() <= columns);
        }

        #[test]
        fn no_line_of_a_server_has_controls(text in any::<String>()) {
            let line = PAGE.line(&text, 10);
            prop_assert!(!line.chars().any(char::is_control), "{line:?}");
        }
    }
}
