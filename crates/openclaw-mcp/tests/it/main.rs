//! Servers that are looked after: started, lost, started again, given up on.

#![cfg(target_os = "linux")]

#[cfg(test)]
mod fleet;
#[cfg(test)]
mod lab;
#[cfg(test)]
mod supervising;
