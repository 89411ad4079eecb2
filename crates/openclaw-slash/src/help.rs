//! `/help`

use openclaw_content::shown_line;
use openclaw_engine::{CommandOrigin, CommandReport};

/// Commands that are there always, with what they do and what can follow them.
pub const BUILTIN: [(&str, &str, &str); 3] = [
    ("help", "lists the commands", ""),
    (
        "mcp",
        "manages MCP servers; `/mcp help` lists what it can do",
        "COMMAND",
    ),
    ("skill", "uses a skill, or lists them", "[NAME] [TEXT]"),
];

/// Names that no skill gets: those above, and those of conversations in a terminal.
pub const TAKEN: [&str; 12] = [
    "exit", "file", "help", "history", "image", "mcp", "model", "new", "quit", "session",
    "sessions", "skill",
];

/// How wide a command with what can follow it is, at most.
const WIDEST: usize = 40;

/// All commands, a line each.
pub fn help(commands: &[CommandReport]) -> String {
    let mut text = String::new();
    for (origin, title) in [
        (CommandOrigin::Builtin, "Commands"),
        (CommandOrigin::Skill, "Skills"),
        (CommandOrigin::Prompt, "Prompts of MCP servers"),
    ] {
        let commands: Vec<(String, String)> = commands
            .iter()
            .filter(|command| command.origin == origin)
            .map(|command| {
                let usage = command.usage.as_deref().unwrap_or_default();
                let call = shown_line(&format!("/{} {usage}", command.name), 200);
                (
                    call.trim_end().to_owned(),
                    shown_line(&command.description, 200),
                )
            })
            .collect();
        let lengths = commands.iter().map(|(call, _)| call.chars().count());
        let Some(column) = lengths.max() else {
            continue;
        };
        let column = column.min(WIDEST);
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&format!("{title}\n"));
        for (call, description) in commands {
            let filled = " ".repeat(column.saturating_sub(call.chars().count()));
            text.push_str(format!("  {call}{filled}  {description}").trim_end());
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_stand_by_where_they_come_from() {
        let command = |name: &str, usage: &str, origin| CommandReport {
            name: name.to_owned(),
            description: format!("does {name}\u{1b}[2J"),
            usage: Some(usage.to_owned()).filter(|it| !it.is_empty()),
            origin,
        };
        let text = help(&[
            command("help", "", CommandOrigin::Builtin),
            command("mcp", "COMMAND", CommandOrigin::Builtin),
            command("git:review", "pr=…", CommandOrigin::Prompt),
        ]);
        insta::assert_snapshot!(text, @r"
        Commands
          /help         does help
          /mcp COMMAND  does mcp

        Prompts of MCP servers
          /git:review pr=…  does git:review
        ");
    }
}
