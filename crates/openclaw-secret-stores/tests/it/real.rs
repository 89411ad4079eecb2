//! Stores that others wrote: `scripts/partners` gets them.

mod keyring;
