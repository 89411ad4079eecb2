//! Servers that others wrote: `scripts/partners` installs them.

mod cutter;
mod everything;
mod filesystem;
mod partners;
mod sdk_examples;
mod server_log;
mod supergateway;
mod time;
