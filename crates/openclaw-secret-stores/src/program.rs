//! Programs that answer on their standard output.

use std::time::Duration;

use openclaw_process::{End, Launcher, ProgramCommand};
use secrecy::zeroize::Zeroize as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::error::SecretError;

/// How long the last words of a program that has ended are waited for.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// What a program left.
pub(crate) struct ProgramOutput {
    pub(crate) end: End,
    /// What it wrote to its standard output; the secret may be in it.
    pub(crate) stdout: Vec<u8>,
    /// The last lines of its standard error, for words about what went wrong.
    pub(crate) stderr: Vec<String>,
}

impl ProgramOutput {
    /// Whether the program says that all went well.
    pub(crate) fn succeeded(&self) -> bool {
        matches!(self.end, End::Status(status) if status.success())
    }
}

/// Runs a program to its end, gives it `input` and takes what it writes, at most `limit` bytes.
///
/// There is no deadline here: whoever drops the future ends the program, with everything that it
/// started.
pub(crate) async fn run(
    launcher: &Launcher,
    command: &ProgramCommand,
    mut input: Vec<u8>,
    limit: usize,
) -> Result<ProgramOutput, SecretError> {
    let shown = command.program.display();
    // What is held by whoever listens to its standard error is dropped when that has ended.
    let (listening, heard_all) = oneshot::channel::<()>();
    let started = launcher.spawn(command, move |_| {
        let _held = &listening;
    });
    let started = started.await;
    let mut process = started.map_err(SecretError::misconfigured)?;
    let (stdin, stdout) = (process.stdin.take(), process.stdout.take());
    let writing = async {
        if let Some(mut stdin) = stdin {
            // A program that does not want to know what is asked may close its input.
            let _ = stdin.write_all(&input).await;
            let _ = stdin.shutdown().await;
        }
        input.zeroize();
    };
    let reading = async {
        let mut read = Vec::new();
        if let Some(stdout) = stdout {
            let limit = u64::try_from(limit).unwrap_or(u64::MAX);
            let mut bounded = stdout.take(limit.saturating_add(1));
            bounded.read_to_end(&mut read).await?;
        }
        Ok::<_, std::io::Error>(read)
    };
    let ((), read) = tokio::join!(writing, reading);
    let stdout = read.map_err(|error| {
        SecretError::unavailable(format!("{shown} can't be listened to: {error}"))
    })?;
    if stdout.len() > limit {
        crate::value::wipe(stdout);
        let reason = format!("{shown} answers with more than {limit} bytes");
        return Err(SecretError::unusable(reason));
    }
    let end = process.wait().await;
    // Something that it left behind may keep the stream open.
    let _ = timeout(LAST_WORDS, heard_all).await;
    Ok(ProgramOutput {
        end,
        stdout,
        stderr: process.stderr().lines(),
    })
}
