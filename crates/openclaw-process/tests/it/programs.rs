//! Programs to start, and looking for what is left of them.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use openclaw_process::{GuardianProgram, Launcher, Process, ProgramCommand};

pub(crate) fn launcher() -> Launcher {
    let host = Path::new(env!("CARGO_BIN_EXE_process-host"));
    Launcher::new(GuardianProgram::at(host))
}

/// A mark that is found in the command line of everything that a script starts.
pub(crate) struct Mark(String);

impl Mark {
    pub(crate) fn new(test: &str) -> Self {
        Self(format!("openclaw-test-{test}-{}", std::process::id()))
    }

    /// A shell script whose process, and those of its subshells, carry the mark as `$0`.
    pub(crate) fn script(&self, text: &str) -> ProgramCommand {
        ProgramCommand {
            program: "/bin/sh".into(),
            arguments: ["-c", text, &self.0].map(OsString::from).to_vec(),
            environment: vec![("PATH".into(), std::env::var_os("PATH").unwrap())],
            directory: None,
        }
    }

    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    /// The processes that carry the mark, zombies left out.
    pub(crate) fn processes(&self) -> Vec<u32> {
        let entries = fs::read_dir("/proc").unwrap().flatten();
        entries
            .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
            .filter(|pid| *pid != std::process::id())
            .filter(|pid| {
                fs::read(format!("/proc/{pid}/cmdline"))
                    .is_ok_and(|line| contains(&line, self.0.as_bytes()))
            })
            .collect()
    }

    /// Waits until so many processes carry the mark.
    pub(crate) fn wait_for(&self, count: usize, patience: Duration) {
        let deadline = Instant::now() + patience;
        while self.processes().len() != count {
            assert!(
                Instant::now() < deadline,
                "{} processes instead of {count}",
                self.processes().len()
            );
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

pub(crate) async fn spawn(launcher: &Launcher, command: ProgramCommand) -> Process {
    launcher.spawn(&command, |_| {}).await.unwrap()
}

/// Reads one line of a program's output.
pub(crate) async fn line(process: &mut Process) -> String {
    use tokio::io::AsyncReadExt;
    let stdout = process.stdout.as_mut().unwrap();
    let mut line = Vec::new();
    while let Ok(byte) = stdout.read_u8().await {
        if byte == b'\n' {
            break;
        }
        line.push(byte);
    }
    String::from_utf8(line).unwrap()
}

/// The descriptors that this process has open.
pub(crate) fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}
