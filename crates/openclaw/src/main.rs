//! The command line of OpenClaw's MCP runtime.
//!
//! | module | owns | never contains |
//! |---|---|---|
//! | `browser` | opening a page in the person's browser | what the page is for |
//! | `cli` | the commands, their options and help | what they do |
//! | `commands` | what each command does | formatting of failures |
//! | `output` | the standard streams, broken pipes, colour | |
//! | `failure` | failures, their exit codes and JSON | |
//! | `logging` | where log lines go, redacted | |
//! | `render` | what engines answer, as text for people | asking |
//! | `signals` | being told to stop | what is stopped |
//! | `terminal` | the modes of the terminal, put back on every way out | lines and keys |
//! | `operation` | the identifier of what is being done | |
//! | `panic` | what is said when we fail ourselves | |

mod browser;
mod cli;
mod commands;
mod failure;
mod logging;
mod operation;
mod output;
mod panic;
mod render;
mod signals;
mod terminal;

use std::ffi::OsString;
use std::process::ExitCode;

use openclaw_secrets::Redactor;

use crate::operation::OperationId;
use crate::output::Output;

fn main() -> ExitCode {
    // What reads documents is this very program, under another name.
    if let Some(code) = openclaw_media::run_if_called() {
        return code;
    }
    // So is the guardian of the servers' processes.
    if let Some(result) = openclaw_process::run_if_called() {
        return match result {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        };
    }
    let redactor = Redactor::new();
    let operation = OperationId::new();
    panic::install(&redactor, operation);
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let mut output = Output::standard(&arguments, &redactor);
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        commands::run(arguments, &redactor, operation, &mut output)
    }));
    match result {
        Ok(Ok(code)) => code.into(),
        Ok(Err(failure)) => output.fail(&failure).into(),
        // The panic hook has said what happened.
        Err(_) => failure::Exit::Failed.into(),
    }
}
