//! `openai-responses`: <https://platform.openai.com/docs/api-reference/responses>.

mod events;
mod request;

use serde_json::{Map, Value};

pub(super) use self::events::Decoder;
pub(super) use self::request::Body;

/// What a model thought, as it came, where it is sealed; without its name: under that nothing was
/// stored.
fn sealed(item: &Value) -> Option<Map<String, Value>> {
    let item = item.as_object()?;
    let sealed = item.get("encrypted_content")?.as_str()?;
    if sealed.is_empty() {
        return None;
    }
    let fields = item
        .iter()
        .filter(|(name, _)| matches!(name.as_str(), "type" | "summary" | "encrypted_content"));
    let fields = fields.map(|(name, value)| (name.clone(), value.clone()));
    Some(fields.collect())
}
