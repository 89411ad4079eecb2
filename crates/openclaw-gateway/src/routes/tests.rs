use std::collections::BTreeSet;

use serde_json::Value;

use super::*;

/// The description writes the rest of a path as a name, too.
fn described(path: &str) -> String {
    path.replace("{*", "{")
}

#[test]
fn every_route_is_described_and_nothing_else_is() {
    let document: Value = serde_json::from_str(include_str!("../openapi.json")).unwrap();
    let paths = document["paths"].as_object().unwrap();
    let described_routes: BTreeSet<(String, String)> = paths
        .iter()
        .flat_map(|(path, methods)| {
            let methods = methods.as_object().unwrap().keys();
            methods.map(|method| (path.clone(), method.clone()))
        })
        .collect();
    let routes: BTreeSet<(String, String)> = TABLE
        .iter()
        .flat_map(|route| {
            let methods = route.methods.iter();
            methods.map(|method| (described(route.path), (*method).to_owned()))
        })
        .collect();
    assert_eq!(routes, described_routes);
}

#[test]
fn a_path_means_one_route_at_most_and_parts_of_it_may_be_names() {
    let meant = |path: &str| position(path).map(|position| TABLE[position].path);
    for route in TABLE {
        let path = route
            .path
            .replace("{name}", "a%20b")
            .replace("{*id}", "a/b")
            .replace("{*file}", "a/b.js");
        assert_eq!(meant(&path), Some(route.path));
        let all = TABLE.iter().filter(|it| it.is_at(&path));
        assert_eq!(all.count(), 1, "{path}");
    }
    for nothing in [
        "",
        "//",
        "/api",
        "/api/",
        "/api/status/",
        "/API/status",
        "/api/mcp/servers/",
        "/api/mcp/servers/a/b",
        "/api/mcp/servers/a/",
        "/v1/models/",
        "/v1/models{*id}",
    ] {
        assert_eq!(meant(nothing), None, "{nothing}");
    }
}

#[test]
fn what_is_described_as_open_is_what_is_open() {
    let document: Value = serde_json::from_str(include_str!("../openapi.json")).unwrap();
    for route in TABLE {
        let path = described(route.path);
        for method in route.methods {
            let security = &document["paths"][&path][*method]["security"];
            let is_open = security.as_array().is_some_and(Vec::is_empty);
            let is_optional = security[0]
                .as_object()
                .is_some_and(serde_json::Map::is_empty);
            let (open, optional) = match route.access {
                Access::Open => (true, false),
                Access::More | Access::Later => (false, true),
                Access::Closed => (false, false),
            };
            assert_eq!((is_open, is_optional), (open, optional), "{path}");
        }
    }
}

#[test]
fn every_reference_of_the_description_leads_somewhere() {
    fn look(value: &Value, document: &Value) {
        match value {
            Value::Object(map) => {
                if let Some(reference) = map.get("$ref").and_then(Value::as_str) {
                    let found = document.pointer(reference.strip_prefix('#').unwrap());
                    assert!(found.is_some(), "{reference}");
                }
                map.values().for_each(|value| look(value, document));
            }
            Value::Array(list) => list.iter().for_each(|value| look(value, document)),
            _ => {}
        }
    }
    let document: Value = serde_json::from_str(include_str!("../openapi.json")).unwrap();
    look(&document, &document);
}
