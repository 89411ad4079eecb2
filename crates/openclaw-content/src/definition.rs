//! Texts of a definition: descriptions, titles, what stands in a schema.

use crate::detect::Detections;
use crate::frame::examine;
use crate::model_text::ModelText;
use crate::origin::clean_server;
use crate::strip::strip;

/// How much of a description is shown, in bytes.
pub const DESCRIPTION_BYTES: usize = 2048;

/// How much of a title is shown, in bytes.
pub const TITLE_BYTES: usize = 128;

/// A text of a definition, and what there is to say about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Defined {
    /// What the model reads.
    pub text: ModelText,
    /// What should be logged.
    pub detections: Detections,
    /// Whether something was left out.
    pub is_cut: bool,
}

/// Makes a description fit for a model: capped, neutralised, headed by the server's name.
pub fn description(server: &str, text: &str) -> Defined {
    defined(prefix(server), text, DESCRIPTION_BYTES)
}

/// Makes a title fit for a model, in the same way and on one line.
pub fn title(server: &str, text: &str) -> Defined {
    let mut line = strip(
        text.get(..text.floor_char_boundary(4 * TITLE_BYTES))
            .unwrap_or_default(),
    )
    .text
    .into_owned();
    line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut defined = defined(prefix(server), &line, TITLE_BYTES);
    defined.is_cut |= text.len() > 4 * TITLE_BYTES;
    defined
}

/// Makes another text of a definition fit for a model: a description or a value within a schema.
///
/// It is capped and neutralised and has no heading, for it stands within something that has one.
pub fn definition_text(text: &str, bytes: usize) -> Defined {
    defined(String::new(), text, bytes)
}

fn prefix(server: &str) -> String {
    format!("[MCP server: {}] ", clean_server(server))
}

fn defined(mut out: String, text: &str, bytes: usize) -> Defined {
    let end = text.floor_char_boundary(bytes);
    let is_cut = end < text.len();
    let stripped = strip(text.get(..end).unwrap_or_default());
    let (neutral, detections) = examine(&stripped.text, stripped.hid_text);
    out.push_str(neutral.trim());
    if is_cut {
        out.push('…');
    }
    Defined {
        text: ModelText::bare(out),
        detections,
        is_cut,
    }
}
