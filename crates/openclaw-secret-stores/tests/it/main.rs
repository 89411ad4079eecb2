//! Secrets from real stores, and from stand-ins for those that can't be had here.

#[cfg(test)]
mod gcp;
#[cfg(test)]
mod house;
