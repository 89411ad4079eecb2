//! A service of models as a program: it keeps what it is asked, byte for byte, and answers a text.
//!
//! | module | owns | never contains |
//! |---|---|---|
//! | `options` | the command line | what the flags do |
//! | `serving` | the socket, and who answers | what is answered |
//! | `keeping` | requests on disk, written as they come | a whole request in memory |
//! | `answers` | streams of all protocols | |

mod answers;
mod keeping;
mod options;
mod serving;

use std::io::{self, Write as _};
use std::process::ExitCode;

use self::options::Options;
use self::serving::Service;
use crate::fake_server::{end_of_stdin, process};

/// Runs the program with the arguments of this process; `--help` tells what they are.
///
/// The first line of its output says where it listens. It ends with its input.
pub fn main() -> ExitCode {
    let options: Options = match process::options() {
        Ok(options) => options,
        Err(code) => return code,
    };
    process::end_after(options.lifetime);
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            process::complain(&format!("fake-model-server: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let ended = runtime.block_on(async {
        let service = Service::new(options).await?;
        let mut stdout = io::stdout();
        writeln!(stdout, "listening on {}", service.origin())?;
        stdout.flush()?;
        tokio::select! {
            ended = service.run() => ended,
            () = end_of_stdin() => Ok(()),
        }
    });
    // A thread may hang in a read of standard input, for ever.
    runtime.shutdown_background();
    ended
}
