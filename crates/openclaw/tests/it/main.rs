//! The real program, run as people run it.

#[cfg(all(test, target_os = "linux"))]
mod calling;
#[cfg(test)]
mod command_line;
#[cfg(test)]
mod config;
#[cfg(all(test, target_os = "linux"))]
mod connecting;
#[cfg(all(test, target_os = "linux"))]
mod importing;
#[cfg(all(test, target_os = "linux"))]
mod lab;
#[cfg(all(test, target_os = "linux"))]
mod listing;
#[cfg(test)]
mod logging;
#[cfg(test)]
mod mcp;
#[cfg(all(test, target_os = "linux"))]
mod offers;
#[cfg(test)]
mod program;
#[cfg(all(test, target_os = "linux"))]
mod real;
#[cfg(all(test, target_os = "linux"))]
mod scripted;
#[cfg(all(test, target_os = "linux"))]
mod stopping;
