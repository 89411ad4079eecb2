//! A program for tests: starts a program as `openclaw` does, and then ends in the way it is told.
//!
//! `process-host wait|return|panic|exit PROGRAM ARGUMENTS…` prints the number of the program's
//! process once it runs. `wait` waits for its own input to end, then stops the program properly.

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    linux::main()
}

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
mod linux {
    use std::io::{Read, Write};
    use std::path::PathBuf;
    use std::process::ExitCode;

    use openclaw_process::{GuardianProgram, Launcher, ProgramCommand, run_if_called};

    pub(super) fn main() -> ExitCode {
        if let Some(result) = run_if_called() {
            return if result.is_ok() {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            };
        }
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        match runtime.map(|runtime| runtime.block_on(host())) {
            Ok(Ok(())) => ExitCode::SUCCESS,
            Ok(Err(_)) | Err(_) => ExitCode::FAILURE,
        }
    }

    async fn host() -> Result<(), Box<dyn std::error::Error>> {
        let mut arguments = std::env::args_os().skip(1);
        let mode = arguments.next().unwrap_or_default();
        let program = PathBuf::from(arguments.next().unwrap_or_default());
        let launcher = Launcher::new(GuardianProgram::this_program());
        let command = ProgramCommand {
            program,
            arguments: arguments.collect(),
            environment: std::env::vars_os().collect(),
            directory: None,
        };
        let process = launcher.spawn(&command, |_| {}).await?;
        let mut stdout = std::io::stdout();
        writeln!(stdout, "{}", process.pid())?;
        stdout.flush()?;
        match mode.to_str() {
            Some("wait") => {
                std::io::stdin().read_to_end(&mut Vec::new())?;
                process.stop().await;
            }
            Some("panic") => {
                #[expect(clippy::panic, reason = "it is what is wanted")]
                {
                    panic!("as told")
                }
            }
            Some("abort") => std::process::abort(),
            _ => {}
        }
        Ok(())
    }
}
