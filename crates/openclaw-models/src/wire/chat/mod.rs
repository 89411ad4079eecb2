//! `openai-completions`: <https://platform.openai.com/docs/api-reference/chat>, as OpenAI and all
//! those speak it who are compatible with it, each in a way of its own.

mod events;
mod request;

pub(super) use self::events::Decoder;
pub(super) use self::request::Body;
