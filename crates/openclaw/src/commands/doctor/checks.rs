//! What is looked at without starting anything.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::Path;

use openclaw_config::{
    Config, ConfigValue, ConfiguredServer, Definition, Kind, Launch, Problem, Report, StdioLaunch,
};
use openclaw_content::shown_line;
use openclaw_engine::{LoginsReport, SecretTrouble, SecretsReport};
use openclaw_process::find_program;

use crate::commands::doctor::{Finding, Level};
use crate::render::{count, name};

/// What is wrong with the file.
pub(super) fn configuration(report: &Report, path: &Path) -> Vec<Finding> {
    if report.problems().is_empty() {
        let message = if path.exists() {
            format!("{} is valid", path.display())
        } else {
            format!("there is no {}: defaults apply", path.display())
        };
        return vec![Finding::new(Level::Fine, "config", message)];
    }
    let problems = report.errors().chain(report.warnings());
    problems
        .map(|problem| {
            let level = if is_blocking(problem) {
                Level::Problem
            } else {
                Level::Warning
            };
            let place = match report.position(problem) {
                Some(position) => {
                    let file = report.file(problem).display();
                    format!("{file}:{}:{}", position.line, position.column)
                }
                None => report.file(problem).display().to_string(),
            };
            let message = format!("{place}: {}", problem.message());
            let fix = problem.help_text().map_or_else(
                || "run `openclaw config validate` for the details".to_owned(),
                str::to_owned,
            );
            let mut finding = Finding::new(level, "config", message).fix(fix);
            finding.server = problem.server().map(str::to_owned);
            finding
        })
        .collect()
}

/// Whether what has the problem can't be used.
fn is_blocking(problem: &Problem) -> bool {
    problem.severity() == openclaw_config::Severity::Error
        || problem.kind() == Kind::MissingVariable
}

/// Whether every server could be started: its definition is sound, and its program is there.
pub(super) fn servers(config: &Config, search: Option<&OsStr>, directory: &Path) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut seen = BTreeSet::new();
    for server in config.servers() {
        for finding in one_server(server, search, directory) {
            // A server that agents share is looked at once.
            if seen.insert((server.name.clone(), finding.message.clone())) {
                findings.push(finding.of(server.name.as_str()));
            }
        }
    }
    let names: BTreeSet<_> = config.servers().map(|server| &server.name).collect();
    let all_sound = config
        .servers()
        .all(|server| server.definition.sound().is_some());
    if findings.is_empty() && all_sound {
        let message = if names.is_empty() {
            "no MCP servers are configured".to_owned()
        } else {
            format!(
                "the programs and addresses of {} are fine",
                count(names.len(), "server")
            )
        };
        findings.push(Finding::new(Level::Fine, "servers", message));
    }
    findings
}

fn one_server(server: &ConfiguredServer, search: Option<&OsStr>, directory: &Path) -> Vec<Finding> {
    let name = &server.name;
    if !server.enabled {
        let message = format!("the server {name} is switched off");
        let fix = "set `enabled: true` to use it";
        return vec![Finding::new(Level::Warning, "servers", message).fix(fix)];
    }
    match &server.definition {
        // What is wrong with it stands among the problems of the file.
        Definition::Broken(_) => Vec::new(),
        Definition::Sound(sound) => match &sound.launch {
            Launch::Stdio(launch) => program(name.as_str(), launch, search, directory),
            Launch::Remote(_) => Vec::new(),
        },
    }
}

fn program(
    name: &str,
    launch: &StdioLaunch,
    search: Option<&OsStr>,
    directory: &Path,
) -> Vec<Finding> {
    let directory = launch.directory.as_deref().unwrap_or(directory);
    if !directory.is_dir() {
        let message = format!(
            "the server {name} has a working directory that is not there: {}",
            directory.display()
        );
        let fix = "make the directory, or change `cwd`";
        return vec![Finding::new(Level::Problem, "servers", message).fix(fix)];
    }
    let search = match launch.environment.get("PATH") {
        // A server that is given a PATH of its own is looked for there.
        Some(ConfigValue::Plain { value, .. }) => Some(OsStr::new(value.expose())),
        Some(ConfigValue::Reference { .. }) => return Vec::new(),
        None => search,
    };
    let extensions = std::env::var_os("PATHEXT");
    match find_program(&launch.command, search, extensions.as_deref(), directory) {
        Ok(_) => Vec::new(),
        Err(error) => {
            let message = format!("the server {name} can't be started: {error}");
            let fix = format!(
                "install `{}`, or give its whole path as `command`",
                launch.command
            );
            vec![Finding::new(Level::Problem, "servers", message).fix(fix)]
        }
    }
}

