//! Words of a command line, `key=value`, given the types that a tool's schema asks for.

mod kinds;
mod value;

use openclaw_content::shown_line;
use serde_json::{Map, Value};

use kinds::{Alternative, Kind, Schemas};
use value::{item, single};

/// How deep `a.b.c=1` may lead.
const DEPTH: usize = 32;
/// How many dots of a key are tried.
const DOTS: usize = 64;
/// How much of a key or a value is shown in an error, in characters.
const SHOWN: usize = 60;

/// Gives words the types that a schema asks for.
///
/// - A text stays as it is, whatever it looks like. Numbers, `true` and `false` are read as such
///   where the schema wants them.
/// - A list is JSON, or `a,b` where its items are simple, or the key given several times: then
///   each word is one item, commas included.
/// - An object is JSON, or its parts are given one by one: `a.b=1`.
/// - Where several types are possible, the first that fits counts, and text comes last.
/// - What the schema does not know is JSON where it can be read as such, and else text. Whether it
///   is allowed is for [`ArgumentCheck`](super::ArgumentCheck) to say.
///
/// An error is a sentence that names the key, what was expected and what was given.
pub fn typed_words(
    words: &[(String, String)],
    schema: &Map<String, Value>,
) -> Result<Map<String, Value>, String> {
    if words.is_empty() {
        return Ok(Map::new());
    }
    let root = Value::Object(schema.clone());
    let schemas = Schemas::new(&root);
    let words = words.iter().map(|(key, text)| Word {
        whole: key,
        key,
        text,
    });
    object(schemas, &[&root], words.collect(), DEPTH)
}

/// A word on its way into an object.
#[derive(Clone, Copy, Debug)]
struct Word<'a> {
    /// The key as it was written.
    whole: &'a str,
    /// What is left of it in this object.
    key: &'a str,
    text: &'a str,
}

/// All words about one property.
#[derive(Debug)]
struct Property<'a> {
    name: &'a str,
    /// Those that give all of it.
    whole: Vec<Word<'a>>,
    /// Those that give parts of it.
    parts: Vec<Word<'a>>,
}

/// The object that words make, by the schemas that it may have.
fn object(
    schemas: Schemas<'_>,
    objects: &[&Value],
    words: Vec<Word<'_>>,
    depth: usize,
) -> Result<Map<String, Value>, String> {
    let mut result = Map::new();
    for property in properties(schemas, objects, words) {
        let schema = schemas.property(objects, property.name);
        let alternatives = schemas.alternatives(schema);
        let value = match (property.whole.as_slice(), property.parts.first()) {
            (whole, None) => whole_value(schemas, &alternatives, whole)?,
            ([], Some(part)) => {
                let Some(depth) = depth.checked_sub(1) else {
                    return Err(format!("`{}` leads too deep", shown(part.whole)));
                };
                let inner = objects_of(&alternatives);
                Value::Object(object(schemas, &inner, property.parts, depth)?)
            }
            ([whole, ..], Some(part)) => {
                return Err(format!(
                    "`{}` is given as a whole, and `{}` gives a part of it: give one or the other",
                    shown(whole.whole),
                    shown(part.whole)
                ));
            }
        };
        result.insert(property.name.to_owned(), value);
    }
    Ok(result)
}

/// The words by the properties that they are about, in the order in which these come up.
fn properties<'a>(
    schemas: Schemas<'_>,
    objects: &[&Value],
    words: Vec<Word<'a>>,
) -> Vec<Property<'a>> {
    let mut found: Vec<Property<'a>> = Vec::new();
    for word in words {
        let (name, rest) = split(schemas, objects, word.key);
        let place = found.iter().position(|it| it.name == name);
        let place = place.unwrap_or_else(|| {
            found.push(Property {
                name,
                whole: Vec::new(),
                parts: Vec::new(),
            });
            found.len() - 1
        });
        if let Some(property) = found.get_mut(place) {
            match rest {
                None => property.whole.push(word),
                Some(key) => property.parts.push(Word { key, ..word }),
            }
        }
    }
    found
}

/// The property that a key is about, and the key within it. A property that is called like the
/// whole key comes first, then the longest that is an object.
fn split<'a>(schemas: Schemas<'_>, objects: &[&Value], key: &'a str) -> (&'a str, Option<&'a str>) {
    if schemas.named(objects, key).is_some() {
        return (key, None);
    }
    let dots: Vec<_> = key.match_indices('.').take(DOTS).collect();
    for (dot, _) in dots.into_iter().rev() {
        let (name, rest) = (&key[..dot], &key[dot + 1..]);
        let schema = schemas.named(objects, name);
        let is_object = schema.is_some_and(|schema| {
            let alternatives = schemas.alternatives(Some(schema));
            !objects_of(&alternatives).is_empty()
        });
        if is_object && !rest.is_empty() {
            return (name, Some(rest));
        }
    }
    (key, None)
}

fn objects_of<'a>(alternatives: &[Alternative<'a>]) -> Vec<&'a Value> {
    let objects = alternatives.iter().filter(|it| it.kind == Kind::Object);
    objects.filter_map(|it| it.schema).collect()
}

fn whole_value(
    schemas: Schemas<'_>,
    alternatives: &[Alternative<'_>],
    words: &[Word<'_>],
) -> Result<Value, String> {
    let wrong = |word: &Word<'_>, expected: String| {
        let (key, given) = (shown(word.whole), shown(word.text));
        format!("`{key}`: expected {expected}, got `{given}`")
    };
    match words {
        [] => Ok(Value::Null),
        [word] => {
            single(schemas, alternatives, word.text).map_err(|expected| wrong(word, expected))
        }
        [first, ..] => {
            let mut arrays = alternatives.iter().filter(|it| it.kind == Kind::Array);
            let Some(array) = arrays.next() else {
                return Err(format!(
                    "`{}` is given {} times: expected one value, got `{}` and `{}`",
                    shown(first.whole),
                    words.len(),
                    shown(first.text),
                    shown(words.last().map_or("", |last| last.text)),
                ));
            };
            let items = words.iter().map(|word| {
                item(schemas, array, word.text).map_err(|expected| wrong(word, expected))
            });
            items.collect::<Result<_, _>>().map(Value::Array)
        }
    }
}

fn shown(text: &str) -> String {
    shown_line(text, SHOWN)
}

#[cfg(test)]
mod tests;
