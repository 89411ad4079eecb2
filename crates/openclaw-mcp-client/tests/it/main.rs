//! The client against a fake server that misbehaves as told, and against real ones.

#![cfg(target_os = "linux")]

#[cfg(test)]
mod calls;
#[cfg(test)]
mod eras;
#[cfg(test)]
mod events;
#[cfg(test)]
mod hostile_http;
#[cfg(test)]
mod hostile_program;
#[cfg(test)]
mod lab;
#[cfg(test)]
mod lists;
#[cfg(test)]
mod memory;
#[cfg(test)]
mod real;
#[cfg(test)]
mod sessions;
#[cfg(test)]
mod tls;
