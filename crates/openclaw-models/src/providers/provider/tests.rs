use std::path::Path;

use super::*;

fn host(value: &str) -> Option<String> {
    let environment = Environment::new([("OLLAMA_HOST", value)], None, Path::new("/"));
    ollama_host(&environment).map(|address| address.to_string())
}

#[test]
fn the_host_of_ollama_is_understood_as_ollama_does() {
    for (value, expected) in [
        ("127.0.0.1", "http://127.0.0.1:11434/"),
        ("0.0.0.0:11500", "http://127.0.0.1:11500/"),
        ("box.example.com:9", "http://box.example.com:9/"),
        ("https://ollama.example.com", "https://ollama.example.com/"),
    ] {
        assert_eq!(host(value).as_deref(), Some(expected), "{value}");
    }
    for nothing in ["", " ", "off", "OFF", "http://"] {
        assert_eq!(host(nothing), None, "{nothing}");
    }
}

#[test]
fn blank_variables_are_no_keys() {
    let environment = Environment::new([("A", " "), ("B", "key ")], None, Path::new("/"));
    match key_of(&["A", "B"], &environment) {
        Some(ConfigValue::Plain { value, .. }) => assert_eq!(value.expose(), "key"),
        other => panic!("{other:?}"),
    }
    assert!(key_of(&["A"], &environment).is_none());
}
