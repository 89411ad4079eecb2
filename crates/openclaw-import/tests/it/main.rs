//! The behaviour of importing, from files to entries.

#[cfg(test)]
mod arbitrary;
#[cfg(test)]
mod broken;
#[cfg(test)]
mod clients;
#[cfg(test)]
mod fixture;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod sources;
