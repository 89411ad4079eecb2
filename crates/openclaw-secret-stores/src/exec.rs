//! Programs that know secrets, such as the command of a password manager.

use std::ffi::OsString;

use openclaw_config::SecretProgram;
use openclaw_process::{Inherited, ProgramCommand, child_environment};
use openclaw_secrets::{SecretReference, looks_like_credential};
use serde_json::{Value as Json, json};
use tokio::time::Instant;

use crate::error::SecretError;
use crate::program;
use crate::provider::{Fetched, Fetching, SecretProvider, all_failed};
use crate::surroundings::Surroundings;
use crate::value::{self, Document};

/// The version of what is said to programs.
const PROTOCOL: u64 = 1;

/// A program of `secrets.providers`. It is asked once for all secrets that are needed of it.
pub(crate) struct Exec {
    surroundings: Surroundings,
    name: String,
    program: SecretProgram,
}

impl Exec {
    pub(crate) fn new(surroundings: Surroundings, name: &str, program: &SecretProgram) -> Self {
        Self {
            surroundings,
            name: name.to_owned(),
            program: program.clone(),
        }
    }

    async fn ask(&self, references: &[SecretReference]) -> Result<Vec<Fetched>, SecretError> {
        let ids = references
            .iter()
            .map(id_of)
            .collect::<Result<Vec<_>, _>>()?;
        let question = json!({
            "protocolVersion": PROTOCOL,
            "provider": self.name,
            "ids": ids,
        });
        let question = format!("{question}\n").into_bytes();
        let limit = usize::try_from(self.program.max_output_bytes).unwrap_or(usize::MAX);
        let (launcher, command) = (&self.surroundings.launcher, self.command());
        let output = program::run(launcher, &command, question, limit).await?;
        if !output.succeeded() {
            return Err(output.failure(&self.surroundings.redactor, &self.shown()));
        }
        let stdout = output.stdout;
        match Document::parse(&stdout) {
            Ok(answer) if answer.get("protocolVersion").is_some() => self.answers(&answer, &ids),
            Ok(_) | Err(_) => match &ids[..] {
                [_] => Ok(vec![value::from_bytes(stdout.to_vec()).map(Into::into)]),
                _ => Err(SecretError::unusable(format!(
                    "{} answers with plain text, which is one secret, and was asked for {}",
                    self.shown(),
                    ids.len()
                ))
                .hint(
                    "give each secret of such a program an entry of its own in `secrets.providers`",
                )),
            },
        }
    }

    /// What an answer in OpenClaw's own form says about each secret.
    fn answers(&self, answer: &Json, ids: &[&str]) -> Result<Vec<Fetched>, SecretError> {
        let version = answer.get("protocolVersion").and_then(Json::as_u64);
        if version != Some(PROTOCOL) {
            let reason = format!(
                "{} answers in another version of the protocol than {PROTOCOL}",
                self.shown()
            );
            return Err(SecretError::unusable(reason));
        }
        let one = |id: &&str| {
            let found = answer.get("values").and_then(|values| values.get(*id));
            if let Some(found) = found {
                return value::from_json(found).map(Into::into);
            }
            let error = answer.get("errors").and_then(|errors| errors.get(*id));
            let code = error
                .and_then(|error| error.get("code"))
                .and_then(Json::as_str);
            Err(match code {
                Some(code) => {
                    let code = program::clean(&self.surroundings.redactor, code);
                    SecretError::missing(format!("{} answers {code:?}", self.shown()))
                }
                None => SecretError::missing(format!("{} does not have it", self.shown())),
            })
        };
        Ok(ids.iter().map(one).collect())
    }

    fn command(&self) -> ProgramCommand {
        let environment = &self.surroundings.environment;
        let pair = |(name, value): (&str, &str)| (OsString::from(name), OsString::from(value));
        // Variables that are passed on may stand in a `.env` file.
        let passed = self.program.pass_environment.iter();
        let passed = passed.filter_map(|name| Some((name.as_str(), environment.variable(name)?)));
        let declared = self.program.environment.iter();
        let declared = declared.map(|(name, value)| (name.as_str(), value.as_str()));
        let given = passed.chain(declared).inspect(|(name, value)| {
            // The program may repeat what opens its store.
            if looks_like_credential(name, value) {
                let _ = self.surroundings.credential(*value);
            }
        });
        let environment = child_environment(
            environment.process_variables().map(pair),
            &Inherited::Nothing,
            given.map(pair),
        );
        ProgramCommand {
            program: self.program.command.clone(),
            arguments: self.program.args.iter().map(OsString::from).collect(),
            environment: environment.into_iter().collect(),
            directory: None,
        }
    }

    fn shown(&self) -> String {
        format!(
            "the program of the secret provider {:?} ({})",
            self.name,
            self.program.command.display()
        )
    }
}

impl SecretProvider for Exec {
    fn fetch<'p>(&'p self, references: &'p [SecretReference], _until: Instant) -> Fetching<'p> {
        Box::pin(async move {
            match self.ask(references).await {
                Ok(answers) => answers,
                Err(error) => all_failed(references, &error),
            }
        })
    }
}

fn id_of(reference: &SecretReference) -> Result<&str, SecretError> {
    match reference {
        SecretReference::Configured { id, .. } => Ok(id),
        _ => Err(SecretError::misconfigured("it is not a program's to know")),
    }
}
