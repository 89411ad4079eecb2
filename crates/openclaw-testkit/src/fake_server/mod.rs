//! The program: an MCP server of both eras that is correct unless a flag says otherwise.
//!
//! | module | owns | never contains |
//! |---|---|---|
//! | `options` | the command line | what the flags do |
//! | `message` | what is a request, a notification, a response | methods |
//! | `session` | a client of the first era: what it said and what it is asked | the transport |
//! | `server` | the state of one run | |
//! | `call` | one request on its way to a reply | |
//! | `dispatch` | which method does what | the tools |
//! | `handshake` | `initialize`, `server/discover`, what a modern request must carry | |
//! | `catalog`, `resources`, `prompts` | what is listed, in pages | |
//! | `tools` | what the tools do | |
//! | `listening` | who is told of changes | |
//! | `spoil` | replies that are wrong | faults of a transport |
//! | `leak` | sending back what the server was trusted with | |
//! | `stdio`, `http` | the transports with their faults | the protocol |
//! | `hosted` | being a part of another program | |
//! | `process` | signals, floods, grandchildren, the end | |

mod call;
mod catalog;
mod dispatch;
mod handshake;
pub(crate) mod hosted;
mod http;
mod journal;
mod leak;
mod listening;
mod message;
mod options;
mod outlet;
pub(crate) mod process;
mod prompts;
mod resources;
mod server;
mod session;
mod spoil;
mod stdio;
mod tools;

use std::process::ExitCode;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub(crate) use self::http::end_of_stdin;
pub(crate) use self::journal::Journal;

use self::options::{Mode, Options};
use self::server::Server;

/// Runs the program with the arguments of this process; `--help` tells what they are.
pub fn main() -> ExitCode {
    let options: Options = match process::options() {
        Ok(options) => options,
        Err(code) => return code,
    };
    process::end_after(options.lifetime);
    match run(options) {
        Ok(code) => code,
        Err(error) => {
            process::complain(&format!("fake-mcp-server: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn run(options: Options) -> std::io::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let mode = options.mode;
    let code = runtime.block_on(async {
        let server = Arc::new(Server::new(options)?);
        process::begin(&server)?;
        match mode {
            Mode::Stdio => stdio::serve(&server).await,
            Mode::Http | Mode::Sse => http::serve(&server).await,
            Mode::Grandchild => process::be_a_grandchild(&server).await,
        }
    });
    // A thread may hang in a read of standard input, for ever.
    runtime.shutdown_background();
    code
}

/// Locks what no panic can leave half changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
