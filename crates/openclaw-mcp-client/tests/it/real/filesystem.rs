//! The reference server for files.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use openclaw_mcp_client::{Connection, Target};
use serde_json::{Value, json};
use tokio::time::timeout;
use url::Url;

use super::partners::{FILESYSTEM, RealLab};
use crate::lab::{SOON, call, close, text};

/// Makes a directory that the server is given, or is not.
fn directory(lab: &RealLab, name: &str) -> PathBuf {
    let path = lab.directory().canonicalize().unwrap().join(name);
    fs::create_dir(&path).unwrap();
    path
}

fn server(lab: &RealLab, directory: &std::path::Path) -> Target {
    lab.script(FILESYSTEM, &[directory.to_str().unwrap()])
}

/// Calls a tool that gives one text, and says whether it did what it should.
async fn use_tool(connection: &Connection, tool: &str, arguments: Value) -> (bool, String) {
    let result = call(connection, tool, arguments).await.unwrap();
    (!result.is_error, text(&result).to_owned())
}

#[tokio::test]
async fn files_are_written_and_read() {
    let lab = RealLab::new();
    let data = directory(&lab, "data");
    let connection = lab.connect(&server(&lab, &data)).await;
    let tools = connection.list_tools().await.unwrap();
    assert!(tools.items.len() >= 13 && tools.dropped.is_empty());
    let read_only = |name: &str| {
        let tool = tools.items.iter().find(|tool| tool.name == name).unwrap();
        tool.annotations.read_only
    };
    assert_eq!(read_only("read_text_file"), Some(true));
    assert_eq!(read_only("write_file"), Some(false));

    let path = data.join("grüße.txt");
    let words = "first line\nzweite Zeile 🎉\n";
    let arguments = json!({"path": path, "content": words});
    let (done, _) = use_tool(&connection, "write_file", arguments).await;
    assert!(done);
    assert_eq!(fs::read_to_string(&path).unwrap(), words);
    let read = call(&connection, "read_text_file", json!({"path": path})).await;
    let read = read.unwrap();
    assert_eq!(text(&read), words);
    assert_eq!(read.structured, Some(json!({"content": words})));
    let (_, listed) = use_tool(&connection, "list_directory", json!({"path": data})).await;
    assert_eq!(listed, "[FILE] grüße.txt");
    close(connection).await;
    lab.finish().await;
}

#[tokio::test]
async fn a_path_outside_is_refused() {
    let lab = RealLab::new();
    let data = directory(&lab, "data");
    let other = directory(&lab, "other").join("file.txt");
    fs::write(&other, "private").unwrap();
    let connection = lab.connect(&server(&lab, &data)).await;
    let inside_out = data.join("../other/file.txt");
    for path in [&other, &inside_out] {
        let (done, reason) = use_tool(&connection, "read_text_file", json!({"path": path})).await;
        assert!(!done && reason.contains("Access denied"), "{reason}");
        let arguments = json!({"path": path, "content": "overwritten"});
        let (done, reason) = use_tool(&connection, "write_file", arguments).await;
        assert!(!done && reason.contains("Access denied"), "{reason}");
    }
    assert_eq!(fs::read_to_string(&other).unwrap(), "private");
    let missing = json!({"path": data.join("missing.txt")});
    let (done, reason) = use_tool(&connection, "read_text_file", missing).await;
    assert!(!done && reason.contains("ENOENT"), "{reason}");
    close(connection).await;
    lab.finish().await;
}

#[tokio::test]
async fn roots_take_the_place_of_the_arguments() {
    let lab = RealLab::new();
    let (argument, root) = (directory(&lab, "argument"), directory(&lab, "the root"));
    for place in [&argument, &root] {
        fs::write(place.join("file.txt"), place.to_str().unwrap()).unwrap();
    }
    let mut target = server(&lab, &argument);
    let allowed = async |connection: &Connection| {
        let (_, told) = use_tool(connection, "list_allowed_directories", json!({})).await;
        told
    };
    // Without roots it keeps what it was given.
    let connection = lab.connect(&target).await;
    let told = allowed(&connection).await;
    assert!(told.ends_with(argument.to_str().unwrap()), "{told}");
    close(connection).await;

    target.roots = Some(vec![Url::from_directory_path(&root).unwrap()]);
    let connection = lab.connect(&target).await;
    // It asks for them once it is connected, and answers calls meanwhile.
    let moved = async {
        while !allowed(&connection).await.ends_with(root.to_str().unwrap()) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(SOON, moved).await.expect("it never used the roots");
    for (place, expected) in [(&argument, false), (&root, true)] {
        let path = json!({"path": place.join("file.txt")});
        let (done, told) = use_tool(&connection, "read_text_file", path).await;
        assert_eq!(done, expected, "{told}");
    }
    close(connection).await;
    lab.finish().await;
}
