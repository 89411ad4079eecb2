//! Calls that all go over one connection, as programs make them that have many in flight.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::keep_alive::{PATIENCE, per_second};

/// How much is read at once.
const PART: usize = 16 * 1024;

/// Where a gateway can be called.
pub(crate) struct Door {
    pub(crate) authority: String,
    pub(crate) token: String,
    /// The tool, and what its result must contain.
    pub(crate) tool: String,
    pub(crate) expected: String,
}

/// How calls are written that share a connection.
pub(crate) trait Dialect: Sized {
    /// Begins, with what is said first.
    fn begin(door: &Door, said: &mut Vec<u8>) -> Self;

    /// Whether calls may be made.
    fn is_open(&self) -> bool;

    /// Adds a call to what is said.
    fn call(&mut self, door: &Door, said: &mut Vec<u8>);

    /// Takes what was received as far as it is whole, and says how many answers it were. What has to be said
    /// in return is added to what is said.
    fn hear(&mut self, door: &Door, received: &mut Vec<u8>, said: &mut Vec<u8>) -> usize;
}

/// A connection.
pub(crate) struct Conversation<'a, D> {
    door: &'a Door,
    dialect: D,
    stream: TcpStream,
    received: Vec<u8>,
    said: Vec<u8>,
}

impl<'a, D: Dialect> Conversation<'a, D> {
    pub(crate) fn open(door: &'a Door) -> Self {
        let stream = TcpStream::connect(&door.authority).expect("a connection");
        stream.set_nodelay(true).expect("a socket");
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
        let mut said = Vec::new();
        let mut conversation = Self {
            door,
            dialect: D::begin(door, &mut said),
            stream,
            received: Vec::with_capacity(PART),
            said,
        };
        while !conversation.dialect.is_open() {
            conversation.say();
            conversation.receive();
            conversation.hear();
        }
        conversation
    }

    /// How long one call takes.
    pub(crate) fn timed(&mut self) -> Duration {
        let started = Instant::now();
        self.call(1);
        while self.answered() == 0 {}
        started.elapsed()
    }

    /// Calls each second with so many in flight.
    pub(crate) fn rate(&mut self, in_flight: usize, time: Duration) -> f64 {
        let started = Instant::now();
        self.call(in_flight);
        let (mut begun, mut answered) = (in_flight, 0);
        while answered < begun {
            let more = self.answered();
            answered += more;
            if started.elapsed() < time {
                begun += more;
                self.call(more);
            }
        }
        per_second(answered, started.elapsed())
    }

    fn call(&mut self, count: usize) {
        for _ in 0..count {
            self.dialect.call(self.door, &mut self.said);
        }
        self.say();
    }

    fn answered(&mut self) -> usize {
        self.say();
        self.receive();
        self.hear()
    }

    fn hear(&mut self) -> usize {
        let Self { received, said, .. } = self;
        self.dialect.hear(self.door, received, said)
    }

    fn say(&mut self) {
        self.stream.write_all(&self.said).expect("a request");
        self.said.clear();
    }

    fn receive(&mut self) {
        let mut part = [0; PART];
        let length = self.stream.read(&mut part).expect("an answer");
        assert_ne!(length, 0, "the connection ended");
        self.received.extend_from_slice(&part[..length]);
    }
}
