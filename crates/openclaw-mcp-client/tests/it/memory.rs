//! What connections and results take of our memory.

use serde_json::json;

use crate::lab::{Lab, call, close, text};

/// A figure of this process, in bytes.
fn status(name: &str) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    let digits: String = line.chars().filter(char::is_ascii_digit).collect();
    digits.parse::<usize>().unwrap() * 1_024
}

#[tokio::test]
async fn a_large_result_takes_little_more_than_itself() {
    const LARGE: usize = 20_000_000;
    let mut lab = Lab::new();
    for way in ["stdio", "http --json-only", "http --sse-only", "sse"] {
        let (target, _) = lab.server_of(way);
        let connection = lab.connect(&target).await;
        let before = status("VmRSS");
        let result = call(&connection, "big", json!({"bytes": LARGE}))
            .await
            .unwrap();
        assert_eq!(text(&result).len(), LARGE, "{way}");
        let peak = status("VmHWM").saturating_sub(before);
        assert!(peak < 4 * LARGE, "{way}: {peak} bytes");
        drop(result);
        // The allocator keeps some of it, but not all of every one.
        let once = status("VmRSS");
        for _ in 0..4 {
            call(&connection, "big", json!({"bytes": LARGE}))
                .await
                .unwrap();
        }
        let grown = status("VmRSS").saturating_sub(once);
        assert!(grown < 3 * LARGE, "{way}: {grown} bytes are kept");
        close(connection).await;
    }
    lab.finish().await;
}

#[tokio::test]
async fn an_idle_connection_takes_little() {
    const CONNECTIONS: usize = 20;
    let mut lab = Lab::new();
    for way in [
        "stdio --era legacy",
        "stdio --era modern",
        "http --era legacy",
        "sse",
    ] {
        let (target, _) = lab.server_of(way);
        // What is needed once is there with the first.
        let mut connections = vec![lab.connect(&target).await];
        let before = status("VmRSS");
        for _ in 0..CONNECTIONS {
            connections.push(lab.connect(&target).await);
        }
        let each = status("VmRSS").saturating_sub(before) / CONNECTIONS;
        assert!(each < 250_000, "{way}: {each} bytes");
        for connection in connections {
            close(connection).await;
        }
    }
    lab.finish().await;
}
