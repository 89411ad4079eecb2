//! What a model is told of skills before it reads one.

use std::fmt::Write as _;

use openclaw_content::definition_text;

use crate::skill::Skill;

/// How many skills are named.
const MOST_SKILLS: usize = 100;
/// How much of a description is shown, in bytes.
const DESCRIPTION_BYTES: usize = 512;
/// How long all of it may be, in bytes.
const MOST_BYTES: usize = 24 << 10;

/// The skills that apply and that models may use, for the system prompt; nothing where there are none.
///
/// They stand in the order of their names, so that the text changes only when they do.
pub fn prompt_block(skills: &[Skill]) -> String {
    let mut usable: Vec<&Skill> = skills
        .iter()
        .filter(|skill| skill.applies() && skill.model_invocable)
        .collect();
    usable.sort_by(|one, other| one.name.cmp(&other.name));
    let mut lines = String::new();
    let mut shown = 0;
    for skill in usable.iter().take(MOST_SKILLS) {
        let description = definition_text(&skill.description, DESCRIPTION_BYTES).text;
        let (name, description) = (escaped(&skill.name), escaped(description.as_str()));
        let line = format!("  <skill name=\"{name}\">{description}</skill>\n");
        if lines.len() + line.len() > MOST_BYTES {
            break;
        }
        lines.push_str(&line);
        shown += 1;
    }
    if usable.is_empty() {
        return String::new();
    }
    if shown < usable.len() {
        // Writing to a String can't fail.
        let _ = writeln!(lines, "  ({} more are not listed)", usable.len() - shown);
    }
    format!(
        "Skills are instructions for certain tasks. Before you begin with a task that one of these \
         describes, read it with the tool `read_skill`, and then do as it says.\n\
         <available-skills>\n{lines}</available-skills>"
    )
}

/// A text that can't end the element that it stands in.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
