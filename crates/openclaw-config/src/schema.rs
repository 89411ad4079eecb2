//! The JSON Schema of the whole file.

use serde_json::{Map, Value as Json, json};

use crate::raw::RawRoot;
use crate::shape::{Definitions, Shape};

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
    schema.insert("$defs".to_owned(), Json::Object(objects));
    Json::Object(schema)
}
