//! What holds for every line.

use openclaw_content::Base64;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::*;

/// JSON that may have the same key several times.
#[derive(Clone, Debug)]
enum Tree {
    Plain(&'static str),
    Text(String),
    Array(Vec<Tree>),
    Object(Vec<(String, Tree)>),
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        vec(any::<u8>(), 0..40).prop_map(|bytes| STANDARD.encode(bytes)),
        "[A-Za-z0-9+/]{4,8}={0,2}",
        "[0-9]",
        any::<String>(),
    ]
}

fn leaf() -> impl Strategy<Value = Tree> {
    prop_oneof![
        select(vec!["null", "true", "false", "0", "-1.5e3", "12"]).prop_map(Tree::Plain),
        text().prop_map(Tree::Text),
    ]
}

fn key() -> impl Strategy<Value = String> {
    let known = ["id", "params", "arguments", "images", "files", "data"];
    prop_oneof![
        4 => select(known.to_vec()).prop_map(str::to_owned),
        1 => any::<String>(),
    ]
}

fn tree() -> impl Strategy<Value = Tree> {
    leaf().prop_recursive(5, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Tree::Array),
            vec((key(), inner), 0..4).prop_map(Tree::Object),
        ]
    })
}

/// An object in which one key leads on, more often than not.
fn object(
    names: &'static [&'static str],
    values: impl Strategy<Value = Tree> + 'static,
) -> impl Strategy<Value = Tree> {
    let name = select(names).prop_map(str::to_owned);
    vec(prop_oneof![3 => (name, values), 1 => (key(), tree())], 0..4).prop_map(Tree::Object)
}

fn message_tree() -> impl Strategy<Value = Tree> {
    let attachment = object(&["data"], text().prop_map(Tree::Text));
    let attachments = vec(prop_oneof![4 => attachment, 1 => tree()], 0..4).prop_map(Tree::Array);
    let arguments = object(&["images", "files"], attachments);
    object(&["params"], object(&["arguments"], arguments))
}

fn line_tree() -> impl Strategy<Value = Tree> {
    prop_oneof![
        6 => message_tree(),
        2 => vec(message_tree(), 0..3).prop_map(Tree::Array),
        1 => vec(prop_oneof![
            message_tree(),
            vec(message_tree(), 0..2).prop_map(Tree::Array),
        ], 0..3).prop_map(Tree::Array),
        1 => tree(),
    ]
}

/// Writes JSON with white space and escapes wherever the noise has them.
struct Writer<'n> {
    text: String,
    noise: std::iter::Cycle<std::slice::Iter<'n, u8>>,
}

impl Writer<'_> {
    fn written(tree: &Tree, noise: &[u8]) -> String {
        let mut writer = Writer {
            text: String::new(),
            noise: noise.iter().cycle(),
        };
        writer.tree(tree);
        writer.text
    }

    fn noise(&mut self) -> u8 {
        self.noise.next().copied().unwrap_or_default()
    }

    fn token(&mut self, token: &str) {
        let space = ["", "", "", " ", "\t", "\r", "  "][usize::from(self.noise() % 7)];
        self.text.push_str(space);
        self.text.push_str(token);
    }

    fn tree(&mut self, tree: &Tree) {
        match tree {
            Tree::Plain(plain) => self.token(plain),
            Tree::Text(text) => self.string(text),
            Tree::Array(items) => {
                self.token("[");
                for (place, item) in items.iter().enumerate() {
                    if place > 0 {
                        self.token(",");
                    }
                    self.tree(item);
                }
                self.token("]");
            }
            Tree::Object(fields) => {
                self.token("{");
                for (place, (key, value)) in fields.iter().enumerate() {
                    if place > 0 {
                        self.token(",");
                    }
                    self.string(key);
                    self.token(":");
                    self.tree(value);
                }
                self.token("}");
            }
        }
        self.token("");
    }

    fn string(&mut self, text: &str) {
        self.token("\"");
        for character in text.chars() {
            let is_bare = !character.is_control() && !matches!(character, '"' | '\\');
            match self.noise() % 6 {
                0 if matches!(character, '"' | '\\' | '/') => {
                    self.text.push('\\');
                    self.text.push(character);
                }
                1 if character == '\n' => self.text.push_str("\\n"),
                2..6 if is_bare => self.text.push(character),
                _ => {
                    for unit in character.encode_utf16(&mut [0; 2]) {
                        self.text.push_str(&format!("\\u{unit:04x}"));
                    }
                }
            }
        }
        self.text.push('"');
    }
}

