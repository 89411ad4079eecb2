//! The fields of a server that is a program.

use std::path::{Path, is_separator};

use serde_json::{Map, Value};

use crate::client::Scope;
use crate::draft::{Draft, Refusal, flaw};
use crate::fields::{Fields, kind};
use crate::printable::printable;
use crate::variables::Template;

/// Fields that only a server at an address has.
const OF_ADDRESSES: [&str; 10] = [
    "headers",
    "http_headers",
    "env_http_headers",
    "bearer_token",
    "bearer_token_env_var",
    "headersHelper",
    "oauth",
    "auth",
    "scopes",
    "oauth_resource",
];

/// Reads the fields of a program.
pub(crate) fn program(
    draft: &mut Draft<'_>,
    fields: &mut Fields,
    command: &Value,
) -> Result<(), Refusal> {
    let template = draft.needed_text(command, "command")?;
    let args = arguments(draft, fields.take("args"))?;
    if is_own(&template.render(), &args) {
        return Err("it is openclaw's own server".to_owned());
    }
    if args.iter().any(|argument| is_bridge(argument)) {
        draft.note(
            "`mcp-remote` only connects to an address, which openclaw does itself: write `url` in \
             place of `command` and `args`",
        );
    }
    let command = beside_the_project(draft, &template);
    draft.set("command", command);
    if !args.is_empty() {
        draft.set("args", args);
    }
    let variables = environment(draft, fields.take("env"))?;
    draft.set_filled("env", variables);
    inherited(draft, fields.take("env_vars"));
    directory(draft, fields.take("cwd"));
    if let Some((name, file)) = fields.take_any(&["envFile", "env_file"]) {
        let file = draft.optional_text(&file, name);
        let file = file.map(|file| format!(" of `{}`", printable(&file.sample())));
        draft.note(format!(
            "the variables{} are not taken over: add those that the server needs to `env`",
            file.unwrap_or_default()
        ));
    }
    for field in OF_ADDRESSES {
        if fields.take(field).is_some() {
            draft.note(format!(
                "`{field}` has no effect on a program and is left out"
            ));
        }
    }
    Ok(())
}

fn arguments(draft: &mut Draft<'_>, value: Option<Value>) -> Result<Vec<String>, Refusal> {
    let elements = match value {
        None => return Ok(Vec::new()),
        Some(Value::Array(elements)) => elements,
        Some(other) => return Err(format!("`args` is {}, not an array", kind(&other))),
    };
    let mut arguments = Vec::with_capacity(elements.len());
    for element in elements {
        let argument = match element {
            Value::String(text) => draft.origin.fill(&text, "args", &mut draft.notes).render(),
            Value::Number(_) | Value::Bool(_) => element.to_string(),
            other => {
                return Err(format!(
                    "`args` contains {}, not only strings",
                    kind(&other)
                ));
            }
        };
        if let Some(flaw) = flaw(&argument) {
            return Err(format!("`args` {flaw}"));
        }
        arguments.push(argument);
    }
    Ok(arguments)
}

/// Whether a program is `openclaw` as a server, started by itself or by another program.
///
/// Importing it would make the agent a tool of itself.
fn is_own(command: &str, args: &[String]) -> bool {
    let is_openclaw = |word: &str| {
        let name = word.rsplit(['/', '\\']).next().unwrap_or_default();
        let name = name.to_ascii_lowercase();
        let name = name.split_once('@').map_or(name.as_str(), |(name, _)| name);
        let suffixes = [".exe", ".cmd"];
        let bare = suffixes.iter().find_map(|suffix| name.strip_suffix(suffix));
        bare.unwrap_or(name) == "openclaw"
    };
    let mut words = std::iter::once(command).chain(args.iter().map(String::as_str));
    if !words.any(is_openclaw) {
        return false;
    }
    let rest: Vec<&str> = words.collect();
    rest.contains(&"mcp-server") || rest.windows(2).any(|pair| pair == ["mcp", "serve"])
}

/// Whether an argument names the program that clients without HTTP use.
fn is_bridge(argument: &str) -> bool {
    argument == "mcp-remote" || argument.starts_with("mcp-remote@")
}

