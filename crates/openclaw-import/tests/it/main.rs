//! The behaviour of importing, from files to entries.
