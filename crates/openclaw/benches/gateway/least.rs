//! The least that a gateway can do: a request comes, its arguments go into the pipe of a server, the result
//! goes back. There is no key, no limit, no policy and no record of it. It is built of the same libraries as
//! ours and has the server do the same, so what ours costs beyond it is what ours does beyond it.

use std::collections::HashMap;
use std::convert::Infallible;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _, stdout};
use std::os::fd::OwnedFd;
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http_body_util::{BodyExt as _, Full};
use hyper::Response;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::io::AsyncBufReadExt as _;
use tokio::net::TcpListener;
use tokio::net::unix::pipe;
use tokio::runtime::Builder;
use tokio::sync::oneshot;

use crate::keep_alive::{Address, Request};
use crate::pipe::Pipe;
use crate::process::Running;

/// The argument with which this program is such a gateway; the server's program and its arguments follow.
pub(crate) const ARGUMENT: &str = "least";

/// A gateway that does the least, in front of a server of its own.
pub(crate) struct Least {
    address: Address,
    _running: Running,
}

impl Least {
    pub(crate) fn start(server: &Command) -> Self {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command.arg(ARGUMENT).arg(server.get_program());
        command.args(server.get_args());
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut running = Running::start(&mut command);
        let output = running.child().stdout.take().expect("an output");
        let mut address = String::new();
        let length = BufReader::new(output).read_line(&mut address);
        assert_ne!(length.expect("a line"), 0, "it is ready");
        Self {
            address: Address::new(address.trim()),
            _running: running,
        }
    }

    /// A call of `echo`.
    pub(crate) fn call(&self) -> Request {
        let body = json!({ "arguments": { "message": "hello" } });
        self.address.post("/", &body.to_string(), "Echo: hello")
    }
}

/// Is such a gateway until it is killed.
pub(crate) fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(2);
    let mut server = Command::new(arguments.next().expect("a program"));
    server.args(arguments);
    let (input, output, _running) = Pipe::open(&mut server).into_parts();
    let calls = Arc::new(Calls {
        pipe: File::from(OwnedFd::from(input)),
        next: AtomicUsize::new(1),
        waiting: Mutex::default(),
    });
    // As many threads as ours has on two cores.
    let mut runtime = Builder::new_multi_thread();
    let runtime = runtime.worker_threads(1).enable_all().build();
    runtime.expect("a runtime").block_on(async move {
        let output = pipe::Receiver::from_owned_fd(output.into_inner().into()).expect("a pipe");
        tokio::spawn(receive(Arc::clone(&calls), output));
        serve(calls).await;
    });
    ExitCode::SUCCESS
}

/// Calls of the one server.
struct Calls {
    pipe: File,
    next: AtomicUsize,
    waiting: Mutex<HashMap<usize, oneshot::Sender<Bytes>>>,
}

#[derive(Deserialize)]
struct Wanted<'a> {
    #[serde(borrow)]
    arguments: &'a RawValue,
}

#[derive(Deserialize)]
struct Answer<'a> {
    id: usize,
    #[serde(borrow)]
    result: &'a RawValue,
}

impl Calls {
    /// Makes a call with what a request says.
    async fn make(&self, body: &[u8]) -> Bytes {
        let wanted: Wanted<'_> = serde_json::from_slice(body).expect("a request");
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, receiver) = oneshot::channel();
        self.waiting().insert(number, sender);
        let line = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{number},\"method\":\"tools/call\",\
             \"params\":{{\"name\":\"echo\",\"arguments\":{},\
             \"_meta\":{{\"progressToken\":\"{number}\"}}}}}}\n",
            wanted.arguments.get()
        );
        (&self.pipe).write_all(line.as_bytes()).expect("a line");
        receiver.await.expect("an answer")
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<usize, oneshot::Sender<Bytes>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Hands answers to those who wait for them.
async fn receive(calls: Arc<Calls>, output: pipe::Receiver) {
    let mut output = tokio::io::BufReader::new(output);
    let mut line = Vec::new();
    loop {
        line.clear();
        let length = output.read_until(b'\n', &mut line).await.expect("a line");
        assert_ne!(length, 0, "the server ended");
        // The server says things of its own, too.
        let Ok(answer) = serde_json::from_slice::<Answer<'_>>(&line) else {
            continue;
        };
        let sender = calls.waiting().remove(&answer.id);
        if let Some(sender) = sender {
            // Whoever asked may be gone.
            let _ = sender.send(Bytes::copy_from_slice(answer.result.get().as_bytes()));
        }
    }
}

/// Says where it can be asked, and answers.
async fn serve(calls: Arc<Calls>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    writeln!(stdout(), "{address}").expect("a line");
    loop {
        let (stream, _) = listener.accept().await.expect("a connection");
        stream.set_nodelay(true).expect("a socket");
        let calls = Arc::clone(&calls);
        let answer = service_fn(move |request: hyper::Request<Incoming>| {
            let calls = Arc::clone(&calls);
            async move {
                let body = request.into_body().collect().await.expect("a body");
                let result = calls.make(&body.to_bytes()).await;
                Ok::<_, Infallible>(Response::new(Full::new(result)))
            }
        });
        tokio::spawn(async move {
            let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), answer);
            // The other side goes when it has enough.
            let _ = connection.await;
        });
    }
}
