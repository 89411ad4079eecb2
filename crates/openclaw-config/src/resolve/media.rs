//! Files that come with messages.

use std::time::Duration;

use crate::config::{
    Definition, MediaSettings, Transcriber, TranscriptionProgram, TranscriptionService,
    TranscriptionSettings,
};
use crate::path::JsonPath;
use crate::raw::{Argument, ConfigValue, RawRoot, RawTranscription, TranscriptionProvider};
use crate::report::{Kind, Problem};
use crate::resolve::Resolver;
use crate::resolve::sections::credential;
use crate::server::{is_in_arguments, is_plaintext};
use crate::shape::{Field, NonEmpty};
use crate::source::Span;

/// How long a transcription may take.
const PATIENCE: Duration = Duration::from_mins(2);

impl Resolver<'_> {
    pub(super) fn media(&mut self, root: &RawRoot) -> Definition<MediaSettings> {
        let raw = root.media.value().cloned().unwrap_or_default();
        let problems = self.report.problems().iter();
        let mut reasons: Vec<Problem> = problems
            .filter(|problem| problem.is_in_media() && problem.blocks())
            .cloned()
            .collect();
        if let Some(field) = root.media.located()
            && self.report.omitted() > 0
        {
            let message = "may have mistakes beyond those that are listed";
            reasons.push(Problem::error(Kind::Rule, &field.path, message).at(field.span));
        }
        let mut transcription = None;
        if let Some(field) = raw.transcription.located() {
            match self.transcription_settings(&field.value.0) {
                Ok(settings) => transcription = settings,
                // What is missing may have been given wrongly, which has been reported.
                Err(message) if reasons.is_empty() => {
                    let problem = Problem::error(Kind::Rule, &field.path, message).at(field.span);
                    self.report.add(problem.clone());
                    reasons.push(problem);
                }
                Err(_) => {}
            }
            let advice = advice(&field.value.0);
            self.report.extend(advice);
        }
        Definition::new(Some(MediaSettings { transcription }), reasons)
    }

    fn transcription_settings(
        &self,
        raw: &RawTranscription,
    ) -> Result<Option<TranscriptionSettings>, &'static str> {
        let enabled = raw.enabled.or(true);
        let service = || TranscriptionService {
            base_url: raw.base_url.value().and_then(|address| address.0.clone()),
            api_key: credential(&raw.api_key),
            model: text(&raw.model),
        };
        let by = match raw.provider.value() {
            // Switched off, it need not say what it would be.
            None if !enabled => return Ok(None),
            None => return Err("`provider` is missing: `openai`, `deepgram` or `command`"),
            Some(TranscriptionProvider::OpenAi) => Transcriber::OpenAi(service()),
            Some(TranscriptionProvider::Deepgram) => Transcriber::Deepgram(service()),
            Some(TranscriptionProvider::Command) => {
                let command = text(&raw.command).ok_or("the provider `command` needs `command`")?;
                let expanded = self.environment.expand_home(&command);
                let variables = raw.env.value().cloned().unwrap_or_default();
                Transcriber::Program(TranscriptionProgram {
                    command: expanded.into_os_string().into_string().unwrap_or(command),
                    directory: self.directory.to_owned(),
                    args: match raw.args.value() {
                        Some(args) => args
                            .iter()
                            .map(|argument| argument.0.value.clone())
                            .collect(),
                        None => vec![TranscriptionProgram::FILE.to_owned()],
                    },
                    environment: variables
                        .0
                        .into_iter()
                        .map(|entry| (entry.name, entry.value.value))
                        .collect(),
                })
            }
        };
        Ok(Some(TranscriptionSettings {
            enabled,
            by,
            language: text(&raw.language),
            timeout: raw.timeout.value().map_or(PATIENCE, |timeout| timeout.0),
        }))
    }
}

fn text(field: &Field<NonEmpty>) -> Option<String> {
    field.value().map(|text| text.0.value.clone())
}

/// What works and is probably not meant.
fn advice(raw: &RawTranscription) -> Vec<Problem> {
    let mut advice = Vec::new();
    let mut plaintext = |name: &str, value: &ConfigValue, path: &JsonPath, span: Span| {
        if is_plaintext(name, value) {
            let message =
                "this is a credential in plain text — consider using a secret:// reference";
            let help =
                "write `\"secret://keyring/SERVICE/ACCOUNT\"`, or `\"${NAME}\"` for a variable";
            let problem = Problem::warning(Kind::PlaintextCredential, path, message);
            advice.push(problem.at(span).help(help));
        }
    };
    if let Some(key) = raw.api_key.located() {
        plaintext("apiKey", &key.value.value, &key.path, key.span);
    }
    if let Some(variables) = raw.env.located() {
        for entry in &variables.value.0 {
            let path = variables.path.child(&entry.name);
            plaintext(&entry.name, &entry.value.value, &path, entry.span);
        }
    }
    if let Some(args) = raw.args.located()
        && is_in_arguments(&args.value)
    {
        let message = "an argument is a credential in plain text, and every process of the machine \
                       can read it";
        let help = "pass it in `env`, where a reference can stand";
        let problem = Problem::warning(Kind::PlaintextCredential, &args.path, message);
        advice.push(problem.at(args.span).help(help));
    }
    advice.extend(without_effect(raw));
    advice
}

/// What is set for somebody else than the one who transcribes.
fn without_effect(raw: &RawTranscription) -> Vec<Problem> {
    let Some(provider) = raw.provider.value() else {
        return Vec::new();
    };
    let of_programs = [place(&raw.command), place(&raw.args), place(&raw.env)];
    let of_services = [place(&raw.base_url), place(&raw.api_key), place(&raw.model)];
    let (foreign, word) = match provider {
        TranscriptionProvider::OpenAi => (of_programs, "openai"),
        TranscriptionProvider::Deepgram => (of_programs, "deepgram"),
        TranscriptionProvider::Command => (of_services, "command"),
    };
    let mut found: Vec<Problem> = foreign
        .into_iter()
        .flatten()
        .map(|(path, span)| {
            let message = format!("this has no effect with the provider `{word}`");
            Problem::warning(Kind::Advice, path, message).at(span)
        })
        .collect();
    if *provider == TranscriptionProvider::Command {
        let has = |wanted: &str| {
            let args = raw.args.value().map_or(&[][..], Vec::as_slice);
            args.iter()
                .any(|Argument(text)| text.value.contains(wanted))
        };
        if let Some((path, span)) = place(&raw.args)
            && !has(TranscriptionProgram::FILE)
        {
            let message = "no argument has `{file}`: the program is not told which recording it is";
            found.push(Problem::warning(Kind::Advice, path, message).at(span));
        }
        if let Some((path, span)) = place(&raw.language)
            && !has(TranscriptionProgram::LANGUAGE)
        {
            let message = "no argument has `{language}`: the program is not told the language";
            found.push(Problem::warning(Kind::Advice, path, message).at(span));
        }
    }
    found
}

fn place<T>(field: &Field<T>) -> Option<(&JsonPath, Span)> {
    field.located().map(|field| (&*field.path, field.span))
}
