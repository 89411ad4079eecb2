//! Ranking, from the outside.

mod arbitrary;
mod hostile;
mod realistic;
