//! Descriptions of objects, collected into one JSON Schema.

use serde_json::{Map, Value as Json, json};

/// A field as the schema describes it.
pub(crate) struct FieldDescription {
    /// Its name, then its other names.
    pub(crate) names: &'static [&'static str],
    /// Its text, as it stands in the code.
    pub(crate) text: &'static str,
    pub(crate) schema: Json,
    pub(crate) default: Option<Json>,
}

/// The objects that have been described so far.
#[derive(Default)]
pub(crate) struct Definitions {
    objects: Map<String, Json>,
}

impl Definitions {
    /// Describes an object the first time it is met, and refers to it.
    pub(crate) fn object(
        &mut self,
        title: &str,
        text: &str,
        fields: impl FnOnce(&mut Self) -> Vec<FieldDescription>,
    ) -> Json {
        if !self.objects.contains_key(title) {
            // Holds the place, so that the objects stand in the order in which they are met.
            self.objects.insert(title.to_owned(), Json::Null);
            let mut properties = Map::new();
            for field in fields(self) {
                properties.extend(describe(&field));
            }
            let object = json!({
                "type": "object",
                "description": paragraph(text),
                "properties": properties,
            });
            self.objects.insert(title.to_owned(), object);
        }
        reference(title)
    }

    /// Adds to an object that has been described.
    pub(crate) fn extend(&mut self, title: &str, more: Json) {
        if let (Some(Json::Object(object)), Json::Object(more)) =
            (self.objects.get_mut(title), more)
        {
            object.extend(more);
        }
    }

    pub(crate) fn into_objects(self) -> Map<String, Json> {
        self.objects
    }
}

pub(crate) fn reference(title: &str) -> Json {
    json!({ "$ref": format!("#/$defs/{title}") })
}

fn describe(field: &FieldDescription) -> Vec<(String, Json)> {
    let mut properties = Vec::new();
    let Some((name, aliases)) = field.names.split_first() else {
        return properties;
    };
    let with = |description: String, default: Option<Json>, deprecated: bool| {
        let mut object = Map::new();
        object.insert("description".to_owned(), Json::String(description));
        if let Some(default) = default {
            object.insert("default".to_owned(), default);
        }
        if deprecated {
            object.insert("deprecated".to_owned(), Json::Bool(true));
        }
        if let Json::Object(schema) = &field.schema {
            object.extend(schema.clone());
        }
        Json::Object(object)
    };
    properties.push((
        (*name).to_owned(),
        with(paragraph(field.text), field.default.clone(), false),
    ));
    for alias in aliases {
        let text = format!("Another name of `{name}`.");
        properties.push(((*alias).to_owned(), with(text, None, true)));
    }
    properties
}

/// Joins the lines of a doc comment; an empty line starts a new paragraph.
fn paragraph(text: &str) -> String {
    let mut result = String::new();
    for line in text.lines().map(str::trim) {
        if line.is_empty() {
            result.push('\n');
        } else {
            if !result.is_empty() && !result.ends_with('\n') {
                result.push(' ');
            }
            result.push_str(line);
        }
    }
    result.trim().to_owned()
}
