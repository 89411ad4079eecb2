//! Servers, tools and results as plain data.

mod content;
mod server;
mod tool;

pub(crate) use content::{content, embedded};
pub(crate) use server::{details, report, shown, shown_status};
pub(crate) use tool::tool_report;
