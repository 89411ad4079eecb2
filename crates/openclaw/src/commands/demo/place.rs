//! The temporary directory that the tour lives in.

use std::path::{Path, PathBuf};

use openclaw_config::Environment;
use serde_json::Value as Json;
use tempfile::TempDir;

use crate::failure::Failure;
use crate::signals::delete_when_leaving;

/// A directory with a configuration in it, deleted when it is dropped and when we have to leave at
/// once.
pub(super) struct Place {
    directory: TempDir,
}

impl Place {
    /// Makes the directory, and writes the configuration into it.
    pub(super) fn new() -> Result<Self, Failure> {
        let directory = tempfile::Builder::new()
            .prefix("openclaw-demo-")
            .tempdir()
            .map_err(|error| cannot_begin("cannot make a temporary directory", &error))?;
        if directory.path().to_str().is_none() {
            let message = format!(
                "cannot begin: the path {} is not UTF-8",
                directory.path().display()
            );
            return Err(Failure::failed("demo", message)
                .hint("set TMPDIR to a directory with another name"));
        }
        let place = Self { directory };
        delete_when_leaving(Some(place.path()));
        let text = configuration(&own_program()?);
        std::fs::write(place.config(), text)
            .map_err(|error| cannot_begin("cannot write the demo's configuration", &error))?;
        Ok(place)
    }

    /// What is looked at in place of the person's variables and directories.
    pub(super) fn environment(&self) -> Environment {
        let state = self.path().to_string_lossy();
        let variables = [("OPENCLAW_STATE_DIR", state.as_ref())];
        Environment::new(variables, Some(self.path()), self.path())
    }

    /// The configuration as it was written.
    pub(super) fn config_text(&self) -> Result<String, Failure> {
        std::fs::read_to_string(self.config())
            .map_err(|error| cannot_begin("cannot read the demo's configuration", &error))
    }

    /// Deletes the directory, and says which it was.
    pub(super) fn remove(self) -> Result<PathBuf, Failure> {
        let path = self.path().to_owned();
        std::fs::remove_dir_all(&path).map_err(|error| {
            let message = format!("cannot delete {}: {error}", path.display());
            Failure::failed("demo", message)
        })?;
        Ok(path)
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn config(&self) -> PathBuf {
        self.path().join("openclaw.json")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        delete_when_leaving(None);
    }
}

/// The configuration, written as a person would.
fn configuration(program: &str) -> String {
    let program = Json::String(program.to_owned());
    format!(
        r#"{{
  "agents": {{ "defaults": {{ "model": "builtin/offline" }} }},
  "mcp": {{
    "servers": {{ "demo": {{ "command": {program}, "args": ["demo-server"] }} }}
  }}
}}
"#
    )
}

/// This very program, which is also the server.
fn own_program() -> Result<String, Failure> {
    // The path that it was started by may lead to a newer version by now, or nowhere.
    if cfg!(target_os = "linux") {
        return Ok("/proc/self/exe".to_owned());
    }
    let path = std::env::current_exe()
        .map_err(|error| cannot_begin("it is not known where this program is", &error))?;
    Ok(path.to_string_lossy().into_owned())
}

fn cannot_begin(what: &str, error: &std::io::Error) -> Failure {
    Failure::failed("demo", format!("{what}: {error}"))
        .hint("set TMPDIR to a directory that can be written to")
}
