//! The behaviour of the configuration, from files to results.

#[cfg(test)]
mod agents;
#[cfg(test)]
mod cases;
#[cfg(test)]
mod diagnostics;
#[cfg(test)]
mod documents;
#[cfg(test)]
mod editing;
#[cfg(test)]
mod fingerprints;
#[cfg(test)]
mod fixture;
#[cfg(test)]
mod includes;
#[cfg(test)]
mod media;
#[cfg(test)]
mod places;
#[cfg(test)]
mod problems;
#[cfg(test)]
mod robustness;
#[cfg(test)]
mod schema;
#[cfg(test)]
mod showing;
mod skills;
#[cfg(test)]
mod variables;
