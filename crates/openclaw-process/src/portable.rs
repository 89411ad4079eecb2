//! Programs without a guardian, on systems that have no reapers of descendants.
//!
//! A program is started in a process group (a job object on Windows), and the group is ended with
//! it. What leaves the group is not found, and where this process is killed, only Windows ends what
//! it started: these systems are promised less than Linux.

use std::io;
use std::path::Path;
use std::process::Stdio;

use process_wrap::tokio::{ChildWrapper, CommandWrap};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::{mpsc, watch};

use crate::process::{Control, Process, ProgramCommand, Progress, SpawnError};
use crate::stderr::StderrTail;
use crate::streams::{ProcessInput, ProcessOutput};

/// The program that would be the guardian; there is none here.
#[derive(Clone, Debug)]
pub struct GuardianProgram;

impl GuardianProgram {
    /// The program that is running.
    pub fn this_program() -> Self {
        Self
    }

    /// Another program.
    pub fn at(_path: &Path) -> Self {
        Self
    }
}

/// Makes this process the guardian if it was called to be one, which never happens here.
pub fn run_if_called() -> Option<io::Result<()>> {
    None
}

/// Lets this process have as many descriptors as the system permits: as many as it has here.
pub fn raise_descriptor_limit() -> Option<u64> {
    None
}

/// Starts programs.
#[derive(Debug)]
pub struct Launcher;

impl Launcher {
    /// A launcher, which needs no guardian here.
    pub fn new(_program: GuardianProgram) -> Self {
        Self
    }

    /// Ends everything that was started: here, it ends with whoever holds it.
    #[expect(
        clippy::unused_async,
        reason = "with a guardian there is something to wait for"
    )]
    pub async fn close(&self) {}

    /// Starts a program, whose standard error goes to `heard` line by line.
    #[expect(
        clippy::unused_async,
        reason = "with a guardian there is something to wait for"
    )]
    pub async fn spawn(
        &self,
        command: &ProgramCommand,
        heard: impl FnMut(&str) + Send + 'static,
    ) -> Result<Process, SpawnError> {
        command.check_directory()?;
        let refused = |source| command.refused(source);
        let missing = || refused(io::Error::other("a stream is missing"));
        let mut child = wrap(command).spawn().map_err(refused)?;
        let pid = child.id().unwrap_or(0);
        let stdin = input(child.stdin().take().ok_or_else(missing)?).map_err(refused)?;
        let stdout = output(child.stdout().take().ok_or_else(missing)?).map_err(refused)?;
        let stderr = child.stderr().take().ok_or_else(missing)?;
        let tail = StderrTail::read(stderr, heard);
        let (requests, inbox) = mpsc::channel(4);
        let (progress, watched) = watch::channel(Progress::Running { pid });
        tokio::spawn(look_after(Group(child), inbox, progress));
        let control = Box::new(Requests(requests));
        Ok(Process::new(control, pid, watched, (stdin, stdout), tail))
    }
}

#[cfg(unix)]
fn input(stream: ChildStdin) -> io::Result<ProcessInput> {
    ProcessInput::from_owned_fd(stream.into_owned_fd()?)
}

#[cfg(unix)]
fn output(stream: ChildStdout) -> io::Result<ProcessOutput> {
    ProcessOutput::from_owned_fd(stream.into_owned_fd()?)
}

#[cfg(not(unix))]
fn input(stream: ChildStdin) -> io::Result<ProcessInput> {
    Ok(stream)
}

#[cfg(not(unix))]
fn output(stream: ChildStdout) -> io::Result<ProcessOutput> {
    Ok(stream)
}

fn wrap(command: &ProgramCommand) -> CommandWrap {
    let mut wrapped = CommandWrap::with_new(&command.program, |inner| {
        inner
            .args(&command.arguments)
            .env_clear()
            .envs(
                command
                    .environment
                    .iter()
                    .map(|(name, value)| (name, value)),
            )
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(directory) = &command.directory {
            inner.current_dir(directory);
        }
    });
    #[cfg(unix)]
    wrapped.wrap(process_wrap::tokio::ProcessGroup::leader());
    #[cfg(windows)]
    {
        // Makes the system end the job when its last handle is closed, which is when we end.
        wrapped.wrap(process_wrap::tokio::KillOnDrop);
        wrapped.wrap(process_wrap::tokio::JobObject);
    }
    wrapped
}

