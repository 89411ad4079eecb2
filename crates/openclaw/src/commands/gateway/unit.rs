//! Having systemd run the gateway: a unit of the user, and what is told to systemd.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use openclaw_state::{Access, replace};
use serde_json::json;

use crate::cli::{BindWord, RunOptions};
use crate::commands::Session;
use crate::failure::{Exit, Failure};

use super::settings::port;

/// How the name of the unit begins. The TypeScript `OpenClaw` has `openclaw-gateway.service`, and keeps it.
const NAME: &str = "openclaw-mcp-gateway";
/// A line that every unit of ours has, and no other.
const MARK: &str = "# Written by `openclaw gateway install`.";

/// Writes the unit, and has systemd start it.
pub(super) fn install(
    session: &mut Session<'_>,
    options: &RunOptions,
    print: bool,
    json: bool,
) -> Result<Exit, Failure> {
    let program = std::env::current_exe().map_err(|error| {
        Failure::failed(
            "system",
            format!("it is not known where this program is: {error}"),
        )
    })?;
    let text = unit(session, &program, options)?;
    if print {
        session.output.print(&text)?;
        return Ok(Exit::Done);
    }
    let (name, path) = place(session)?;
    check_ours(&path)?;
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory).map_err(|error| not_written(&path, &error))?;
    }
    replace(&path, text.as_bytes(), Access::AsBefore)
        .map_err(|error| Failure::failed("system", error.to_string()))?;
    let started = systemctl(&["daemon-reload"])
        .and_then(|()| systemctl(&["enable", &name]))
        // One that runs goes over to what the unit says now.
        .and_then(|()| systemctl(&["restart", &name]));
    if json {
        let report = json!({
            "unit": path.display().to_string(),
            "started": started.is_ok(),
            "error": started.as_ref().err(),
        });
        session.output.print_report(&report)?;
    } else {
        session
            .output
            .print(&format!("{}: written\n", path.display()))?;
        if started.is_ok() {
            session
                .output
                .print("gateway started, and started again with every login\n")?;
        }
    }
    match started {
        Ok(()) => Ok(Exit::Done),
        Err(reason) => Err(Failure::failed(
            "systemd",
            format!("the unit was not started: {reason}"),
        )
        .hint(format!(
            "where systemd runs for this user: `systemctl --user enable --now {name}`; \
                 `loginctl enable-linger` keeps it running without a login"
        ))),
    }
}

/// Stops the unit and deletes it.
pub(super) fn uninstall(session: &mut Session<'_>, json: bool) -> Result<Exit, Failure> {
    let (name, path) = place(session)?;
    let was_there = path.exists();
    check_ours(&path)?;
    if was_there {
        // Where no systemd runs there is nothing to be stopped.
        if let Err(reason) = systemctl(&["disable", "--now", &name]) {
            session
                .output
                .warn(&[format!("the unit was not stopped: {reason}")])?;
        }
        fs::remove_file(&path).map_err(|error| not_written(&path, &error))?;
        let _ = systemctl(&["daemon-reload"]);
    }
    if json {
        let path = path.display().to_string();
        let report = json!({ "unit": path, "removed": was_there });
        session.output.print_report(&report)?;
    } else if was_there {
        session
            .output
            .print(&format!("{}: deleted\n", path.display()))?;
    } else {
        session.output.print("no unit is installed\n")?;
    }
    Ok(Exit::Done)
}

/// Tells systemd how far we are, if it started us and wants to know.
pub(super) fn notify(state: &str) {
    #[cfg(unix)]
    if let Some(socket) = std::env::var_os("NOTIFY_SOCKET")
        && let Err(error) = send(&socket, state)
    {
        tracing::warn!("systemd was not told: {error}");
    }
    #[cfg(not(unix))]
    let _ = state;
}

#[cfg(unix)]
fn send(socket: &std::ffi::OsStr, state: &str) -> std::io::Result<()> {
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::net::UnixDatagram;

    let datagrams = UnixDatagram::unbound()?;
    let sent = match socket.as_bytes() {
        // A name that is in no directory, which only Linux has.
        #[cfg(target_os = "linux")]
        [b'@', name @ ..] => {
            use std::os::linux::net::SocketAddrExt as _;
            let address = std::os::unix::net::SocketAddr::from_abstract_name(name)?;
            datagrams.send_to_addr(state.as_bytes(), &address)
        }
        _ => datagrams.send_to(state.as_bytes(), socket),
    };
    sent.map(drop)
}

