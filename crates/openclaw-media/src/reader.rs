//! What others ask, and who answers.

use std::ffi::OsString;
use std::sync::{Arc, PoisonError, RwLock};

use openclaw_config::Config;
use openclaw_process::Launcher;
use openclaw_secret_stores::SecretResolver;
use openclaw_secrets::Redactor;
use openclaw_state::StateDirectory;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

use crate::document::{DocumentError, DocumentProgram, DocumentText, LARGEST, document_text};
use crate::seats::seats;
use crate::transcription::{Recording, Transcription, TranscriptionError, Workplace, sweep_unused};

/// What a reader of media is made of.
pub struct MediaSetup {
    /// Who transcribes recordings.
    pub config: Arc<Config>,
    /// What gets their keys.
    pub resolver: Arc<SecretResolver>,
    /// What learns their keys.
    pub redactor: Redactor,
    /// Where recordings lie while a program listens to them.
    pub state: StateDirectory,
    /// What starts programs.
    pub launcher: Arc<Launcher>,
    /// The program that reads documents.
    pub documents: DocumentProgram,
    /// The environment that programs get parts of.
    pub environment: Vec<(OsString, OsString)>,
}

/// Puts files that come with messages into words, as a configuration says.
pub struct MediaReader {
    /// Who transcribes. A recording is transcribed by one of them, whatever comes meanwhile.
    transcription: RwLock<Arc<Transcription>>,
    redactor: Redactor,
    workplace: Arc<Workplace>,
    documents: DocumentProgram,
    /// How many documents are read at once: each may take much memory.
    document_seats: Semaphore,
}

impl MediaReader {
    /// Takes a configuration; nothing is asked or started. Recordings that were left by processes that
    /// are gone are removed meanwhile, whoever transcribes now.
    pub fn new(setup: MediaSetup) -> Self {
        if let Ok(runtime) = Handle::try_current() {
            let state = setup.state.clone();
            // It takes a moment and waits for nobody, so nobody waits for it.
            drop(runtime.spawn_blocking(move || sweep_unused(&state)));
        }
        let workplace = Arc::new(Workplace {
            launcher: setup.launcher,
            state: setup.state,
            environment: setup.environment,
            seats: seats(),
        });
        let transcription = Transcription::new(
            &setup.config,
            setup.resolver,
            &setup.redactor,
            Arc::clone(&workplace),
        );
        Self {
            transcription: RwLock::new(Arc::new(transcription)),
            redactor: setup.redactor,
            workplace,
            documents: setup.documents,
            document_seats: seats(),
        }
    }

    /// Goes over to another configuration. What is under way goes on as it was begun.
    pub fn renew(&self, config: &Config, resolver: Arc<SecretResolver>) {
        let workplace = Arc::clone(&self.workplace);
        let renewed = Transcription::new(config, resolver, &self.redactor, workplace);
        let current = self.transcription.write();
        *current.unwrap_or_else(PoisonError::into_inner) = Arc::new(renewed);
    }

    /// The text of a PDF. Only so many are read at once; the time that one has begins when it is its
    /// turn.
    pub async fn document_text(&self, pdf: &[u8]) -> Result<DocumentText, DocumentError> {
        if pdf.len() > LARGEST {
            return Err(DocumentError::TooLarge);
        }
        // Nobody closes it.
        let _seat = self.document_seats.acquire().await;
        document_text(&self.workplace.launcher, &self.documents, pdf).await
    }

    /// Whether somebody is to transcribe recordings.
    pub fn transcribes(&self) -> bool {
        self.transcription().is_wanted()
    }

    /// What is spoken in a recording.
    pub async fn transcript(&self, recording: Recording<'_>) -> Result<String, TranscriptionError> {
        let transcription = self.transcription();
        transcription.transcript(recording).await
    }

    fn transcription(&self) -> Arc<Transcription> {
        let current = self.transcription.read();
        Arc::clone(&current.unwrap_or_else(PoisonError::into_inner))
    }
}
