//! The ways to call the same tool of the same server.

use std::process::Command;
use std::time::Duration;

use serde_json::json;

use crate::gateway::Gateway;
use crate::keep_alive::{Exchange, Request, rate};
use crate::least::Least;
use crate::peers::{Peer, everything, everything_program, node};
use crate::pipe::Pipe;
use crate::websocket::{Conversation, Door};

/// What the gateway's HTTP is called.
pub(crate) const OURS: &str = "openclaw gateway, HTTP";
/// What its WebSocket is called.
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
    /// All of them: the limit, ours, ours over a WebSocket, the least that can be done, and others.
    pub(crate) fn all() -> Vec<Self> {
        let mut server = Command::new(node());
        server.arg(everything_program()).arg("stdio");
        let pipe = Self {
            name: "raw pipe, the limit".to_owned(),
            kind: Kind::Pipe(Pipe::open(&mut server)),
        };
        let gateway = Gateway::start(&everything(1)).all_ready(1);
        let body = json!({ "tool": "everything0/echo", "arguments": { "message": "hello" } });
        let address = gateway.address();
        let request = address.post("/api/mcp/call", &body.to_string(), "Echo: hello");
        let ours = vec![request; IN_FLIGHT];
        let at_once = Self {
            name: OURS_AT_ONCE.to_owned(),
            kind: Kind::WebSocket(gateway.door("everything0/echo", "Echo: hello")),
        };
        let ours = Self::http(OURS.to_owned(), ours, Behind::Ours { _gateway: gateway });
        let least = Least::start(&server);
        let requests = vec![least.call(); IN_FLIGHT];
        let name = "the least that a gateway can do, HTTP".to_owned();
        let least = Self::http(name, requests, Behind::Least { _least: least });
        let (hub, proxy) = (Peer::hub(1), Peer::proxy(1));
        let (rest, session) = (hub.rest_call(), proxy.session_calls(IN_FLIGHT));
        let rest = vec![rest; IN_FLIGHT];
        let hub = Self::http(hub.name.clone(), rest, Behind::Theirs { _peer: hub });
        let proxy = Self::http(proxy.name.clone(), session, Behind::Theirs { _peer: proxy });
        vec![pipe, ours, at_once, least, hub, proxy]
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
            Kind::WebSocket(door) => {
                let mut conversation = Conversation::open(door);
                conversation.timed();
                (0..count).map(|_| conversation.timed()).collect()
            }
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
            Kind::WebSocket(door) => Conversation::open(door).rate(IN_FLIGHT, time),
            Kind::Http { requests, .. } => rate(requests, time),
        }
    }
}
