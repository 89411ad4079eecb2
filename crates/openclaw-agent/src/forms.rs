//! What servers ask persons for, read from the schema that they send.

use std::net::IpAddr;

use openclaw_engine::{FieldKind, FieldOption, FormField};
use serde_json::{Map, Value};
use url::{Host, Url};

/// How many fields a form may have.
const FIELDS: usize = 50;
/// How many things can be chosen from.
const OPTIONS: usize = 200;
/// How many bytes an address may have.
const ADDRESS: usize = 8 * 1024;

/// Why a question can't be shown to anybody.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unshowable(pub(crate) String);

fn unshowable<T>(reason: impl Into<String>) -> Result<T, Unshowable> {
    Err(Unshowable(reason.into()))
}

/// The fields of a form. What nobody has to fill in and can't be shown is left out.
pub(crate) fn form(schema: &Value) -> Result<Vec<FormField>, Unshowable> {
    let Some(schema) = schema.as_object() else {
        return unshowable("its form is no object");
    };
    let none = Map::new();
    let properties = match schema.get("properties") {
        None => &none,
        Some(Value::Object(properties)) => properties,
        Some(_) => return unshowable("its form has no fields that can be read"),
    };
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    if properties.len() > FIELDS {
        return unshowable(format!("its form has more than {FIELDS} fields"));
    }
    let mut fields = Vec::new();
    for (name, property) in properties {
        let is_required = required.contains(&name.as_str());
        match field(name, property, is_required) {
            Some(field) => fields.push(field),
            None if is_required => return unshowable("a field of its form is of an unknown kind"),
            None => {}
        }
    }
    if let Some(missing) = required
        .iter()
        .find(|name| !properties.contains_key(**name))
    {
        let missing = openclaw_content::shown_line(missing, 100);
        return unshowable(format!(
            "its form needs a field {missing} that it does not have"
        ));
    }
    Ok(fields)
}

fn field(name: &str, property: &Value, required: bool) -> Option<FormField> {
    let property = property.as_object()?;
    let text = |key: &str| property.get(key).and_then(Value::as_str).map(str::to_owned);
    let kind = kind(property)?;
    let default = property
        .get("default")
        .filter(|it| fits(&kind, it))
        .cloned();
    Some(FormField {
        name: name.to_owned(),
        title: text("title"),
        description: text("description"),
        required,
        default,
        kind,
    })
}

fn kind(property: &Map<String, Value>) -> Option<FieldKind> {
    let number = |key: &str| property.get(key).and_then(Value::as_u64);
    match options(property) {
        Choice::Among(options) => return Some(FieldKind::One { options }),
        Choice::TooMany => return None,
        Choice::Free => {}
    }
    match property.get("type")?.as_str()? {
        "string" => Some(FieldKind::Text {
            least: number("minLength"),
            most: number("maxLength"),
            format: property
                .get("format")
                .and_then(Value::as_str)
                .map(str::to_owned),
        }),
        word @ ("number" | "integer") => {
            let bound = |key: &str| property.get(key).and_then(Value::as_f64);
            Some(FieldKind::Number {
                whole: word == "integer",
                least: bound("minimum"),
                most: bound("maximum"),
            })
        }
        "boolean" => Some(FieldKind::YesOrNo),
        "array" => match options(property.get("items")?.as_object()?) {
            Choice::Among(options) => Some(FieldKind::Some {
                options,
                least: number("minItems"),
                most: number("maxItems"),
            }),
            Choice::TooMany | Choice::Free => None,
        },
        _ => None,
    }
}

/// What a field leaves to choose.
enum Choice {
    /// One of these.
    Among(Vec<FieldOption>),
    /// One of more than anybody can be shown. What is typed would be one of them by accident only.
    TooMany,
    /// Anything.
    Free,
}

/// What can be chosen, in any of the ways in which servers say it.
fn options(property: &Map<String, Value>) -> Choice {
    let list = |key: &str| property.get(key).and_then(Value::as_array);
    let titled = || list("oneOf").or_else(|| list("anyOf"));
    let Some(values) = list("enum").or_else(titled) else {
        return Choice::Free;
    };
    if values.len() > OPTIONS {
        return Choice::TooMany;
    }
    let is_plain = list("enum").is_some();
    let names = list("enumNames").filter(|_| is_plain);
    let option = |(place, option): (usize, &Value)| {
        let value = if is_plain {
            Some(option)
        } else {
            option.get("const")
        };
        let value = value?.as_str()?.to_owned();
        let title = match names {
            Some(names) => names.get(place),
            None => option.get("title"),
        };
        Some(FieldOption {
            title: title.and_then(Value::as_str).unwrap_or(&value).to_owned(),
            value,
        })
    };
    let options: Option<Vec<FieldOption>> = values.iter().enumerate().map(option).collect();
    match options {
        Some(options) if !options.is_empty() => Choice::Among(options),
        Some(_) | None => Choice::Free,
    }
}

/// Whether a value is of a kind, so that it can be there before anything is entered.
fn fits(kind: &FieldKind, value: &Value) -> bool {
    let is_option = |options: &[FieldOption], value: &Value| {
        let value = value.as_str();
        options.iter().any(|it| Some(it.value.as_str()) == value)
    };
    match kind {
        FieldKind::Text { .. } => value.is_string(),
        FieldKind::Number { whole: true, .. } => value.is_i64() || value.is_u64(),
        FieldKind::Number { whole: false, .. } => value.is_number(),
        FieldKind::YesOrNo => value.is_boolean(),
        FieldKind::One { options } => is_option(options, value),
        FieldKind::Some { options, .. } => value
            .as_array()
            .is_some_and(|chosen| chosen.iter().all(|it| is_option(options, it))),
    }
}

/// An address that a person may be sent to.
pub(crate) fn visited(address: &str) -> Result<String, Unshowable> {
    if address.len() > ADDRESS {
        return unshowable("the address is too long");
    }
    let Ok(url) = Url::parse(address) else {
        return unshowable("the address is none");
    };
    let is_local = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => IpAddr::V4(address).is_loopback(),
        Some(Host::Ipv6(address)) => IpAddr::V6(address).is_loopback(),
        None => false,
    };
    match url.scheme() {
        "https" => {}
        "http" if is_local => {}
        _ => return unshowable("the address is neither https nor on this machine"),
    }
    if !url.username().is_empty() || url.password().is_some() {
        // What stands before an @ looks like the host and is none.
        return unshowable("the address holds a name or a password");
    }
    // As a browser understands it: no look-alikes, no controls.
    Ok(url.to_string())
}

#[cfg(test)]
mod tests;
