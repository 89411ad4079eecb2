//! The standard streams, kept for the protocol alone.

pub(super) use platform::take;

#[cfg(unix)]
mod platform {
    use std::fs::File;
    use std::io::{self, Read, Write};
    use std::os::fd::{AsFd, BorrowedFd};

    use rustix::event::{PollFd, PollFlags, poll};

    /// What a client says.
    pub(in super::super) struct Input(File);

    /// What it is told.
    pub(in super::super) struct Output(File);

    /// Takes both streams. Whatever else is printed in this process from now on, by whoever, goes to
    /// the standard error stream.
    pub(in super::super) fn take() -> io::Result<(Input, Output)> {
        let input = io::stdin().as_fd().try_clone_to_owned()?;
        let output = io::stdout().as_fd().try_clone_to_owned()?;
        rustix::stdio::dup2_stdout(io::stderr())?;
        Ok((Input(input.into()), Output(output.into())))
    }

    impl Read for Input {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            patiently(&mut self.0, PollFlags::IN, |file| file.read(buffer))
        }
    }

    impl Write for Output {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            patiently(&mut self.0, PollFlags::OUT, |file| file.write(bytes))
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Does something with a stream that may have been made so that it does not wait: whoever started
    /// us decides that.
    fn patiently(
        file: &mut File,
        flags: PollFlags,
        mut action: impl FnMut(&mut File) -> io::Result<usize>,
    ) -> io::Result<usize> {
        loop {
            match action(file) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    wait(file.as_fd(), flags)?;
                }
                result => return result,
            }
        }
    }

    fn wait(stream: BorrowedFd<'_>, flags: PollFlags) -> io::Result<()> {
        match poll(&mut [PollFd::from_borrowed_fd(stream, flags)], None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

#[cfg(not(unix))]
mod platform {
    use std::io;

    pub(in super::super) type Input = io::Stdin;
    pub(in super::super) type Output = io::Stdout;

    /// The streams; nobody else in this process writes to the standard output.
    pub(in super::super) fn take() -> io::Result<(Input, Output)> {
        Ok((io::stdin(), io::stdout()))
    }
}
