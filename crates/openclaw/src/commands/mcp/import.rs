//! Servers of other MCP clients: found, and written to the configuration.

use openclaw_engine::ImportRequest;
use openclaw_import::{Found, Source};

use crate::cli::ImportOptions;
use crate::commands::Session;
use crate::commands::configuration::usable_config;
use crate::commands::engine::awaited;
use crate::commands::gateway;
use crate::commands::mcp::waiting::Patience;
use crate::failure::{Exit, Failure};
use crate::render::{self, Imported};

pub(super) fn run(session: &mut Session<'_>, options: &ImportOptions) -> Result<Exit, Failure> {
    let imported = awaited(import(session, options))?;
    if !options.dry_run {
        gateway::tell_of_changes(session)?;
    }
    imported
}

async fn import(session: &mut Session<'_>, options: &ImportOptions) -> Result<Exit, Failure> {
    let source = match &options.from {
        None => Source::All,
        Some(text) => text
            .parse()
            .map_err(|error| Failure::usage("usage", format!("`--from`: {error}")))?,
    };
    let definitions = session.definitions()?;
    let found = definitions.found(source.clone()).await?;
    check_presence(&source, &found)?;
    let known = usable_config(session)?;
    let request = ImportRequest {
        servers: None,
        rehearse: options.dry_run,
        replace: options.force,
        keyring: !options.no_keyring,
    };
    let mut patience = Patience::default();
    let mut waiting = patience.with(session.output);
    let imports = definitions.import(&found, known, &request, &mut waiting);
    let imports = Box::pin(imports).await?;
    let imported = Imported {
        files: &imports.report.files,
        is_rehearsal: options.dry_run,
    };
    if options.json.wanted {
        session.output.print_json(&imported.json())?;
    } else {
        let config = session.location()?.config.display().to_string();
        let text = render::import(&imported, &config, session.output.page());
        session.output.print(&text)?;
    }
    session.output.warn(&imports.report.warnings)?;
    if imports.is_stopped {
        patience.ended()?;
    }
    let is_useless = source != Source::All && imported.is_nothing_but_problems();
    Ok(if imports.unwritten > 0 || is_useless {
        Exit::Failed
    } else {
        Exit::Done
    })
}

/// A source that was named has to be there; whether it can be used is another question.
fn check_presence(source: &Source, found: &[Found]) -> Result<(), Failure> {
    let is_there = |file: &Found| !file.servers.is_empty() || file.path.exists();
    if *source == Source::All || found.iter().any(is_there) {
        return Ok(());
    }
    let problems = found.iter().flat_map(|file| &file.problems);
    let problems: Vec<&str> = problems.map(String::as_str).collect();
    Err(Failure::usage("unknown-source", problems.join("\n")))
}
