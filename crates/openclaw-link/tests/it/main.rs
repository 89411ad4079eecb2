//! Both ends of a link, with an engine of the tests behind it: over the socket, and in texts.
#![cfg(unix)]

#[cfg(test)]
#[macro_use]
mod table;

#[cfg(test)]
mod asking;
#[cfg(test)]
mod bounds;
#[cfg(test)]
mod engine;
#[cfg(test)]
mod going;
#[cfg(test)]
mod greeting;
#[cfg(test)]
mod place;
#[cfg(test)]
mod setup;
#[cfg(test)]
mod texts;
#[cfg(test)]
mod turns;
#[cfg(test)]
mod watching;
