//! `openclaw doctor` and `openclaw mcp doctor`: what is wrong, and how to fix it.

mod agents;
mod checks;
mod gateway;
mod media;
mod traces;

use openclaw_config::{Config, Launch, ValueOwner};
use openclaw_content::shown_text;
use openclaw_engine::{AuthKind, LoginsQuery, OneServer, SecretsQuery, ServerReport, ShownState};
use openclaw_state::StateDirectory;
use serde_json::{Value as Json, json};

use crate::cli::DoctorOptions;
use crate::commands::Session;
use crate::commands::engine::{answered, with_engine, with_engine_in};
use crate::commands::mcp::settled;
use crate::failure::{Exit, Failure};
use crate::render::{Page, Tone, count, name, word};

/// How bad something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    /// As it should be.
    Fine,
    /// It works, but probably not as it was meant.
    Warning,
    /// It does not work.
    Problem,
}

/// Something that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Finding {
    level: Level,
    area: &'static str,
    /// The server that it concerns, if it does not concern all.
    server: Option<String>,
    message: String,
    /// What to do.
    fix: Option<String>,
}

impl Finding {
    fn new(level: Level, area: &'static str, message: impl Into<String>) -> Self {
        Self {
            level,
            area,
            server: None,
            message: message.into(),
            fix: None,
        }
    }

    fn of(mut self, server: &str) -> Self {
        self.server = Some(server.to_owned());
        self
    }

    fn fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = Some(fix.into());
        self
    }

    fn json(&self) -> Json {
        let level = match self.level {
            Level::Fine => "ok",
            Level::Warning => "warning",
            Level::Problem => "problem",
        };
        json!({
            "level": level,
            "area": self.area,
            "server": self.server,
            "message": self.message,
            "fix": self.fix,
        })
    }
}

/// What is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// All there is.
    Everything,
    /// The servers.
    Servers,
    /// One server.
    Server(String),
}

impl Scope {
    /// Whether something belongs to what is looked at.
    fn includes(&self, finding: &Finding) -> bool {
        match (self, &finding.server) {
            (Self::Everything, _) | (Self::Servers, Some(_)) => true,
            (Self::Server(wanted), Some(server)) => server == wanted,
            // Errors of the whole file concern every server.
            (Self::Servers | Self::Server(_), None) => !matches!(
                finding.area,
                "state" | "secrets" | "media" | "gateway" | "traces"
            ),
        }
    }
}

/// Looks for problems.
pub(super) fn run(
    session: &mut Session<'_>,
    scope: &Scope,
    agent: Option<String>,
    options: DoctorOptions,
) -> Result<Exit, Failure> {
    let location = session.location()?;
    let loaded = session.definitions()?.load();
    // Looked at before an engine is opened, which would mend some of it.
    let mut state = checks::state_directory(&location.state);
    state.extend(checks::other_openclaw(&location.state));
    let mut findings = checks::configuration(&loaded.report, &location.config);
    findings.extend(gateway::gateway(session)?);
    if let Some(config) = &loaded.config {
        let search = std::env::var_os("PATH");
        findings.extend(checks::servers(
            config,
            search.as_deref(),
            session.environment.directory(),
        ));
        if let Scope::Server(wanted) = scope {
            let mut names = config.servers().map(|server| server.name.as_str());
            if !names.any(|known| known == wanted) {
                let names = config.servers().map(|server| server.name.as_str());
                return Err(openclaw_definitions::unknown_server(wanted, names).into());
            }
        }
        findings.extend(secrets(session, config, scope)?);
        findings.extend(logins(session, config, scope, agent.clone())?);
        if *scope == Scope::Everything {
            findings.extend(agents::workspaces(config));
            findings.extend(traces::traces(config));
            findings.extend(media::transcription(config, |name| std::env::var_os(name)));
            findings.extend(agents(session, config, options.probe)?);
        }
        if options.probe {
            // What is known to be missing need not be said twice.
            let mut probed = probed(session, scope, agent)?;
            probed.retain(|new| {
                let is_known = |old: &Finding| {
                    old.level == Level::Problem && old.server.is_some() && old.server == new.server
                };
                !findings.iter().any(is_known)
            });
            findings.extend(probed);
        }
    }
    findings.extend(state);
    findings.retain(|finding| scope.includes(finding));
    tell(session, &findings, options.json.wanted)
}

