//! The routes, asked as a client asks them, with an engine that does what the message says.

mod engine;
mod house;
mod leaving;
mod properties;
mod real;
mod refusing;
mod shapes;
mod streaming;
mod whole;
