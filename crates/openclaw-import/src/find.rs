//! From a source to what was found.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::client::{Client, Scope};
use crate::document::{DocumentError, read};
use crate::fields::kind;
use crate::places::{Place, places, project_of};
use crate::printable::{Messages, printable};
use crate::section::{Section, recognise, sections};
use crate::source::Source;
use crate::surroundings::Surroundings;
use crate::translate::translate;
use crate::variables::Origin;

/// How many servers of one file are taken over; nobody has more by intention.
const MOST: usize = 1000;

/// What was found in one file.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Whose file it is, as people call it.
    pub client: String,
    /// The file.
    pub path: PathBuf,
    /// Its servers, in its order.
    pub servers: Vec<ImportedServer>,
    /// What could not be used, and why.
    pub problems: Vec<String>,
}

/// A server as an entry for `mcp.servers`.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedServer {
    /// A name that `openclaw.json` takes; servers of several files may have the same.
    pub name: String,
    /// Its settings.
    pub entry: Map<String, Value>,
    /// What the entry does not say, or says differently.
    pub notes: Vec<String>,
}

/// Reads the servers of a source.
///
/// Without a named source, files that are not there go unmentioned.
pub fn find(source: &Source, surroundings: &Surroundings) -> Vec<Found> {
    match source {
        Source::All => Client::ALL
            .into_iter()
            .flat_map(|client| of_client(client, surroundings))
            .collect(),
        Source::Path(path) => vec![of_path(path, surroundings)],
        _ => {
            let Some(client) = source.client() else {
                return Vec::new();
            };
            let found = of_client(client, surroundings);
            if found.is_empty() {
                return vec![nothing(client, surroundings)];
            }
            found
        }
    }
}

/// A named client without files.
fn nothing(client: Client, surroundings: &Surroundings) -> Found {
    let places = places(client, surroundings);
    let looked: Vec<String> = places
        .iter()
        .map(|place| format!("`{}`", place.path.display()))
        .collect();
    let problem = format!(
        "there are no servers of {}; looked at: {}",
        client.title(),
        looked.join(", ")
    );
    Found {
        client: client.title().to_owned(),
        path: places
            .into_iter()
            .next()
            .map(|place| place.path)
            .unwrap_or_default(),
        servers: Vec::new(),
        problems: vec![problem],
    }
}

fn of_client(client: Client, surroundings: &Surroundings) -> Vec<Found> {
    places(client, surroundings)
        .into_iter()
        .flat_map(|place| match read(&place.path) {
            Ok(Value::Object(document)) => of_document(&place, &document, surroundings),
            Ok(other) => vec![unusable(&place, not_an_object(&other))],
            Err(DocumentError::Missing) => Vec::new(),
            Err(DocumentError::Unusable(problem)) => vec![unusable(&place, problem)],
        })
        .collect()
}

fn of_path(path: &Path, surroundings: &Surroundings) -> Found {
    let mut place = Place {
        client: Client::Unknown,
        path: surroundings.directory.join(path),
        scope: Scope::User,
    };
    let document = match read(&place.path) {
        Ok(Value::Object(document)) => document,
        Ok(other) => return unusable(&place, not_an_object(&other)),
        Err(DocumentError::Missing) => {
            let problem = format!(
                "there is no file `{}`; clients are named {}",
                place.path.display(),
                Source::NAMES.join(", ")
            );
            return unusable(&place, problem);
        }
        Err(DocumentError::Unusable(problem)) => return unusable(&place, problem),
    };
    place.client = recognise(&place.path, &document);
    let project = project_of(&place.path);
    let is_hidden = place.path.parent() != Some(project);
    let is_of_project = is_hidden
        || place
            .path
            .file_name()
            .is_some_and(|name| name == ".mcp.json");
    if is_of_project && project != surroundings.home {
        place.scope = Scope::Project;
    }
    let mut found = of_document(&place, &document, surroundings).into_iter();
    let Some(mut first) = found.next() else {
        let problem = "no servers stand there: expected `mcpServers`, `servers`, `mcp.servers` or \
                       `mcp_servers`";
        return unusable(&place, problem.to_owned());
    };
    for more in found {
        first.servers.extend(more.servers);
        first.problems.extend(more.problems);
    }
    first
}

fn unusable(place: &Place, problem: String) -> Found {
    Found {
        client: place.client.title().to_owned(),
        path: place.path.clone(),
        servers: Vec::new(),
        problems: vec![problem],
    }
}

fn not_an_object(value: &Value) -> String {
    format!("the file holds {}, not an object", kind(value))
}

fn of_document(
    place: &Place,
    document: &Map<String, Value>,
    surroundings: &Surroundings,
) -> Vec<Found> {
    let here = (surroundings.directory.as_path(), surroundings.platform);
    sections(place.client, document, &place.path, here)
        .iter()
        .map(|section| of_section(place, section, surroundings))
        .collect()
}

fn of_section(place: &Place, section: &Section<'_>, surroundings: &Surroundings) -> Found {
    let mut problems = Messages::default();
    let mut servers = Vec::new();
    let origin = Origin {
        client: place.client,
        scope: section.scope.unwrap_or(place.scope),
        // A section for the current directory stands in a file of the user.
        workspace: match place.scope {
            Scope::Project => project_of(&place.path),
            Scope::User => &surroundings.directory,
        },
        home: &surroundings.home,
        inputs: &section.inputs,
        variables: &surroundings.variables,
    };
    match section.servers {
        Value::Object(entries) => {
            for (name, value) in entries.iter().take(MOST) {
                match translate(name, value, origin) {
                    Ok(server) => servers.push(server),
                    Err(reason) => {
                        problems.add(format!("`{}` is left out: {reason}", printable(name)));
                    }
                }
            }
            if entries.len() > MOST {
                problems.add(format!("only the first {MOST} servers are taken over"));
            }
        }
        // An empty setting.
        Value::Null => {}
        other => problems.add(format!(
            "`{}` is {}, not an object",
            section.key,
            kind(other)
        )),
    }
    Found {
        client: place.client.title().to_owned(),
        path: place.path.clone(),
        servers,
        problems: problems.into_list(),
    }
}
