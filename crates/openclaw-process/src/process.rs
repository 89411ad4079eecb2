//! A program that runs, and its end.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use thiserror::Error;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::stderr::StderrTail;
use crate::streams::{ProcessInput, ProcessOutput};

/// How long a program has to leave by itself once its input is closed.
const LEAVE: Duration = Duration::from_millis(100);
/// How long it has after it was asked to.
const TERMINATE: Duration = Duration::from_secs(5);
/// How long the system may take to end what was killed.
const KILL: Duration = Duration::from_secs(2);

/// A program to start, found and with its environment made.
#[derive(Clone, Debug)]
pub struct ProgramCommand {
    /// The program, as `find_program` found it.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Its whole environment, as `child_environment` made it.
    pub environment: Vec<(OsString, OsString)>,
    /// Its working directory; ours where there is none.
    pub directory: Option<PathBuf>,
}

impl ProgramCommand {
    /// Makes sure that the program has a place to work in.
    pub(crate) fn check_directory(&self) -> Result<(), SpawnError> {
        match &self.directory {
            Some(directory) if !directory.is_dir() => {
                Err(SpawnError::NoDirectory(directory.clone()))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Says that the system refused to start it.
    pub(crate) fn refused(&self, source: io::Error) -> SpawnError {
        SpawnError::Refused {
            program: self.program.clone(),
            source,
        }
    }
}

/// Why a program was not started.
#[derive(Debug, Error)]
pub enum SpawnError {
    /// Its working directory is not there.
    #[error("the working directory {} does not exist", .0.display())]
    NoDirectory(PathBuf),
    /// The system refused.
    #[error("cannot start {}: {source}", program.display())]
    Refused {
        /// The program.
        program: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The guardian can't be started or does not answer.
    #[error("cannot start the process that looks after programs: {0}")]
    Guardian(#[source] io::Error),
}

impl SpawnError {
    /// Whether this machine, or this process, has too little of something at the moment: descriptors, processes
    /// or memory. The program has nothing to do with it.
    pub fn is_shortage(&self) -> bool {
        match self {
            Self::Refused { source, .. } | Self::Guardian(source) => is_shortage(source),
            Self::NoDirectory(_) => false,
        }
    }
}

/// Whether this is about something that this machine, or this process, has too little of at the moment: descriptors,
/// processes or memory.
#[cfg(unix)]
pub fn is_shortage(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let code = error.raw_os_error().map(Errno::from_raw_os_error);
    matches!(
        code,
        Some(Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::AGAIN)
    )
}

/// Whether this is about something that this machine has too little of at the moment.
#[cfg(not(unix))]
pub fn is_shortage(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::OutOfMemory
}

/// How far a program has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// It is being started.
    Asked,
    /// It was not started, for the reason that the system gave.
    NotStarted(i32),
    /// It runs.
    Running { pid: u32 },
    /// It ended; something that it started may still be there.
    Ended(ExitStatus),
    /// It ended, and nothing of it is left.
    Gone(ExitStatus),
    /// Who looked after it is gone, and with it what it looked after.
    Lost,
}

/// The way to reach a program and everything it started.
pub(crate) trait Control: std::fmt::Debug + Send + Sync {
    /// Asks all its processes to end.
    fn terminate(&self);
    /// Ends all its processes.
    fn kill(&self);
}

/// A program that was started. Dropping it ends the program and everything it started.
#[derive(Debug)]
pub struct Process {
    control: Box<dyn Control>,
    pid: u32,
    progress: watch::Receiver<Progress>,
    /// The program's standard input, until somebody takes it.
    pub stdin: Option<ProcessInput>,
    /// The program's standard output, until somebody takes it.
    pub stdout: Option<ProcessOutput>,
    stderr: StderrTail,
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// With this status.
    Status(ExitStatus),
    /// Together with the process that looked after it.
    Lost,
}

impl std::fmt::Display for End {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Status(status) => write!(formatter, "{status}"),
            Self::Lost => formatter.write_str("ended with the process that looked after it"),
        }
    }
}

impl Process {
    pub(crate) fn new(
        control: Box<dyn Control>,
        pid: u32,
        progress: watch::Receiver<Progress>,
        streams: (ProcessInput, ProcessOutput),
        stderr: StderrTail,
    ) -> Self {
        Self {
            control,
            pid,
            progress,
            stdin: Some(streams.0),
            stdout: Some(streams.1),
            stderr,
        }
    }

    /// The program's process number.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// The last lines of its standard error.
    pub fn stderr(&self) -> &StderrTail {
        &self.stderr
    }

    /// How the program ended, if it has.
    pub fn ended(&self) -> Option<End> {
        end_of(*self.progress.borrow())
    }

    /// Waits until the program has ended; what it started may still be ending.
    pub async fn wait(&mut self) -> End {
        match self
            .progress
            .wait_for(|progress| end_of(*progress).is_some())
            .await
        {
            Ok(progress) => end_of(*progress).unwrap_or(End::Lost),
            Err(_) => End::Lost,
        }
    }

    /// Ends the program and everything it started: its input is closed, and if it does not leave
    /// by itself it is asked to, and in the end it is made to.
    pub async fn stop(mut self) -> End {
        drop(self.stdin.take());
        if timeout(LEAVE, self.wait_until_gone()).await.is_err() {
            self.control.terminate();
            if timeout(TERMINATE, self.wait_until_gone()).await.is_err() {
                self.control.kill();
                if timeout(KILL, self.wait_until_gone()).await.is_err() {
                    tracing::error!(pid = self.pid, "a program does not end, even when killed");
                }
            }
        }
        self.ended().unwrap_or(End::Lost)
    }

    /// Waits until nothing of the program is left.
    async fn wait_until_gone(&mut self) {
        let gone = |progress: &Progress| {
            matches!(
                progress,
                Progress::Gone(_) | Progress::Lost | Progress::NotStarted(_)
            )
        };
        // An error means that nobody looks after it any more.
        let _ = self.progress.wait_for(gone).await;
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let gone = matches!(*self.progress.borrow(), Progress::Gone(_) | Progress::Lost);
        if !gone {
            self.control.kill();
        }
    }
}

fn end_of(progress: Progress) -> Option<End> {
    match progress {
        Progress::Asked | Progress::Running { .. } => None,
        Progress::Ended(status) | Progress::Gone(status) => Some(End::Status(status)),
        Progress::NotStarted(_) | Progress::Lost => Some(End::Lost),
    }
}
