//! The identifier of a request that is refused.

use serde_json::Value;

/// How many bytes an identifier may have; a longer one is not given back.
const LONGEST: usize = 1024;

/// The identifier of a message, picked up as it passes: it is wanted even of a message of which nothing
/// else is kept, and may stand at its end.
#[derive(Debug, Default)]
pub(super) struct Identifier {
    /// As it was written.
    text: Vec<u8>,
    state: State,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum State {
    /// There is none that could be used.
    #[default]
    Absent,
    /// Its end has not come.
    Begun,
    Complete,
}

impl Identifier {
    /// Its key has come; if there was one before, the last counts.
    pub(super) fn begin(&mut self) {
        self.text.clear();
        self.state = State::Begun;
    }

    /// Takes more of what stands after its key.
    pub(super) fn push(&mut self, text: &[u8]) {
        if self.state != State::Begun {
            return;
        }
        if self.text.len() + text.len() > LONGEST {
            self.state = State::Absent;
        } else {
            self.text.extend_from_slice(text);
        }
    }

    /// The value after its key is one of many values, so it is none.
    pub(super) fn spoil(&mut self) {
        if self.state == State::Begun {
            self.state = State::Absent;
        }
    }

    /// The value after its key has ended.
    pub(super) fn end(&mut self) {
        if self.state == State::Begun {
            self.state = State::Complete;
        }
    }

    /// The identifier, if it is one: a text or a number.
    pub(super) fn value(&self) -> Option<Value> {
        let value = match self.state {
            State::Complete => serde_json::from_slice(&self.text).ok()?,
            State::Absent | State::Begun => return None,
        };
        matches!(value, Value::String(_) | Value::Number(_)).then_some(value)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn identifier(pieces: &[&str]) -> Identifier {
        let mut identifier = Identifier::default();
        identifier.begin();
        for piece in pieces {
            identifier.push(piece.as_bytes());
        }
        identifier
    }

    #[test]
    fn texts_and_numbers_are_identifiers() {
        for (pieces, value) in [
            (&["1", "2"] as &[_], Some(json!(12))),
            (&[" ", "-1.5 "], Some(json!(-1.5))),
            (&["\"a", "\\u0062\""], Some(json!("ab"))),
            (&["null"], None),
            (&["true"], None),
            (&["1 2"], None),
            (&[], None),
        ] {
            let mut identifier = identifier(pieces);
            assert_eq!(identifier.value(), None, "it has not ended");
            identifier.end();
            assert_eq!(identifier.value(), value, "{pieces:?}");
        }
    }

    #[test]
    fn the_longest_is_a_kilobyte() {
        let mut longest = identifier(&["\"", &"a".repeat(LONGEST - 2), "\""]);
        longest.end();
        assert_eq!(longest.value(), Some(json!("a".repeat(LONGEST - 2))));
        let mut longer = identifier(&["\"", &"a".repeat(LONGEST - 1), "\""]);
        longer.end();
        assert_eq!(longer.value(), None);
    }

    #[test]
    fn the_last_of_several_counts() {
        let mut twice = identifier(&["1"]);
        twice.end();
        twice.begin();
        twice.push(b"2");
        twice.end();
        twice.push(b"3");
        assert_eq!(twice.value(), Some(json!(2)));
        twice.begin();
        twice.spoil();
        twice.end();
        assert_eq!(twice.value(), None);
    }
}
