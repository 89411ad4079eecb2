//! The program: both servers as a process of their own.

use std::io::{self, Write};
use std::process::ExitCode;

use serde_json::json;

use super::options::Options;
use super::places::{MCP, SECOND};
use super::serving::{Servers, Shared};
use crate::fake_server::process;

/// Runs the program with the arguments of this process; `--help` tells what they are.
///
/// The first line of its output is JSON and says where everything is. It ends with its input.
pub fn main() -> ExitCode {
    let options: Options = match process::options() {
        Ok(options) => options,
        Err(code) => return code,
    };
    process::end_after(options.process_lifetime);
    match run(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            process::complain(&format!("fake-login-server: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn run(options: Options) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let ended = runtime.block_on(async {
        let servers = Servers::new(options, None)?;
        let mut stdout = io::stdout();
        writeln!(stdout, "{}", addresses(&servers.shared))?;
        stdout.flush()?;
        tokio::select! {
            ended = servers.run() => ended,
            () = crate::fake_server::end_of_stdin() => Ok(()),
        }
    });
    // A thread may hang in a read of standard input, for ever.
    runtime.shutdown_background();
    ended
}

fn addresses(shared: &Shared) -> serde_json::Value {
    let world = shared.world();
    let places = &world.places;
    json!({
        "url": places.server(MCP),
        "second": places.server(SECOND),
        "sse": places.server("/sse"),
        "issuer": places.issuer(&world.options),
        "control": format!("{}/control", places.login),
    })
}
