//! Lines on standard input and output.

mod writer;

use std::io;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::sync::mpsc;

use self::writer::Writer;
use super::call::Call;
use super::message::{self, Incoming, METHOD_NOT_FOUND, PARSE_ERROR, RpcError};
use super::outlet::{Frame, Outlet};
use super::server::Server;
use super::session::Session;
use super::{dispatch, handshake, process};

/// How long what is still to be written may take once the input has ended.
const LAST_WRITES: Duration = Duration::from_secs(1);

/// Serves the client on standard input and output until it leaves.
pub(crate) async fn serve(server: &Arc<Server>) -> io::Result<ExitCode> {
    let (sender, receiver) = mpsc::channel(64);
    let writer = Writer::new(server);
    // One thread owns standard output, so lines never mix.
    let writer = tokio::task::spawn_blocking(move || writer.run(receiver));
    let outlet = Outlet::Lines(sender);
    let session = Session::new("stdio", outlet.clone());
    server.register(&session);
    read(server, &session, &outlet).await?;
    server.journal.note("stdin closed");
    if server.options.framing.ignore_eof {
        std::future::pending::<()>().await;
    }
    // What was asked before the end and needs no time is still answered.
    for _ in 0..32 {
        tokio::task::yield_now().await;
    }
    let finish = async {
        outlet.send(Frame::last()).await;
        writer.await
    };
    // A client that does not read its replies must not keep the program.
    let _ = tokio::time::timeout(LAST_WRITES, finish).await;
    server.journal.record("exiting", json!({"code": 0}));
    Ok(ExitCode::SUCCESS)
}

/// Reads until the input ends.
async fn read(server: &Arc<Server>, session: &Arc<Session>, outlet: &Outlet) -> io::Result<()> {
    let mut input = BufReader::new(tokio::io::stdin());
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line).await? > 0 {
        let count = server.count_message();
        receive(server, session, outlet, &line, count).await;
        line.clear();
        if server.options.process.exit_after == Some(count) {
            process::leave(server, 1);
        }
        if server.options.framing.stop_reading_after == Some(count) {
            server.journal.note("stopped reading");
            std::future::pending::<()>().await;
        }
    }
    Ok(())
}

/// Acts on one line.
async fn receive(
    server: &Arc<Server>,
    session: &Arc<Session>,
    outlet: &Outlet,
    line: &[u8],
    count: u64,
) {
    let value: Value = match serde_json::from_slice(line) {
        Ok(value) => value,
        Err(error) => {
            let text = String::from_utf8_lossy(line);
            let details = json!({"line": text, "error": error.to_string()});
            server.journal.record("unreadable", details);
            let error = RpcError::new(PARSE_ERROR, error.to_string());
            dispatch::complain(server, outlet, &Value::Null, error).await;
            return;
        }
    };
    server.journal.record("received", json!({"message": value}));
    let first_is_initialize = count > 1 || value["method"] == json!("initialize");
    if server.options.process.exit_on_unknown && !first_is_initialize {
        process::leave(server, 1);
    }
    match message::parse(value) {
        Ok(Incoming::Request(request)) => {
            let call = Call {
                server: Arc::clone(server),
                session: Arc::clone(session),
                outlet: outlet.clone(),
                era: handshake::era_of(&server.options, &request.method, &request.params),
                cancelled: session.begin(&request.id),
                headers: None,
                request,
            };
            // A slow request must not keep the others waiting; the runtime ends it.
            tokio::spawn(async move { dispatch::answer(&call).await });
        }
        Ok(Incoming::Notification { method, params }) => {
            dispatch::notified(server, session, &method, &params);
            if server.options.protocol.answer_notifications {
                let error = RpcError::new(METHOD_NOT_FOUND, format!("no method {method}"));
                dispatch::complain(server, outlet, &Value::Null, error).await;
            }
        }
        Ok(Incoming::Response { id, outcome }) => {
            dispatch::responded(server, session, &id, outcome);
        }
        Err(malformed) => {
            let error = malformed.error;
            dispatch::complain(server, outlet, &malformed.id, error).await;
        }
    }
}
