//! Lists that somebody else wrote, and that may be of any length.

use std::fmt;

use serde::Deserializer;
use serde::de::{Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
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

/// Something that should be a list.
#[derive(Debug, Default)]
pub(crate) enum Listed<'a> {
    /// It is not there.
    #[default]
    Absent,
    /// It is something else.
    Other,
    /// It is one.
    Items(FirstItems<'a>),
}

impl<'a> Listed<'a> {
    /// Reads the first items of what should be a list.
    pub(crate) fn read<D: Deserializer<'a>>(source: D, limit: usize) -> Result<Self, D::Error> {
        source.deserialize_any(Lenient { limit })
    }
}

struct Lenient {
    limit: usize,
}

impl<'de> Visitor<'de> for Lenient {
    type Value = Listed<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, sequence: A) -> Result<Self::Value, A::Error> {
        let first = First { limit: self.limit };
        first.visit_seq(sequence).map(Listed::Items)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Listed::Other)
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(Listed::Absent)
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<Self::Value, E> {
        Ok(Listed::Other)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Listed::Other)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Self::Value, E> {
        Ok(Listed::Other)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Self::Value, E> {
        Ok(Listed::Other)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Listed::Other)
    }
}
