//! Running a program to its end.

use std::io;
use std::time::Duration;

use openclaw_process::{End, Launcher, Process, ProgramCommand, SpawnError};
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::{sleep, timeout};

/// How long the last words of a program are waited for, and how often they are looked for.
const LAST_WORDS: Duration = Duration::from_millis(200);
const LOOK: Duration = Duration::from_millis(5);

/// What a program left.
pub(crate) struct Finished {
    pub(crate) end: End,
    process: Process,
}

impl Finished {
    pub(crate) fn succeeded(&self) -> bool {
        matches!(self.end, End::Status(status) if status.success())
    }

    /// The last line that it wrote to its standard error.
    pub(crate) async fn last_words(&self) -> Option<String> {
        // They may still be on their way when the program is gone.
        let arrival = async {
            while self.process.stderr().lines().is_empty() {
                sleep(LOOK).await;
            }
        };
        let _ = timeout(LAST_WORDS, arrival).await;
        let lines = self.process.stderr().texts().into_iter();
        lines.rev().find(|line| !line.trim().is_empty())
    }
}

/// Why a program did not come to its end.
#[derive(Debug, Error)]
pub(crate) enum RunError {
    #[error(transparent)]
    NotStarted(#[from] SpawnError),
    #[error("it answers with more than {0} bytes")]
    TooMuch(usize),
    #[error("it can't be listened to: {0}")]
    Unheard(#[from] io::Error),
}

/// Runs a program to its end, gives it `input` and takes what it writes to its standard output, at most
/// `limit` bytes.
///
/// There is no deadline here: whoever drops the future ends the program, with everything that it
/// started. What it had written by then is in `output` all the same.
pub(crate) async fn run(
    launcher: &Launcher,
    command: &ProgramCommand,
    input: &[u8],
    limit: usize,
    output: &mut Vec<u8>,
) -> Result<Finished, RunError> {
    let heard = |line: &str| tracing::debug!(line, "a program that reads media says something");
    let mut process = launcher.spawn(command, heard).await?;
    let (stdin, stdout) = (process.stdin.take(), process.stdout.take());
    let writing = async {
        if let Some(mut stdin) = stdin {
            // A program that has read enough may close its input.
            let _ = stdin.write_all(input).await;
            let _ = stdin.shutdown().await;
        }
    };
    let reading = async {
        match stdout {
            Some(stdout) => read(stdout, limit, output).await,
            None => Ok(()),
        }
    };
    let ((), heard) = tokio::join!(writing, reading);
    heard?;
    let end = process.wait().await;
    Ok(Finished { end, process })
}

async fn read(
    mut stream: impl AsyncRead + Unpin,
    limit: usize,
    output: &mut Vec<u8>,
) -> Result<(), RunError> {
    while stream.read_buf(output).await? > 0 {
        if output.len() > limit {
            output.truncate(limit);
            return Err(RunError::TooMuch(limit));
        }
    }
    Ok(())
}
