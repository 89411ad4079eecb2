//! A configuration that has a new server and nothing else to start.

use std::io::Write as _;
use std::sync::Arc;

use openclaw_config::{
    Config, Definition, Kind, Loaded, Location, Problem, SecretProviderSettings, load,
};
use openclaw_engine::EngineFailure;
use openclaw_secret_stores::Remark;
use openclaw_secrets::{Learned, Secret, contains_secret_uri, looks_like_credential};
use serde_json::{Map, Value as Json, json};

use crate::credentials::credentials;
use crate::definitions::Definitions;
use crate::typed::NewServer;

/// A new server by itself.
#[derive(Debug)]
pub struct Trial {
    /// A configuration that has nothing else to start.
    pub config: Config,
    /// What a person should know about it as it is written.
    pub warnings: Vec<String>,
    /// What a person should know about its credentials, wherever they are kept.
    pub remarks: Vec<String>,
}

impl Definitions {
    /// A configuration of the new server alone, with the places of `known` that secrets come from.
    ///
    /// Errors in it are a failure; the rest is for the caller to tell, the warning of FR-5 about
    /// credentials in plain text among it.
    pub async fn judged(&self, server: &NewServer, known: &Config) -> Result<Trial, EngineFailure> {
        let (server, known) = (server.clone(), known.clone());
        self.elsewhere(move |it| judged(it, &server, &known))
            .await?
    }
}

fn judged(
    definitions: &Definitions,
    server: &NewServer,
    known: &Config,
) -> Result<Trial, EngineFailure> {
    let remarks = learn(definitions, server);
    let servers = json!({ server.name.as_str(): server.entry });
    let text = json!({
        "mcp": { "servers": servers },
        "secrets": { "providers": provider_kinds(known) },
    });
    let loaded = load_text(definitions, &text.to_string())?;
    definitions.learn(&loaded);
    let name = server.name.as_str();
    let errors: Vec<String> = loaded
        .report
        .errors()
        .map(|problem| sentence(problem, name))
        .collect();
    match loaded.config {
        Some(mut config) if errors.is_empty() => {
            config.secrets = Arc::clone(&known.secrets);
            config.environment = Arc::clone(&known.environment);
            let warnings = loaded.report.warnings();
            let own = warnings.filter(|problem| problem.server().is_some());
            Ok(Trial {
                warnings: own.map(|problem| words(problem, name)).collect(),
                remarks,
                config,
            })
        }
        _ => Err(EngineFailure::asker("config", errors.join("\n"))),
    }
}

/// A warning with what to do about it. That of FR-5 has no field in its words.
pub(crate) fn words(problem: &Problem, server: &str) -> String {
    let field = match problem.kind() {
        Kind::PlaintextCredential => field(problem, server),
        _ => None,
    };
    let field = field.map_or(String::new(), |field| format!(" ({field})"));
    format!("{}{field}{}", problem.message(), help(problem))
}

/// What is wrong, with the field of the server that it is about, and what to do.
fn sentence(problem: &Problem, server: &str) -> String {
    let field = field(problem, server).map_or(String::new(), |field| format!("{field}: "));
    format!("{field}{}{}", problem.message(), help(problem))
}

fn help(problem: &Problem) -> String {
    let help = problem.help_text();
    help.map_or(String::new(), |help| format!(": {help}"))
}

/// The field of a server that a problem is about.
fn field(problem: &Problem, server: &str) -> Option<String> {
    let path = problem.path().to_string();
    let place = path.strip_prefix("mcp.servers").unwrap_or(&path);
    // Names that are not plain words are quoted.
    let names = [format!(".{server}"), format!("[{server:?}]")];
    let field = names.iter().find_map(|name| place.strip_prefix(name));
    let field = field.unwrap_or(&path);
    let field = field.trim_start_matches('.');
    (!field.is_empty()).then(|| field.to_owned())
}

/// Keeps the credentials of a definition out of every output, and says which can't be.
fn learn(definitions: &Definitions, server: &NewServer) -> Vec<String> {
    let entry = &server.entry.0;
    let mut remarks = Vec::new();
    for credential in credentials(entry) {
        let learned = definitions.redactor().learn(&credential.value);
        if matches!(learned, Learned::TooShort | Learned::CommonWord) {
            let name = openclaw_render::name(server.name.as_str());
            remarks.push(format!(
                "{} of {name}: {}: {}",
                credential.field,
                Remark::NotHidden,
                Remark::NotHidden.fix()
            ));
        }
    }
    let values = ["headers", "env"]
        .into_iter()
        .filter_map(|key| entry.get(key).and_then(Json::as_object))
        .flatten();
    for (name, value) in values {
        if let Some(value) = value.as_str()
            && looks_like_credential(name, value)
            // Where a secret is kept is no secret.
            && !contains_secret_uri(value)
        {
            // What is too short or too common to be told apart stays readable.
            let _ = definitions.redactor().learn(&Secret::new(value));
        }
    }
    remarks
}

/// Stand-ins for the places that secrets come from: a definition is judged by their kinds alone.
fn provider_kinds(config: &Config) -> Json {
    config
        .secrets
        .providers
        .iter()
        .filter_map(|(name, provider)| {
            let stand_in = match provider {
                Definition::Broken(_) => return None,
                Definition::Sound(provider) => match &**provider {
                    SecretProviderSettings::Environment { .. } => json!({ "source": "env" }),
                    SecretProviderSettings::File { path, .. } => {
                        json!({ "source": "file", "path": path })
                    }
                    SecretProviderSettings::Exec(program) => {
                        json!({ "source": "exec", "command": program.command })
                    }
                },
            };
            Some((name.clone(), stand_in))
        })
        .collect::<Map<String, Json>>()
        .into()
}

/// Loads a text as a configuration. It has to be a file, which its owner alone can read and which
/// is gone before anything else is done.
fn load_text(definitions: &Definitions, text: &str) -> Result<Loaded, EngineFailure> {
    let failed = |error: std::io::Error| {
        let message = format!("cannot write a temporary file: {error}");
        EngineFailure::operation("state", message)
    };
    let location = definitions.location();
    // Looking at something is no reason to make a state directory.
    let directory = if location.state.is_dir() {
        definitions.state()?.path().to_owned()
    } else {
        std::env::temp_dir()
    };
    let mut file = tempfile::Builder::new()
        .prefix(".openclaw-")
        .suffix(".json")
        .tempfile_in(directory)
        .map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    let location = Location {
        config: file.path().to_owned(),
        ..location.clone()
    };
    Ok(load(&location, definitions.environment()))
}
