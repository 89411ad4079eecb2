//! Which configuration file and which state directory apply.

use std::path::PathBuf;

use thiserror::Error;

use crate::environment::Environment;

/// What the command line says about it.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// `--config PATH`
    pub config: Option<PathBuf>,
    /// `--profile NAME`
    pub profile: Option<String>,
}

/// The paths that apply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The configuration file.
    pub config: PathBuf,
    /// The state directory.
    pub state: PathBuf,
    /// The profile, where one was chosen.
    pub profile: Option<String>,
    /// Whether somebody named the configuration file, by option or by variable.
    pub named: bool,
}

/// Why there is no location.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum LocationError {
    /// Neither the system nor a variable says where home is.
    #[error("there is no home directory: set HOME, OPENCLAW_HOME or OPENCLAW_STATE_DIR")]
    NoHome,
    /// The name of the profile cannot be part of a directory's name.
    #[error(
        "{0:?} is not a valid profile name: use 1 to 64 letters, digits, `-` and `_`, beginning \
         with a letter or digit"
    )]
    Profile(String),
}

impl Location {
    /// Finds the paths: `--config`, `OPENCLAW_CONFIG_PATH`, `OPENCLAW_STATE_DIR`, then
    /// `~/.openclaw` or, with `--profile` or `OPENCLAW_PROFILE`, `~/.openclaw-NAME`.
    ///
    /// A path that was named wins over one that follows from a profile.
    pub fn find(overrides: &Overrides, environment: &Environment) -> Result<Self, LocationError> {
        let profile = overrides
            .profile
            .as_deref()
            .or_else(|| environment.process_variable("OPENCLAW_PROFILE"))
            .filter(|name| *name != "default");
        if let Some(name) = profile
            && !is_profile_name(name)
        {
            return Err(LocationError::Profile(name.to_owned()));
        }
        let absolute = |path: &str| environment.directory().join(environment.expand_home(path));
        let state = match environment.process_variable("OPENCLAW_STATE_DIR") {
            Some(path) => absolute(path),
            None => {
                let name = match profile {
                    Some(profile) => format!(".openclaw-{profile}"),
                    None => ".openclaw".to_owned(),
                };
                environment.home().ok_or(LocationError::NoHome)?.join(name)
            }
        };
        let named = match &overrides.config {
            Some(path) => Some(environment.directory().join(path)),
            None => environment
                .process_variable("OPENCLAW_CONFIG_PATH")
                .map(absolute),
        };
        Ok(Self {
            named: named.is_some(),
            config: named.unwrap_or_else(|| state.join("openclaw.json")),
            state,
            profile: profile.map(str::to_owned),
        })
    }
}

fn is_profile_name(name: &str) -> bool {
    name.len() <= 64
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn find<const N: usize>(
        variables: [(&str, &str); N],
        config: Option<&str>,
        profile: Option<&str>,
    ) -> Result<(String, String), LocationError> {
        let environment =
            Environment::new(variables, Some(Path::new("/home/ada")), Path::new("/here"));
        let overrides = Overrides {
            config: config.map(PathBuf::from),
            profile: profile.map(str::to_owned),
        };
        let location = Location::find(&overrides, &environment)?;
        Ok((
            location.config.display().to_string(),
            location.state.display().to_string(),
        ))
    }

    #[test]
    fn the_most_specific_name_wins() {
        let default = Ok((
            "/home/ada/.openclaw/openclaw.json".to_owned(),
            "/home/ada/.openclaw".to_owned(),
        ));
        assert_eq!(find([], None, None), default);
        assert_eq!(find([], None, Some("default")), default);
        assert_eq!(
            find([("OPENCLAW_HOME", "/srv")], None, None),
            Ok((
                "/srv/.openclaw/openclaw.json".to_owned(),
                "/srv/.openclaw".to_owned()
            ))
        );
        assert_eq!(
            find([], None, Some("work")),
            Ok((
                "/home/ada/.openclaw-work/openclaw.json".to_owned(),
                "/home/ada/.openclaw-work".to_owned()
            ))
        );
        assert_eq!(
            find([("OPENCLAW_STATE_DIR", "~/s")], None, Some("work")),
            Ok((
                "/home/ada/s/openclaw.json".to_owned(),
                "/home/ada/s".to_owned()
            ))
        );
        let variables = [
            ("OPENCLAW_CONFIG_PATH", "c.json"),
            ("OPENCLAW_STATE_DIR", "/s"),
        ];
        assert_eq!(
            find(variables, None, None),
            Ok(("/here/c.json".to_owned(), "/s".to_owned()))
        );
        assert_eq!(
            find(variables, Some("d.json"), None),
            Ok(("/here/d.json".to_owned(), "/s".to_owned()))
        );
    }

    #[test]
    fn a_profile_cannot_lead_out_of_home() {
        for name in ["../x", "", "a/b", "-x", "a b"] {
            assert_eq!(
                find([], None, Some(name)),
                Err(LocationError::Profile(name.to_owned()))
            );
        }
    }
}
