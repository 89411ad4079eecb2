//! The demo server, spoken to over buffers.

#[cfg(test)]
mod conversation;
#[cfg(test)]
mod garbage;
#[cfg(test)]
mod protocol;
#[cfg(test)]
mod tools;
