//! Skills, from files to what a model reads.

#[cfg(test)]
mod broken;
#[cfg(test)]
mod finding;
#[cfg(test)]
mod fixture;
#[cfg(test)]
mod gates;
#[cfg(test)]
mod links;
#[cfg(test)]
mod reading;