/// What the unit is called: each profile has its own.
pub(in crate::commands) fn name(session: &Session<'_>) -> Result<String, Failure> {
    Ok(match session.location()?.profile {
        Some(profile) => format!("{NAME}-{profile}"),
        None => NAME.to_owned(),
    })
}

/// The file of the unit, and where it lies.
fn place(session: &Session<'_>) -> Result<(String, PathBuf), Failure> {
    if !cfg!(target_os = "linux") {
        let message = "there is no systemd on this system";
        return Err(Failure::failed("systemd", message)
            .hint("have your system run `openclaw gateway run` when you log in"));
    }
    let configured = session.environment.variable("XDG_CONFIG_HOME");
    let base = match configured.filter(|it| Path::new(it).is_absolute()) {
        Some(path) => PathBuf::from(path),
        None => session
            .environment
            .home()
            .ok_or_else(|| Failure::usage("location", "there is no home directory: set HOME"))?
            .join(".config"),
    };
    let name = format!("{}.service", name(session)?);
    let path = base.join("systemd/user").join(&name);
    Ok((name, path))
}

/// Makes sure that a unit that is there is ours.
fn check_ours(path: &Path) -> Result<(), Failure> {
    match fs::read_to_string(path) {
        Ok(text) if !text.contains(MARK) => {
            let message = format!("{} is not ours, and stays as it is", path.display());
            Err(Failure::failed("systemd", message))
        }
        _ => Ok(()),
    }
}

/// The unit's text.
fn unit(session: &Session<'_>, program: &Path, options: &RunOptions) -> Result<String, Failure> {
    let location = session.location()?;
    let mut words = vec![program.display().to_string()];
    if let Some(profile) = &location.profile {
        words.extend(["--profile".to_owned(), profile.clone()]);
    }
    if location.named {
        words.extend(["--config".to_owned(), location.config.display().to_string()]);
    }
    words.extend(["gateway".to_owned(), "run".to_owned()]);
    // A variable of this shell is none of the unit.
    if let Some(port) = port(&session.environment, options)? {
        words.extend(["--port".to_owned(), port.to_string()]);
    }
    if let Some(bind) = options.bind {
        let word = match bind {
            BindWord::Loopback => "loopback",
            BindWord::Lan => "lan",
            BindWord::Custom => "custom",
        };
        words.extend(["--bind".to_owned(), word.to_owned()]);
    }
    // Variables are put into commands, and into nothing else.
    let command = words.iter().map(|word| quoted(word).replace('$', "$$"));
    let command: Vec<String> = command.collect();
    let state = quoted(&format!("OPENCLAW_STATE_DIR={}", location.state.display()));
    let path = session.environment.variable("PATH").unwrap_or_default();
    let path = quoted(&format!("PATH={path}"));
    Ok(format!(
        "{MARK}\n\
         [Unit]\n\
         Description=OpenClaw gateway\n\
         After=network.target\n\
         StartLimitIntervalSec=60\n\
         StartLimitBurst=5\n\
         \n\
         [Service]\n\
         Type=notify\n\
         ExecStart={}\n\
         ExecReload=/bin/kill -HUP $MAINPID\n\
         Environment={state}\n\
         Environment={path}\n\
         Restart=on-failure\n\
         RestartSec=2\n\
         RestartPreventExitStatus=2\n\
         KillMode=mixed\n\
         TimeoutStopSec=10\n\
         \n\
         [Install]\n\
         WantedBy=default.target\n",
        command.join(" ")
    ))
}

/// A word as units write it: what would mean something to systemd means itself.
fn quoted(word: &str) -> String {
    let mut text = String::from("\"");
    for character in word.chars() {
        match character {
            '"' | '\\' => text.extend(['\\', character]),
            '%' => text.push_str("%%"),
            '\n' => text.push_str("\\n"),
            other => text.push(other),
        }
    }
    text.push('"');
    text
}

/// Asks systemd; what it says if it does not do it.
fn systemctl(arguments: &[&str]) -> Result<(), String> {
    let output = Command::new("systemctl")
        .arg("--user")
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("systemctl can't be run: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = openclaw_content::shown_line(said.trim(), 300);
    Err(if said.is_empty() {
        format!("systemctl ended with {}", output.status)
    } else {
        said
    })
}

fn not_written(path: &Path, error: &std::io::Error) -> Failure {
    Failure::failed("system", format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_mean_themselves_in_a_unit() {
        assert_eq!(quoted("plain"), "\"plain\"");
        assert_eq!(quoted("a b\"c\\d"), "\"a b\\\"c\\\\d\"");
        assert_eq!(quoted("100%$HOME"), "\"100%%$HOME\"");
    }
}
