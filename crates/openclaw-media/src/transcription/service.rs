//! Services that transcribe.

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderValue, Method, Request};
use openclaw_config::TranscriptionService;
use openclaw_content::shown_line;
use openclaw_secrets::Secret;
use serde_json::Value;
use url::Url;

use crate::transcription::form::Form;
use crate::transcription::{Recording, Transcription, TranscriptionError};

const OPENAI: &str = "https://api.openai.com/v1";
const DEEPGRAM: &str = "https://api.deepgram.com";
/// What every service that speaks like OpenAI's knows.
const OPENAI_MODEL: &str = "whisper-1";
const DEEPGRAM_MODEL: &str = "nova-3";
/// How much of a service's own words is shown.
const SHOWN: usize = 200;

/// How a service answers.
pub(super) enum Service {
    OpenAi,
    Deepgram,
}

impl Service {
    /// What is said, according to an answer.
    fn transcript(&self, body: &[u8]) -> Option<String> {
        let answer: Value = serde_json::from_slice(body).ok()?;
        let text = match self {
            Self::OpenAi => answer.get("text")?,
            Self::Deepgram => answer.pointer("/results/channels/0/alternatives/0/transcript")?,
        };
        text.as_str().map(str::to_owned)
    }
}

/// Asks a service that speaks like OpenAI's.
pub(super) fn openai(
    service: &TranscriptionService,
    key: Option<&Secret>,
    language: Option<&str>,
    recording: Recording<'_>,
) -> Result<Request<Bytes>, TranscriptionError> {
    let address = below(service, OPENAI, &["audio", "transcriptions"])?;
    let mut form = Form::with_room_for(recording.bytes.len());
    form.text("model", service.model.as_deref().unwrap_or(OPENAI_MODEL));
    form.text("response_format", "json");
    if let Some(language) = language {
        form.text("language", language);
    }
    let (name, kind) = (recording.file_name(), recording.media_type);
    form.file("file", &name, kind, &recording.bytes);
    drop(recording);
    let (kind, body) = form.finish();
    request(&address, key, "Bearer", &kind, body)
}

/// Asks Deepgram.
pub(super) fn deepgram(
    service: &TranscriptionService,
    key: Option<&Secret>,
    language: Option<&str>,
    recording: Recording<'_>,
) -> Result<Request<Bytes>, TranscriptionError> {
    let mut address = below(service, DEEPGRAM, &["v1", "listen"])?;
    let model = service.model.as_deref().unwrap_or(DEEPGRAM_MODEL);
    let mut query = address.query_pairs_mut();
    query.append_pair("model", model);
    query.append_pair("smart_format", "true");
    match language {
        Some(language) => query.append_pair("language", language),
        None => query.append_pair("detect_language", "true"),
    };
    drop(query);
    let kind = recording.media_type.to_owned();
    request(&address, key, "Token", &kind, recording.bytes.into())
}

/// An address of a service.
fn below(
    service: &TranscriptionService,
    usual: &str,
    path: &[&str],
) -> Result<Url, TranscriptionError> {
    let unusable = || TranscriptionError::Misconfigured("its address has no path".to_owned());
    let mut address = match &service.base_url {
        Some(address) => address.clone(),
        None => Url::parse(usual).map_err(|_| unusable())?,
    };
    let mut segments = address.path_segments_mut().map_err(|()| unusable())?;
    segments.pop_if_empty().extend(path);
    drop(segments);
    Ok(address)
}

fn request(
    address: &Url,
    key: Option<&Secret>,
    scheme: &str,
    kind: &str,
    body: Bytes,
) -> Result<Request<Bytes>, TranscriptionError> {
    let mut request = Request::builder()
        .method(Method::POST)
        .uri(address.as_str())
        .header(CONTENT_TYPE, kind);
    if let Some(key) = key {
        let value = format!("{scheme} {}", key.expose().trim());
        let mut value = HeaderValue::try_from(value).map_err(|_| {
            TranscriptionError::NoKey("it has characters that a header can't have".to_owned())
        })?;
        value.set_sensitive(true);
        request = request.header(AUTHORIZATION, value);
    }
    let made = request.body(body);
    made.map_err(|error| TranscriptionError::Misconfigured(error.to_string()))
}

impl Transcription {
    /// Asks a service.
    pub(super) async fn ask(
        &self,
        service: &Service,
        request: Request<Bytes>,
    ) -> Result<String, TranscriptionError> {
        let host = request.uri().host().unwrap_or_default().to_owned();
        let failed = |reason: String| TranscriptionError::Service {
            service: host.clone(),
            reason,
        };
        let answer = self.http.send(request).await;
        let answer = answer.map_err(|error| failed(error.to_string()))?;
        let status = answer.status();
        if !status.is_success() {
            let words = self.words(answer.body());
            return Err(failed(format!("it answers {status}{words}")));
        }
        let transcript = service.transcript(answer.body());
        transcript.ok_or_else(|| failed("its answer has no transcript".to_owned()))
    }

    /// What a service says about a refusal, such that it can be shown.
    fn words(&self, body: &[u8]) -> String {
        let answer: Value = serde_json::from_slice(body).unwrap_or_default();
        let paths = [
            "/error/message",
            "/error",
            "/err_msg",
            "/message",
            "/detail",
        ];
        let words = paths.iter().find_map(|path| answer.pointer(path)?.as_str());
        words.map_or_else(String::new, |words| {
            let words = shown_line(&self.redactor.redact(words), SHOWN);
            format!(": {words}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(base: Option<&str>) -> String {
        let service = TranscriptionService {
            base_url: base.map(|base| Url::parse(base).unwrap()),
            api_key: None,
            model: None,
        };
        let path = ["audio", "transcriptions"];
        below(&service, OPENAI, &path).unwrap().to_string()
    }

    #[test]
    fn addresses_are_composed_whether_or_not_they_end_in_a_slash() {
        assert_eq!(
            address(None),
            "https://api.openai.com/v1/audio/transcriptions"
        );
        let expected = "http://127.0.0.1:9/v1/audio/transcriptions";
        assert_eq!(address(Some("http://127.0.0.1:9/v1")), expected);
        assert_eq!(address(Some("http://127.0.0.1:9/v1/")), expected);
    }

    #[test]
    fn answers_of_another_form_have_no_transcript() {
        let none: [&[u8]; 4] = [
            b"",
            b"[]",
            b"{\"text\":5}",
            b"{\"results\":{\"channels\":[]}}",
        ];
        for body in none {
            assert_eq!(Service::OpenAi.transcript(body), None);
            assert_eq!(Service::Deepgram.transcript(body), None);
        }
    }
}
