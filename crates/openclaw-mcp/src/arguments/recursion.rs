//! Schemas that lead back to themselves, and how deep a value may be that is checked against one.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::schema::target;

/// How many steps checking may take.
const STEPS: usize = 200_000;
/// Keywords that lead somewhere else.
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// How deep a value may be so that checking it ends soon; none if any may.
///
/// A schema that leads back to itself in two ways takes twice as long for each level of the value,
/// and both may come from the same server.
pub(super) fn deepest(schema: &Value) -> Option<usize> {
    let ways = ways_back(schema);
    if ways < 2 {
        return None;
    }
    let (mut depth, mut steps) = (0, 1);
    while steps <= STEPS {
        steps = steps.saturating_mul(ways);
        depth += 1;
    }
    Some((depth - 1).max(2))
}

/// How deep a value is.
pub(super) fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(fields) => 1 + fields.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

/// How many references lead from schemas that lead back to themselves to such schemas.
fn ways_back(schema: &Value) -> usize {
    // Where references lead to, and from where: a schema and the references within it.
    let mut leads: HashMap<*const Value, Vec<*const Value>> = HashMap::new();
    let mut waiting = vec![schema];
    while let Some(start) = waiting.pop() {
        let place = std::ptr::from_ref(start);
        if leads.contains_key(&place) {
            continue;
        }
        let mut found = Vec::new();
        references(schema, start, &mut found);
        leads.insert(
            place,
            found.iter().map(|it| std::ptr::from_ref(*it)).collect(),
        );
        waiting.extend(found);
    }
    // What leads nowhere any more is taken away, step by step; what is left leads back to itself.
    let mut open: HashMap<*const Value, usize> = HashMap::new();
    let mut from: HashMap<*const Value, Vec<*const Value>> = HashMap::new();
    for (place, to) in &leads {
        open.insert(*place, to.len());
        for to in to {
            from.entry(*to).or_default().push(*place);
        }
    }
    let is_ended = |(place, open): (&*const Value, &usize)| (*open == 0).then_some(*place);
    let mut ended: Vec<_> = open.iter().filter_map(is_ended).collect();
    while let Some(place) = ended.pop() {
        open.remove(&place);
        for before in from.get(&place).into_iter().flatten() {
            if let Some(open) = open.get_mut(before) {
                *open -= 1;
                if *open == 0 {
                    ended.push(*before);
                }
            }
        }
    }
    open.values().sum()
}

/// The schemas that references within one lead to, each as often as it is referred to.
fn references<'a>(root: &'a Value, value: &'a Value, found: &mut Vec<&'a Value>) {
    for keyword in REFERENCES {
        if let Some(Value::String(reference)) = value.get(keyword) {
            let fragment = reference.strip_prefix('#');
            let is_path = |fragment: &&str| fragment.is_empty() || fragment.starts_with('/');
            // One that can't be followed here, or not quickly, may lead anywhere.
            let to = fragment.filter(is_path);
            let to = to.and_then(|fragment| target(root, fragment));
            found.push(to.unwrap_or(root));
        }
    }
    let values = value.as_object().into_iter().flat_map(Map::values);
    let items = value.as_array().into_iter().flatten();
    values
        .chain(items)
        .for_each(|inner| references(root, inner, found));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_does_not_lead_back_may_be_checked_at_any_depth() {
        let list = json!({"properties": {"next": {"$ref": "#"}}});
        assert_eq!(
            deepest(&list),
            None,
            "one way back is only as long as the value"
        );
        let tree = json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"type": "string"}},
            "properties": {"x": {"$ref": "#/$defs/a"}, "y": {"$ref": "#/$defs/a"}}});
        assert_eq!(deepest(&tree), None);
        assert_eq!(deepest(&json!(true)), None);
    }

    #[test]
    fn the_more_ways_lead_back_the_less_deep_a_value_may_be() {
        let node = json!({"properties": {"a": {"$ref": "#"}}});
        let twice = json!({"allOf": [node, node]});
        assert_eq!(deepest(&twice), Some(17));
        let many: Vec<_> = (0..1_000).map(|_| node.clone()).collect();
        assert_eq!(deepest(&json!({ "oneOf": many })), Some(2));
        let around = json!({"$defs": {
            "a": {"items": {"$ref": "#/$defs/b"}},
            "b": {"properties": {"x": {"$ref": "#/$defs/a"}, "y": {"$ref": "#/$defs/a"}}}},
            "$ref": "#/$defs/a"});
        assert!(deepest(&around).is_some());
    }

    #[test]
    fn depth_is_that_of_the_deepest_part() {
        assert_eq!(depth(&json!(1)), 0);
        assert_eq!(depth(&json!({"a": [1, {"b": {}}]})), 4);
    }
}
