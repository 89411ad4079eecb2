//! How a message can go on: commands, files, sessions and models.

use std::path::{Path, PathBuf};
use std::time::Duration;

use openclaw_content::shown_line;
use openclaw_engine::{CompletionQuery, Engine, ModelsQuery, SessionsQuery};
use tokio::time::timeout;

use crate::commands::chat::own::OWN;
use crate::commands::keyboard::Suggested;

/// How long whoever knows may take: somebody waits with a finger on the key.
const PATIENCE: Duration = Duration::from_millis(300);
/// How many suggestions are shown, and how many files are looked at for them.
const MOST: usize = 100;
const LOOKED_AT: usize = 10_000;
/// How much of a description is shown, and how long a candidate can be.
const DESCRIPTION: usize = 60;
const LONGEST: usize = 500;

/// Tells how a message can go on, as far as that is known in time.
pub(super) async fn suggestions(
    engine: &dyn Engine,
    agent: Option<&str>,
    text: &str,
) -> Vec<Suggested> {
    let asked = asked(engine, agent, text);
    let mut suggested = timeout(PATIENCE, asked).await.unwrap_or_default();
    suggested.truncate(MOST);
    suggested
}

async fn asked(engine: &dyn Engine, agent: Option<&str>, text: &str) -> Vec<Suggested> {
    let Some((command, rest)) = text.strip_prefix('/').and_then(|it| it.split_once(' ')) else {
        return words(engine, agent, text).await;
    };
    let start = text.len() - rest.len();
    match command.to_ascii_lowercase().as_str() {
        "image" | "file" => {
            let typed = rest.to_owned();
            // A directory may be on a machine that does not answer.
            let found = tokio::task::spawn_blocking(move || paths(&typed)).await;
            found
                .unwrap_or_default()
                .into_iter()
                .map(|text| Suggested {
                    start,
                    text,
                    description: None,
                    is_whole: false,
                })
                .collect()
        }
        "session" => sessions(engine, agent, rest, start).await,
        "model" => models(engine, rest, start).await,
        _ => theirs(engine, agent, text).await,
    }
}

/// Commands that begin like this.
async fn words(engine: &dyn Engine, agent: Option<&str>, text: &str) -> Vec<Suggested> {
    let Some(word) = text.strip_prefix('/') else {
        return Vec::new();
    };
    let own = OWN.iter().filter(|(name, ..)| name.starts_with(word));
    let mut all: Vec<Suggested> = own
        .map(|(name, usage, description)| Suggested {
            start: 1,
            text: (*name).to_owned(),
            description: Some((*description).to_owned()),
            is_whole: !usage.is_empty(),
        })
        .collect();
    for it in theirs(engine, agent, text).await {
        let line = format!("{}{}", text.get(..it.start).unwrap_or_default(), it.text);
        let is_own = OWN.iter().any(|(name, ..)| line == format!("/{name}"));
        if !is_own {
            all.push(it);
        }
    }
    all.sort_by(|one, other| one.text.cmp(&other.text));
    all
}

/// What the agent's commands suggest.
async fn theirs(engine: &dyn Engine, agent: Option<&str>, text: &str) -> Vec<Suggested> {
    if !text.starts_with('/') {
        return Vec::new();
    }
    let query = CompletionQuery {
        agent: agent.map(str::to_owned),
        text: text.to_owned(),
    };
    let Ok(report) = engine.complete(query).await else {
        return Vec::new();
    };
    let start = report.start;
    let candidates = report.candidates.into_iter();
    let suggested = candidates.map(|it| Suggested {
        start,
        text: shown_line(&it.text, LONGEST),
        description: it.description.map(|it| shown_line(&it, DESCRIPTION)),
        is_whole: it.is_whole,
    });
    suggested.filter(|it| !it.text.is_empty()).collect()
}

async fn sessions(
    engine: &dyn Engine,
    agent: Option<&str>,
    typed: &str,
    start: usize,
) -> Vec<Suggested> {
    let query = SessionsQuery {
        agent: agent.map(str::to_owned),
    };
    let Ok(report) = engine.sessions(query).await else {
        return Vec::new();
    };
    let keys = report.sessions.into_iter();
    let keys = keys
        .filter(|it| it.key.contains(typed))
        .map(|it| Suggested {
            start,
            text: shown_line(&it.key, LONGEST),
            description: Some(format!("{} messages", it.messages)),
            is_whole: false,
        });
    keys.collect()
}

async fn models(engine: &dyn Engine, typed: &str, start: usize) -> Vec<Suggested> {
    let Ok(report) = engine.models(ModelsQuery { ask: false }).await else {
        return Vec::new();
    };
    let mut names: Vec<String> = report.models.into_iter().map(|it| it.model).collect();
    names.sort();
    names.dedup();
    let names = names.into_iter().filter(|it| it.contains(typed));
    names
        .map(|name| Suggested {
            start,
            text: shown_line(&name, LONGEST),
            description: None,
            is_whole: false,
        })
        .collect()
}

/// Files and directories that begin with what was typed.
fn paths(typed: &str) -> Vec<String> {
    let directory_end = typed.rfind('/').map_or(0, |at| at + 1);
    let (directory, beginning) = typed.split_at(directory_end);
    let place = if directory.is_empty() {
        PathBuf::from(".")
    } else {
        expanded(directory)
    };
    let Ok(entries) = std::fs::read_dir(place) else {
        return Vec::new();
    };
    let mut found: Vec<String> = entries
        .take(LOOKED_AT)
        .filter_map(Result::ok)
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let is_hidden = name.starts_with('.') && !beginning.starts_with('.');
            // What a terminal would act on has to be typed by hand.
            let is_harmless = shown_line(&name, LONGEST) == name;
            if is_hidden || !is_harmless || !name.starts_with(beginning) {
                return None;
            }
            let slash = if entry.path().is_dir() { "/" } else { "" };
            Some(format!("{directory}{name}{slash}"))
        })
        .collect();
    found.sort();
    found
}

/// The path that somebody means: `~` is the home directory, and quotes around it are none of its.
pub(super) fn expanded(typed: &str) -> PathBuf {
    let unquoted = ['"', '\'']
        .into_iter()
        .find_map(|quote| typed.strip_prefix(quote)?.strip_suffix(quote))
        .unwrap_or(typed);
    match unquoted.strip_prefix("~/").zip(std::env::home_dir()) {
        Some((rest, home)) => home.join(rest),
        None => Path::new(unquoted).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_go_on_with_what_is_there() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().to_str().unwrap();
        for name in ["a b.png", "a.txt", ".hidden", "b.txt", "a\u{1b}[2J"] {
            std::fs::write(directory.path().join(name), "").unwrap();
        }
        std::fs::create_dir(directory.path().join("an")).unwrap();
        let found = |typed: &str| -> Vec<String> {
            let found = paths(&format!("{root}/{typed}")).into_iter();
            found
                .map(|it| it.replace(&format!("{root}/"), ""))
                .collect()
        };
        assert_eq!(found("a"), ["a b.png", "a.txt", "an/"]);
        assert_eq!(found(".h"), [".hidden"]);
        assert_eq!(found("nothing"), [""; 0]);
        assert_eq!(found("nowhere/x"), [""; 0]);
    }

    #[test]
    fn quotes_are_no_part_of_a_path() {
        assert_eq!(expanded("'a b'"), Path::new("a b"));
        assert_eq!(expanded("\"a b\""), Path::new("a b"));
        assert_eq!(expanded("it's"), Path::new("it's"));
        let home = std::env::home_dir().unwrap();
        assert_eq!(expanded("~/x"), home.join("x"));
    }
}
