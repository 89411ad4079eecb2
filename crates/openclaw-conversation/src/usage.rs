//! What an answer cost.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

/// How many tokens an answer cost, as the service counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Read by the model, those from a cache included.
    pub input_tokens: u64,
    /// Written by the model.
    pub output_tokens: u64,
    /// Of those that it read, taken from a cache.
    #[serde(default)]
    pub cached_tokens: u64,
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.cached_tokens = self.cached_tokens.saturating_add(other.cached_tokens);
    }
}
