//! Programs that answer on their standard output.

use std::time::Duration;

use openclaw_content::shown_line;
use openclaw_process::{End, Launcher, ProgramCommand};
use openclaw_secrets::{Gathered, Redactor, Secret, TooMany};
use secrecy::zeroize::{Zeroize as _, Zeroizing};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::error::SecretError;

/// How long the last words of a program that has ended are waited for.
const LAST_WORDS: Duration = Duration::from_millis(500);
/// How much is read at once.
const PIECE: usize = 8 * 1024;
/// How much of a program's own words is shown.
const SHOWN: usize = 200;

/// What a program left.
pub(crate) struct ProgramOutput {
    pub(crate) end: End,
    /// What it wrote to its standard output; the secret may be in it.
    pub(crate) stdout: Zeroizing<Vec<u8>>,
    /// The last lines of its standard error, for words about what went wrong.
    stderr: Vec<String>,
}

impl ProgramOutput {
    /// Whether the program says that all went well.
    pub(crate) fn succeeded(&self) -> bool {
        matches!(self.end, End::Status(status) if status.success())
    }

    /// Says that the program failed, in its own last words.
    pub(crate) fn failure(&self, redactor: &Redactor, shown: &str) -> SecretError {
        let words = self.last_words(redactor, "");
        let words = words.map(|words| format!(": {words}")).unwrap_or_default();
        SecretError::unavailable(format!("{shown} failed ({}){words}", self.end))
    }

    /// The last line that it wrote to its standard error, the last that begins so if there is one,
    /// such that it can be shown.
    pub(crate) fn last_words(&self, redactor: &Redactor, beginning: &str) -> Option<String> {
        let lines = || {
            self.stderr
                .iter()
                .rev()
                .filter(|line| !line.trim().is_empty())
        };
        let telling = lines().find(|line| line.starts_with(beginning));
        let words = telling.or_else(|| lines().next())?;
        // What it wrote may hold a secret, which its last words may repeat. It may as well be how
        // the program is used, which need not be hidden anywhere else.
        let own = Redactor::new();
        let _ = own.learn(&Secret::new(String::from_utf8_lossy(&self.stdout)));
        Some(clean(redactor, &own.redact(words)))
    }
}

/// A program's own words, such that they can be shown.
pub(crate) fn clean(redactor: &Redactor, words: &str) -> String {
    shown_line(&redactor.redact(words), SHOWN)
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
    let mut process = started.map_err(|error| {
        if error.is_shortage() {
            SecretError::shortage(error)
        } else {
            SecretError::misconfigured(error)
        }
    })?;
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
        match stdout {
            Some(stdout) => read(stdout, limit).await,
            None => Ok(Ok(Zeroizing::default())),
        }
    };
    let ((), read) = tokio::join!(writing, reading);
    let read = read.map_err(|error| {
        SecretError::unavailable(format!("{shown} can't be listened to: {error}"))
    })?;
    let stdout = read.map_err(|TooMany| {
        SecretError::unusable(format!("{shown} answers with more than {limit} bytes"))
    })?;
    let end = process.wait().await;
    // Something that it left behind may keep the stream open.
    let _ = timeout(LAST_WORDS, heard_all).await;
    Ok(ProgramOutput {
        end,
        stdout,
        stderr: process.stderr().texts(),
    })
}

/// Reads to the end, and leaves no copies of what it read.
async fn read(
    mut stream: impl AsyncRead + Unpin,
    limit: usize,
) -> std::io::Result<Result<Zeroizing<Vec<u8>>, TooMany>> {
    let mut gathered = Gathered::at_most(limit);
    let mut piece = Zeroizing::new(vec![0; PIECE]);
    loop {
        let length = stream.read(&mut piece).await?;
        let read = piece.get(..length).unwrap_or_default();
        if read.is_empty() {
            return Ok(Ok(gathered.into_bytes()));
        }
        if let Err(too_many) = gathered.add(read) {
            return Ok(Err(too_many));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_stream_is_read_to_its_end_and_not_beyond_its_limit() {
        let bytes: Vec<u8> = (0..=u8::MAX).cycle().take(PIECE * 3 + 5).collect();
        let all = read(&bytes[..], bytes.len()).await.unwrap();
        assert_eq!(**all.unwrap(), bytes);
        let less = read(&bytes[..], bytes.len() - 1).await.unwrap();
        assert!(less.is_err());
        let nothing = read(&b""[..], 0).await.unwrap();
        assert!(nothing.unwrap().is_empty());
    }
}
