//! The ways to call the same tool of the same server.

use std::process::Command;
use std::time::Duration;

use serde_json::json;

use crate::conversation::{Conversation, Dialect, Door};
use crate::gateway::Gateway;
use crate::http2::Http2;
use crate::keep_alive::{Exchange, Request, rate};
use crate::least::Least;
use crate::peers::{Peer, everything, everything_program, node};
use crate::pipe::Pipe;
use crate::websocket::WebSocket;

/// What the gateway's HTTP is called.
pub(crate) const OURS: &str = "openclaw gateway, HTTP/1.1";
/// What it is called where all calls share a connection.
const OURS_TWO: &str = "openclaw gateway, HTTP/2";
const OURS_AT_ONCE: &str = "openclaw gateway, one WebSocket";

/// How many calls are in flight at once.
const IN_FLIGHT: usize = 16;

/// One way, open.
pub(crate) struct Way {
    pub(crate) name: String,
    kind: Kind,
}

enum Kind {
    Pipe(Pipe),
    /// Over one connection, in front of a gateway that another way keeps running.
    Http2(Door),
    WebSocket(Door),
    Http {
        /// One for each that can be in flight.
        requests: Vec<Request>,
        _behind: Behind,
    },
}

/// What is kept running behind a way.
pub(crate) enum Behind {
    Ours { _gateway: Gateway },
    Least { _least: Least },
    Theirs { _peer: Peer },
}

impl Way {
    /// All of them: the limit in its two forms, ours in its three forms, the least that can be done, and others.
    pub(crate) fn all() -> Vec<Self> {
        let mut server = Command::new(node());
        server.arg(everything_program()).arg("stdio");
        let pipe = Self {
            name: "raw pipe, the limit".to_owned(),
            kind: Kind::Pipe(Pipe::open(&mut server)),
        };
        let asking = Self {
            name: "raw pipe that asks for progress".to_owned(),
            kind: Kind::Pipe(Pipe::open(&mut server).asking_for_progress()),
        };
        let gateway = Gateway::start(&everything(1)).all_ready(1);
        let body = json!({ "tool": "everything0/echo", "arguments": { "message": "hello" } });
        let address = gateway.address();
        let request = address.post("/api/mcp/call", &body.to_string(), "Echo: hello");
        let ours = vec![request; IN_FLIGHT];
        let door = || gateway.door("everything0/echo", "Echo: hello");
        let two = Self {
            name: OURS_TWO.to_owned(),
            kind: Kind::Http2(door()),
        };
        let at_once = Self {
            name: OURS_AT_ONCE.to_owned(),
            kind: Kind::WebSocket(door()),
        };
        let ours = Self::http(OURS.to_owned(), ours, Behind::Ours { _gateway: gateway });
        let least = Least::start(&server);
        let requests = vec![least.call(); IN_FLIGHT];
        let name = "the least that a gateway can do, HTTP/1.1".to_owned();
        let least = Self::http(name, requests, Behind::Least { _least: least });
        let (hub, proxy) = (Peer::hub(1), Peer::proxy(1));
        let (rest, session) = (hub.rest_call(), proxy.session_calls(IN_FLIGHT));
        let rest = vec![rest; IN_FLIGHT];
        let hub = Self::http(hub.name.clone(), rest, Behind::Theirs { _peer: hub });
        let proxy = Self::http(proxy.name.clone(), session, Behind::Theirs { _peer: proxy });
        vec![pipe, asking, ours, two, at_once, least, hub, proxy]
    }

    fn http(name: String, requests: Vec<Request>, behind: Behind) -> Self {
        let kind = Kind::Http {
            requests,
            _behind: behind,
        };
        Self { name, kind }
    }

    /// So many calls, one after the other. Each time over a new connection: one that was not used for a
    /// while may have been closed.
    pub(crate) fn one_by_one(&mut self, count: usize) -> Vec<Duration> {
        match &mut self.kind {
            Kind::Pipe(pipe) => (0..count).map(|_| pipe.timed()).collect(),
            Kind::Http2(door) => one_by_one::<Http2>(door, count),
            Kind::WebSocket(door) => one_by_one::<WebSocket>(door, count),
            Kind::Http { requests, .. } => {
                let request = &requests[0];
                let mut exchange = Exchange::open(request);
                exchange.once(request);
                (0..count).map(|_| exchange.timed(request)).collect()
            }
        }
    }

    /// Calls each second with as many in flight as can be.
    pub(crate) fn rate(&mut self, time: Duration) -> f64 {
        match &mut self.kind {
            Kind::Pipe(pipe) => pipe.rate(IN_FLIGHT, time),
            Kind::Http2(door) => at_once::<Http2>(door, time),
            Kind::WebSocket(door) => at_once::<WebSocket>(door, time),
            Kind::Http { requests, .. } => rate(requests, time),
        }
    }
}

fn one_by_one<D: Dialect>(door: &Door, count: usize) -> Vec<Duration> {
    let mut conversation = Conversation::<D>::open(door);
    conversation.timed();
    (0..count).map(|_| conversation.timed()).collect()
}

fn at_once<D: Dialect>(door: &Door, time: Duration) -> f64 {
    Conversation::<D>::open(door).rate(IN_FLIGHT, time)
}
