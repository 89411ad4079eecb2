//! The guardian itself: a small process of one thread that starts the programs and outlives us
//! just long enough to end them.
//!
//! Every program it starts is made the reaper of its own descendants, so that as long as the
//! program lives, everything below it is found below it, whatever left the process group or the
//! session. When the program ends, what it leaves behind comes to the guardian, which is a reaper
//! too. So whoever is a child of the guardian and is not one of the programs is a leftover.

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, WaitOptions, getpid, pidfd_open,
    set_child_subreaper, set_parent_process_death_signal, setsid, wait, waitid, waitpid,
};

use crate::guarded::guardian::channel::{Receiver, send};
use crate::guarded::guardian::message::{Event, Number, Request, Start};
use crate::guarded::guardian::tree::{Tree, signal_descendant};

/// How long leftovers have to end by themselves.
const GRACE: Duration = Duration::from_millis(500);
/// How often leftovers are looked for while there are any.
const SWEEP: Duration = Duration::from_millis(20);
/// How long all programs have to end by themselves once we are gone.
const LAST_GRACE: Duration = Duration::from_secs(1);

/// Serves until the other side of the socket is gone, then ends everything.
pub(crate) fn run(socket: &OwnedFd) -> io::Result<()> {
    // Whoever lists processes should see what it is, not the link that it was started by.
    let _ = rustix::thread::set_name(c"openclaw-guard");
    // Keys that end our foreground group must not reach the guardian.
    let _ = setsid();
    set_child_subreaper(Some(getpid()))?;
    let mut guardian = Guardian {
        socket: socket.as_fd(),
        us: getpid().as_raw_nonzero().get(),
        programs: HashMap::new(),
        leftovers: Leftovers::default(),
    };
    let result = guardian.serve();
    guardian.end_everything();
    result
}

struct Guardian<'a> {
    socket: BorrowedFd<'a>,
    us: i32,
    programs: HashMap<Number, Program>,
    leftovers: Leftovers,
}

struct Program {
    pid: Pid,
    /// Becomes readable when the program ends.
    descriptor: OwnedFd,
    /// Whether everything of it is being killed until nothing is left.
    killing: bool,
}

/// What programs that ended have left behind.
#[derive(Default)]
struct Leftovers {
    /// The programs whose leftovers are being ended.
    of: Vec<Number>,
    /// When those that are still there are killed.
    deadline: Option<Instant>,
}

