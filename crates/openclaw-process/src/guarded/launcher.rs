//! Starting programs.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::pipe::{PipeFlags, pipe_with};
use tokio::net::unix::pipe;
use tokio::time::timeout;

use crate::guarded::guardian::{Client, GuardianProgram, Number};
use crate::process::{Control, Process, ProgramCommand, Progress, SpawnError};
use crate::stderr::StderrTail;

/// How long the guardian may take to start a program.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long the guardian may take to end: it gives what is left a second.
const CLOSING: Duration = Duration::from_secs(3);

/// Starts programs, and ends them all when it is dropped or when this process ends in any way.
///
/// The guardian is started with the first program, and again if it should be gone.
#[derive(Debug)]
pub struct Launcher {
    program: GuardianProgram,
    client: Mutex<Option<Arc<Client>>>,
}

impl Launcher {
    /// A launcher whose guardian is this program.
    pub fn new(program: GuardianProgram) -> Self {
        Self {
            program,
            client: Mutex::new(None),
        }
    }

    /// Starts a program, whose standard error goes to `heard` line by line.
    pub async fn spawn(
        &self,
        command: &ProgramCommand,
        heard: impl FnMut(&str) + Send + 'static,
    ) -> Result<Process, SpawnError> {
        command.check_directory()?;
        let refused = |source| command.refused(source);
        let client = self.client().map_err(SpawnError::Guardian)?;
        let input = Pipe::new().map_err(refused)?;
        let output = Pipe::new().map_err(refused)?;
        let errors = Pipe::new().map_err(refused)?;
        let (number, mut progress) = client
            .spawn(
                command,
                [
                    input.read.as_fd(),
                    output.write.as_fd(),
                    errors.write.as_fd(),
                ],
            )
            .map_err(SpawnError::Guardian)?;
        // Our copies of the program's ends are closed, so that its end is the end of the streams.
        let stdin = pipe::Sender::from_owned_fd(input.write).map_err(refused)?;
        let stdout = pipe::Receiver::from_owned_fd(output.read).map_err(refused)?;
        let stderr = pipe::Receiver::from_owned_fd(errors.read).map_err(refused)?;
        drop((input.read, output.write, errors.write));
        let decided = progress.wait_for(|progress| *progress != Progress::Asked);
        let decided = match timeout(PATIENCE, decided).await {
            Ok(Ok(progress)) => *progress,
            Ok(Err(_)) | Err(_) => Progress::Lost,
        };
        let pid = match decided {
            Progress::Running { pid } => pid,
            // It has ended already, so quickly that it was not seen running.
            Progress::Ended(_) | Progress::Gone(_) => 0,
            Progress::NotStarted(error) => {
                return Err(refused(io::Error::from_raw_os_error(error)));
            }
            Progress::Asked | Progress::Lost => {
                let _ = client.kill(number);
                let error = io::Error::new(io::ErrorKind::BrokenPipe, "it does not answer");
                return Err(SpawnError::Guardian(error));
            }
        };
        let tail = StderrTail::read(stderr, heard);
        let control = Box::new(Guarded { client, number });
        Ok(Process::new(control, pid, progress, (stdin, stdout), tail))
    }

    /// Ends everything that was started, whatever state it is in, and waits until it is gone.
    pub async fn close(&self) {
        let client = {
            let mut current = self.client.lock().unwrap_or_else(PoisonError::into_inner);
            current.take()
        };
        let Some(client) = client else {
            return;
        };
        if timeout(CLOSING, client.end()).await.is_err() {
            tracing::warn!("the guardian did not end in time");
        }
    }

    fn client(&self) -> io::Result<Arc<Client>> {
        let mut current = self.client.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = current.as_ref().filter(|client| !client.is_lost()) {
            return Ok(Arc::clone(client));
        }
        let client = Arc::new(Client::start(&self.program)?);
        *current = Some(Arc::clone(&client));
        Ok(client)
    }
}

/// A program behind the guardian.
#[derive(Debug)]
struct Guarded {
    client: Arc<Client>,
    number: Number,
}

// A guardian that can't be asked is gone, and has ended everything itself.
impl Control for Guarded {
    fn terminate(&self) {
        let _ = self.client.terminate(self.number);
    }

    fn kill(&self) {
        let _ = self.client.kill(self.number);
    }
}

/// A pipe whose ends are not handed to programs by accident.
struct Pipe {
    read: OwnedFd,
    write: OwnedFd,
}

impl Pipe {
    fn new() -> io::Result<Self> {
        let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
        Ok(Self { read, write })
    }
}
