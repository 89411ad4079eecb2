//! Servers that are looked after, and the way of a call to them.

#![cfg(target_os = "linux")]

#[cfg(test)]
mod calling;
#[cfg(test)]
mod changing;
#[cfg(test)]
mod fleet;
#[cfg(test)]
mod house;
#[cfg(test)]
mod injecting;
#[cfg(test)]
mod lab;
#[cfg(test)]
mod logins;
#[cfg(test)]
mod resources;
#[cfg(test)]
mod searching;
#[cfg(test)]
mod secrets;
#[cfg(test)]
mod sharing;
#[cfg(test)]
mod supervising;
