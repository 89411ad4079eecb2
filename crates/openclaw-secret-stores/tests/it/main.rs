//! Secrets from real stores, and from stand-ins for those that can't be had here.

#[cfg(test)]
mod aws;
#[cfg(test)]
mod environment;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod exec;
#[cfg(test)]
mod file;
#[cfg(test)]
mod gcp;
#[cfg(test)]
mod house;
#[cfg(test)]
mod real;
#[cfg(target_os = "linux")]
#[cfg(test)]
mod together;
#[cfg(test)]
mod vault;
