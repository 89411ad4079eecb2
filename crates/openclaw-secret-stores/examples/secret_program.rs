//! The program that the tests start: the guardian of what they start, and a provider of secrets
//! that behaves as it is told.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it is its work")]

use std::io::Read as _;
use std::process::ExitCode;
use std::time::Duration;

use serde_json::{Map, Value, json};

fn main() -> ExitCode {
    if let Some(result) = openclaw_process::run_if_called() {
        return if result.is_ok() {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        };
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((mode, rest)) = arguments.split_first() else {
        return ExitCode::from(2);
    };
    match mode.as_str() {
        // Every secret is its identifier with something in front of it.
        "answer" => {
            let question = question();
            let prefix = rest.first().map_or("secret of ", String::as_str);
            let ids = question["ids"].as_array().cloned().unwrap_or_default();
            let (mut values, mut errors) = (Map::new(), Map::new());
            for id in ids.iter().filter_map(Value::as_str) {
                if id.starts_with("missing") {
                    errors.insert(id.to_owned(), json!({ "code": "NOT_FOUND" }));
                } else if !id.starts_with("unknown") {
                    values.insert(id.to_owned(), json!(format!("{prefix}{id}")));
                }
            }
            let answer = json!({ "protocolVersion": 1, "values": values, "errors": errors });
            println!("{answer}");
        }
        "say" => println!("{}", rest.join(" ")),
        "variable" => {
            let name = rest.first().map(String::as_str).unwrap_or_default();
            println!(
                "{}",
                std::env::var(name).unwrap_or_else(|_| "(not set)".to_owned())
            );
        }
        "flood" => {
            let count: usize = rest.first().and_then(|it| it.parse().ok()).unwrap_or(1);
            println!("{}", "x".repeat(count));
        }
        "fail" => {
            println!("{}", rest.join(" "));
            eprintln!("the vault is closed: {}", rest.join(" "));
            return ExitCode::from(3);
        }
        "hang" => loop {
            std::thread::sleep(Duration::from_mins(1));
        },
        _ => return ExitCode::from(2),
    }
    ExitCode::SUCCESS
}

fn question() -> Value {
    let mut text = String::new();
    // Whoever asks nothing gets nothing.
    let _ = std::io::stdin().read_to_string(&mut text);
    serde_json::from_str(&text).unwrap_or_default()
}
