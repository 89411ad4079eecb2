//! The client beside the limits.

use std::time::{Duration, Instant};

use openclaw_mcp_client::{
    AddressTarget, CallOptions, Connection, Connector, Endpoint, FirstTransport, ProgramTarget,
    Protocol, Target, Timeouts, TlsSettings,
};
use openclaw_process::{GuardianProgram, Inherited, Launcher};
use serde_json::{Map, Value};
use tokio::runtime::{Builder, Runtime};

use crate::raw::{self, HttpServer};
use crate::statistics::{Report, median, micros, ratio};

/// How many exchanges are measured at a time.
const ROUNDS: usize = 2_000;
/// How often the limit and the client take turns, so that a busy moment hits both.
const TURNS: usize = 5;

pub(crate) fn connector() -> Connector {
    Connector::new(
        Launcher::new(GuardianProgram::this_program()),
        std::env::vars_os().collect(),
        std::env::current_dir().expect("a directory"),
        None,
    )
}

fn target(endpoint: Endpoint, protocol: Protocol) -> Target {
    Target {
        name: "echo".to_owned(),
        fingerprint: None,
        endpoint,
        protocol,
        timeouts: Timeouts::default(),
        parallel_calls: true,
        roots: None,
    }
}

/// This program as a server that is started.
pub(crate) fn program() -> Target {
    let command = std::env::current_exe().expect("this program");
    let endpoint = Endpoint::Program(ProgramTarget {
        command: command.to_str().expect("a path of text").to_owned(),
        arguments: vec!["serve-stdio".to_owned()],
        environment: Vec::new(),
        inherited: Inherited::Nothing,
        directory: None,
    });
    target(endpoint, Protocol::Legacy)
}

pub(crate) fn address(server: &HttpServer) -> Target {
    let url = format!("http://127.0.0.1:{}/mcp", server.port);
    let endpoint = Endpoint::Address(Box::new(AddressTarget {
        url: url.parse().expect("an address"),
        first: FirstTransport::Streamable,
        headers: Vec::new(),
        authorization: None,
        tls: TlsSettings::default(),
    }));
    target(endpoint, Protocol::Legacy)
}

fn runtimes() -> [(&'static str, Runtime); 2] {
    let one = Builder::new_current_thread().enable_all().build();
    let two = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    [
        ("current-thread", one.expect("a runtime")),
        ("two workers", two.expect("a runtime")),
    ]
}

async fn echo(connection: &Connection) {
    let arguments = Map::from_iter([("message".to_owned(), Value::from("hello"))]);
    let call = connection.call_tool("echo", arguments, CallOptions::default());
    call.await.expect("an echo");
}

/// The median of a call, made from a task of the runtime as callers are.
fn echoes(runtime: &Runtime, target: Target) -> Duration {
    let measuring = async move {
        let connector = connector();
        let connection = connector.connect(&target).await.expect("a connection");
        for _ in 0..ROUNDS / 10 {
            echo(&connection).await;
        }
        let mut times = Vec::with_capacity(ROUNDS);
        for _ in 0..ROUNDS {
            let started = Instant::now();
            echo(&connection).await;
            times.push(started.elapsed());
        }
        connection.close().await;
        median(times)
    };
    runtime.block_on(async { tokio::spawn(measuring).await.expect("a measurement") })
}

pub(crate) fn echo_over_pipes(report: &mut Report) {
    for ((name, runtime), most) in runtimes().into_iter().zip([3.0, 5.0]) {
        let mut limits = Vec::new();
        let mut ours = Vec::new();
        for _ in 0..TURNS {
            limits.push(raw::over_pipes(ROUNDS));
            ours.push(echoes(&runtime, program()));
        }
        let (limit, ours) = (median(limits), median(ours));
        report.say("echo over pipes, blocking loop", &micros(limit));
        let what = format!("echo over pipes, {name}");
        let times = ratio(ours, limit);
        report.judge(&what, &micros(ours), "50 µs", ours < Duration::from_micros(50));
        let figure = format!("{times:.2} ×");
        report.judge(&what, &figure, &format!("{most} × the loop"), times <= most);
    }
}

pub(crate) fn echo_over_http(report: &mut Report) {
    for (name, runtime) in runtimes() {
        let server = HttpServer::start();
        let mut limits = Vec::new();
        let mut ours = Vec::new();
        for _ in 0..TURNS {
            limits.push(raw::over_http(&server, ROUNDS));
            ours.push(echoes(&runtime, address(&server)));
        }
        let (limit, ours) = (median(limits), median(ours));
        report.say("echo over HTTP, blocking loop", &micros(limit));
        let what = format!("echo over HTTP, {name}");
        let times = ratio(ours, limit);
        report.say(&what, &micros(ours));
        let figure = format!("{times:.2} ×");
        report.judge(&what, &figure, "1.5 × the loop", times <= 1.5);
    }
}

/// What connecting adds to the server's own start.
pub(crate) fn connecting(report: &mut Report) {
    let [(_, runtime), _] = runtimes();
    let mut limits = Vec::new();
    let mut ours = Vec::new();
    // The guardian starts with the first server.
    let connector = connector();
    let connect = || {
        let started = Instant::now();
        runtime.block_on(async {
            let connection = connector.connect(&program()).await.expect("a connection");
            let elapsed = started.elapsed();
            connection.close().await;
            elapsed
        })
    };
    let first = connect();
    for _ in 0..50 {
        limits.push(raw::first_answer());
        ours.push(connect());
    }
    let (limit, ours) = (median(limits), median(ours));
    report.say("start of a server to its first answer", &micros(limit));
    report.say("connecting, the guardian's start included", &micros(first));
    let added = ours.saturating_sub(limit);
    let kept = added < Duration::from_millis(10);
    report.judge("connecting adds", &micros(added), "10 ms", kept);
}
