//! A program on a terminal.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// A program that thinks it is on a terminal, which is not the one that signals come from.
pub struct OnTerminal {
    child: Child,
    terminal: File,
}

/// What a program wrote to its terminal, and when.
pub type Pieces = Vec<(Instant, String)>;

impl OnTerminal {
    /// Starts a program on a terminal.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
        grantpt(&controller)?;
        unlockpt(&controller)?;
        let name = ptsname(&controller, Vec::new())?;
        let name = name.into_string().map_err(io::Error::other)?;
        let side = || OpenOptions::new().read(true).write(true).open(&name);
        let child = command
            .stdin(Stdio::from(side()?))
            .stdout(Stdio::from(side()?))
            .stderr(Stdio::from(side()?))
            .spawn()?;
        // The command must not hold the program's side open.
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        Ok(Self {
            child,
            terminal: File::from(controller),
        })
    }

    /// Reads until the program has ended, and says whether it ended well.
    pub fn finish(mut self, within: Duration) -> io::Result<(bool, Pieces)> {
        let started = Instant::now();
        let mut pieces = Pieces::new();
        let mut buffer = [0; 4096];
        // When nobody has the other side open any more, reading fails.
        while let Ok(count) = self.terminal.read(&mut buffer) {
            let text = String::from_utf8_lossy(buffer.get(..count).unwrap_or_default());
            pieces.push((Instant::now(), text.into_owned()));
            if started.elapsed() > within {
                self.child.kill()?;
            }
        }
        let status = self.child.wait()?;
        Ok((status.success(), pieces))
    }
}
