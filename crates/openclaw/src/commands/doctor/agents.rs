//! Agents: whether their models can be asked, their workspaces and skills can be used, their sessions
//! are well.

use std::collections::{BTreeMap, BTreeSet};

use openclaw_config::{AgentId, Config};
use openclaw_content::shown_line;
use openclaw_engine::{
    Credentials, Engine, ModelReport, ModelsQuery, ModelsReport, SessionsQuery, SessionsReport,
    SkillsQuery,
};

use crate::commands::Session;
use crate::commands::doctor::{Finding, Level};
use crate::commands::engine::answered;
use crate::failure::Failure;
use crate::render::{count, name};

/// How much of a reason is shown.
const SHOWN: usize = 1_000;

/// Asks about models and sessions. What can't be asked is one more thing to be said.
pub(super) async fn asked(
    engine: &dyn Engine,
    session: &mut Session<'_>,
    agents: impl Iterator<Item = &AgentId>,
    asks_services: bool,
) -> Result<Vec<Finding>, Failure> {
    let query = ModelsQuery { ask: asks_services };
    let report = answered(session.output, "asking for models", engine.models(query)).await;
    let mut findings = match report {
        Ok(report) => models(&report, asks_services),
        Err(failure) => vec![unanswered("models", failure)?],
    };
    let query = SessionsQuery { agent: None };
    let pending = engine.sessions(query);
    let report = answered(session.output, "looking at sessions", pending).await;
    findings.extend(match report {
        Ok(report) => sessions(&report),
        Err(failure) => vec![unanswered("sessions", failure)?],
    });
    let mut problems = BTreeSet::new();
    for agent in agents {
        let agent = Some(agent.to_string());
        match engine.skills(SkillsQuery { agent }).await {
            Ok(report) => problems.extend(report.problems),
            Err(failure) => findings.push(unanswered("skills", failure.into())?),
        }
    }
    // Agents may share the directories.
    findings.extend(problems.iter().map(|problem| skill(problem)));
    Ok(findings)
}

/// Something that is wrong with the file of a skill.
fn skill(problem: &str) -> Finding {
    let message = shown_line(problem, SHOWN);
    Finding::new(Level::Warning, "skills", message)
        .fix("`/skill` in a conversation lists the others")
}

fn unanswered(area: &'static str, failure: Failure) -> Result<Finding, Failure> {
    match failure {
        Failure::Told(told) => {
            let message = format!("{area} can't be looked at: {}", told.message);
            let finding = Finding::new(Level::Problem, area, message);
            Ok(match told.hint {
                Some(hint) => finding.fix(hint),
                None => finding,
            })
        }
        other => Err(other),
    }
}

/// Whether the models can be asked. One that agents share is told of once.
fn models(report: &ModelsReport, were_asked: bool) -> Vec<Finding> {
    let mut shared: BTreeMap<usize, (&ModelReport, Vec<String>)> = BTreeMap::new();
    let mut places: BTreeMap<(&str, bool, Option<&str>), usize> = BTreeMap::new();
    for (number, model) in report.models.iter().enumerate() {
        let alike = (
            model.model.as_str(),
            model.is_fallback,
            model.error.as_deref(),
        );
        let place = *places.entry(alike).or_insert(number);
        let (_, agents) = shared.entry(place).or_insert((model, Vec::new()));
        agents.push(name(&model.agent));
    }
    let shared = shared.into_values();
    shared
        .map(|(model, agents)| one_model(model, &agents, were_asked))
        .collect()
}

fn one_model(model: &ModelReport, agents: &[String], were_asked: bool) -> Finding {
    let role = if model.is_fallback {
        "the fallback"
    } else {
        "the model"
    };
    let about = format!("{role} {} of {}", name(&model.model), agents.join(", "));
    if model.error.is_none() && model.credentials != Credentials::Missing {
        let message = match model.credentials {
            Credentials::Builtin if model.model == "builtin/offline" => format!(
                "{about} is built in; it picks tools by the words of a message and is no language \
                 model"
            ),
            Credentials::Builtin => format!("{about} needs no key"),
            Credentials::Ok if were_asked => format!("{about} can be asked"),
            Credentials::Ok | Credentials::Missing => format!("{about} has its key"),
        };
        return Finding::new(Level::Fine, "models", message);
    }
    let reason = model.error.as_deref().unwrap_or("its key is missing");
    let message = format!("{about} can't be asked: {}", shown_line(reason, SHOWN));
    let fix = match &model.hint {
        Some(hint) => shown_line(hint, SHOWN),
        None => usual_fix(model),
    };
    Finding::new(Level::Problem, "models", message).fix(fix)
}

/// What to do about a model, where nothing better is known.
fn usual_fix(model: &ModelReport) -> String {
    if model.credentials == Credentials::Missing {
        let provider = model.model.split('/').next().unwrap_or_default();
        let provider = name(provider);
        return format!(
            "set the key's environment variable, or `models.providers.{provider}.apiKey` to \
             \"secret://keyring/SERVICE/ACCOUNT\""
        );
    }
    "change `model` of the agent, or `models.providers`".to_owned()
}

/// Whether the sessions are well.
fn sessions(report: &SessionsReport) -> Vec<Finding> {
    if report.problems.is_empty() && report.set_aside.is_empty() {
        let message = format!(
            "the store of sessions has {}",
            count(report.sessions.len(), "session")
        );
        return vec![Finding::new(Level::Fine, "sessions", message)];
    }
    let problems = report.problems.iter();
    let problems = problems
        .map(|problem| Finding::new(Level::Warning, "sessions", shown_line(problem, SHOWN)));
    let set_aside = report.set_aside.iter().map(|path| {
        let path = shown_line(path, SHOWN);
        let message = format!("sessions that could not be read were set aside in {path}");
        let fix = format!("keep it if something in it is missed, else delete {path}");
        Finding::new(Level::Warning, "sessions", message).fix(fix)
    });
    problems.chain(set_aside).collect()
}

/// Whether the directories are there that agents work in.
pub(super) fn workspaces(config: &Config) -> Vec<Finding> {
    let mut missing: BTreeMap<&std::path::Path, Vec<String>> = BTreeMap::new();
    for agent in config.agents.values() {
        if let Some(workspace) = agent.workspace.as_deref()
            && !workspace.is_dir()
        {
            let agents = missing.entry(workspace).or_default();
            agents.push(name(agent.id.as_str()));
        }
    }
    missing
        .into_iter()
        .map(|(workspace, agents)| {
            let message = format!(
                "the workspace of {} is not there: {}",
                agents.join(", "),
                workspace.display()
            );
            let fix = "make the directory, or change `workspace`";
            Finding::new(Level::Warning, "agents", message).fix(fix)
        })
        .collect()
}

#[cfg(test)]
mod tests;
