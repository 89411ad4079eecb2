//! The fields of a form, in both directions.

use std::collections::BTreeMap;

use agent_client_protocol::v1::schema::{
    BooleanPropertySchema, ElicitationContentValue, ElicitationPropertySchema, ElicitationSchema,
    EnumOption, IntegerPropertySchema, MultiSelectPropertySchema, NumberPropertySchema,
    StringFormat, StringPropertySchema,
};
use openclaw_content::{shown_line, shown_text};
use openclaw_engine::{FieldKind, FieldOption, FormField};
use serde_json::{Map, Value};

use super::asking::FilledIn;

/// How long the title of a field may be, in characters.
const TITLE: usize = 200;

/// A form, as editors show it.
pub(super) fn schema(fields: &[FormField]) -> ElicitationSchema {
    fields.iter().fold(ElicitationSchema::new(), |form, field| {
        form.property(field.name.clone(), property(field), field.required)
    })
}

fn property(field: &FormField) -> ElicitationPropertySchema {
    let title = field.title.as_deref().map(|title| shown_line(title, TITLE));
    let description = field.description.as_deref();
    let description = description.map(|text| shown_text(text).into_owned());
    let default = field.usable_default();
    let text = || StringPropertySchema::new().default_value(default.and_then(text_of));
    match &field.kind {
        FieldKind::Text {
            least,
            most,
            format,
        } => text()
            .min_length(least.map(small))
            .max_length(most.map(small))
            .format(format.as_deref().and_then(format_of))
            .title(title)
            .description(description)
            .into(),
        FieldKind::Number {
            whole: true,
            least,
            most,
        } => IntegerPropertySchema::new()
            .minimum(least.map(|least| whole(least.ceil())))
            .maximum(most.map(|most| whole(most.floor())))
            .default_value(default.and_then(Value::as_i64))
            .title(title)
            .description(description)
            .into(),
        FieldKind::Number {
            whole: false,
            least,
            most,
        } => NumberPropertySchema::new()
            .minimum(*least)
            .maximum(*most)
            .default_value(default.and_then(Value::as_f64))
            .title(title)
            .description(description)
            .into(),
        FieldKind::YesOrNo => BooleanPropertySchema::new()
            .default_value(default.and_then(Value::as_bool))
            .title(title)
            .description(description)
            .into(),
        FieldKind::One { options } => text()
            .one_of(options.iter().map(option).collect::<Vec<_>>())
            .title(title)
            .description(description)
            .into(),
        FieldKind::Some {
            options,
            least,
            most,
        } => {
            let chosen = default.and_then(Value::as_array);
            let chosen = chosen.map(|chosen| chosen.iter().filter_map(text_of).collect::<Vec<_>>());
            MultiSelectPropertySchema::titled(options.iter().map(option).collect())
                .min_items(*least)
                .max_items(*most)
                .default_value(chosen)
                .title(title)
                .description(description)
                .into()
        }
    }
}

fn option(option: &FieldOption) -> EnumOption {
    EnumOption::new(option.value.clone(), shown_line(&option.title, TITLE))
}

fn text_of(value: &Value) -> Option<String> {
    value.as_str().map(ToOwned::to_owned)
}

fn format_of(name: &str) -> Option<StringFormat> {
    match name {
        "email" => Some(StringFormat::Email),
        "uri" => Some(StringFormat::Uri),
        "date" => Some(StringFormat::Date),
        "date-time" => Some(StringFormat::DateTime),
        _ => None,
    }
}

fn small(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "what is beyond all whole numbers becomes the last of them"
)]
fn whole(number: f64) -> i64 {
    number as i64
}

/// What a person filled in, if every field takes it; else why not, for the person.
pub(super) fn filled_in(
    fields: &[FormField],
    mut content: BTreeMap<String, ElicitationContentValue>,
) -> Result<FilledIn, String> {
    let mut values = Map::new();
    for field in fields {
        let name = field.title.as_deref().unwrap_or(&field.name);
        let refused = |reason: &str| format!("{}: {reason}", shown_line(name, TITLE));
        match content.remove(&field.name).map(value) {
            Some(value) => {
                let checked = field.check(&value);
                checked.map_err(|refusal| refused(&refusal.to_string()))?;
                values.insert(field.name.clone(), value);
            }
            None if field.required => return Err(refused("it has to be filled in")),
            None => {}
        }
    }
    Ok(values)
}

fn value(value: ElicitationContentValue) -> Value {
    match value {
        ElicitationContentValue::String(text) => Value::from(text),
        ElicitationContentValue::Integer(number) => Value::from(number),
        ElicitationContentValue::Number(number) => Value::from(number),
        ElicitationContentValue::Boolean(is_so) => Value::from(is_so),
        ElicitationContentValue::StringArray(texts) => Value::from(texts),
        // No field takes it.
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests;
