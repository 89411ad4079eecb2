//! A keeper, a server to log in to, and files.

mod at_hand;
mod own_account;
mod renewal;
mod signals;
mod trouble;
mod widening;

use super::*;
use crate::testing::place::{Place, Process, SOON, START};

const SECOND: u64 = 1_000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;

/// What a server says that does not take a token.
fn unauthorized() -> Refusal {
    Refusal::Unauthorized(Challenge::default())
}

/// What a server says to whom it wants to see allowed more.
fn insufficient(scopes: &[&str]) -> Refusal {
    Refusal::Insufficient(Challenge {
        scopes: scopes.iter().map(|&scope| scope.to_owned()).collect(),
        ..Challenge::default()
    })
}

/// How often a keeper and a server have to do it, in tests that look for rare things.
fn repeats(full: usize, otherwise: usize) -> usize {
    let is_full = std::env::var("OPENCLAW_TEST_SCALE").is_ok_and(|scale| scale == "full");
    if is_full { full } else { otherwise }
}
