//! The model that needs no service: it picks a tool by the words of a message.
//!
//! It has no neural network. It ranks the tools against the message, fills the arguments that the
//! message states, and passes on what the tool says. It never makes up a value.
//!
//! | module | owns |
//! |---|---|
//! | `model` | what is answered to a conversation |
//! | `choose` | which tool is called, if any |
//! | `search` | tools that have to be found before they can be called |
//! | `candidate` | how well a tool fits a message |
//! | `asked` | what a message asks to be done |
//! | `deeds` | what a tool does, and whether that is what a message asks for |
//! | `verbs` | verbs, and what they say of whoever uses them |
//! | `negation` | words that say that something is not to be done |
//! | `fill` | which arguments a message states for a tool |
//! | `typed` | what a word means for a parameter |
//! | `numbers` | which number of a message is which argument |
//! | `unused` | what a message states and nothing takes |
//! | `pairs` | arguments that are stated by name: `key=value`, `key: value`, `--key value` |
//! | `rest` | what is left of a message for a tool that takes one text |
//! | `parameters` | what a tool takes, by its schema |
//! | `stated` | values that stand in a message: quoted texts, numbers, paths, addresses |
//! | `shapes` | what such a value looks like |
//! | `naming` | how a tool may be called in a message |
//! | `said` | what a tool said, without the frames |
//! | `words` | the sentences that people read |

mod asked;
mod candidate;
mod choose;
mod deeds;
mod fill;
mod model;
mod naming;
mod negation;
mod numbers;
mod pairs;
mod parameters;
mod rest;
mod said;
mod search;
mod shapes;
mod stated;
#[cfg(test)]
mod tests;
mod typed;
mod unused;
mod verbs;
mod words;

pub use choose::LEADING;
pub use model::OfflineModel;
pub(crate) use naming::ranking_index;
