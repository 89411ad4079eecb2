//! Lists, in pages.

use serde_json::{Value, json};

use super::call::Call;
use super::message::{Outcome, RpcError};

/// One page of a list, as the request's cursor asks.
pub(crate) fn page(call: &Call, key: &str, mut items: Vec<Value>) -> Outcome {
    let options = &call.server.options;
    if options.protocol.bad_tool {
        spoil(&mut items);
    }
    let cursor = match call.parameter("cursor") {
        None => None,
        Some(Value::String(cursor)) => Some(cursor.as_str()),
        Some(_) => return Err(RpcError::invalid_params("cursor is not a string")),
    };
    if options.protocol.repeat_cursor {
        return Ok(json!({key: items, "nextCursor": "again"}));
    }
    if options.protocol.endless_pages {
        return endless(key, items, cursor);
    }
    let start = match cursor {
        None => 0,
        Some(cursor) => cursor
            .strip_prefix("after-")
            .and_then(|number| number.parse().ok())
            .filter(|start| (1..items.len()).contains(start))
            .ok_or_else(|| RpcError::invalid_params("invalid cursor"))?,
    };
    let size = options.page_size.unwrap_or(usize::MAX).max(1);
    let end = start.saturating_add(size).min(items.len());
    let mut result = json!({key: items.get(start..end).unwrap_or_default()});
    if end < items.len() {
        result["nextCursor"] = json!(format!("after-{end}"));
    } else if options.protocol.empty_cursor {
        result["nextCursor"] = json!("");
    }
    Ok(result)
}

/// A page that is always followed by another; each has one item that no other page has.
fn endless(key: &str, items: Vec<Value>, cursor: Option<&str>) -> Outcome {
    let Some(cursor) = cursor else {
        return Ok(json!({key: items, "nextCursor": "endless-1"}));
    };
    let number: u64 = cursor
        .strip_prefix("endless-")
        .and_then(|number| number.parse().ok())
        .ok_or_else(|| RpcError::invalid_params("invalid cursor"))?;
    let mut item = items.into_iter().next().unwrap_or_else(|| json!({}));
    item["name"] = json!(format!("endless_{number}"));
    if item.get("uri").is_some() {
        item["uri"] = json!(format!("test://endless/{number}"));
    }
    let next = format!("endless-{}", number + 1);
    Ok(json!({key: [item], "nextCursor": next}))
}

/// Puts items that break the schema in different ways among the good ones.
fn spoil(items: &mut Vec<Value>) {
    let Some(good) = items.first().cloned() else {
        return;
    };
    let mut bad = Vec::new();
    for key in ["name", "inputSchema", "uri", "uriTemplate"] {
        let mut item = good.clone();
        if let Some(members) = item.as_object_mut()
            && members.remove(key).is_some()
        {
            if key != "name" {
                members.insert("name".to_owned(), json!(format!("without_{key}")));
            }
            bad.push(item);
            let mut item = good.clone();
            item["name"] = json!(format!("wrong_{key}"));
            item[key] = if key == "inputSchema" {
                json!("string")
            } else {
                json!(5)
            };
            bad.push(item);
        }
    }
    bad.extend([Value::Null, json!("a string"), json!({}), json!([])]);
    for (index, item) in bad.into_iter().enumerate() {
        items.insert((2 * index).min(items.len()), item);
    }
}
