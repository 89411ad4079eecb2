//! How large anything of a service may be, and how long it may be silent.

use std::time::Duration;

/// What a model says in one answer, with the arguments of its calls.
pub(crate) const ANSWER: usize = 16 * 1024 * 1024;
/// The bytes that carry it: a service may send a hundred times as many as there are in a word.
pub(crate) const BODY: usize = 512 * 1024 * 1024;
/// One event, or one line.
pub(crate) const EVENT: usize = 4 * 1024 * 1024;
/// The arguments of one call.
pub(crate) const ARGUMENTS: usize = 1024 * 1024;
/// The calls of one answer.
pub(crate) const CALLS: usize = 256;
/// What is counted for a part beside its text.
pub(crate) const PART: usize = 256;
/// What is read of a refusal.
pub(crate) const REFUSAL: usize = 64 * 1024;
/// What is shown of a service's words, in characters.
pub(crate) const SHOWN: usize = 300;
/// How long a service may be silent while it answers, where a whole answer may not take longer: some
/// think for minutes without a sign.
pub(crate) const IDLE: Duration = Duration::from_mins(5);
/// How long what may follow an answer is waited for: what it cost, and a farewell.
pub(crate) const GRACE: Duration = Duration::from_secs(5);
/// How long an answer may take, where nothing else is set.
pub(crate) const TOTAL: Duration = Duration::from_mins(10);
/// How long the end of a body is waited for after an answer is complete, so that its connection can
/// be used again.
pub(crate) const LINGER: Duration = Duration::from_millis(5);