impl Guardian<'_> {
    fn serve(&mut self) -> io::Result<()> {
        let mut receiver = Receiver::default();
        loop {
            if self.wait_for_something(&receiver)? {
                let Some((message, descriptors)) = receiver.receive(&self.socket)? else {
                    return Ok(());
                };
                let request = Request::decode(&message).map_err(|_| {
                    io::Error::new(io::ErrorKind::InvalidData, "a message is malformed")
                })?;
                self.answer(request, descriptors)?;
            }
            self.look_after_programs()?;
            self.sweep()?;
        }
    }

    /// Waits until there is a message, a program ended, or leftovers are to be looked for; says
    /// whether it is a message.
    fn wait_for_something(&self, receiver: &Receiver) -> io::Result<bool> {
        if receiver.has_message() {
            return Ok(true);
        }
        let busy =
            !self.leftovers.of.is_empty() || self.programs.values().any(|program| program.killing);
        let timeout = busy.then_some(Timespec {
            tv_sec: 0,
            tv_nsec: SWEEP.as_nanos().try_into().unwrap_or(0),
        });
        let mut waiting = vec![PollFd::new(&self.socket, PollFlags::IN)];
        for program in self.programs.values() {
            waiting.push(PollFd::new(&program.descriptor, PollFlags::IN));
        }
        match poll(&mut waiting, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(!waiting[0].revents().is_empty()),
            Err(error) => Err(error.into()),
        }
    }

    fn answer(&mut self, request: Request, descriptors: Vec<OwnedFd>) -> io::Result<()> {
        match request {
            Request::Start(start) => self.start(start, descriptors),
            Request::Terminate(number) => {
                self.signal(number, Signal::TERM);
                Ok(())
            }
            Request::Kill(number) => {
                if let Some(program) = self.programs.get_mut(&number) {
                    program.killing = true;
                }
                self.signal(number, Signal::KILL);
                Ok(())
            }
        }
    }

    fn start(&mut self, start: Start, descriptors: Vec<OwnedFd>) -> io::Result<()> {
        let number = start.number;
        let event = match spawn(start, descriptors) {
            Ok(program) => {
                let pid = program.pid.as_raw_nonzero().get().cast_unsigned();
                self.programs.insert(number, program);
                Event::Started { number, pid }
            }
            Err(error) => Event::NotStarted {
                number,
                error: error
                    .raw_os_error()
                    .unwrap_or(rustix::io::Errno::IO.raw_os_error()),
            },
        };
        self.tell(event)
    }

    /// Signals a program and everything below it.
    fn signal(&self, number: Number, signal: Signal) {
        if let Some(program) = self.programs.get(&number) {
            let pid = program.pid.as_raw_nonzero().get();
            // Children first: a parent that is told to end may otherwise start new ones for those
            // that went before it.
            for descendant in Tree::now().descendants(pid).into_iter().rev() {
                signal_descendant(descendant, self.us, signal);
            }
            signal_descendant(pid, self.us, signal);
        }
    }

    /// Tells which programs ended, and goes on killing those that are to be killed.
    fn look_after_programs(&mut self) -> io::Result<()> {
        let mut ended = Vec::new();
        for (number, program) in &self.programs {
            if let Ok(Some((_, status))) = waitpid(Some(program.pid), WaitOptions::NOHANG) {
                ended.push((*number, status.as_raw()));
            } else if program.killing {
                // What was started while the others were being killed.
                self.signal(*number, Signal::KILL);
            }
        }
        for (number, status) in ended {
            let program = self.programs.remove(&number);
            self.tell(Event::Ended { number, status })?;
            self.leftovers.of.push(number);
            let grace = match program {
                Some(program) if program.killing => Duration::ZERO,
                Some(_) | None => GRACE,
            };
            let deadline = Instant::now() + grace;
            self.leftovers.deadline = Some(match self.leftovers.deadline {
                Some(earlier) => earlier.min(deadline),
                None => {
                    self.signal_leftovers(Signal::TERM);
                    deadline
                }
            });
        }
        Ok(())
    }

    /// Ends what programs left behind, and tells when nothing is left.
    fn sweep(&mut self) -> io::Result<()> {
        if self.leftovers.of.is_empty() {
            return Ok(());
        }
        if self
            .leftovers
            .deadline
            .is_some_and(|deadline| Instant::now() >= deadline)
        {
            self.signal_leftovers(Signal::KILL);
        }
        if !self.has_leftovers() {
            self.leftovers.deadline = None;
            for number in std::mem::take(&mut self.leftovers.of) {
                self.tell(Event::Gone { number })?;
            }
        }
        Ok(())
    }

    /// Reaps what programs left behind, and says whether anything is left of it.
    fn has_leftovers(&self) -> bool {
        // Whoever has ended may have left children of its own, which are ours then.
        loop {
            let found = self.leftovers(self.tree().as_ref());
            let reaped = |pid: &i32| {
                let pid = Pid::from_raw(*pid);
                pid.is_some_and(|pid| {
                    matches!(waitpid(Some(pid), WaitOptions::NOHANG), Ok(Some(_)))
                })
            };
            if found.is_empty() {
                return false;
            }
            if found.iter().filter(|pid| reaped(pid)).count() < found.len() {
                return true;
            }
        }
    }

    /// All processes, unless we have no children but programs: looking at all of them takes long
    /// where there are many.
    fn tree(&self) -> Option<Tree> {
        (!self.programs.is_empty() || has_children()).then(Tree::now)
    }

    /// The children of ours that are not programs.
    fn leftovers(&self, tree: Option<&Tree>) -> Vec<i32> {
        let programs: Vec<i32> = self
            .programs
            .values()
            .map(|program| program.pid.as_raw_nonzero().get())
            .collect();
        let children = tree.map_or(&[][..], |tree| tree.children(self.us));
        let children = children.iter().copied();
        children.filter(|pid| !programs.contains(pid)).collect()
    }

    fn signal_leftovers(&self, signal: Signal) {
        let Some(tree) = self.tree() else {
            return;
        };
        for leftover in self.leftovers(Some(&tree)) {
            for descendant in tree.descendants(leftover).into_iter().rev() {
                signal_descendant(descendant, self.us, signal);
            }
            signal_descendant(leftover, self.us, signal);
        }
    }

    /// Ends all programs and all they have started, then returns.
    fn end_everything(&mut self) {
        let deadline = Instant::now() + LAST_GRACE;
        let everything = || {
            if has_children() {
                Tree::now().descendants(self.us)
            } else {
                Vec::new()
            }
        };
        for pid in everything().into_iter().rev() {
            signal_descendant(pid, self.us, Signal::TERM);
        }
        loop {
            // Everybody below us ends up as our child: first theirs, then they.
            while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
            let left = everything();
            if left.is_empty() {
                return;
            }
            if Instant::now() >= deadline {
                for pid in left.into_iter().rev() {
                    signal_descendant(pid, self.us, Signal::KILL);
                }
            }
            std::thread::sleep(SWEEP);
        }
    }

    fn tell(&self, event: Event) -> io::Result<()> {
        send(&self.socket, &event.encode(), &[])
    }
}

/// Whether there is any process that we are the parent of, ended or not.
fn has_children() -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    !matches!(waitid(WaitId::All, options), Err(rustix::io::Errno::CHILD))
}

/// Starts a program in a process group of its own, with no more rights than we have.
fn spawn(start: Start, descriptors: Vec<OwnedFd>) -> io::Result<Program> {
    let [stdin, stdout, stderr]: [OwnedFd; 3] = descriptors
        .try_into()
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "a program needs three streams"))?;
    let mut command = Command::new(&start.program);
    command
        .args(&start.arguments)
        .env_clear()
        .envs(start.environment)
        .stdin(Stdio::from(stdin))
        .stdout(Stdio::from(stdout))
        .stderr(Stdio::from(stderr))
        .process_group(0);
    if let Some(directory) = &start.directory {
        command.current_dir(directory);
    }
    #[expect(
        unsafe_code,
        reason = "what is set here can only be set in the new process"
    )]
    // SAFETY: between fork and exec, the closure makes three system calls and nothing else: it
    // allocates nothing and takes no lock.
    unsafe {
        command.pre_exec(|| {
            // What the program starts stays below it, and what it leaves comes to the guardian.
            set_child_subreaper(Some(getpid()))?;
            // Should the guardian itself be killed, its programs go with it.
            set_parent_process_death_signal(Some(Signal::KILL))?;
            // A program that runs with another user's rights, such as sudo, gets none of them.
            rustix::thread::set_no_new_privs(true)?;
            Ok(())
        });
    }
    let child = command.spawn()?;
    let pid = i32::try_from(child.id())
        .ok()
        .and_then(Pid::from_raw)
        .ok_or_else(|| io::Error::other("the system gave a strange process number"))?;
    let descriptor = pidfd_open(pid, PidfdFlags::empty())?;
    Ok(Program {
        pid,
        descriptor,
        killing: false,
    })
}
