//! A runtime with real programs as servers: its configuration is changed while it runs, and commands
//! are sent to it.

#![cfg(target_os = "linux")]

#[cfg(test)]
mod changing;
#[cfg(test)]
mod configuration;
#[cfg(test)]
mod enduring;
#[cfg(test)]
mod gateway;
#[cfg(test)]
mod house;
#[cfg(test)]
mod identity;
#[cfg(test)]
mod importing;
#[cfg(test)]
mod lending;
#[cfg(test)]
mod looking;
#[cfg(test)]
mod observing;
#[cfg(test)]
mod reloading;
#[cfg(test)]
mod remembering;
#[cfg(test)]
mod rereading;
#[cfg(test)]
mod speaking;
