//! A service that answers what a test says, byte by byte, and remembers what it was asked.

use std::collections::VecDeque;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::Value;

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// Method and path.
    pub(crate) line: String,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Value,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(header, _)| header == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// How an answer ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// As it should.
    Whole,
    /// The connection is closed in the middle.
    Cut,
    /// Nothing more comes, and the connection stays.
    Silence,
}

/// An answer.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    status: u16,
    headers: Vec<(&'static str, String)>,
    pieces: Vec<Vec<u8>>,
    ending: Ending,
}

impl Answer {
    /// A stream that comes in these pieces.
    pub(crate) fn stream(pieces: &[impl AsRef<[u8]>]) -> Self {
        Self {
            status: 200,
            headers: Vec::new(),
            pieces: pieces.iter().map(|piece| piece.as_ref().to_vec()).collect(),
            ending: Ending::Whole,
        }
    }

    /// A status with a body.
    pub(crate) fn status(status: u16, body: &str) -> Self {
        Self {
            status,
            ..Self::stream(&[body])
        }
    }

    pub(crate) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub(crate) fn ending(mut self, ending: Ending) -> Self {
        self.ending = ending;
        self
    }

    /// The same bytes in pieces of this size.
    pub(crate) fn in_pieces_of(mut self, size: usize) -> Self {
        let bytes = self.pieces.concat();
        self.pieces = bytes.chunks(size).map(<[u8]>::to_vec).collect();
        self
    }
}

/// The service; it ends with this.
pub(crate) struct Server {
    address: SocketAddr,
    answers: Arc<Mutex<VecDeque<Answer>>>,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Server {
    /// A service that gives these answers, in their order, and the last one ever after.
    pub(crate) fn start(answers: impl IntoIterator<Item = Answer>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let answers = Arc::new(Mutex::new(answers.into_iter().collect()));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (next, seen) = (Arc::clone(&answers), Arc::clone(&asked));
        std::thread::spawn(move || {
            let mut open = Vec::new();
            while let Ok((stream, _)) = listener.accept() {
                match serve(stream, &next, &seen) {
                    Served::Open(silent) => open.push(silent),
                    Served::Closed => {}
                    Served::Unasked => return,
                }
            }
        });
        Self {
            address,
            answers,
            asked,
        }
    }

    pub(crate) fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Gives another answer from now on.
    pub(crate) fn answer(&self, answer: Answer) {
        *self.answers.lock().unwrap() = VecDeque::from([answer]);
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Its thread may be writing to a connection that only the test's own thread can close, so it
        // is not waited for.
        drop(TcpStream::connect(self.address));
    }
}

/// What became of a connection.
enum Served {
    /// It stays as it is.
    Open(TcpStream),
    /// It was answered.
    Closed,
    /// There was no request, which asks us to stop.
    Unasked,
}

/// Answers one request.
fn serve(
    mut stream: TcpStream,
    answers: &Mutex<VecDeque<Answer>>,
    seen: &Mutex<Vec<Asked>>,
) -> Served {
    let Some(asked) = request(&mut stream) else {
        return Served::Unasked;
    };
    seen.lock().unwrap().push(asked);
    let answer = {
        let mut answers = answers.lock().unwrap();
        if answers.len() > 1 {
            answers.pop_front().unwrap()
        } else {
            answers.front().cloned().unwrap()
        }
    };
    let mut head = format!(
        "HTTP/1.1 {} X\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n",
        answer.status
    );
    for (name, value) in &answer.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    // Who goes away in the middle is no trouble of ours.
    let _ = stream.write_all(head.as_bytes());
    for piece in answer.pieces.iter().filter(|piece| !piece.is_empty()) {
        let mut chunk = format!("{:x}\r\n", piece.len()).into_bytes();
        chunk.extend_from_slice(piece);
        chunk.extend_from_slice(b"\r\n");
        let _ = stream.write_all(&chunk);
    }
    match answer.ending {
        Ending::Whole => {
            let _ = stream.write_all(b"0\r\n\r\n");
        }
        Ending::Cut => {}
        Ending::Silence => return Served::Open(stream),
    }
    Served::Closed
}

fn request(stream: &mut TcpStream) -> Option<Asked> {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break end + 4;
        }
        let count = stream.read(&mut piece).ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(&piece[..count]);
    };
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let mut lines = head.lines();
    let line = lines
        .next()
        .unwrap()
        .trim_end_matches(" HTTP/1.1")
        .to_owned();
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length: usize = length.map_or(0, |(_, value)| value.parse().unwrap());
    while bytes.len() < end + length {
        let count = stream.read(&mut piece).ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(&piece[..count]);
    }
    let body = serde_json::from_slice(&bytes[end..]).unwrap_or_default();
    Some(Asked {
        line,
        headers,
        body,
    })
}
