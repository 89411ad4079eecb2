//! Another process: this test program again, with an order in its environment.

use std::io::{BufRead, BufReader, Lines, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::SystemTime;

use openclaw_config::SessionRetention;
use openclaw_sessions::{SessionStore as _, SqliteSessions, TurnEnd};

use crate::lab::{PATIENCE, answer, call, key, open, said, user};

const ORDER: &str = "OPENCLAW_SESSIONS_ORDER";
const STATE: &str = "OPENCLAW_SESSIONS_STATE";

/// Another process at work. It is killed when the test lets go of it.
pub(crate) struct Worker {
    child: Child,
    input: Option<ChildStdin>,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Worker {
    /// Starts a process with an order: `turns KEY TAG COUNT`, `hold KEY`, `delete KEY`, `fill KEY`,
    /// `attach KEY BYTES`, `count`.
    pub(crate) fn start(state: &Path, order: &str) -> Self {
        Self::spawn(Command::new(std::env::current_exe().unwrap()), state, order)
    }

    /// The same, but its files may have at most so many blocks of 512 bytes, as if the disk were
    /// full then, until it sets that limit off.
    #[cfg(unix)]
    pub(crate) fn start_without_room(state: &Path, order: &str, blocks: u32) -> Self {
        let script = format!("trap '' XFSZ; ulimit -S -f {blocks}; exec \"$@\"");
        let mut command = Command::new("/bin/sh");
        command.args(["-c", &script, "sh"]);
        command.arg(std::env::current_exe().unwrap());
        Self::spawn(command, state, order)
    }

    fn spawn(mut command: Command, state: &Path, order: &str) -> Self {
        let mut child = command
            .args(["--exact", "worker::at_work", "--ignored", "--nocapture"])
            .env(ORDER, order)
            .env(STATE, state)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self {
            input: child.stdin.take(),
            child,
            lines,
        }
    }

    /// The next thing that it reports; `None` when it has ended.
    pub(crate) fn next(&mut self) -> Option<String> {
        loop {
            let line = self.lines.next()?.ok()?;
            if let Some(report) = line.strip_prefix("> ") {
                return Some(report.to_owned());
            }
        }
    }

    pub(crate) fn expect(&mut self, report: &str) {
        assert_eq!(self.next().as_deref(), Some(report));
    }

    /// Tells one that holds to end.
    pub(crate) fn release(&mut self) {
        self.input = None;
    }

    /// Kills it at once, and returns what it still had to report.
    pub(crate) fn kill(mut self) -> Vec<String> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        std::iter::from_fn(|| self.next()).collect()
    }

    /// Waits for its end, which must be a good one; what it reported.
    pub(crate) fn end(mut self) -> Vec<String> {
        let reports = std::iter::from_fn(|| self.next()).collect();
        assert!(self.child.wait().unwrap().success());
        reports
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn report(text: &str) {
    let mut output = std::io::stdout().lock();
    // Whoever started us may be gone.
    let _ = output.write_all(format!("\n> {text}\n").as_bytes());
    let _ = output.flush();
}

#[test]
#[ignore = "other tests run this as a process of its own"]
fn at_work() {
    let (Ok(order), Some(state)) = (std::env::var(ORDER), std::env::var_os(STATE)) else {
        return;
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(work(&order, &PathBuf::from(state)));
}

async fn work(order: &str, state: &Path) {
    let store = open(state, SessionRetention::default(), SystemTime::now);
    let words: Vec<&str> = order.split(' ').collect();
    match words[..] {
        ["turns", name, tag, count] => turns(&store, name, tag, count.parse().unwrap()).await,
        ["hold", name] => {
            let mut turn = store.begin(&key(name), PATIENCE).await.unwrap();
            turn.append(vec![user("held")]).await.unwrap();
            report("held");
            let mut rest = Vec::new();
            std::io::stdin().read_to_end(&mut rest).unwrap();
            turn.finish(TurnEnd::Complete).await.unwrap();
        }
        ["delete", name] => {
            report("waiting");
            let was_there = store.delete(&key(name), PATIENCE).await.unwrap();
            report(&format!("deleted {was_there}"));
        }
        #[cfg(unix)]
        ["fill", name] => fill(&store, name).await,
        #[cfg(unix)]
        ["attach", name, bytes] => attach(&store, name, bytes.parse().unwrap()).await,
        ["count"] => report(&format!("count {}", store.count().await.unwrap())),
        _ => panic!("unknown order {order}"),
    }
    store.close().await;
}

async fn turns(store: &SqliteSessions, name: &str, tag: &str, count: u32) {
    let key = key(name);
    for number in 0..count {
        let mut turn = store.begin(&key, PATIENCE).await.unwrap();
        let words = |step: &str| format!("{tag}-{number}-{step}");
        let messages = [
            user(&words("user")),
            call(&words("call")),
            answer(&words("tool")),
            said(&words("said")),
        ];
        for message in messages {
            let text = crate::lab::text(&message);
            let numbers = turn.append(vec![message]).await.unwrap();
            report(&format!("ack {} {text}", numbers[0]));
        }
        turn.finish(TurnEnd::Complete).await.unwrap();
        report(&format!("end {tag}-{number}"));
    }
}

/// Writes until there is no room, makes room, and goes on.
#[cfg(unix)]
async fn fill(store: &SqliteSessions, name: &str) {
    let mut turn = store.begin(&key(name), PATIENCE).await.unwrap();
    let mut number = 0_u64;
    let error = loop {
        let messages = vec![user(&number.to_string()), user(&"x".repeat(100_000))];
        match turn.append(messages).await {
            Ok(numbers) => number = numbers[1],
            Err(error) => break error,
        }
    };
    report(&format!("refused {error}"));
    report(&format!("kept {number}"));
    make_room();
    turn.append(vec![user("there is room")]).await.unwrap();
    turn.finish(TurnEnd::Complete).await.unwrap();
}

/// Keeps a file for which there is no room, and once more when there is.
#[cfg(unix)]
async fn attach(store: &SqliteSessions, name: &str, bytes: usize) {
    let bytes = crate::full::file(bytes);
    let mut turn = store.begin(&key(name), PATIENCE).await.unwrap();
    let messages = || vec![user("look"), crate::media::image(&bytes)];
    let error = turn.append(messages()).await.unwrap_err();
    report(&format!("refused {error}"));
    let mut rest = Vec::new();
    std::io::stdin().read_to_end(&mut rest).unwrap();
    make_room();
    turn.append(messages()).await.unwrap();
    turn.finish(TurnEnd::Complete).await.unwrap();
}

/// Sets the limit off that files have.
#[cfg(unix)]
fn make_room() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let most = getrlimit(Resource::Fsize).maximum;
    let limit = Rlimit {
        current: most,
        maximum: most,
    };
    setrlimit(Resource::Fsize, limit).unwrap();
}
