//! A gateway that has no descriptors left.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};

use tokio::io::AsyncReadExt as _;
use tokio::time::timeout;

use crate::client::Client;
use crate::harness::{Running, SOON};

/// How many descriptors the gateway may have.
const MOST: usize = 40;
const READY: &str = "listening on ";

/// A process with few descriptors, which is killed when the test is over.
struct Poor(Child);

impl Drop for Poor {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test]
#[ignore = "another test runs it, in a process with few descriptors"]
async fn serve_until_the_input_ends() {
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .init();
    let gateway = Running::start().await;
    println!("{READY}{}", gateway.address);
    let mut input = Vec::new();
    tokio::io::stdin().read_to_end(&mut input).await.unwrap();
    gateway.stop().await;
}

#[tokio::test]
async fn running_out_of_descriptors_is_told_once_and_passes() {
    let script = format!("ulimit -n {MOST}; exec \"$0\" \"$@\"");
    let child = Command::new("sh")
        .args(["-c", &script])
        .arg(std::env::current_exe().unwrap())
        .args(["descriptors::serve_until_the_input_ends", "--exact"])
        .args(["--ignored", "--nocapture"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut child = Poor(child);
    let lines = BufReader::new(child.0.stdout.take().unwrap()).lines();
    let mut lines = lines.map(Result::unwrap);
    let address = lines.find_map(|line| {
        let (_, address) = line.split_once(READY)?;
        Some(address.parse().unwrap())
    });
    let address = address.expect("it does not run");
    let request = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";

    let mut first = Client::connect(address).await;
    first.send(request).await;
    assert_eq!(first.answer().await.unwrap().status, 200);
    let mut held = Vec::new();
    for _ in 0..2 * MOST {
        let mut client = Client::connect(address).await;
        client.send(request).await;
        held.push(client);
    }
    // The last one can't be taken up and is told so, and those that are there are still answered.
    let last = held.last_mut().unwrap();
    let refused = timeout(SOON, last.answer()).await.unwrap().unwrap();
    assert_eq!(
        refused.status, 503,
        "there were descriptors for all of them"
    );
    assert_eq!(refused.json()["error"]["code"], "too-many-connections");
    first.send(request).await;
    assert_eq!(first.answer().await.unwrap().status, 200);

    drop(held);
    let mut after = Client::connect(address).await;
    after.send(request).await;
    let answer = timeout(SOON, after.answer()).await.unwrap();
    assert_eq!(answer.unwrap().status, 200);

    drop(child.0.stdin.take());
    let mut log = String::new();
    child
        .0
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut log)
        .unwrap();
    assert!(child.0.wait().unwrap().success(), "{log}");
    assert_eq!(log.matches("nobody can call over HTTP").count(), 1, "{log}");
    assert!(log.contains("ulimit -n"), "{log}");
}
