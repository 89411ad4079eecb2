//! Opens a page in the browser of the person, where there is one in front of them.

mod named;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::process::{Command, Stdio};
use std::time::Duration;

use openclaw_content::shown_line;
use tokio::time::timeout;
use url::Url;

use self::named::NamedBrowser;

/// How long a program is watched. One that still runs by then is the browser itself, or has given
/// the page to it.
const HANDED_OVER: Duration = Duration::from_secs(3);

/// How a browser is opened here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Browser {
    /// With the first of these programs that works.
    Named(Vec<NamedBrowser>),
    /// As the desktop does it.
    Desktop,
    /// Not at all.
    Absent(Absence),
}

/// Why no browser is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Absence {
    /// The person sits at another machine.
    Remote,
    /// There is nothing to show it on.
    NoDisplay,
}

/// Why a page was not opened; none of it has the address of the page in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NotOpened {
    /// There is no browser here.
    Absent(Absence),
    /// The address is not one for browsers.
    NotWeb,
    /// Programs were tried, and the first failed for this reason.
    Failed(String),
}

impl Browser {
    /// Finds out how a browser is opened where these variables are set.
    pub(crate) fn of(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let is_set = |name| variable(name).is_some_and(|value| !value.is_empty());
        // It is the word of the person, and comes first. Editors that run on another machine set it,
        // too: to a program that opens the browser where the person sits.
        let named = variable("BROWSER").map(|list| named::list(&list));
        if let Some(named) = named.filter(|named| !named.is_empty()) {
            return Self::Named(named);
        }
        if ["SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY"]
            .into_iter()
            .any(is_set)
        {
            return Self::Absent(Absence::Remote);
        }
        // Linux on Windows has the browser of Windows, with or without a display of its own.
        let displays = ["DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"];
        let needs_display = cfg!(all(unix, not(target_os = "macos")));
        if needs_display && !displays.into_iter().any(is_set) {
            return Self::Absent(Absence::NoDisplay);
        }
        Self::Desktop
    }

    /// Opens a page. What is opened goes on when we end, and says nothing on our terminal.
    pub(crate) async fn open(&self, url: &Url) -> Result<(), NotOpened> {
        self.open_within(url, HANDED_OVER).await
    }

    async fn open_within(&self, url: &Url, patience: Duration) -> Result<(), NotOpened> {
        // What else an address can start is not ours to start.
        if !matches!(url.scheme(), "http" | "https") {
            return Err(NotOpened::NotWeb);
        }
        let commands = match self {
            Self::Named(named) => named.iter().map(|browser| browser.command(url)).collect(),
            Self::Desktop => open::commands(url.as_str()),
            Self::Absent(absence) => return Err(NotOpened::Absent(*absence)),
        };
        let mut first = None;
        for command in commands {
            let name = command.get_program().to_string_lossy().into_owned();
            match started(command, patience).await {
                Ok(()) => return Ok(()),
                Err(reason) => {
                    let reason = shown_line(&format!("{name}: {reason}"), 300);
                    tracing::debug!(reason, "a browser was not opened");
                    first.get_or_insert(reason);
                }
            }
        }
        let nothing = || "there is no program that opens it".to_owned();
        Err(NotOpened::Failed(first.unwrap_or_else(nothing)))
    }
}

/// Starts a program, and says whether it failed as far as that is seen in time.
async fn started(mut command: Command, patience: Duration) -> io::Result<()> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    // So that who interrupts us does not close the browser.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = tokio::process::Command::from(command).spawn()?;
    match timeout(patience, child.wait()).await {
        Ok(Ok(status)) if !status.success() => {
            Err(io::Error::other(format!("it ended with {status}")))
        }
        Ok(ended) => ended.map(drop),
        // It goes on, and the runtime takes note of its end.
        Err(_) => Ok(()),
    }
}

impl fmt::Display for Absence {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Remote => "you are connected from another machine",
            Self::NoDisplay => "there is no display",
        })
    }
}

impl fmt::Display for NotOpened {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent(absence) => write!(formatter, "no browser is opened: {absence}"),
            Self::NotWeb => formatter.write_str("the address is not one for browsers"),
            Self::Failed(reason) => {
                write!(formatter, "the browser could not be opened: {reason}")
            }
        }
    }
}
