//! Words of a command line, `key=value`, given the types that a tool's schema asks for.
pub fn typed() {}
