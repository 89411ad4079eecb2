//! A client of HTTP that does nothing but write a request that is ready and read its answer, so that
//! what is measured is the server.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use memchr::memmem::find;
use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};

/// How long an answer may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Where requests go, and what stands in each of them.
#[derive(Clone)]
pub(crate) struct Address {
    authority: String,
    headers: String,
}

/// A request as it is sent.
#[derive(Clone)]
pub(crate) struct Request {
    authority: String,
    bytes: Vec<u8>,
    /// What the answer must contain; none where any answer will do.
    expected: Option<String>,
}

impl Address {
    pub(crate) fn new(authority: &str) -> Self {
        Self {
            authority: authority.to_owned(),
            headers: String::new(),
        }
    }

    /// With one more header in each request.
    pub(crate) fn with(mut self, header: &str) -> Self {
        self.headers.push_str(header);
        self.headers.push_str("\r\n");
        self
    }

    pub(crate) fn get(&self, path: &str) -> Request {
        self.request("GET", path, "", None)
    }

    pub(crate) fn post(&self, path: &str, body: &str, expected: &str) -> Request {
        self.request("POST", path, body, Some(expected.to_owned()))
    }

    fn request(&self, method: &str, path: &str, body: &str, expected: Option<String>) -> Request {
        let Self { authority, headers } = self;
        let length = body.len();
        let text = format!(
            "{method} {path} HTTP/1.1\r\nHost: {authority}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {length}\r\n\
             {headers}\r\n{body}"
        );
        Request {
            authority: authority.clone(),
            bytes: text.into_bytes(),
            expected,
        }
    }
}

/// A connection that is kept.
pub(crate) struct Exchange {
    stream: TcpStream,
    received: Vec<u8>,
    /// Whether one thread waits for several of them.
    is_shared: bool,
}

impl Exchange {
    pub(crate) fn open(request: &Request) -> Self {
        let stream = TcpStream::connect(&request.authority).expect("a connection");
        stream.set_nodelay(true).expect("a socket");
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
        Self {
            stream,
            received: Vec::with_capacity(16 * 1024),
            is_shared: false,
        }
    }

    /// One request and the body of its answer.
    pub(crate) fn once(&mut self, request: &Request) -> String {
        self.ask(request);
        let answer = self.answer(request);
        let (_, body) = answer.split_once("\r\n\r\n").expect("a body");
        body.to_owned()
    }

    /// One request and the head of its answer.
    pub(crate) fn head(&mut self, request: &Request) -> String {
        self.ask(request);
        let answer = self.answer(request);
        let (head, _) = answer.split_once("\r\n\r\n").expect("a head");
        head.to_owned()
    }

    /// How long one request takes.
    pub(crate) fn timed(&mut self, request: &Request) -> Duration {
        let started = Instant::now();
        self.ask(request);
        while !self.is_complete() {
            self.receive();
        }
        let took = started.elapsed();
        self.check(request);
        took
    }

    fn answer(&mut self, request: &Request) -> String {
        while !self.is_complete() {
            self.receive();
        }
        self.check(request);
        String::from_utf8(self.received.clone()).expect("text")
    }

    fn ask(&mut self, request: &Request) {
        self.received.clear();
        self.stream.write_all(&request.bytes).expect("a request");
    }

    /// Takes what is there; false if it would have to wait.
    fn receive(&mut self) -> bool {
        let mut part = [0; 8 * 1024];
        let read = self.stream.read(&mut part);
        if matches!(&read, Err(error) if error.kind() == ErrorKind::WouldBlock) {
            assert!(self.is_shared, "no answer in time");
            return false;
        }
        let length = read.expect("an answer");
        assert_ne!(length, 0, "the connection ended");
        self.received.extend_from_slice(&part[..length]);
        true
    }

    fn is_complete(&self) -> bool {
        let Some(head) = find(&self.received, b"\r\n\r\n") else {
            return false;
        };
        let body = &self.received[head + 4..];
        let head = std::str::from_utf8(&self.received[..head]).expect("a head");
        let header = |wanted: &str| {
            let mut headers = head.lines().filter_map(|line| line.split_once(':'));
            headers.find_map(|(name, value)| name.eq_ignore_ascii_case(wanted).then_some(value))
        };
        match header("content-length") {
            Some(length) => body.len() >= length.trim().parse().expect("a length"),
            None if header("transfer-encoding").is_some() => body.ends_with(b"0\r\n\r\n"),
            // Only answers without a body have neither.
            None => true,
        }
    }

    fn check(&self, request: &Request) {
        let answer = &self.received;
        let Some(expected) = &request.expected else {
            return;
        };
        let is_fine =
            answer.starts_with(b"HTTP/1.1 20") && find(answer, expected.as_bytes()).is_some();
        assert!(is_fine, "{}", String::from_utf8_lossy(answer));
    }
}

/// Calls each second with all of these in flight, each on a connection of its own. One thread keeps
/// them all going, as it does over a pipe.
pub(crate) fn rate(requests: &[Request], time: Duration) -> f64 {
    let mut exchanges: Vec<Exchange> = requests.iter().map(Exchange::open).collect();
    for (exchange, request) in exchanges.iter_mut().zip(requests) {
        // The first one opens more than the connection in some servers.
        exchange.once(request);
        exchange.stream.set_nonblocking(true).expect("a socket");
        exchange.is_shared = true;
    }
    let patience = Timespec::try_from(PATIENCE).expect("a duration");
    let readable = epoll::create(epoll::CreateFlags::CLOEXEC).expect("a wait");
    for (at, exchange) in exchanges.iter().enumerate() {
        let at = epoll::EventData::new_u64(at as u64);
        epoll::add(&readable, &exchange.stream, at, epoll::EventFlags::IN).expect("a wait");
    }
    let mut ready: Vec<epoll::Event> = Vec::with_capacity(requests.len());
    let started = Instant::now();
    let (mut begun, mut answered) = (requests.len(), 0);
    for (exchange, request) in exchanges.iter_mut().zip(requests) {
        exchange.ask(request);
    }
    while answered < begun {
        epoll::wait(&readable, spare_capacity(&mut ready), Some(&patience)).expect("a wait");
        assert!(!ready.is_empty(), "no answer in time");
        for event in ready.drain(..) {
            let at = usize::try_from(event.data.u64()).expect("a place");
            let (exchange, request) = (&mut exchanges[at], &requests[at]);
            if !exchange.receive() || !exchange.is_complete() {
                continue;
            }
            exchange.check(request);
            answered += 1;
            exchange.received.clear();
            if started.elapsed() < time {
                begun += 1;
                exchange.ask(request);
            }
        }
    }
    per_second(answered, started.elapsed())
}

/// How many that are each second.
pub(crate) fn per_second(count: usize, took: Duration) -> f64 {
    f64::from(u32::try_from(count).expect("few")) / took.as_secs_f64()
}
