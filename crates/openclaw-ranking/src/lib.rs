//! Ranks tools against a text, for models that can't read all of them.
//!
//! A text is split into words, words are made into terms, and the terms that a text has in common
//! with a tool count by how rare they are (BM25 over the name, the parameters and the description).
//! Tools whose name the text says come first, whatever else it says.
//!
//! | module | owns | never contains |
//! |---|---|---|
//! | `words` | where a word begins and ends, in every script | what a word means |
//! | `terms` | which words count, and which count as the same | how much a word counts |
//! | `related` | words that people use for one another | forms of the same word |
//! | `names` | the names of all tools, found in a text | scores |
//! | `index` | the tools, made ready to be ranked | what a tool does |
//! | `rank` | which tools fit a text, and how well | which of them is used |

mod index;
mod names;
mod rank;
mod related;
mod terms;
mod words;

pub use index::{Document, Index};
pub use rank::{Named, Ranked, Ranking};
pub use related::is_related;
pub use terms::{is_filler, stem, terms};
pub use words::{Word, words};
