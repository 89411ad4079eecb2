//! The gateway as its clients see it, over connections, with an engine that does what it is told.

#[cfg(test)]
mod api;
#[cfg(test)]
mod binding;
#[cfg(test)]
mod client;
#[cfg(all(test, unix))]
mod descriptors;
#[cfg(test)]
mod door;
#[cfg(test)]
mod engine;
#[cfg(test)]
mod following;
#[cfg(test)]
mod harness;
#[cfg(test)]
mod http2;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod schema;
#[cfg(test)]
mod stopping;
#[cfg(test)]
mod storms;
#[cfg(test)]
mod websocket;
