//! An engine in another process: what is asked of it travels over a socket, or over whatever else
//! carries messages, and is answered as if it were here.
//!
//! Whoever asks says `ask`, `cancel` and `answer`; the engine says `event`, `question`, `withdrawn`,
//! `done`, `failed` and `error`. Each is one JSON object with a `type`, and the number of the question
//! that it belongs to as `id`. Fields and types that are not known are passed over.
//!
//! | module | owns | never contains |
//! |---|---|---|
//! | `greeting` | what both sides say first, for all versions | questions |
//! | `messages` | what is said after that, as JSON | who says it |
//! | `questions` | the table of all questions of an engine, and both ends made from it | how they travel |
//! | `requests` | a message to an agent with its files, as JSON | |
//! | `frames` | where messages begin and end in a stream of bytes | input and output |
//! | `outbox` | what waits to be written for one peer, within bounds | where it is written |
//! | `desk` | one peer that asks: its questions under way, and theirs to the person | sockets |
//! | `remote` | the engine for whoever asks: what is awaited, and what the person is asked | sockets |
//! | `socket` | the socket of a gateway: who may call, bytes and descriptors | messages |
//! | `service` | the ways in: callers of the socket, and texts | |

mod desk;
mod frames;
mod greeting;
mod messages;
mod outbox;
mod questions;
mod remote;
mod requests;
mod service;
mod socket;

pub use frames::LONGEST_FRAME;
pub use greeting::{Greeting, PROTOCOL};
pub use remote::{NoGateway, Remote};
pub use service::{Caller, Listener, ListeningAt, Service, hand_over, serve_texts};
pub use socket::SOCKET_NAME;