/// Asks for every secret that something refers to. Nothing is asked where nothing does.
fn secrets(
    session: &mut Session<'_>,
    config: &Config,
    scope: &Scope,
) -> Result<Vec<Finding>, Failure> {
    let server = match scope {
        Scope::Server(name) => Some(name.clone()),
        Scope::Everything | Scope::Servers => None,
    };
    let concerns = |owner: &ValueOwner| match (owner, &server) {
        (ValueOwner::Server(owner), Some(server)) => owner == server,
        (ValueOwner::Server(_), None) => true,
        (
            ValueOwner::ModelProvider(_)
            | ValueOwner::Gateway
            | ValueOwner::Media
            | ValueOwner::Diagnostics,
            _,
        ) => *scope == Scope::Everything,
    };
    let references = config.references();
    if !references.iter().any(|it| concerns(&it.owner)) {
        return Ok(Vec::new());
    }
    let query = SecretsQuery { server };
    let report = with_engine(session, async |engine, session| {
        answered(session.output, "asking for secrets", engine.secrets(query)).await
    });
    match report {
        Ok(report) => Ok(checks::secrets(&report)),
        // What keeps us from asking is one more thing to be said, and others are said beside it.
        Err(Failure::Told(told)) => {
            let message = format!("secrets can't be asked for: {}", told.message);
            Ok(vec![Finding::new(Level::Problem, "secrets", message)])
        }
        Err(other) => Err(other),
    }
}

/// Looks at the logins that are kept. Nothing is looked at where none can be.
fn logins(
    session: &mut Session<'_>,
    config: &Config,
    scope: &Scope,
    agent: Option<String>,
) -> Result<Vec<Finding>, Failure> {
    let has_remote = config.servers().any(|server| {
        let sound = server.definition.sound();
        sound.is_some_and(|sound| matches!(sound.launch, Launch::Remote(_)))
    });
    if !has_remote {
        return Ok(Vec::new());
    }
    let query = LoginsQuery {
        agent,
        server: match scope {
            Scope::Server(name) => Some(name.clone()),
            Scope::Everything | Scope::Servers => None,
        },
    };
    let report = with_engine(session, async |engine, session| {
        answered(session.output, "looking at logins", engine.logins(query)).await
    });
    match report {
        Ok(report) => Ok(checks::logins(&report)),
        Err(Failure::Told(told)) => {
            let message = format!("logins can't be looked at: {}", told.message);
            Ok(vec![Finding::new(Level::Problem, "logins", message)])
        }
        Err(other) => Err(other),
    }
}

/// Looks at models and sessions, without leaving a state directory where there was none.
fn agents(
    session: &mut Session<'_>,
    config: &Config,
    asks_services: bool,
) -> Result<Vec<Finding>, Failure> {
    let is_new = !session.location()?.state.exists();
    let elsewhere = is_new.then(tempfile::tempdir).transpose();
    let elsewhere = elsewhere.map_err(|error| {
        let message = format!("cannot make a temporary directory: {error}");
        Failure::failed("state", message)
    })?;
    let state = match &elsewhere {
        Some(directory) => StateDirectory::open(directory.path())
            .map_err(|error| Failure::failed("state", error.to_string())),
        None => session.state(),
    };
    let findings = state.and_then(|state| {
        with_engine_in(session, config.clone(), state, async |engine, session| {
            agents::asked(engine, session, config.agents.keys(), asks_services).await
        })
    });
    match findings {
        Err(Failure::Told(told)) => {
            let message = format!("models can't be looked at: {}", told.message);
            Ok(vec![Finding::new(Level::Problem, "models", message)])
        }
        other => other,
    }
}