/// Whether every secret can be had; what they are is nobody's business.
pub(super) fn secrets(report: &SecretsReport) -> Vec<Finding> {
    let mut findings = Vec::new();
    for secret in &report.secrets {
        let about = format!("`{}` of {}", secret.field, secret.owner);
        let of_owner = |finding: Finding| match &secret.server {
            Some(server) => finding.of(server),
            None => finding,
        };
        if let Some(error) = &secret.error {
            let message = format!("{about}: cannot get {}: {error}", secret.reference);
            let fix = secret
                .hint
                .clone()
                .unwrap_or_else(|| fix(secret.kind).to_owned());
            let finding = Finding::new(Level::Problem, "secrets", message).fix(fix);
            findings.push(of_owner(finding));
        }
        for remark in &secret.remarks {
            let message = format!("{about}, {}: {}", secret.reference, remark.message);
            let finding = Finding::new(Level::Warning, "secrets", message);
            findings.push(of_owner(finding.fix(&remark.fix)));
        }
    }
    if report.secrets.iter().all(|secret| secret.error.is_none()) {
        let message = format!("{} can be read", count(report.secrets.len(), "secret"));
        findings.push(Finding::new(Level::Fine, "secrets", message));
    }
    findings
}

/// Whether the logins that are kept can be used.
pub(super) fn logins(report: &LoginsReport) -> Vec<Finding> {
    let mut findings = Vec::new();
    if report.logins.is_empty() {
        return findings;
    }
    for login in &report.logins {
        let server = name(&login.server);
        let finding = match &login.problem {
            Some(problem) => {
                let problem = shown_line(problem, 500);
                let message = format!("the login to {server} can't be used: {problem}");
                let finding = Finding::new(Level::Problem, "logins", message);
                match &login.hint {
                    Some(hint) => finding.fix(shown_line(hint, 500)),
                    None => finding,
                }
            }
            None => {
                let issuer = login.issuer.as_deref().unwrap_or_default();
                let issuer = shown_line(issuer, 200);
                let renewed = if login.renewable {
                    ", renewed by itself"
                } else {
                    ""
                };
                let message = format!("logged in to {server} by {issuer}{renewed}");
                Finding::new(Level::Fine, "logins", message)
            }
        };
        findings.push(finding.of(&login.server));
    }
    for remark in &report.remarks {
        let fix = "where there is a keyring (GNOME Keyring, KWallet, KeePassXC), log out of all \
                   servers, delete the file, and log in again; without one, whoever can read your \
                   files can read the logins";
        findings.push(Finding::new(Level::Warning, "logins", remark.clone()).fix(fix));
    }
    findings
}

/// What to do about a secret that can't be had, where nothing better is known.
fn fix(kind: Option<SecretTrouble>) -> &'static str {
    match kind {
        Some(SecretTrouble::Missing) | None => {
            "put the secret where the reference says, or change the reference"
        }
        Some(SecretTrouble::Refused) => "see whether you may read it there",
        Some(SecretTrouble::Unavailable) => "see whether its store works, and try again",
        Some(SecretTrouble::Unusable) => "put a value there that can be used",
        Some(SecretTrouble::Misconfigured) => "change what says how its store is reached",
    }
}

/// Whether only its owner can enter the state directory.
pub(super) fn state_directory(path: &Path) -> Vec<Finding> {
    let metadata = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let message = format!("{} will be made when it is needed", path.display());
            return vec![Finding::new(Level::Fine, "state", message)];
        }
        Err(error) => {
            let message = format!("cannot use the state directory {}: {error}", path.display());
            let fix = "set OPENCLAW_STATE_DIR to a directory of yours";
            return vec![Finding::new(Level::Problem, "state", message).fix(fix)];
        }
    };
    if !metadata.is_dir() {
        let message = format!("{} is not a directory", path.display());
        let fix = "move it away, or set OPENCLAW_STATE_DIR to a directory of yours";
        return vec![Finding::new(Level::Problem, "state", message).fix(fix)];
    }
    vec![permissions(path, &metadata).unwrap_or_else(|| {
        let message = format!("only you can enter {}", path.display());
        Finding::new(Level::Fine, "state", message)
    })]
}

#[cfg(unix)]
fn permissions(path: &Path, metadata: &std::fs::Metadata) -> Option<Finding> {
    use std::os::unix::fs::PermissionsExt;
    let mode = metadata.permissions().mode() & 0o777;
    (mode & 0o077 != 0).then(|| {
        let path = path.display();
        let message = format!("other users can enter the state directory {path} (mode {mode:o})");
        Finding::new(Level::Problem, "state", message).fix(format!("run `chmod 700 {path}`"))
    })
}

#[cfg(not(unix))]
fn permissions(_path: &Path, _metadata: &std::fs::Metadata) -> Option<Finding> {
    None
}

/// Whether the TypeScript OpenClaw lives in the same directory.
pub(super) fn other_openclaw(state: &Path) -> Vec<Finding> {
    openclaw_state::other_openclaw(state)
        .map(|trace| {
            let message = format!(
                "the TypeScript OpenClaw uses the same state directory ({})",
                trace.display()
            );
            let fix = "both can live there, each with its own files; to keep them apart, use \
                       `--profile NAME` or OPENCLAW_STATE_DIR, and run one gateway at a time";
            Finding::new(Level::Warning, "state", message).fix(fix)
        })
        .into_iter()
        .collect()
}
