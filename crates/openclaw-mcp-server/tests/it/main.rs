//! The server as a client sees it, with an engine that does what the message says.

#[cfg(test)]
mod client;
#[cfg(test)]
mod engine;
#[cfg(test)]
mod media;
#[cfg(test)]
mod orders;
#[cfg(test)]
mod protocol;
