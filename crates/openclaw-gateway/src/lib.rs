//! The gateway: one process that has the engine, for everybody on this machine who may ask it.
//!
//! | module | owns | never contains |
//! |---|---|---|
//! | `setup` | what a gateway is made of | |
//! | `serve` | a gateway from its beginning to its end | what is answered |
//! | `bind` | listening on an address, and recognising who does already | |
//! | `token` | the token of a state directory | who has to bring it |
//! | `accept` | connections: taken up, bounded, ended | requests |
//! | `wire` | peers that do not read or send too much, and last words | |
//! | `entrance` | the way of every request, and what is said with every answer | what is answered |
//! | `door` | who comes in: hosts, origins, credentials, guesses | what they ask for |
//! | `visit` | a request that was let in | who may come in |
//! | `body` | what comes with a request, within limits of size and time | |
//! | `headers` | what every answer says to browsers | |
//! | `slowness` | patience with peers that move next to nothing | what is moved |
//! | `luggage` | how much of large requests and answers is held at once | |
//! | `problem` | errors in their one shape | |
//! | `routes` | the table of what can be asked, and the answers | how engines answer |
//! | `page` | the control page, whose files are in `page/` beside the source | what it asks for |
//! | `chat` | the agent behind OpenAI's chat completions | |
//! | `metrics` | numbers for those who collect them | |
//! | `follow` | when the configuration is to be read anew | reading it |
//! | `state` | what all requests share | |
//! | `peer` | who is at the other end of a connection, and what there is for it | |
//! | `whence` | who counts as one, by where they call from | how much they may |

mod accept;
mod bind;
mod body;
mod chat;
mod door;
mod entrance;
mod follow;
mod headers;
mod luggage;
mod metrics;
mod page;
mod peer;
mod problem;
mod routes;
mod serve;
mod setup;
mod slowness;
mod state;
mod token;
mod visit;
mod whence;
mod wire;

pub use bind::{BindError, Occupant, bind};
pub use follow::Followed;
pub use luggage::ANSWERS as ANSWERS_MEBIBYTES;
pub use serve::serve;
pub use setup::{Credential, GatewaySetup};
pub use token::{TokenError, token};
