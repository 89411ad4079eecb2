//! Who transcribes recordings.

use std::ffi::OsString;

use openclaw_config::{Config, Transcriber};
use openclaw_content::shown_line;
use openclaw_media::find_transcriber;

use crate::commands::doctor::{Finding, Level};

/// How much of a program's name is shown.
const SHOWN: usize = 200;

/// Whether whoever is to transcribe could: the program is there, or the key is.
///
/// Keys that are referred to are asked for with all the other secrets.
pub(super) fn transcription(
    config: &Config,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Vec<Finding> {
    let media = config.media.sound();
    // What is wrong with the settings stands among the problems of the file.
    let Some(settings) = media.and_then(|media| media.transcription.as_ref()) else {
        return Vec::new();
    };
    if !settings.enabled {
        let message = "the transcription of recordings is switched off";
        let fix = "set `media.transcription.enabled` to `true` to use it";
        return vec![Finding::new(Level::Warning, "media", message).fix(fix)];
    }
    let finding = match &settings.by {
        Transcriber::Program(program) => {
            let (search, endings) = (variable("PATH"), variable("PATHEXT"));
            let found = find_transcriber(program, |name| match name {
                "PATH" => search.as_deref(),
                "PATHEXT" => endings.as_deref(),
                _ => None,
            });
            let command = shown_line(&program.command, SHOWN);
            match found {
                Ok(_) => Finding::new(
                    Level::Fine,
                    "media",
                    format!("recordings are transcribed by `{command}`"),
                ),
                Err(error) => Finding::new(
                    Level::Problem,
                    "media",
                    format!("recordings can't be transcribed: {error}"),
                )
                .fix("install it, or correct `media.transcription.command`"),
            }
        }
        service @ (Transcriber::OpenAi(it) | Transcriber::Deepgram(it)) => {
            let name = service.key_variable().unwrap_or_default();
            let environment = &config.environment;
            let key = environment
                .own_variable(name)
                .or(environment.variable(name));
            let is_there = key.is_some_and(|key| !key.trim().is_empty());
            if it.api_key.is_some() || it.base_url.is_some() || is_there {
                Finding::new(
                    Level::Fine,
                    "media",
                    "recordings are transcribed by a service",
                )
            } else {
                let message = format!(
                    "recordings can't be transcribed: neither `media.transcription.apiKey` nor \
                     `{name}` is set"
                );
                Finding::new(Level::Problem, "media", message)
                    .fix(format!("set `{name}`, or `media.transcription.apiKey`"))
            }
        }
    };
    vec![finding]
}
