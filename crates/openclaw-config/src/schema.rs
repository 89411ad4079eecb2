//! The JSON Schema of the whole file.

use serde_json::{Map, Value as Json, json};

use crate::raw::RawRoot;
use crate::shape::{Definitions, Shape};

const LEFT_TO_VALIDATE: &str = " Left to `openclaw config validate`, because a schema can't say \
    it: `$include`, `${VAR}`, duplicate keys, the spelling of `secret://` references and of hosts, control characters in keys \
    and arguments, whether an \
    agent's partial entry makes a whole server together with the others, and whether what is \
    referred to is there.";

/// The JSON Schema of `openclaw.json`, made from the same declarations that reading uses.
///
/// It leaves to `config validate` what a schema can't say: `$include`, `${VAR}`, duplicate keys,
/// and whether an agent's partial entry makes a whole server together with the others.
pub fn schema() -> Json {
    let mut definitions = Definitions::default();
    RawRoot::schema(&mut definitions);
    let mut objects = definitions.into_objects();
    let mut schema = Map::new();
    schema.insert(
        "$schema".to_owned(),
        json!("https://json-schema.org/draft/2020-12/schema"),
    );
    schema.insert("title".to_owned(), json!("openclaw.json"));
    if let Some(Json::Object(root)) = objects.shift_remove("openclaw") {
        schema.extend(root);
    }
    if let Some(Json::String(description)) = schema.get_mut("description") {
        description.push_str(LEFT_TO_VALIDATE);
    }
    schema.insert("$defs".to_owned(), Json::Object(objects));
    Json::Object(schema)
}
