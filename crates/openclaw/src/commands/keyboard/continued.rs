//! Lines that go on behind a backslash.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use reedline::{ValidationResult, Validator};

/// How many lines are known to go on.
const MOST: usize = 1_000;

/// Lines that go on because a backslash was typed at their ends, each as it stood there when Enter was
/// pressed. A backslash before the end of a line that was pasted is part of the text.
#[derive(Clone, Default)]
pub(super) struct Continued(Arc<Mutex<VecDeque<String>>>);

impl Continued {
    fn all(&self) -> MutexGuard<'_, VecDeque<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A message without the backslashes that only said that it goes on. One from before counts as well:
    /// it can be taken from the history.
    pub(super) fn joined(&self, line: &str) -> String {
        let all = self.all();
        let only_said = |at: usize| {
            let begun = line.get(..=at).unwrap_or_default();
            all.iter().any(|it| it == begun)
        };
        let kept = line.char_indices().filter(|(at, character)| {
            let ends_line = *character == '\\' && line[*at..].starts_with("\\\n");
            !(ends_line && only_said(*at))
        });
        kept.map(|(_, character)| character).collect()
    }
}

impl Validator for Continued {
    fn validate(&self, line: &str) -> ValidationResult {
        if !line.ends_with('\\') {
            return ValidationResult::Complete;
        }
        let mut all = self.all();
        if all.len() >= MOST {
            all.pop_front();
        }
        all.push_back(line.to_owned());
        ValidationResult::Incomplete
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_backslash_that_was_typed_before_enter_is_left_out() {
        let continued = Continued::default();
        let goes_on = |line: &str| matches!(continued.validate(line), ValidationResult::Incomplete);
        assert!(goes_on("cc a.c \\\n  b.c \\"));
        assert!(!goes_on("cc a.c"));
        assert_eq!(
            continued.joined("cc a.c \\\n  b.c \\\n-o \\x"),
            "cc a.c \\\n  b.c \n-o \\x"
        );
        assert_eq!(continued.joined("é \\\npasted"), "é \\\npasted");
    }

    #[test]
    fn lines_that_go_on_are_not_remembered_for_ever() {
        let continued = Continued::default();
        for number in 0..2 * MOST {
            continued.validate(&format!("{number}\\"));
        }
        assert_eq!(continued.all().len(), MOST);
    }
}
