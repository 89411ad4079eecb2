//! How many values a text has.

use std::fmt;

use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess,
    Visitor,
};

use crate::{MOST, TOO_MANY};

/// Texts up to this many bytes can't have so many values that it would matter.
const SMALL: usize = 64 * 1024;

/// Reads a text as a `T`, unless it has too many values.
pub fn read<T: DeserializeOwned>(text: &[u8]) -> serde_json::Result<T> {
    if text.len() > SMALL {
        let mut left = MOST;
        let mut deserializer = serde_json::Deserializer::from_slice(text);
        Counter { left: &mut left }.deserialize(&mut deserializer)?;
    }
    serde_json::from_slice(text)
}

/// Counts values, and keeps none.
struct Counter<'a> {
    left: &'a mut usize,
}

impl Counter<'_> {
    fn count<E: Error>(&mut self) -> Result<(), E> {
        let left = self.left.checked_sub(1);
        *self.left = left.ok_or_else(|| E::custom(TOO_MANY))?;
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Counter<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Counter<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<(), A::Error> {
        while items
            .next_element_seed(Counter { left: self.left })?
            .is_some()
        {
            self.count()?;
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut entries: A) -> Result<(), A::Error> {
        while entries.next_key::<IgnoredAny>()?.is_some() {
            self.count()?;
            entries.next_value_seed(Counter { left: self.left })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;
    use crate::value::tests::any_json;

    #[test]
    fn a_bomb_is_refused_before_it_is_kept_and_a_large_text_is_not() {
        for bomb in [
            format!("[{}[]]", "[],".repeat(MOST)),
            format!("{{\"a\":[{}1]}}", "1,".repeat(MOST)),
            format!("[{}{{}}]", "{\"a\":0},".repeat(MOST / 2)),
        ] {
            let error = read::<Value>(bomb.as_bytes()).unwrap_err();
            assert!(error.to_string().starts_with(TOO_MANY), "{error}");
        }
        let text = format!("\"{}\\u0041\"", ",[{".repeat(MOST));
        assert_eq!(read::<String>(text.as_bytes()).unwrap().len(), 3 * MOST + 1);
        let most = format!("[{}1]", "1,".repeat(MOST - 1));
        assert_eq!(read::<Vec<u8>>(most.as_bytes()).unwrap().len(), MOST);
    }

    #[test]
    fn what_is_no_json_is_none_however_large_it_is() {
        for wrong in ["", "{", "[1 2]", "nul", "\"", "1 2"] {
            assert!(read::<Value>(wrong.as_bytes()).is_err(), "{wrong}");
            let large = format!("{}{wrong}", " ".repeat(SMALL));
            assert!(read::<Value>(large.as_bytes()).is_err(), "{wrong}");
        }
        // Nor is what is nested deeper than anybody reads.
        let deep = "[".repeat(SMALL + 1);
        assert!(read::<Value>(deep.as_bytes()).is_err());
    }

    proptest! {
        #[test]
        fn it_reads_what_everybody_reads(value in any_json()) {
            let text = format!("{}{value}", " ".repeat(SMALL));
            let expected: Value = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(read::<Value>(text.as_bytes()).unwrap(), expected);
        }
    }
}
