//! The real program, run as people run it.

#[cfg(test)]
mod calling;
#[cfg(test)]
mod command_line;
#[cfg(test)]
mod config;
#[cfg(test)]
mod connecting;
#[cfg(test)]
mod importing;
#[cfg(test)]
mod lab;
#[cfg(test)]
mod listing;
#[cfg(test)]
mod logging;
#[cfg(test)]
mod mcp;
#[cfg(test)]
mod offers;
#[cfg(test)]
mod program;
#[cfg(test)]
mod real;
#[cfg(test)]
mod scripted;
#[cfg(test)]
mod stopping;
