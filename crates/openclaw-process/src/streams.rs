//! The streams between us and a program, from our side.

/// The standard input of a program.
#[cfg(unix)]
pub type ProcessInput = tokio::net::unix::pipe::Sender;
/// The standard output of a program.
#[cfg(unix)]
pub type ProcessOutput = tokio::net::unix::pipe::Receiver;

/// The standard input of a program.
#[cfg(not(unix))]
pub type ProcessInput = tokio::process::ChildStdin;
/// The standard output of a program.
#[cfg(not(unix))]
pub type ProcessOutput = tokio::process::ChildStdout;