/// Starts or reaches the servers that are looked at.
fn probed(
    session: &mut Session<'_>,
    scope: &Scope,
    agent: Option<String>,
) -> Result<Vec<Finding>, Failure> {
    let servers = with_engine(session, async |engine, session| match scope {
        Scope::Server(server) => {
            let server = server.clone();
            let query = OneServer { agent, server };
            let details = answered(session.output, "connecting", engine.server(query)).await?;
            Ok(vec![details.report])
        }
        Scope::Everything | Scope::Servers => Ok(settled(engine, session, agent).await?.servers),
    })?;
    Ok(servers.iter().filter_map(probe_finding).collect())
}

fn probe_finding(server: &ServerReport) -> Option<Finding> {
    let called = name(&server.name);
    let reason = server.error.as_deref().unwrap_or("no reason is known");
    let reason = openclaw_content::shown_line(reason, 500);
    let finding = match server.state {
        ShownState::Ready => {
            let message = format!("{called} is connected, {}", count(server.tools, "tool"));
            Finding::new(Level::Fine, "servers", message)
        }
        ShownState::NeedsAuth if server.auth == AuthKind::ApiKey => {
            let message = format!("{called} does not let us in: {reason}");
            Finding::new(Level::Problem, "servers", message)
                .fix("put a key that is good into the configuration")
        }
        ShownState::NeedsAuth => {
            Finding::new(Level::Problem, "servers", format!("{called} needs a login"))
                .fix(format!("run `openclaw mcp auth {}`", word(&server.name)))
        }
        ShownState::Failed | ShownState::Connecting | ShownState::Restarting => {
            let message = format!("{called} can't be connected: {reason}");
            Finding::new(Level::Problem, "servers", message).fix(format!(
                "look at `openclaw mcp logs {}`",
                word(&server.name)
            ))
        }
        ShownState::Stopped | ShownState::Disabled => return None,
    };
    Some(finding.of(&server.name))
}

fn tell(session: &mut Session<'_>, findings: &[Finding], json: bool) -> Result<Exit, Failure> {
    let problems = findings
        .iter()
        .filter(|finding| finding.level == Level::Problem)
        .count();
    if json {
        let checks: Vec<Json> = findings.iter().map(Finding::json).collect();
        let report = json!({ "ok": problems == 0, "checks": checks });
        session.output.print_report(&report)?;
    } else {
        let text = words(findings, problems, session.output.page());
        let text = session.redactor.redact(&text).into_owned();
        session.output.print(&text)?;
    }
    Ok(if problems == 0 {
        Exit::Done
    } else {
        Exit::Failed
    })
}

fn words(findings: &[Finding], problems: usize, page: Page) -> String {
    let mut text = String::new();
    for finding in findings {
        let (mark, tone) = match finding.level {
            Level::Fine => ("ok      ", Tone::Good),
            Level::Warning => ("warning ", Tone::Attention),
            Level::Problem => ("problem ", Tone::Bad),
        };
        // Names of programs and files are among the words, and others may have chosen them.
        let message = shown_text(&finding.message);
        text.push_str(&format!("{} {message}\n", page.paint(tone, mark)));
        if let Some(fix) = &finding.fix {
            text.push_str(&format!("         fix: {}\n", shown_text(fix)));
        }
    }
    let warnings = findings
        .iter()
        .filter(|finding| finding.level == Level::Warning)
        .count();
    let verdict = match (problems, warnings) {
        (0, 0) => "nothing is wrong".to_owned(),
        (0, warnings) => count(warnings, "warning"),
        (problems, 0) => count(problems, "problem"),
        (problems, warnings) => {
            format!(
                "{}, {}",
                count(problems, "problem"),
                count(warnings, "warning")
            )
        }
    };
    format!("{text}\n{verdict}\n")
}

#[cfg(test)]
mod tests;
