//! Files that come with messages.

use serde_json::{Value as Json, json};

use crate::raw::address::ServiceAddress;
use crate::raw::variables::VariableMap;
use crate::raw::{Argument, RawCredential};
use crate::shape::{
    Context, Definitions, Milliseconds, NonEmpty, Shape, choices, object, reference,
};
use crate::tree::Node;

choices! {
    /// Who transcribes recordings.
    pub(crate) enum TranscriptionProvider {
        /// A service that speaks like OpenAI's.
        OpenAi = "openai",
        /// Deepgram.
        Deepgram = "deepgram",
        /// A program on this machine.
        Command = "command",
    }
}

object! {
    /// Files that come with messages.
    shared RawMedia as "media" {
        /// Who transcribes recordings. Without it they are accepted and named, and that is all.
        transcription: Transcription = "transcription";
    }
}

object! {
    /// Who transcribes recordings, and how.
    closed RawTranscription as "transcription" {
        /// Whether recordings are transcribed.
        enabled: bool = "enabled", default true;
        /// Who does it: `openai`, or whatever speaks like it; `deepgram`; or `command`, a program.
        provider: TranscriptionProvider = "provider";
        /// The service's address: ending in `/v1` for `openai`, the bare host for `deepgram`. Without
        /// it, the usual one.
        base_url: ServiceAddress = "baseUrl";
        /// The key. Without it, and at the usual address, `OPENAI_API_KEY` or `DEEPGRAM_API_KEY`.
        api_key: RawCredential = "apiKey";
        /// The model. Without it: `whisper-1` for `openai`, `nova-3` for `deepgram`.
        model: NonEmpty = "model";
        /// The language that is spoken, as `en` or `de`. Without it, whoever transcribes finds out.
        language: NonEmpty = "language";
        /// The program (`command`): a path, relative to this file, or a name that is looked for in the
        /// `PATH`.
        command: NonEmpty = "command";
        /// Its arguments (`command`). `{file}` stands for the recording, `{directory}` for a directory
        /// that is gone afterwards, `{language}` for the language. Without them: `{file}`.
        args: Vec<Argument> = "args";
        /// Variables for its environment (`command`), beside the usual ones.
        env: VariableMap = "env";
        /// How long it may take, in milliseconds.
        timeout: Milliseconds = "timeoutMs", default 120000;
    }
}

/// A transcription, with what each kind needs.
#[derive(Clone, Debug)]
pub(crate) struct Transcription(pub(crate) RawTranscription);

impl Shape for Transcription {
    fn decode(node: &Node, context: &mut Context<'_>) -> Option<Self> {
        RawTranscription::decode(node, context).map(Self)
    }

    fn schema(definitions: &mut Definitions) -> Json {
        RawTranscription::schema(definitions);
        json!({ "allOf": [
            reference("transcription"),
            {
                "if": { "not": { "anyOf": [
                    { "required": ["$include"] },
                    { "properties": { "enabled": { "const": false } }, "required": ["enabled"] },
                ] } },
                "then": { "required": ["provider"] },
            },
            {
                "if": { "properties": { "provider": { "const": "command" } }, "required": ["provider"] },
                "then": { "required": ["command"] },
            },
        ] })
    }
}
