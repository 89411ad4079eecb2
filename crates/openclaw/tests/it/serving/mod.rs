//! `openclaw mcp-server`: the agent as a tool of other programs.

mod client;
mod ends;
mod media;
mod orders;
mod traces;
