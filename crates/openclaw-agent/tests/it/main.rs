//! Turns of agents with models that say what they are told to, and real programs as servers.

#![cfg(target_os = "linux")]

#[cfg(test)]
mod asking;
#[cfg(test)]
mod attaching;
#[cfg(test)]
mod beside;
#[cfg(test)]
mod calling;
#[cfg(test)]
mod earlier;
#[cfg(test)]
mod ending;
#[cfg(test)]
mod house;
#[cfg(test)]
mod real;
#[cfg(test)]
mod remembering;
#[cfg(test)]
mod scripted;
#[cfg(test)]
mod searching;
#[cfg(test)]
mod seeing;
#[cfg(test)]
mod sending;
#[cfg(test)]
mod skilled;
