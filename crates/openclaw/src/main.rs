//! The command line of OpenClaw's MCP runtime.
//!
//! | module | owns | never contains |
//! |---|---|---|
//! | `cli` | the commands, their options and help | what they do |
//! | `commands` | what each command does | formatting of failures |
//! | `output` | the standard streams, broken pipes, colour | |
//! | `failure` | failures, their exit codes and JSON | |
//! | `logging` | where log lines go, redacted | |
//! | `operation` | the identifier of what is being done | |
//! | `panic` | what is said when we fail ourselves | |

mod cli;
mod commands;
mod failure;
mod logging;
mod operation;
mod output;
mod panic;

use std::ffi::OsString;
use std::process::ExitCode;

use openclaw_secrets::Redactor;

use crate::operation::OperationId;
use crate::output::Output;

fn main() -> ExitCode {
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
