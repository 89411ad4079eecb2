//! The sentences that people read.

use openclaw_content::shown_line;
use openclaw_conversation::ToolAnswer;
use serde_json::{Map, Value};

use super::choose::Choice;
use super::naming::Naming;
use super::parameters::{Parameter, Shape};
use super::said::said;
use crate::tools::ToolSpec;

/// How many tools are named where none fits.
const NAMED: usize = 5;
/// How much of a description is shown, in characters.
const DESCRIPTION: usize = 100;
/// How much of a name is shown, in characters.
const NAME: usize = 100;
/// How much of a value is shown, in characters.
const VALUE: usize = 60;
/// How many choices of a parameter are shown.
const CHOICES: usize = 8;

/// What stands below every answer.
const CLOSING: &str = "(builtin/offline: this is no language model, it only picks a tool by the \
    words of the message. For real answers set `agents.defaults.model`; see docs/guides/models.md.)";

/// A text with the line below it that says what wrote it.
pub(super) fn closed(text: &str) -> String {
    format!("{}\n\n{CLOSING}", text.trim_end())
}

/// What tools said.
pub(super) fn results(answers: &[&ToolAnswer]) -> String {
    let one = |answer: &&ToolAnswer| {
        let name = answer.called.as_ref().unwrap_or(&answer.name);
        let name = shown_line(name, NAME);
        let said = said(answer);
        match (answer.is_error, said.is_empty()) {
            (false, false) => format!("`{name}` says:\n\n{said}"),
            (false, true) => format!("`{name}` was called and says nothing."),
            (true, false) => format!("`{name}` failed:\n\n{said}"),
            (true, true) => format!("`{name}` failed and does not say why."),
        }
    };
    let texts: Vec<String> = answers.iter().map(one).collect();
    texts.join("\n\n")
}

/// Why no tool is called, and what to say so that one is.
pub(super) fn refusal(choice: &Choice<'_>) -> String {
    match choice {
        Choice::Call { .. } => String::new(),
        Choice::Incomplete { tool, missing } => incomplete(tool, missing),
        Choice::Doubtful {
            tool,
            arguments,
            unused,
        } => doubtful(tool, arguments, unused),
        Choice::Negated { tool, by } => negated(tool, by),
        Choice::Nothing { count: 0, .. } => "There are no tools to answer with. Add an MCP server \
            with `openclaw mcp connect -- COMMAND` or `openclaw mcp connect URL`, and ask again."
            .to_owned(),
        Choice::Nothing { near, count } => nothing(near, *count),
    }
}

/// That there is nothing to search for.
pub(super) fn nothing_said() -> String {
    "The message says nothing that a tool could be found by. Say in a few words what is to be done, \
     or name a tool."
        .to_owned()
}

/// That no tool fits, also of those that were searched for.
pub(super) fn nothing_found(choice: &Choice<'_>) -> String {
    let near = match choice {
        Choice::Nothing { near, .. } => near.as_slice(),
        _ => &[],
    };
    let mut text =
        "No tool clearly fits this message, also after a search among all tools.".to_owned();
    text.push_str(if near.is_empty() {
        "\n"
    } else {
        " Perhaps one of these is meant:\n"
    });
    name_tools(near, &mut text);
    text
}

/// What of a message went nowhere, below a result.
pub(super) fn not_used(unused: &[String]) -> String {
    if unused.is_empty() {
        return String::new();
    }
    format!("\n\nNot used: {}.", listed(unused))
}

fn listed(values: &[String]) -> String {
    let shown = values.iter().map(|value| shown_line(value, VALUE));
    let shown: Vec<String> = shown.map(|value| format!("`{value}`")).collect();
    shown.join(", ")
}

fn doubtful(tool: &ToolSpec, arguments: &Map<String, Value>, unused: &[String]) -> String {
    let name = shown_line(&tool.name, NAME);
    let unused = listed(unused);
    let mut example = name.clone();
    for (key, value) in arguments.iter().take(NAMED) {
        let value = shown_line(&value.to_string(), VALUE);
        example.push_str(&format!(" {}={value}", shown_line(key, NAME)));
    }
    format!(
        "The tool `{name}` fits best, but takes less than the message says, so nothing is called. \
         Not used: {unused}.\n\nIf this is all that is meant, say it like this: `{example}`"
    )
}

fn negated(tool: &ToolSpec, by: &str) -> String {
    let name = shown_line(&tool.name, NAME);
    let by = shown_line(by, VALUE);
    format!(
        "Nothing is called, because the message says `{by}`. If the tool `{name}` is to be called, \
         say so without that word, or begin with the tool's name."
    )
}

/// What is answered where nobody said anything.
pub(super) fn silence() -> String {
    "There is no message to answer.".to_owned()
}

fn incomplete(tool: &ToolSpec, missing: &[Parameter<'_>]) -> String {
    let name = shown_line(&tool.name, NAME);
    let mut text = format!(
        "The tool `{name}` fits, but the message does not say everything that it needs. Missing:\n"
    );
    let mut example = name;
    for parameter in missing {
        let key = shown_line(parameter.name, NAME);
        text.push_str(&format!("- `{key}` ({})", kind(parameter)));
        if !parameter.description.is_empty() {
            let description = shown_line(parameter.description, DESCRIPTION);
            text.push_str(&format!(": {description}"));
        }
        text.push('\n');
        let value = match parameter.shape {
            Shape::Text => "\"…\"",
            Shape::Integer | Shape::Number => "…",
            Shape::Boolean => "true",
            Shape::Texts => "one,two",
            Shape::Other => "{…}",
        };
        example.push_str(&format!(" {key}={value}"));
    }
    text.push_str(&format!("\nSay it like this: `{example}`"));
    text
}

/// What a parameter takes.
fn kind(parameter: &Parameter<'_>) -> String {
    if parameter.choices.is_empty() {
        return parameter.type_name().to_owned();
    }
    let choices = parameter.choices.iter().take(CHOICES);
    let choices: Vec<String> = choices.map(|choice| shown_line(choice, 40)).collect();
    let more = if parameter.choices.len() > CHOICES {
        ", …"
    } else {
        ""
    };
    format!("one of {}{more}", choices.join(", "))
}

fn nothing(near: &[&ToolSpec], count: usize) -> String {
    let tools = if count == 1 { "tool" } else { "tools" };
    let among = if count > NAMED { ", among them" } else { "" };
    let mut text = format!(
        "No tool clearly fits this message. There {} {count} {tools}{among}:\n",
        if count == 1 { "is" } else { "are" }
    );
    name_tools(near, &mut text);
    text
}

/// Names tools that may be meant, and says how to say so.
fn name_tools(near: &[&ToolSpec], text: &mut String) {
    for tool in near.iter().take(NAMED) {
        let name = shown_line(&tool.name, NAME);
        let description = shown_line(Naming::of(tool).description, DESCRIPTION);
        text.push_str(&format!("- `{name}`: {description}\n"));
    }
    text.push_str("\nName the tool, and say its arguments as `key=value`.");
}
