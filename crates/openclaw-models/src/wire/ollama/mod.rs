//! `ollama`: <https://github.com/ollama/ollama/blob/main/docs/api.md>.

mod events;
mod request;

pub(super) use self::events::Decoder;
pub(super) use self::request::Body;
