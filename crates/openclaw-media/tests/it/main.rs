//! Documents and recordings, put into words by real processes and by services that stand in.

#[cfg(test)]
mod documents;
#[cfg(test)]
mod house;
#[cfg(test)]
mod recordings;
