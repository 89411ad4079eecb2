//! The client beside the limits.

use std::sync::Arc;
use std::time::{Duration, Instant};

use openclaw_mcp_client::{
    AddressTarget, Authorization, CallOptions, Connection, Connector, Endpoint, FirstTransport,
    ProgramTarget, Protocol, Target, Timeouts, TlsSettings,
};
use openclaw_process::{GuardianProgram, Inherited, Launcher};
use serde_json::{Map, Value};
use tokio::runtime::{Builder, Runtime};

use crate::raw::{self, HttpServer, Loop, Pipes, Posts};
use openclaw_testkit::figures::{Report, median, micros, ratio};

/// How many exchanges are measured at a time.
const PART: usize = 100;
/// How often the limit and the client take turns, so that a busy moment hits both.
const TURNS: usize = 60;

pub(crate) fn connector() -> Connector {
    Connector::new(
        Arc::new(Launcher::new(GuardianProgram::this_program())),
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
        authorization: Authorization::None,
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

/// The times of some calls, made from a task of the runtime as callers are.
fn echoes(runtime: &Runtime, connection: &Arc<Connection>) -> Vec<Duration> {
    let connection = connection.clone();
    let measuring = async move {
        let mut times = Vec::with_capacity(PART);
        for _ in 0..PART {
            let started = Instant::now();
            echo(&connection).await;
            times.push(started.elapsed());
        }
        times
    };
    runtime.block_on(async { tokio::spawn(measuring).await.expect("a measurement") })
}

/// Calls and nothing else, over `pipes` or `HTTP`.
pub(crate) fn profile(way: &str) {
    let [(_, runtime), _] = runtimes();
    let server = HttpServer::minimal();
    let target = if way == "HTTP" {
        address(&server)
    } else {
        program()
    };
    let connector = connector();
    let connection = runtime.block_on(connector.connect(&target));
    let connection = Arc::new(connection.expect("a connection"));
    let times = (0..200)
        .flat_map(|_| echoes(&runtime, &connection))
        .collect();
    println!("{}", micros(median(times)));
}

/// The medians of the limit and of the client, which take turns.
fn beside(runtime: &Runtime, target: &Target, limit: &mut dyn Loop) -> (Duration, Duration) {
    let connector = connector();
    let connection = runtime.block_on(connector.connect(target));
    let connection = Arc::new(connection.expect("a connection"));
    let (mut limits, mut ours) = (Vec::new(), Vec::new());
    for turn in 0..TURNS {
        let limit: Vec<_> = (0..PART).map(|_| limit.exchange()).collect();
        let client = echoes(runtime, &connection);
        // The first turns only warm up.
        if turn >= TURNS / 10 {
            limits.extend(limit);
            ours.extend(client);
        }
    }
    let _running = runtime.enter();
    drop(connection);
    (median(limits), median(ours))
}

pub(crate) fn echo_over_pipes(report: &mut Report) {
    for ((name, runtime), most) in runtimes().into_iter().zip([3.0, 5.0]) {
        let (limit, ours) = beside(&runtime, &program(), &mut Pipes::new());
        Report::say("echo over pipes, blocking loop", &micros(limit));
        let what = format!("echo over pipes, {name}");
        let times = ratio(ours, limit);
        report.judge(
            &what,
            &micros(ours),
            "50 µs",
            ours < Duration::from_micros(50),
        );
        let figure = format!("{times:.2} ×");
        report.judge(&what, &figure, &format!("{most} × the loop"), times <= most);
    }
}

pub(crate) fn echo_over_http(report: &mut Report) {
    for (name, runtime) in runtimes() {
        for (kind, server) in [
            ("usual", HttpServer::usual()),
            ("minimal", HttpServer::minimal()),
        ] {
            let (limit, ours) = beside(&runtime, &address(&server), &mut Posts::new(&server));
            Report::say(
                &format!("echo over HTTP, {kind} server, blocking loop"),
                &micros(limit),
            );
            let what = format!("echo over HTTP, {kind} server, {name}");
            let times = ratio(ours, limit);
            Report::say(&what, &micros(ours));
            let figure = format!("{times:.2} ×");
            report.judge(&what, &figure, "1.5 × the loop", times <= 1.5);
        }
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
    Report::say("start of a server to its first answer", &micros(limit));
    Report::say("connecting, the guardian's start included", &micros(first));
    let added = ours.saturating_sub(limit);
    let kept = added < Duration::from_millis(10);
    report.judge("connecting adds", &micros(added), "10 ms", kept);
}
