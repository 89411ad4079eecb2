//! `openclaw acp`: the agent inside editors, driven by the client side of the official crate.

mod conversation;
mod editor;
mod ends;
mod mistakes;
