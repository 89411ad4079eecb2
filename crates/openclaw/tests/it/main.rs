//! The real program, run as people run it.

#[cfg(test)]
mod agent;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod calling;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod canary;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod chat;
#[cfg(test)]
mod command_line;
#[cfg(test)]
mod config;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod connecting;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod console;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod demo;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod editing;
#[cfg(test)]
mod examples;
#[cfg(test)]
mod gateway;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod importing;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod lab;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod listing;
#[cfg(test)]
mod logging;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod logins;
#[cfg(test)]
mod mcp;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod offers;
#[cfg(test)]
mod program;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod real;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod scripted;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod searching;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod serving;
#[cfg(test)]
mod sessions;
mod slash;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod stopping;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod streaming;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod talking;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod traces;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod turns;
