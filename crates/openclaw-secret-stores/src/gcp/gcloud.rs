//! Asking the program `gcloud` for a secret, where we have no credentials of our own.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use openclaw_process::{Inherited, ProgramCommand, child_environment, find_program};
use tokio::sync::Semaphore;

use super::place::Wanted;
use crate::error::{SecretError, SecretErrorKind};
use crate::program::{self, ProgramOutput};
use crate::provider::Fetched;
use crate::surroundings::Surroundings;
use crate::value;

/// How often it runs at the same time: it takes about a second of a processor each time.
const AT_ONCE: usize = 4;
/// The beginnings of the names of its own variables.
const OURS: &[&str] = &["CLOUDSDK_", "GOOGLE_"];
/// Those of them that are likely to stand in a `.env` file.
const IN_FILES: &[&str] = &[
    "CLOUDSDK_ACTIVE_CONFIG_NAME",
    "CLOUDSDK_API_ENDPOINT_OVERRIDES_SECRETMANAGER",
    "CLOUDSDK_AUTH_ACCESS_TOKEN_FILE",
    "CLOUDSDK_AUTH_CREDENTIAL_FILE_OVERRIDE",
    "CLOUDSDK_AUTH_IMPERSONATE_SERVICE_ACCOUNT",
    "CLOUDSDK_CONFIG",
    "CLOUDSDK_CORE_ACCOUNT",
    "CLOUDSDK_CORE_PROJECT",
    "CLOUDSDK_PYTHON",
];

/// The program `gcloud`.
pub(super) struct Gcloud {
    surroundings: Surroundings,
    turns: Semaphore,
}

impl Gcloud {
    pub(super) fn new(surroundings: Surroundings) -> Self {
        Self {
            surroundings,
            turns: Semaphore::new(AT_ONCE),
        }
    }

    /// The program, if it is there.
    pub(super) fn find(&self) -> Option<PathBuf> {
        let environment = &self.surroundings.environment;
        let variable = |name| self.surroundings.variable(name).map(OsString::from);
        find_program(
            "gcloud",
            variable("PATH").as_deref(),
            variable("PATHEXT").as_deref(),
            environment.directory(),
        )
        .ok()
    }

    /// Asks for a secret. `why` we do not ask ourselves is a part of what is said if this fails, too.
    pub(super) async fn access(
        &self,
        program: &Path,
        wanted: Result<&Wanted, &SecretError>,
        why: &SecretError,
    ) -> Fetched {
        let wanted = wanted.map_err(Clone::clone)?;
        let command = ProgramCommand {
            program: program.to_owned(),
            arguments: arguments(wanted)?,
            environment: self.environment(),
            directory: None,
        };
        // An error would mean that the semaphore is closed.
        let _turn = self.turns.acquire().await;
        let launcher = &self.surroundings.launcher;
        let limit = value::LARGEST_SECRET + 1;
        let output = program::run(launcher, &command, Vec::new(), limit).await?;
        if output.succeeded() {
            return Ok(value::from_bytes(output.stdout.to_vec())?.into());
        }
        Err(self.failed(&output, why))
    }

    fn environment(&self) -> Vec<(OsString, OsString)> {
        let environment = &self.surroundings.environment;
        let pair = |(name, value): (&str, &str)| (OsString::from(name), OsString::from(value));
        let of_process = environment.process_variables().filter(|(name, _)| {
            let name = name.to_ascii_uppercase();
            OURS.iter().any(|beginning| name.starts_with(beginning))
        });
        let in_files = IN_FILES
            .iter()
            .filter_map(|name| Some((*name, self.surroundings.variable(name)?)));
        // Nobody would answer a question.
        let fixed = [
            ("CLOUDSDK_CORE_DISABLE_PROMPTS", "1"),
            ("CLOUDSDK_SURVEY_DISABLE_PROMPTS", "1"),
        ];
        let declared = in_files.chain(of_process).chain(fixed);
        child_environment(
            environment.process_variables().map(pair),
            &Inherited::Nothing,
            declared.map(pair),
        )
        .into_iter()
        .collect()
    }

    /// Says that it failed, in its own last words.
    fn failed(&self, output: &ProgramOutput, why: &SecretError) -> SecretError {
        // Advice may stand behind the error.
        let words = output.last_words(&self.surroundings.redactor, "ERROR:");
        let words = words.unwrap_or_default();
        let kind = if words.contains("NOT_FOUND") {
            SecretErrorKind::Missing
        } else if words.contains("PERMISSION_DENIED") {
            SecretErrorKind::Refused
        } else {
            SecretErrorKind::Unavailable
        };
        let reason = if words.is_empty() {
            format!("{why}, and gcloud failed ({})", output.end)
        } else {
            format!("{why}, and gcloud failed ({}): {words}", output.end)
        };
        let error = SecretError::new(kind, reason);
        match kind {
            // Then it knows who we are.
            SecretErrorKind::Missing | SecretErrorKind::Refused => error,
            _ => error.hint(super::credentials::LOG_IN),
        }
    }
}

/// What is asked, word by word. There is no shell that could read more into it.
fn arguments(wanted: &Wanted) -> Result<Vec<OsString>, SecretError> {
    for (what, text) in [("name", &wanted.name), ("version", &wanted.version)] {
        if text.starts_with('-') {
            return Err(SecretError::misconfigured(format!(
                "gcloud can't be asked for a secret whose {what} begins with `-`"
            )));
        }
    }
    let mut arguments = vec![
        "secrets".to_owned(),
        "versions".to_owned(),
        "access".to_owned(),
        wanted.version.clone(),
        format!("--secret={}", wanted.name),
    ];
    // Without one it takes the project that it is set up for.
    arguments.extend(
        wanted
            .project
            .iter()
            .map(|project| format!("--project={project}")),
    );
    arguments.push("--quiet".to_owned());
    Ok(arguments.into_iter().map(OsString::from).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(name: &str, version: &str, project: Option<&str>) -> Wanted {
        Wanted {
            project: project.map(str::to_owned),
            name: name.to_owned(),
            version: version.to_owned(),
        }
    }

    #[test]
    fn each_part_is_one_argument_whatever_is_in_it() {
        let name = "a b; $(touch x) `y` | \"z\" & 'q' > f";
        let arguments = arguments(&wanted(name, "3", Some("p"))).unwrap();
        let expected = [
            "secrets",
            "versions",
            "access",
            "3",
            "--secret=a b; $(touch x) `y` | \"z\" & 'q' > f",
            "--project=p",
            "--quiet",
        ];
        assert_eq!(arguments, expected);
    }

    #[test]
    fn what_could_be_an_option_is_refused() {
        for (name, version) in [("-n", "1"), ("n", "-1"), ("--x", "1")] {
            let error = arguments(&wanted(name, version, None)).unwrap_err();
            assert!(error.to_string().contains("begins with `-`"), "{error}");
        }
    }
}