/// What comes of bytes that are cut at these places.
fn scanned(bytes: &[u8], cuts: &[Index]) -> Vec<Incoming> {
    let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
    places.extend([0, bytes.len()]);
    places.sort_unstable();
    let directory = tempfile::tempdir().unwrap();
    let limits = Limits {
        images: usize::MAX,
        files: usize::MAX,
        ..Limits::TOOL
    };
    let pieces = places.windows(2).map(|cut| &bytes[cut[0]..cut[1]]);
    scan_into(pieces, &limits, directory.path())
}

/// Every attachment's `data` of a message.
fn data_of(message: &mut Value) -> Vec<&mut Value> {
    let Some(Value::Object(arguments)) = message.pointer_mut("/params/arguments") else {
        return Vec::new();
    };
    let lists = arguments
        .iter_mut()
        .filter(|(key, _)| matches!(key.as_str(), "images" | "files"));
    lists
        .filter_map(|(_, list)| list.as_array_mut())
        .flatten()
        .filter_map(|item| item.as_object_mut()?.get_mut("data"))
        .filter(|data| data.is_string())
        .collect()
}

fn all_data_of(line: &mut Value) -> Vec<&mut Value> {
    match line {
        Value::Array(messages) => messages
            .iter_mut()
            .filter(|message| message.is_object())
            .flat_map(data_of)
            .collect(),
        message => data_of(message),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn nothing_is_lost_and_nothing_else_is_taken_out(
        tree in line_tree(),
        noise in vec(any::<u8>(), 1..60),
        cuts in vec(any::<Index>(), 0..10),
    ) {
        let line = Writer::written(&tree, &noise);
        let mut expected: Value = serde_json::from_str(&line).unwrap();
        let mut all = scanned(line.as_bytes(), &cuts);
        let Some(Incoming::Message { mut value, spooled }) = all.pop() else {
            return Err(TestCaseError::fail(format!("{line}: {all:?}")));
        };
        prop_assert!(all.is_empty());
        let wanted = all_data_of(&mut expected);
        let places = all_data_of(&mut value);
        prop_assert_eq!(wanted.len(), places.len());
        for (wanted, place) in wanted.into_iter().zip(places) {
            let index: usize = place.as_str().unwrap().parse().unwrap();
            let told = kept(&spooled[index]);
            let text = wanted.as_str().unwrap();
            let expected = Base64::check(text).map(|text| text.decode());
            prop_assert_eq!(told, expected.map_err(|error| error.to_string()));
            // What is left has to be equal.
            *wanted = Value::Null;
            *place = Value::Null;
        }
        prop_assert_eq!(value, expected);
    }

    #[test]
    fn a_line_is_json_if_serde_json_says_so(
        tree in line_tree(),
        noise in vec(any::<u8>(), 1..60),
        changes in vec((any::<Index>(), prop_oneof![
            any::<u8>(),
            select(b"\"\\{}[],:u0 ".to_vec()),
        ]), 0..3),
        end in prop_oneof![3 => Just(None), 1 => any::<Index>().prop_map(Some)],
        cuts in vec(any::<Index>(), 0..10),
    ) {
        let mut line = Writer::written(&tree, &noise).into_bytes();
        for (place, change) in changes {
            let place = place.index(line.len());
            line[place] = change;
        }
        if let Some(end) = end {
            line.truncate(end.index(line.len()));
        }
        line.retain(|&byte| byte != b'\n');
        let all = scanned(&line, &cuts);
        if line.iter().all(|byte| b" \t\r".contains(byte)) {
            prop_assert!(all.is_empty());
        } else {
            let is_json = serde_json::from_slice::<Value>(&line).is_ok();
            prop_assert_eq!(all.len(), 1);
            prop_assert_eq!(matches!(all[0], Incoming::Message { .. }), is_json, "{:?}", all);
        }
    }

    #[test]
    fn garbage_is_answered_line_by_line(
        bytes in prop_oneof![
            vec(any::<u8>(), 0..200),
            vec(select(b"\"\\{}[],:1ud \n\r".to_vec()), 0..200),
        ],
        cuts in vec(any::<Index>(), 0..10),
    ) {
        let lines = bytes.split(|&byte| byte == b'\n');
        let expected: Vec<bool> = lines
            .filter(|line| !line.iter().all(|byte| b" \t\r".contains(byte)))
            .map(|line| serde_json::from_slice::<Value>(line).is_ok())
            .collect();
        let told: Vec<bool> = scanned(&bytes, &cuts)
            .iter()
            .map(|incoming| matches!(incoming, Incoming::Message { .. }))
            .collect();
        prop_assert_eq!(told, expected);
    }
}
