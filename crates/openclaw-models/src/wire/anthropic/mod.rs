//! `anthropic-messages`: <https://docs.anthropic.com/en/api/messages-streaming>.

mod events;
mod request;

pub(super) use self::events::Decoder;
pub(super) use self::request::Body;
