//! The real program, run as people run it.

#[cfg(test)]
mod command_line;
#[cfg(test)]
mod config;
#[cfg(test)]
mod logging;
#[cfg(test)]
mod mcp;
#[cfg(test)]
mod program;
