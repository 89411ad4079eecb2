//! What servers that do nothing cost this process.

use std::process::Command;

use openclaw_testkit::figures::Report;
use serde_json::{Map, json};
use tokio::runtime::Builder;

use crate::house::{House, entry};

/// How many servers there are.
const SERVERS: usize = 10;

pub(crate) fn report(report: &mut Report) {
    // A process of its own: this one has done other things before.
    let program = std::env::current_exe().expect("this program");
    let output = Command::new(program)
        .arg("memory")
        .output()
        .expect("a figure");
    let text = String::from_utf8(output.stdout).expect("a text");
    let megabytes: f64 = text.trim().parse().expect("a number");
    report.judge(
        "all memory of a process with 10 idle servers",
        &format!("{megabytes:.1} MB"),
        "15 MB",
        megabytes < 15.0,
    );
}

/// Prints how much memory this process has, in megabytes.
#[expect(clippy::print_stdout, reason = "that is what it is for")]
pub(crate) fn measure() {
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let servers: Map<_, _> = (0..SERVERS)
            .map(|number| (format!("server{number}"), entry(&[])))
            .collect();
        let house = House::started(&json!(servers)).await;
        assert!(house.servers.tools(&house.agent, None).offered().count() > SERVERS);
        let status = std::fs::read_to_string("/proc/self/status").expect("a file");
        let line = status
            .lines()
            .find(|line| line.starts_with("VmRSS"))
            .expect("a line");
        let digits: String = line.chars().filter(char::is_ascii_digit).collect();
        let kilobytes: f64 = digits.parse().expect("a number");
        println!("{}", kilobytes / 1_000.0);
        house.servers.shutdown().await;
    });
}
