//! Lists that somebody else wrote, and that may be of any length.

use std::fmt;

use serde::Deserializer;
use serde::de::{IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// The first items of a list, and how many more there are.
#[derive(Debug)]
pub(crate) struct FirstItems<'a> {
    pub(crate) items: Vec<&'a RawValue>,
    pub(crate) more: usize,
}

/// Reads the first items of a list, each still unread.
pub(crate) fn first_items(raw: &RawValue, limit: usize) -> serde_json::Result<FirstItems<'_>> {
    let mut deserializer = serde_json::Deserializer::from_str(raw.get());
    deserializer.deserialize_seq(First { limit })
}

struct First {
    limit: usize,
}

impl<'de> Visitor<'de> for First {
    type Value = FirstItems<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while items.len() < self.limit {
            match sequence.next_element()? {
                Some(item) => items.push(item),
                None => return Ok(FirstItems { items, more: 0 }),
            }
        }
        let mut more = 0;
        while sequence.next_element::<IgnoredAny>()?.is_some() {
            more += 1;
        }
        Ok(FirstItems { items, more })
    }
}
