//! The change of the text itself, and the proof that nothing else changed.

use jsonc_parser::cst::{CstObject, CstObjectProp, CstRootNode};
use serde_json::{Map, Value as Json};

use crate::edit::ServerEdit;
use crate::edit::style::{Style, input};
use crate::parse::options;
use crate::server::ServerName;

/// Whether `mcp.servers` of this very text has the server.
pub(super) fn has_server(text: &str, name: &ServerName) -> bool {
    find(text, name).is_some()
}

/// The definition of a server in `mcp.servers` of this very text, as it is written.
pub(super) fn server(text: &str, name: &ServerName) -> Option<Json> {
    find(text, name)?.to_serde_value()
}

fn find(text: &str, name: &ServerName) -> Option<CstObjectProp> {
    let root = CstRootNode::parse(text, &options()).ok()?;
    let servers = root
        .object_value()?
        .object_value("mcp")?
        .object_value("servers")?;
    get(&servers, name.as_str())
}

/// The text with the change made; `None` where anything else would have changed with it.
pub(super) fn edit(text: &str, edit: &ServerEdit) -> Option<String> {
    let root = CstRootNode::parse(text, &options()).ok()?;
    let style = Style::of(text);
    let object = root.object_value_or_create()?;
    let before = root.to_serde_value()?;
    match edit {
        ServerEdit::Add(name, definition) => {
            let servers = child(&child(&object, "mcp", style)?, "servers", style)?;
            let property = servers.append(name.as_str(), input(definition.clone().into()));
            style.apply(&property);
        }
        ServerEdit::Change(name, definition) => {
            let servers = object.object_value("mcp")?.object_value("servers")?;
            change(&get(&servers, name.as_str())?, definition, style);
        }
        ServerEdit::Remove(name) => {
            let servers = object.object_value("mcp")?.object_value("servers")?;
            get(&servers, name.as_str())?.remove();
        }
    }
    let after = root.to_string();
    // The text is read anew: what counts is what others will read, not what was meant.
    let found = CstRootNode::parse(&after, &options())
        .ok()?
        .to_serde_value()?;
    (found == expected(before, edit)).then_some(after)
}

/// Finds a property by the name it has after its escapes were read.
fn get(object: &CstObject, name: &str) -> Option<CstObjectProp> {
    object
        .properties()
        .into_iter()
        .find(|property| property.decoded_name().as_deref() == Some(name))
}

/// The object under a key, made where it is missing.
fn child(object: &CstObject, key: &str, style: Style) -> Option<CstObject> {
    match get(object, key) {
        Some(property) => property.object_value(),
        None => {
            let property = object.append(key, input(Map::new().into()));
            style.apply(&property);
            property.object_value()
        }
    }
}

/// Makes the fields of a server those of a definition; equal ones stay as they are written.
fn change(property: &CstObjectProp, definition: &Map<String, Json>, style: Style) {
    let Some(object) = property.object_value() else {
        property.set_value(input(definition.clone().into()));
        style.apply(property);
        return;
    };
    for field in object.properties() {
        let Some(name) = field.decoded_name() else {
            continue;
        };
        match definition.get(&name) {
            None => field.remove(),
            Some(value) if field.to_serde_value().as_ref() != Some(value) => {
                field.set_value(input(value.clone()));
                style.apply_value(&field);
            }
            Some(_) => {}
        }
    }
    for (name, value) in definition {
        if get(&object, name).is_none() {
            style.apply(&object.append(name, input(value.clone())));
        }
    }
}

/// What the change should make of the values, worked out without the text.
fn expected(mut before: Json, edit: &ServerEdit) -> Json {
    if let Some(root) = before.as_object_mut() {
        let servers = root
            .entry("mcp")
            .or_insert_with(|| Map::new().into())
            .as_object_mut()
            .map(|mcp| mcp.entry("servers").or_insert_with(|| Map::new().into()));
        if let Some(Json::Object(servers)) = servers {
            match edit {
                ServerEdit::Add(name, definition) | ServerEdit::Change(name, definition) => {
                    servers.insert(name.to_string(), definition.clone().into());
                }
                ServerEdit::Remove(name) => {
                    servers.shift_remove(name.as_str());
                }
            }
        }
    }
    before
}
