//! The machine as far as importing needs it, passed in so that tests don't touch the real one.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The systems that keep files in different places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Platform {
    /// Linux, and other systems that follow its conventions.
    Linux,
    /// macOS.
    MacOs,
    /// Windows.
    Windows,
}

impl Platform {
    /// The system that this program was built for.
    pub const fn current() -> Self {
        if cfg!(windows) {
            Self::Windows
        } else if cfg!(target_os = "macos") {
            Self::MacOs
        } else {
            Self::Linux
        }
    }
}

type Lookup = dyn Fn(&str) -> Option<OsString> + Send + Sync;

/// Environment variables, looked up by name.
#[derive(Clone)]
pub struct Variables(Arc<Lookup>);

impl Variables {
    /// Variables that a function knows.
    pub fn new(lookup: impl Fn(&str) -> Option<OsString> + Send + Sync + 'static) -> Self {
        Self(Arc::new(lookup))
    }

    /// No variables at all.
    pub fn none() -> Self {
        Self::new(|_| None)
    }

    /// The value of a variable; one that is set to nothing counts as missing, as it does in
    /// `openclaw.json`.
    pub fn get(&self, name: &str) -> Option<OsString> {
        (self.0)(name).filter(|value| !value.is_empty())
    }
}

impl fmt::Debug for Variables {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Variables")
    }
}

/// Where things are on the machine.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// Whose conventions apply.
    pub platform: Platform,
    /// The user's home directory.
    pub home: PathBuf,
    /// The current project.
    pub directory: PathBuf,
    /// `XDG_CONFIG_HOME`, for Linux.
    pub config_home: Option<PathBuf>,
    /// `APPDATA`, for Windows.
    pub app_data: Option<PathBuf>,
    /// `CODEX_HOME`.
    pub codex_home: Option<PathBuf>,
    /// `CLAUDE_CONFIG_DIR`, which moves the files of Claude Code.
    pub claude_config: Option<PathBuf>,
    /// What decides between a variable and its default.
    pub variables: Variables,
}

impl Surroundings {
    /// Those of somebody with this home directory, as environment variables tell.
    pub fn new(platform: Platform, home: PathBuf, directory: &Path, variables: Variables) -> Self {
        let path = |name: &str| variables.get(name).map(PathBuf::from);
        Self {
            platform,
            home,
            directory: directory.to_owned(),
            // The specification of these directories has relative ones ignored.
            config_home: path("XDG_CONFIG_HOME").filter(|path| path.is_absolute()),
            app_data: path("APPDATA"),
            codex_home: path("CODEX_HOME"),
            claude_config: path("CLAUDE_CONFIG_DIR"),
            variables,
        }
    }

    /// The directory in which programs keep their settings.
    pub(crate) fn application_settings(&self) -> PathBuf {
        match self.platform {
            Platform::Linux => self
                .config_home
                .clone()
                .unwrap_or_else(|| self.home.join(".config")),
            Platform::MacOs => self.home.join("Library").join("Application Support"),
            Platform::Windows => self
                .app_data
                .clone()
                .unwrap_or_else(|| self.home.join("AppData").join("Roaming")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(pairs: &'static [(&'static str, &'static str)]) -> Variables {
        Variables::new(|wanted| {
            let found = pairs.iter().find(|(name, _)| *name == wanted);
            found.map(|(_, value)| OsString::from(value))
        })
    }

    #[test]
    fn directories_come_from_the_variables_of_the_platform() {
        let known = variables(&[
            ("XDG_CONFIG_HOME", "relative"),
            ("APPDATA", "/roaming"),
            ("CODEX_HOME", ""),
        ]);
        let at = |platform| {
            let (home, directory) = (PathBuf::from("/home/ada"), Path::new("/work"));
            Surroundings::new(platform, home, directory, known.clone())
        };
        let linux = at(Platform::Linux);
        assert_eq!(
            linux.application_settings(),
            Path::new("/home/ada/.config"),
            "a relative directory does not count"
        );
        assert_eq!(linux.codex_home, None, "nor does an empty one");
        assert_eq!(
            at(Platform::MacOs).application_settings(),
            Path::new("/home/ada/Library/Application Support")
        );
        let windows = at(Platform::Windows);
        assert_eq!(windows.application_settings(), Path::new("/roaming"));
    }
}
