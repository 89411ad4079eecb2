//! Secrets from real stores, and from stand-ins for those that can't be had here.

#[cfg(test)]
mod house;
#[cfg(all(test, target_os = "linux"))]
mod real;
