//! Models against a service that does what each test says.

#[cfg(test)]
mod answers;
#[cfg(test)]
mod choices;
#[cfg(test)]
mod documents;
#[cfg(test)]
mod endings;
#[cfg(test)]
mod house;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod providers;
#[cfg(test)]
mod quirks;
#[cfg(test)]
mod refusals;
#[cfg(test)]
mod requests;
#[cfg(test)]
mod server;
#[cfg(test)]
mod streams;
