//! Reads the MCP servers of other clients' configurations, as entries for `openclaw.json`.
//!
//! It only reads: what is done with an entry is the caller's decision. A file that is broken or
//! hostile costs only itself, and whatever an entry cannot say stands in its notes.
//!
//! | module | owns | never contains |
//! |---|---|---|
//! | `source`, `client` | what can be imported from | where it is on a machine |
//! | `surroundings`, `places` | where each client keeps its files, per platform | reading them |
//! | `document` | bounded reading, JSON with comments and TOML into one kind of value | what the values mean |
//! | `section` | where in a document the servers stand, whose document it is | fields of servers |
//! | `variables` | `${…}` of each client, as `${VAR}` of ours | fields of servers |
//! | `fields`, `draft` | taking fields off a server, so that none is lost | what a field means |
//! | `program`, `address`, `authorization`, `common` | the fields, by what they are for | files |
//! | `name`, `printable` | names that are ours, foreign text in messages | |
//! | `translate` | one server from its fields to an entry | files |
//! | `find` | the way from a source to what was found | |

mod address;
mod authorization;
mod client;
mod common;
mod document;
mod draft;
mod fields;
mod find;
mod name;
mod places;
mod printable;
mod program;
mod section;
mod source;
mod surroundings;
mod translate;
mod variables;

pub use find::{Found, ImportedServer, find};
pub use source::{Source, SourceError};
pub use surroundings::{Platform, Surroundings, Variables};
