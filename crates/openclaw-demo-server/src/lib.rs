//! A small MCP server, so that there is something to show on a machine that has none.
//!
//! It speaks both eras of the protocol over lines and offers a few tools that touch nothing.
//!
//! | module | owns | never contains |
//! |---|---|---|
//! | `serve` | lines, read and written within limits | what is in a line |
//! | `message` | JSON-RPC: requests, answers, errors | methods |
//! | `dispatch` | which method does what, in both eras | tools |
//! | `tools` | the tools and their definitions | the protocol |

mod dispatch;
mod message;
mod serve;
mod tools;

pub use serve::{serve, serve_with};