/// What is asked of a program's keeper.
#[derive(Clone, Copy, Debug)]
enum Request {
    Terminate,
    Kill,
}

#[derive(Debug)]
struct Requests(mpsc::Sender<Request>);

// A keeper that does not listen has nothing left to keep, or enough requests already.
impl Control for Requests {
    fn terminate(&self) {
        let _ = self.0.try_send(Request::Terminate);
    }

    fn kill(&self) {
        let _ = self.0.try_send(Request::Kill);
    }
}

/// A process group that ends with its keeper.
struct Group(Box<dyn ChildWrapper>);

impl Group {
    fn terminate(&mut self) {
        #[cfg(unix)]
        let _ = self.0.signal(rustix::process::Signal::TERM.as_raw());
        #[cfg(not(unix))]
        self.kill();
    }

    fn kill(&mut self) {
        let _ = self.0.start_kill();
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Waits for the end of a program and passes requests on until then.
async fn look_after(
    mut group: Group,
    mut inbox: mpsc::Receiver<Request>,
    progress: watch::Sender<Progress>,
) {
    loop {
        tokio::select! {
            status = group.0.wait() => {
                group.kill();
                let end = status.map_or(Progress::Lost, Progress::Gone);
                progress.send_replace(end);
                return;
            }
            request = inbox.recv() => match request {
                Some(Request::Terminate) => group.terminate(),
                Some(Request::Kill) | None => group.kill(),
            },
        }
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;
    use crate::process::End;

    fn script(text: &str) -> ProgramCommand {
        ProgramCommand {
            program: "/bin/sh".into(),
            arguments: vec!["-c".into(), text.into()],
            environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
            directory: None,
        }
    }

    async fn spawn(text: &str) -> Process {
        let launcher = Launcher::new(GuardianProgram::this_program());
        launcher.spawn(&script(text), |_| {}).await.unwrap()
    }

    #[tokio::test]
    async fn a_program_reads_writes_and_ends_with_its_status() {
        let mut process = spawn("read x; echo \"got $x\"; exit 3").await;
        process
            .stdin
            .as_mut()
            .unwrap()
            .write_all(b"hello\n")
            .await
            .unwrap();
        let mut text = String::new();
        process
            .stdout
            .as_mut()
            .unwrap()
            .read_to_string(&mut text)
            .await
            .unwrap();
        assert_eq!(text, "got hello\n");
        match process.wait().await {
            End::Status(status) => assert_eq!(status.code(), Some(3)),
            End::Lost => panic!("the status is kept"),
        }
    }

    #[tokio::test]
    async fn the_whole_group_is_ended() {
        let mut process = spawn("sleep 1000 & echo $!; wait").await;
        let mut text = [0; 16];
        let count = process
            .stdout
            .as_mut()
            .unwrap()
            .read(&mut text)
            .await
            .unwrap();
        let child: i32 = str::from_utf8(&text[..count])
            .unwrap()
            .trim()
            .parse()
            .unwrap();
        process.stop().await;
        let child = rustix::process::Pid::from_raw(child).unwrap();
        // A process that nobody waited for yet still has its number.
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(2);
        while rustix::process::test_kill_process(child).is_ok() {
            assert!(std::time::Instant::now() < deadline, "it is still there");
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    }

    #[tokio::test]
    async fn what_cannot_be_started_says_why() {
        let launcher = Launcher::new(GuardianProgram::this_program());
        let mut command = script("");
        command.program = "/nonexistent/program".into();
        let error = launcher.spawn(&command, |_| {}).await.unwrap_err();
        assert!(matches!(error, SpawnError::Refused { .. }), "{error}");
    }
}
