//! What reading costs.

use std::io::Read;
use std::time::Instant;

use tokio_util::sync::CancellationToken;

use super::*;
use crate::intake::start;

/// A call with images of so many bytes each, made while it is read.
struct LongLine {
    parts: Vec<Part>,
    /// What was read of the first part.
    done: usize,
}

enum Part {
    Text(String),
    /// So many characters of base64.
    Data(usize),
}

impl LongLine {
    fn new(images: usize, bytes: usize) -> Self {
        assert!(bytes.is_multiple_of(3));
        let before = r#"{"method":"tools/call","params":{"arguments":{"message":"look","images":["#;
        let mut parts = vec![Part::Text(before.to_owned())];
        for image in 0..images {
            let comma = if image > 0 { "," } else { "" };
            parts.push(Part::Text(format!(r#"{comma}{{"data":""#)));
            parts.push(Part::Data(bytes / 3 * 4));
            parts.push(Part::Text(r#"","mimeType":"image/png"}"#.to_owned()));
        }
        parts.push(Part::Text("]}},\"id\":1}\n".to_owned()));
        parts.reverse();
        Self { parts, done: 0 }
    }

    fn len(&self) -> usize {
        let lengths = self.parts.iter().map(|part| match part {
            Part::Text(text) => text.len(),
            Part::Data(length) => *length,
        });
        lengths.sum()
    }
}

impl Read for LongLine {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        const BASE64: [u8; 4096] = [b'Q'; 4096];
        let Some(part) = self.parts.last() else {
            return Ok(0);
        };
        let (rest, length) = match part {
            Part::Text(text) => (&text.as_bytes()[self.done..], text.len()),
            Part::Data(length) => (&BASE64[..(length - self.done).min(4096)], *length),
        };
        let given = rest.len().min(buffer.len());
        buffer[..given].copy_from_slice(&rest[..given]);
        self.done += given;
        if self.done == length {
            self.parts.pop();
            self.done = 0;
        }
        Ok(given)
    }
}

/// Reads a line to its end, and drops what comes of it. Returns how many bytes were kept.
fn read(line: LongLine) -> u64 {
    let directory = tempfile::tempdir().unwrap();
    let mut incoming = start(line, directory.path().to_owned(), CancellationToken::new()).unwrap();
    let Some(Incoming::Message { spooled, .. }) = incoming.blocking_recv() else {
        panic!("no message");
    };
    assert!(incoming.blocking_recv().is_none());
    assert!(spooled.iter().all(|one| one.file.is_ok()));
    spooled.iter().map(|one| one.bytes).sum()
}

/// The most memory that this process has had, in KiB.
#[cfg(target_os = "linux")]
fn most_memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let mut words = line.unwrap().split_whitespace();
    words.nth(1).unwrap().parse().unwrap()
}

/// How much more memory reading a line takes, in KiB. (Each test is a process of its own.)
#[cfg(target_os = "linux")]
fn memory_for(line: LongLine) -> usize {
    // What is needed once is needed before.
    read(LongLine::new(1, 300_000));
    let before = most_memory();
    read(line);
    most_memory() - before
}

#[cfg(target_os = "linux")]
#[test]
fn attachments_take_no_memory() {
    let grown = memory_for(LongLine::new(10, 3 << 18));
    assert!(grown < 2 * 1024, "{grown} KiB");
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "a measurement: run it in release, with --no-capture"]
fn measure_a_full_call() {
    let line = LongLine::new(10, 15 << 20);
    let length = line.len();
    let grown = memory_for(line);
    println!("{length} bytes in one line take {grown} KiB of memory");
    assert!(grown < 4 * 1024);
    for _ in 0..3 {
        let start = Instant::now();
        let kept = read(LongLine::new(10, 15 << 20));
        let seconds = start.elapsed().as_secs_f64();
        println!("{:.0} MB/s into files", to_megabytes(length) / seconds);
        assert_eq!(kept, 150 << 20);
    }
}

#[test]
#[ignore = "a measurement: run it in release, with --no-capture"]
fn measure_the_scanner() {
    let data = "QUJD".repeat(5_000_000);
    let slashes =
        r"QUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJ\/".repeat(200_000);
    let prose = "The quick brown \\\"fox\\\".\\n".repeat(400_000);
    let small = json!([{"a": 1, "b": [true, null], "c": "text"}]).to_string();
    let small = format!("[{}]", vec![small; 40_000].join(","));
    for (name, line) in [
        (
            "base64",
            call(&json!([{"data": data}]), &json!([])).to_string(),
        ),
        (
            "base64 with escaped slashes",
            call(&json!([{"data": "DATA"}]), &json!([]))
                .to_string()
                .replace("DATA", &slashes),
        ),
        ("a long message", format!("{{\"x\":\"{prose}\"}}")),
        ("small values", small),
        (
            "one too large",
            format!("{{\"x\":\"{}\"}}", "a".repeat(340_000_000)),
        ),
    ] {
        let start = Instant::now();
        let all = scan_pieces(line.as_bytes(), 128 * 1024, &Limits::TOOL);
        let seconds = start.elapsed().as_secs_f64();
        assert_eq!(all.len(), 1);
        let start = Instant::now();
        serde_json::from_str::<Value>(&line).unwrap();
        let parsing = start.elapsed().as_secs_f64();
        let speed = |seconds| to_megabytes(line.len()) / seconds;
        println!(
            "{name}: {:.0} MB/s, and {:.0} MB/s where it is only parsed",
            speed(seconds),
            speed(parsing)
        );
    }
}

#[expect(clippy::cast_precision_loss, reason = "it is only shown")]
fn to_megabytes(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}
