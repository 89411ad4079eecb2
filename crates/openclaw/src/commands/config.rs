//! `openclaw config …`

use openclaw_config::{Loaded, Problem, Report, schema};
use openclaw_definitions::ProblemWords;
use openclaw_engine::ConfigurationProblem;
use openclaw_secrets::Redactor;
use serde_json::{Value as Json, json};

use crate::cli::ConfigCommand;
use crate::commands::Session;
use crate::commands::configuration::{find_agent, usable_config};
use crate::failure::{Exit, Failure};

pub(super) fn run(session: &mut Session<'_>, command: ConfigCommand) -> Result<Exit, Failure> {
    match command {
        ConfigCommand::Validate { json } => validate(session, json.wanted),
        ConfigCommand::Show { agent, json: _ } => show(session, agent.as_deref()),
        ConfigCommand::Schema { json: _ } => {
            session.output.print_json(&schema())?;
            Ok(Exit::Done)
        }
        ConfigCommand::Path { json } => path(session, json.wanted),
    }
}

fn validate(session: &mut Session<'_>, json: bool) -> Result<Exit, Failure> {
    let location = session.location()?;
    let loaded = session.definitions()?.load();
    let report = &loaded.report;
    let (errors, warnings) = (report.errors().count(), report.warnings().count());
    tracing::debug!(errors, warnings, "configuration checked");
    // The report hides credentials itself; the filter is the second line.
    if json {
        let text = format!("{:#}\n", report_json(report, session.redactor));
        session.output.print(&session.redactor.redact(&text))?;
    } else {
        let text = report.render(session.output.is_coloured());
        session.output.print(&session.redactor.redact(&text))?;
        let verdict = if location.config.exists() {
            verdict(&loaded, errors, warnings)
        } else {
            "no such file, defaults apply".to_owned()
        };
        let name = location.config.display();
        session.output.print(&format!("{name}: {verdict}\n"))?;
    }
    Ok(if errors == 0 { Exit::Done } else { Exit::Usage })
}

fn verdict(loaded: &Loaded, errors: usize, warnings: usize) -> String {
    let count = |number: usize, word: &str| {
        let plural = if number == 1 { "" } else { "s" };
        format!("{number} {word}{plural}")
    };
    let mut parts = Vec::new();
    if errors > 0 {
        parts.push(count(errors, "error"));
    }
    if warnings > 0 {
        parts.push(count(warnings, "warning"));
    }
    if let Some(config) = &loaded.config {
        let names: std::collections::BTreeSet<_> =
            config.servers().map(|server| &server.name).collect();
        let servers = count(names.len(), "server");
        if parts.is_empty() {
            return format!("valid, {servers}");
        }
        parts.push(servers);
    }
    parts.join(", ")
}

/// A report for programs.
fn report_json(report: &Report, redactor: &Redactor) -> Json {
    let mut words = ProblemWords::new(report, redactor);
    let mut all = |problems: &mut dyn Iterator<Item = &Problem>| {
        let all = problems.map(|problem| problem_json(&words.of(problem)));
        all.collect::<Vec<Json>>()
    };
    let mut object = json!({
        "ok": report.errors().next().is_none(),
        "errors": all(&mut report.errors()),
        "warnings": all(&mut report.warnings()),
    });
    if report.omitted() > 0 {
        object["omitted"] = json!(report.omitted());
    }
    object
}

/// A problem without what is said by the list that it stands in, and by the file.
fn problem_json(problem: &ConfigurationProblem) -> Json {
    let mut object = json!(problem);
    if let Some(object) = object.as_object_mut() {
        object.shift_remove("severity");
        object.shift_remove("source");
    }
    object
}

fn show(session: &mut Session<'_>, agent: Option<&str>) -> Result<Exit, Failure> {
    let config = usable_config(session)?;
    let agent = find_agent(&config, agent)?;
    session
        .output
        .print_json(&config.show(agent, session.redactor))?;
    Ok(Exit::Done)
}

fn path(session: &mut Session<'_>, json: bool) -> Result<Exit, Failure> {
    let location = session.location()?;
    if json {
        session.output.print_json(&json!({
            "config": location.config,
            "exists": location.config.exists(),
            "state": location.state,
            "profile": location.profile,
            "typescriptOpenclaw": openclaw_state::other_openclaw(&location.state),
        }))?;
    } else {
        let text = format!("{}\n", location.config.display());
        session.output.print(&text)?;
    }
    Ok(Exit::Done)
}
