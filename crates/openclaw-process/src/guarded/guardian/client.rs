//! Our side of the guardian: starting it, asking it, hearing it.

use std::collections::HashMap;
use std::io;
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

use tokio::sync::watch;

use crate::guarded::descriptors;
use crate::guarded::guardian::channel::{Receiver, send};
use crate::guarded::guardian::message::{Event, Number, Request, Start};
use crate::guarded::guardian::{ARGUMENT, GuardianProgram};
use crate::process::{ProgramCommand, Progress};

/// How long the guardian may take to take a message.
const PATIENCE: Duration = Duration::from_secs(2);

/// A guardian that runs.
#[derive(Debug)]
pub(crate) struct Client {
    socket: UnixStream,
    /// Held while a message is sent, so that messages don't mix.
    sending: Mutex<()>,
    programs: Arc<Mutex<Programs>>,
    next: AtomicU64,
    /// Whether the guardian has ended, and with it all that it guarded.
    has_ended: watch::Receiver<bool>,
}

#[derive(Debug, Default)]
struct Programs {
    watched: HashMap<Number, watch::Sender<Progress>>,
    /// Whether the guardian is gone.
    lost: bool,
}

impl Client {
    /// Starts a guardian.
    pub(crate) fn start(program: &GuardianProgram) -> io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_write_timeout(Some(PATIENCE))?;
        let programs = Arc::new(Mutex::new(Programs::default()));
        let listener = Listener {
            socket: ours.try_clone()?,
            programs: Arc::clone(&programs),
        };
        let (ended, has_ended) = watch::channel(false);
        let (give, given) = mpsc::sync_channel::<Child>(1);
        // Before there is a child: one that nobody waits for would stay a zombie.
        std::thread::Builder::new()
            .name("guardian".to_owned())
            .spawn(move || {
                let Ok(mut child) = given.recv() else {
                    return;
                };
                listener.listen();
                // Nothing is left to be heard: it ends by itself.
                let _ = child.wait();
                let _ = ended.send(true);
            })?;
        let child = Command::new(program.path())
            .arg0(ARGUMENT)
            .args(descriptors::before().map(|limit| limit.to_string()))
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        // It waits for this.
        let _ = give.send(child);
        Ok(Self {
            socket: ours,
            sending: Mutex::new(()),
            programs,
            next: AtomicU64::new(1),
            has_ended,
        })
    }

    /// Whether the guardian is gone.
    pub(crate) fn is_lost(&self) -> bool {
        lock(&self.programs).lost
    }

    /// Asks for a program and returns its number and how far it has come.
    pub(crate) fn spawn(
        &self,
        command: &ProgramCommand,
        streams: [BorrowedFd<'_>; 3],
    ) -> io::Result<(Number, watch::Receiver<Progress>)> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, receiver) = watch::channel(Progress::Asked);
        {
            let mut programs = lock(&self.programs);
            if programs.lost {
                return Err(io::Error::new(
                    io::ErrorKind::BrokenPipe,
                    "the guardian is gone",
                ));
            }
            programs.watched.insert(number, sender);
        }
        let request = Request::Start(Start {
            number,
            program: command.program.clone().into(),
            arguments: command.arguments.clone(),
            environment: command.environment.clone(),
            directory: command.directory.clone().map(Into::into),
        });
        if let Err(error) = self.send(&request, &streams) {
            lock(&self.programs).watched.remove(&number);
            return Err(error);
        }
        Ok((number, receiver))
    }

    /// Asks all processes of a program to end.
    pub(crate) fn terminate(&self, number: Number) -> io::Result<()> {
        self.send(&Request::Terminate(number), &[])
    }

    /// Ends all processes of a program.
    pub(crate) fn kill(&self, number: Number) -> io::Result<()> {
        self.send(&Request::Kill(number), &[])
    }

    /// Ends the guardian with all that it guards, and waits for it.
    pub(crate) async fn end(&self) {
        let _ = self.socket.shutdown(Shutdown::Both);
        let mut has_ended = self.has_ended.clone();
        // An error says that the thread is gone, and the guardian before it.
        let _ = has_ended.wait_for(|ended| *ended).await;
    }

    fn send(&self, request: &Request, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
        let _one_at_a_time = self.sending.lock().unwrap_or_else(PoisonError::into_inner);
        let result = send(&self.socket.as_fd(), &request.encode(), descriptors);
        if result.is_err() {
            // Half a message makes the rest unreadable: the guardian has to go, and what it
            // guards with it.
            let _ = self.socket.shutdown(Shutdown::Both);
        }
        result
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // Ends the guardian, which ends what it guards, and our listening thread.
        let _ = self.socket.shutdown(Shutdown::Both);
    }
}

struct Listener {
    socket: UnixStream,
    programs: Arc<Mutex<Programs>>,
}

impl Listener {
    fn listen(&self) {
        let mut receiver = Receiver::default();
        while let Ok(Some((message, _))) = receiver.receive(&self.socket.as_fd()) {
            match Event::decode(&message) {
                Ok(event) => self.note(event),
                Err(_) => break,
            }
        }
        let mut programs = lock(&self.programs);
        programs.lost = true;
        for (_, watched) in programs.watched.drain() {
            watched.send_modify(|progress| {
                *progress = match *progress {
                    Progress::Ended(status) => Progress::Gone(status),
                    _ => Progress::Lost,
                };
            });
        }
    }

    fn note(&self, event: Event) {
        let (number, last) = match event {
            Event::Started { number, .. } | Event::Ended { number, .. } => (number, false),
            Event::NotStarted { number, .. } | Event::Gone { number } => (number, true),
        };
        let mut programs = lock(&self.programs);
        if let Some(watched) = programs.watched.get(&number) {
            watched.send_modify(|progress| {
                *progress = match (event, *progress) {
                    (Event::Started { pid, .. }, _) => Progress::Running { pid },
                    (Event::NotStarted { error, .. }, _) => Progress::NotStarted(error),
                    (Event::Ended { status, .. }, _) => {
                        Progress::Ended(ExitStatus::from_raw(status))
                    }
                    (Event::Gone { .. }, Progress::Ended(status)) => Progress::Gone(status),
                    (Event::Gone { .. }, other) => other,
                };
            });
        }
        if last {
            programs.watched.remove(&number);
        }
    }
}

fn lock(programs: &Mutex<Programs>) -> MutexGuard<'_, Programs> {
    programs.lock().unwrap_or_else(PoisonError::into_inner)
}
