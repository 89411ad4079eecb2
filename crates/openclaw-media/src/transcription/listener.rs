//! Programs that transcribe.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use openclaw_config::TranscriptionProgram;
use openclaw_content::shown_line;
use openclaw_process::{Inherited, ProgramCommand, ResolveError, child_environment, find_program};
use openclaw_secrets::Secret;

use crate::program::run;
use crate::transcription::scratch::Scratch;
use crate::transcription::{Recording, TRANSCRIPT_LIMIT, Transcription, TranscriptionError};

/// How much of a program's own words is shown.
const SHOWN: usize = 200;

impl Transcription {
    /// Has a program listen to a recording. Whoever drops the future ends the program, and nothing is
    /// left of the recording.
    pub(super) async fn listen(
        &self,
        program: &TranscriptionProgram,
        variables: Vec<(String, Secret)>,
        language: Option<&str>,
        recording: Recording<'_>,
    ) -> Result<String, TranscriptionError> {
        let failed = |reason: String| TranscriptionError::Program {
            program: shown_line(&program.command, SHOWN),
            reason,
        };
        let path = find_transcriber(program, |wanted| {
            let mut variables = self.workplace.environment.iter();
            let found = variables.find(|(name, _)| name == wanted);
            found.map(|(_, value)| value.as_os_str())
        });
        let path = path.map_err(|error| failed(error.to_string()))?;
        let scratch = Scratch::new(&self.workplace.state, recording).await;
        let scratch = scratch.map_err(|error| failed(error.to_string()))?;
        let ours = self.workplace.environment.iter().cloned();
        let declared = variables.into_iter();
        let declared = declared.map(|(name, value)| (name.into(), value.expose().into()));
        let environment = child_environment(ours, &Inherited::Nothing, declared);
        let command = ProgramCommand {
            program: path,
            arguments: arguments(&program.args, scratch.file(), scratch.directory(), language),
            environment: environment.into_iter().collect(),
            directory: Some(scratch.directory().to_owned()),
        };
        let launcher = &self.workplace.launcher;
        let mut output = Vec::new();
        let finished = run(launcher, &command, &[], TRANSCRIPT_LIMIT, &mut output).await;
        let finished = finished.map_err(|error| failed(error.to_string()))?;
        if !finished.succeeded() {
            let words = finished.last_words().await.unwrap_or_default();
            let words = shown_line(&self.redactor.redact(&words), SHOWN);
            let colon = if words.is_empty() { "" } else { ": " };
            return Err(failed(format!("{}{colon}{words}", finished.end)));
        }
        let said = String::from_utf8_lossy(&output);
        if !said.trim().is_empty() && !scratch.has_transcript() {
            return Ok(said.trim().to_owned());
        }
        // What it printed beside the file that it wrote was for a person to watch.
        let written = scratch.transcript().await;
        let written = written.map_err(|error| failed(error.to_string()))?;
        Ok(written.unwrap_or_default().trim().to_owned())
    }
}

/// Finds the program that transcribes, with variables of an environment.
///
/// Directories of the `PATH` that are relative are passed over: nobody can say to what.
pub fn find_transcriber<'e>(
    program: &TranscriptionProgram,
    variable: impl Fn(&str) -> Option<&'e OsStr>,
) -> Result<PathBuf, ResolveError> {
    let search = variable("PATH").map(|search| {
        let entries = std::env::split_paths(search).filter(|entry| entry.is_absolute());
        std::env::join_paths(entries).unwrap_or_default()
    });
    find_program(
        &program.command,
        search.as_deref(),
        variable("PATHEXT"),
        &program.directory,
    )
}

/// The arguments, with what is known now put in. Where the language is not known, what would name it
/// is left out, with the option before it.
fn arguments(
    written: &[String],
    file: &Path,
    directory: &Path,
    language: Option<&str>,
) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = Vec::with_capacity(written.len());
    let mut last_is_option = false;
    for text in written {
        if language.is_none() && text.contains(TranscriptionProgram::LANGUAGE) {
            if text == TranscriptionProgram::LANGUAGE && last_is_option {
                arguments.pop();
            }
            last_is_option = false;
            continue;
        }
        last_is_option = text.starts_with('-');
        arguments.push(filled(text, file, directory, language.unwrap_or_default()));
    }
    arguments
}

/// One argument. What is put in is not looked at again.
fn filled(text: &str, file: &Path, directory: &Path, language: &str) -> OsString {
    let places: [(&str, &OsStr); 3] = [
        (TranscriptionProgram::FILE, file.as_os_str()),
        (TranscriptionProgram::DIRECTORY, directory.as_os_str()),
        (TranscriptionProgram::LANGUAGE, language.as_ref()),
    ];
    let mut argument = OsString::new();
    let mut rest = text;
    loop {
        let found = places.iter();
        let found = found.filter_map(|(place, value)| Some((rest.find(place)?, *place, *value)));
        let Some((at, place, value)) = found.min_by_key(|(at, ..)| *at) else {
            argument.push(rest);
            return argument;
        };
        let (before, after) = rest.split_at(at);
        argument.push(before);
        argument.push(value);
        rest = after.get(place.len()..).unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(written: &[&str], language: Option<&str>) -> Vec<OsString> {
        let written: Vec<String> = written.iter().map(|it| (*it).to_owned()).collect();
        arguments(
            &written,
            Path::new("/a/{language}"),
            Path::new("/b"),
            language,
        )
    }

    #[cfg(unix)]
    #[test]
    fn relative_directories_of_the_path_are_passed_over() {
        use std::os::unix::fs::PermissionsExt as _;

        let home = tempfile::tempdir().unwrap();
        for directory in ["near", "far"] {
            let program = home.path().join(directory).join("hear");
            std::fs::create_dir(program.parent().unwrap()).unwrap();
            std::fs::write(&program, "#!/bin/sh\n").unwrap();
            std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let far = home.path().join("far");
        let search = std::env::join_paths([Path::new("near"), &far]).unwrap();
        let find = |command: &str| {
            let program = TranscriptionProgram {
                command: command.to_owned(),
                directory: home.path().to_owned(),
                args: Vec::new(),
                environment: std::collections::BTreeMap::new(),
            };
            find_transcriber(&program, |name| (name == "PATH").then_some(&search))
        };
        assert_eq!(find("hear").unwrap(), far.join("hear"));
        assert_eq!(find("near/hear").unwrap(), home.path().join("near/hear"));
    }

    #[test]
    fn places_are_filled_in_once() {
        let given = ["{file}", "--out={directory}/x", "-l", "{language}"];
        assert_eq!(
            made(&given, Some("de")),
            ["/a/{language}", "--out=/b/x", "-l", "de"]
        );
    }

    #[test]
    fn a_language_that_is_not_known_is_left_out_with_its_option() {
        assert_eq!(
            made(&["-l", "{language}", "{file}"], None),
            ["/a/{language}"]
        );
        assert_eq!(made(&["--language={language}", "x"], None), ["x"]);
        assert_eq!(made(&["x", "{language}"], None), ["x"]);
    }
}
