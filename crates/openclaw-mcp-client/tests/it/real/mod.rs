//! Servers that others wrote: `scripts/partners` installs them.
