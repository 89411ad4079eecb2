//! Memory, each figure measured in a process of its own.

use std::process::Command;

use openclaw_mcp_client::CallOptions;
use serde_json::{Map, Value};
use tokio::runtime::Builder;

use crate::client::{address, connector, program};
use crate::raw::HttpServer;
use openclaw_testkit::figures::Report;

/// The size of the large result.
const LARGE: usize = 20_000_000;
/// How many connections are opened to find the cost of one.
const CONNECTIONS: usize = 100;

pub(crate) fn report(report: &mut Report) {
    for way in ["pipes", "HTTP"] {
        let peak = figure(&format!("large-{way}"));
        let percent = peak / (LARGE / 100);
        let what = format!("peak memory for a result of 20 MB over {way}");
        report.judge(
            &what,
            &format!("{percent} %"),
            "400 % of its size",
            percent < 400,
        );
        let each = figure(&format!("idle-{way}")) / CONNECTIONS / 1_000;
        let what = format!("an idle connection over {way}");
        report.judge(&what, &format!("{each} KB"), "250 KB", each < 250);
    }
}

/// Has a process of its own measure something, in bytes.
fn figure(what: &str) -> usize {
    let program = std::env::current_exe().expect("this program");
    let output = Command::new(program)
        .args(["memory", what])
        .output()
        .expect("a figure");
    let text = String::from_utf8(output.stdout).expect("a text");
    text.trim().parse().expect("a number")
}

/// Measures something and prints it.
pub(crate) fn measure(what: &str) {
    let runtime = Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let server = HttpServer::minimal();
    let target = if what.ends_with("HTTP") {
        address(&server)
    } else {
        program()
    };
    let bytes = runtime.block_on(async {
        let connector = connector();
        let first = connector.connect(&target).await.expect("a connection");
        if what.starts_with("idle") {
            let before = status("VmRSS");
            let mut connections = Vec::new();
            for _ in 0..CONNECTIONS {
                connections.push(connector.connect(&target).await.expect("a connection"));
            }
            let grown = status("VmRSS") - before;
            for connection in connections {
                connection.close().await;
            }
            first.close().await;
            return grown;
        }
        let before = status("VmRSS");
        let arguments = Map::from_iter([("bytes".to_owned(), Value::from(LARGE))]);
        let result = first
            .call_tool("big", arguments, CallOptions::default())
            .await;
        let result = result.expect("a result");
        assert_eq!(result.content.len(), 1, "one text");
        let peak = status("VmHWM") - before;
        first.close().await;
        peak
    });
    println!("{bytes}");
}

/// A figure of this process, in bytes.
fn status(name: &str) -> usize {
    let text = std::fs::read_to_string("/proc/self/status").expect("a status");
    let line = text
        .lines()
        .find(|line| line.starts_with(name))
        .expect("a line");
    let digits: String = line.chars().filter(char::is_ascii_digit).collect();
    digits.parse::<usize>().expect("a number") * 1_024
}