/// A program that is named by its place in the project, named by its place on the machine.
fn beside_the_project(draft: &mut Draft<'_>, command: &Template) -> String {
    let rendered = command.render();
    let (Scope::Project, Some(text)) = (draft.origin.scope, command.plain()) else {
        return rendered;
    };
    if !text.contains(is_separator) || text.starts_with('~') || Path::new(text).is_absolute() {
        return rendered;
    }
    let path = draft.origin.workspace.join(text.trim_start_matches("./"));
    let Some(absolute) = path.to_str() else {
        return rendered;
    };
    draft.note(format!(
        "`command` is relative to the project, and is written as `{}`",
        printable(absolute)
    ));
    Template::literal(absolute).render()
}

fn environment(draft: &mut Draft<'_>, value: Option<Value>) -> Result<Map<String, Value>, Refusal> {
    let entries = match value {
        None => return Ok(Map::new()),
        Some(Value::Object(entries)) => entries,
        Some(other) => return Err(format!("`env` is {}, not an object", kind(&other))),
    };
    let mut environment = Map::new();
    for (name, value) in entries {
        let field = format!("env.{}", printable(&name));
        if !is_variable_name(&name) {
            draft.note(format!(
                "`{field}` is left out: this is no name of a variable"
            ));
        } else if value.is_null() {
            draft.note(format!(
                "`{field}` takes a variable away, and is left out: openclaw hands over only what \
                 is named"
            ));
        } else if let Some(value) = draft.credential(&value, &field) {
            environment.insert(name, value);
        }
    }
    Ok(environment)
}

/// Whether a variable can have this name here; `$include` would stand for a file.
fn is_variable_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(['=', '\0']) && name != "$include"
}

/// Variables that are handed over by name.
fn inherited(draft: &mut Draft<'_>, value: Option<Value>) {
    let elements = match value {
        None => return,
        Some(Value::Array(elements)) => elements,
        Some(other) => return draft.note_type("env_vars", "an array", &other),
    };
    let mut names = Vec::new();
    for element in elements {
        let name = match &element {
            Value::Object(variable) => variable.get("name"),
            other => Some(other),
        };
        let is_remote = element
            .get("source")
            .is_some_and(|source| source == "remote");
        match name.and_then(Value::as_str) {
            Some(_) if is_remote => draft.note(
                "`env_vars` names a variable of another machine, and it is left out".to_owned(),
            ),
            Some(name) if is_variable_name(name) && flaw(name).is_none() => {
                names.push(Template::literal(name).render());
            }
            _ => draft.note("`env_vars` contains something that is no name, left out".to_owned()),
        }
    }
    if !names.is_empty() {
        draft.set("inheritEnv", names);
    }
}

/// The working directory: as it is given, else the project, where the file speaks for one.
fn directory(draft: &mut Draft<'_>, value: Option<Value>) {
    let workspace = draft.origin.workspace;
    let given = value.and_then(|value| draft.optional_text(&value, "cwd"));
    let path = match (&given, draft.origin.scope) {
        (None, Scope::User) => return,
        (None, Scope::Project) => workspace.to_owned(),
        (Some(template), _) => {
            let sample = template.sample();
            let stays = template.begins_with_variable()
                || sample.starts_with('~')
                || Path::new(&sample).is_absolute();
            match template.plain() {
                Some(text) if !stays => workspace.join(text.trim_start_matches("./")),
                _ => return draft.set("cwd", template.render()),
            }
        }
    };
    let Some(text) = path
        .to_str()
        .filter(|text| flaw(text).is_none() && !text.is_empty())
    else {
        return draft.note("`cwd` is left out: the path of the project is not a text".to_owned());
    };
    draft.note(match given {
        Some(_) => format!("`cwd` is relative, and is written as `{}`", printable(text)),
        None => format!(
            "it is started in the project: `cwd` is `{}`",
            printable(text)
        ),
    });
    draft.set("cwd", Template::literal(text).render());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_server_is_known_in_all_its_spellings() {
        let own = |command: &str, args: &[&str]| {
            let args: Vec<String> = args.iter().map(|text| (*text).to_owned()).collect();
            is_own(command, &args)
        };
        assert!(own("openclaw", &["mcp-server"]));
        assert!(own(
            "/usr/bin/openclaw",
            &["--profile", "x", "mcp", "serve"]
        ));
        assert!(own("C:\\bin\\OpenClaw.exe", &["mcp-server", "-v"]));
        assert!(own("npx", &["-y", "openclaw@latest", "mcp-server"]));
        assert!(!own("openclaw", &["acp"]));
        assert!(!own("openclaw-other", &["mcp-server"]));
        assert!(!own("npx", &["mcp-server"]));
    }
}
