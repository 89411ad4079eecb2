//! The agent as an editor sees it, with an engine that does what the message says.

#[cfg(test)]
mod editor;
#[cfg(test)]
mod engine;
#[cfg(test)]
mod lines;
#[cfg(test)]
mod prompts;
#[cfg(test)]
mod questions;
#[cfg(test)]
mod reading;
#[cfg(test)]
mod servers;
#[cfg(test)]
mod sessions;
#[cfg(test)]
mod turns;
