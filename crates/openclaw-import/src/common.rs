//! The fields that programs and addresses share.

use serde_json::{Map, Value};

use crate::client::Client;
use crate::draft::{Draft, flaw};
use crate::fields::Fields;
use crate::printable::printable;
use crate::variables::Template;

/// How long a time may be in `openclaw.json`, in milliseconds.
const LONGEST: f64 = 4_294_967_295.0;

/// Reads whether the server is used, how long things may take and which tools are offered.
pub(crate) fn common(draft: &mut Draft<'_>, fields: &mut Fields) {
    enabled(draft, fields);
    times(draft, fields);
    if let Some(value) = fields.take("supports_parallel_tool_calls") {
        match value {
            Value::Bool(parallel) => draft.set("supportsParallelToolCalls", parallel),
            other => draft.note_type("supports_parallel_tool_calls", "a boolean", &other),
        }
    }
    tools(draft, fields);
    // It repeats the key under which the server stands.
    fields.take("name");
    let left: Vec<String> = fields
        .left()
        .map(|name| format!("`{}`", printable(name)))
        .collect();
    for chunk in left.chunks(10) {
        draft.note(format!(
            "left out, since openclaw has no equivalent: {}",
            chunk.join(", ")
        ));
    }
}

fn enabled(draft: &mut Draft<'_>, fields: &mut Fields) {
    let mut is_off = false;
    for (field, off) in [("enabled", false), ("disabled", true)] {
        match fields.take(field) {
            None => {}
            Some(Value::Bool(value)) => is_off |= value == off,
            Some(other) => draft.note_type(field, "a boolean", &other),
        }
    }
    if is_off {
        draft.set("enabled", false);
    }
}

fn times(draft: &mut Draft<'_>, fields: &mut Fields) {
    // Where both are given, Codex takes the seconds.
    let connection = [("startup_timeout_sec", 1000.0), ("startup_timeout_ms", 1.0)];
    for (field, unit) in connection {
        if let Some(value) = fields.take(field)
            && !draft.entry.contains_key("connectionTimeoutMs")
        {
            time(draft, "connectionTimeoutMs", (field, unit, &value));
        }
    }
    if let Some(value) = fields.take("tool_timeout_sec") {
        time(
            draft,
            "requestTimeoutMs",
            ("tool_timeout_sec", 1000.0, &value),
        );
    }
    if let Some(value) = fields.take("timeout") {
        // Some clients count in seconds and some in milliseconds; only of one it is known.
        if draft.origin.client == Client::ClaudeCode {
            time(draft, "requestTimeoutMs", ("timeout", 1.0, &value));
        } else {
            draft.note(
                "`timeout` is left out: set `requestTimeoutMs` or `connectionTimeoutMs`, in \
                 milliseconds",
            );
        }
    }
}

fn time(draft: &mut Draft<'_>, key: &str, (field, unit, value): (&str, f64, &Value)) {
    let milliseconds = value.as_f64().map(|number| (number * unit).round());
    match milliseconds {
        Some(number) if (1.0..=LONGEST).contains(&number) => {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "the range has been checked"
            )]
            draft.set(key, number as u64);
        }
        _ => draft.note(format!(
            "`{field}` is left out: it is no time that openclaw can wait"
        )),
    }
}

fn tools(draft: &mut Draft<'_>, fields: &mut Fields) {
    let mut filter = Map::new();
    let included = fields.take_any(&["enabled_tools", "enabledTools", "includeTools"]);
    let included = included.and_then(|(field, value)| names(draft, field, &value));
    let mut excluded = fields
        .take_any(&["disabled_tools", "disabledTools", "excludeTools"])
        .and_then(|(field, value)| names(draft, field, &value))
        .unwrap_or_default();
    if let Some(included) = included {
        if included.is_empty() {
            // An empty list means every tool here, and none there; the same goes for one of which
            // nothing could be read.
            excluded = vec!["*".to_owned()];
        } else {
            filter.insert("include".to_owned(), included.into());
        }
    }
    if !excluded.is_empty() {
        filter.insert("exclude".to_owned(), excluded.into());
    }
    draft.set_filled("toolFilter", filter);
}

/// Names of tools; nothing is filled in there.
fn names(draft: &mut Draft<'_>, field: &str, value: &Value) -> Option<Vec<String>> {
    let Value::Array(elements) = value else {
        draft.note_type(field, "an array", value);
        return None;
    };
    let name = |element: &Value| {
        let name = element.as_str()?;
        let is_name = !name.is_empty() && flaw(name).is_none();
        is_name.then(|| Template::literal(name).render())
    };
    let names: Vec<String> = elements.iter().filter_map(name).collect();
    if names.len() < elements.len() {
        draft.note(format!(
            "`{field}` contains something that is no name of a tool, left out"
        ));
    }
    Some(names)
}
