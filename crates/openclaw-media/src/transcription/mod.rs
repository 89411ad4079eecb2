//! What is spoken in a recording.

mod credentials;
mod form;
mod listener;
mod scratch;
mod service;

use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use openclaw_config::{
    Config, Definition, MediaSettings, Problem, Transcriber, TranscriptionSettings,
};
use openclaw_http::{Http, HttpSettings};
use openclaw_process::Launcher;
use openclaw_secret_stores::SecretResolver;
use openclaw_secrets::Redactor;
use openclaw_state::StateDirectory;
use thiserror::Error;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use self::credentials::Credentials;
pub use self::listener::find_transcriber;
pub(crate) use self::scratch::sweep_unused;
use self::service::{Service, deepgram, openai};

/// How many bytes a transcript may have.
const TRANSCRIPT_LIMIT: usize = 1024 * 1024;
/// How many bytes a service may answer with: some tell of each word when it was said.
const ANSWER_LIMIT: usize = 32 * 1024 * 1024;

/// A recording.
pub struct Recording<'a> {
    /// Its type, as `audio/ogg`.
    pub media_type: &'a str,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

impl Recording<'_> {
    /// A name for it, since services and programs tell formats by names. Nothing of the name that it
    /// came with is in it.
    fn file_name(&self) -> String {
        let kind = self.media_type.strip_prefix("audio/").unwrap_or_default();
        let kind = kind.strip_prefix("x-").unwrap_or(kind);
        let ending = match kind {
            "mpeg" | "mp3" | "mpga" => "mp3",
            "wav" | "wave" | "vnd.wave" => "wav",
            "mp4" | "m4a" | "aac" | "mp4a-latm" => "m4a",
            "webm" => "webm",
            "flac" => "flac",
            "aiff" => "aiff",
            "amr" => "amr",
            // Messengers record in it, and so do most who say nothing else.
            _ => "ogg",
        };
        format!("recording.{ending}")
    }
}

/// Why there is no transcript.
#[derive(Debug, Error)]
pub enum TranscriptionError {
    /// Nobody is to transcribe, or it is switched off.
    #[error("nobody is set to transcribe: see `media.transcription`")]
    NotSet,
    /// What is set can't be used.
    #[error("`media.transcription` can't be used: {0}")]
    Misconfigured(String),
    /// There is no key.
    #[error("its key can't be had: {0}")]
    NoKey(String),
    /// The service was not reached, or refused.
    #[error("{service} did not do it: {reason}")]
    Service {
        /// The service.
        service: String,
        /// What it said, or what happened.
        reason: String,
    },
    /// The program failed.
    #[error("`{program}` did not do it: {reason}")]
    Program {
        /// The program.
        program: String,
        /// What happened.
        reason: String,
    },
    /// It took too long.
    #[error("it took more than {} s", .0.as_secs_f32())]
    TooLong(Duration),
    /// There is nothing in it that could be understood.
    #[error("no words were found in it")]
    NoWords,
}

/// Where programs are run.
pub(crate) struct Workplace {
    pub(crate) launcher: Arc<Launcher>,
    pub(crate) state: StateDirectory,
    pub(crate) environment: Vec<(OsString, OsString)>,
    /// How many programs listen at once: each may take all that a machine has.
    pub(crate) seats: Semaphore,
}

/// Who transcribes in one configuration.
pub(crate) struct Transcription {
    settings: Definition<MediaSettings>,
    credentials: Credentials,
    http: Http,
    redactor: Redactor,
    workplace: Arc<Workplace>,
}

impl Transcription {
    pub(crate) fn new(
        config: &Config,
        resolver: Arc<SecretResolver>,
        redactor: &Redactor,
        workplace: Arc<Workplace>,
    ) -> Self {
        Self {
            settings: config.media.clone(),
            credentials: Credentials {
                environment: Arc::clone(&config.environment),
                settings: Arc::clone(&config.secrets),
                resolver,
                redactor: redactor.clone(),
            },
            http: Http::new(HttpSettings {
                largest_answer: ANSWER_LIMIT,
                ..HttpSettings::default()
            }),
            redactor: redactor.clone(),
            workplace,
        }
    }

    /// Whether somebody is to transcribe; one that can't be used is wanted all the same.
    pub(crate) fn is_wanted(&self) -> bool {
        let settings = self.settings.sound();
        settings.is_none_or(|settings| enabled(settings).is_some())
    }

    pub(crate) async fn transcript(
        &self,
        recording: Recording<'_>,
    ) -> Result<String, TranscriptionError> {
        let settings = match &self.settings {
            Definition::Sound(settings) => settings,
            Definition::Broken(problems) => {
                let problems: Vec<&str> = problems.iter().map(Problem::message).collect();
                return Err(TranscriptionError::Misconfigured(problems.join("; ")));
            }
        };
        let Some(settings) = enabled(settings) else {
            return Err(TranscriptionError::NotSet);
        };
        let language = settings.language.as_deref();
        // The time that it may take begins when it is its turn. Nobody closes the seats.
        let _seat = match &settings.by {
            Transcriber::Program(_) => Some(self.workplace.seats.acquire().await),
            Transcriber::OpenAi(_) | Transcriber::Deepgram(_) => None,
        };
        let variable = settings.by.key_variable().unwrap_or_default();
        let asking = async {
            match &settings.by {
                Transcriber::OpenAi(it) => {
                    let key = self.credentials.key_of(it, variable).await?;
                    let request = openai(it, key.as_ref(), language, recording)?;
                    self.ask(&Service::OpenAi, request).await
                }
                Transcriber::Deepgram(it) => {
                    let key = self.credentials.key_of(it, variable).await?;
                    let request = deepgram(it, key.as_ref(), language, recording)?;
                    self.ask(&Service::Deepgram, request).await
                }
                Transcriber::Program(program) => {
                    let environment = self.credentials.variables(&program.environment).await?;
                    self.listen(program, environment, language, recording).await
                }
            }
        };
        let transcript = timeout(settings.timeout, Box::pin(asking)).await;
        let transcript =
            transcript.map_err(|_| TranscriptionError::TooLong(settings.timeout))??;
        // A program may print the environment that it was given.
        let mut transcript = self.redactor.redact(&transcript).into_owned();
        transcript.truncate(transcript.floor_char_boundary(TRANSCRIPT_LIMIT));
        if transcript.trim().is_empty() {
            return Err(TranscriptionError::NoWords);
        }
        Ok(transcript)
    }
}

/// What is to be done, unless it is switched off.
fn enabled(settings: &MediaSettings) -> Option<&TranscriptionSettings> {
    settings.transcription.as_ref().filter(|it| it.enabled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_recordings_are_ours_and_tell_the_format() {
        for (media_type, expected) in [
            ("audio/mpeg", "recording.mp3"),
            ("audio/x-wav", "recording.wav"),
            ("audio/x-m4a", "recording.m4a"),
            ("audio/ogg", "recording.ogg"),
            ("audio/../../etc", "recording.ogg"),
        ] {
            let bytes = Vec::new();
            let recording = Recording { media_type, bytes };
            assert_eq!(recording.file_name(), expected);
        }
    }
}
