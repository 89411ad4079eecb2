//! Sessions, and what was said in them.

use std::time::SystemTime;

use openclaw_config::shell_word;
use openclaw_content::{shown_line, shown_text};
use openclaw_engine::{
    AskedCall, MediaReport, MessageReport, SessionReport, SessionTranscript, Speaker,
};
use unicode_width::UnicodeWidthStr;

use crate::{Page, Tone, count, cut, expiry, name, padded, size};

/// How long a key can be; it is never cut, since somebody has to be able to give it again.
const KEY: usize = 600;
/// How much of the arguments of a call is shown.
const ARGUMENTS: usize = 200;
/// How many lines of a tool's result are shown, and how long they may be.
const LINES: usize = 12;
const LINE: usize = 300;
/// The widest column of keys.
const WIDEST: usize = 60;

/// The key of a session.
pub fn session_key(key: &str) -> String {
    shown_line(key, KEY)
}

/// The key of a session, as a word of a command.
pub fn session_word(key: &str) -> String {
    shell_word(&session_key(key)).into_owned()
}

/// All sessions.
pub fn sessions(sessions: &[SessionReport], now: SystemTime, page: Page) -> String {
    if sessions.is_empty() {
        return "there are no sessions; `openclaw agent -m TEXT` begins one\n".to_owned();
    }
    let width = |session: &SessionReport| session_key(&session.key).width();
    let column = sessions.iter().map(width).max().unwrap_or_default();
    let column = column.clamp("KEY".len(), WIDEST);
    let title = format!("{}  MESSAGES  UPDATED", padded("KEY", column));
    let mut text = format!("{}\n", page.paint(Tone::Strong, &title));
    for session in sessions {
        let updated = expiry::plain(&session.updated_at);
        let updated = match expiry::ago(&session.updated_at, now) {
            Some(ago) => format!("{ago} ({updated})"),
            None => updated,
        };
        let key = padded(&session_key(&session.key), column);
        text.push_str(&format!("{key}  {:>8}  {updated}\n", session.messages));
    }
    text
}

/// What was said in a session.
pub fn transcript(transcript: &SessionTranscript, page: Page) -> String {
    let title = page.paint(Tone::Strong, &session_key(&transcript.key));
    let number = count(transcript.messages.len(), "message");
    let messages = transcript.messages.iter();
    let messages: String = messages.map(|it| message(it, page)).collect();
    format!("{title} ({number})\n{messages}")
}

fn message(message: &MessageReport, page: Page) -> String {
    let (who, tone) = match message.role {
        Speaker::User => ("user".to_owned(), Tone::Good),
        Speaker::Assistant => ("assistant".to_owned(), Tone::Strong),
        Speaker::Tool => {
            let tool = message.tool_name.as_deref().map(name).unwrap_or_default();
            (format!("tool {tool}"), Tone::Quiet)
        }
        Speaker::Summary => ("summary of what was said before".to_owned(), Tone::Quiet),
    };
    let mut head = page.paint(tone, &who);
    if let Some(model) = &message.model {
        head.push_str(&format!(" ({})", name(model)));
    }
    if message.is_error == Some(true) {
        head.push_str(&format!(" {}", page.paint(Tone::Bad, "failed")));
    }
    head.push_str(&format!(", {}", expiry::plain(&message.time)));
    if message.interrupted {
        let words = "[interrupted: what it called may have had effects]";
        head.push_str(&format!(" {}", page.paint(Tone::Attention, words)));
    }
    if message.failed {
        let words = "[the turn ended with an error]";
        head.push_str(&format!(" {}", page.paint(Tone::Attention, words)));
    }
    if message.running {
        let words = "[still going on]";
        head.push_str(&format!(" {}", page.paint(Tone::Attention, words)));
    }
    let mut text = format!("\n{head}\n");
    let said = shown_text(&message.text);
    match message.role {
        Speaker::Tool => text.push_str(&beginning(&said)),
        Speaker::User | Speaker::Assistant | Speaker::Summary => {
            for line in said.trim_end().lines() {
                text.push_str(format!("  {line}").trim_end());
                text.push('\n');
            }
        }
    }
    text.extend(message.media.iter().map(media));
    text.extend(
        message
            .tool_calls
            .iter()
            .map(|it| call(it, message.running, page)),
    );
    text
}

/// The first lines of a tool's result.
fn beginning(said: &str) -> String {
    let said = said.trim_end();
    let mut text = String::new();
    for line in said.lines().take(LINES) {
        text.push_str(format!("  {}", cut(line, LINE)).trim_end());
        text.push('\n');
    }
    let left = said.lines().count().saturating_sub(LINES);
    if left > 0 {
        let left = count(left, "more line");
        text.push_str(&format!("  … {left}; `openclaw sessions export` has all\n"));
    }
    text
}

fn call(call: &AskedCall, is_running: bool, page: Page) -> String {
    let arguments = shown_line(&call.arguments.to_string(), ARGUMENTS);
    let end = match &call.outcome {
        Some(outcome) if outcome.is_error => {
            let failed = page.paint(Tone::Bad, "failed");
            format!("{failed}, {} ms", outcome.duration_ms)
        }
        Some(outcome) => format!("{} ms", outcome.duration_ms),
        None if is_running => "running".to_owned(),
        None => page.paint(Tone::Attention, "it is not known how it ended"),
    };
    format!("  · {} {arguments} … {end}\n", name(&call.name))
}

fn media(media: &MediaReport) -> String {
    let called = match &media.name {
        Some(called) => format!("{}: ", name(called)),
        None => String::new(),
    };
    format!(
        "  [{called}{}, {}]\n",
        name(&media.mime_type),
        size(media.bytes)
    )
}
