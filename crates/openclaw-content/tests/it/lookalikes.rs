//! What characters may be taken for, by Unicode's own data and apart from the crate's table.

use std::collections::HashMap;
use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;
use unicode_security::confusable_detection::skeleton;

/// All that each character outside of ASCII may be taken for, as far as that is ASCII.
static READINGS: LazyLock<HashMap<char, Vec<String>>> = LazyLock::new(|| {
    // Beyond the first range are ideographs and syllables by the thousand.
    let numbers = (0x80..0x3400)
        .chain(0xA000..0xAC00)
        .chain(0xF000..0x1_0800)
        .chain(0x1_0C00..0x1_2000);
    let numbers = numbers.chain(0x1_6E00..0x1_7000).chain(0x1_CC00..0x1_FC00);
    let characters = numbers
        .filter_map(char::from_u32)
        .filter(|character| !is_combining_mark(*character));
    characters
        .map(|character| (character, readings(character)))
        .filter(|(_, all)| !all.is_empty())
        .collect()
});

fn readings(character: char) -> Vec<String> {
    let text = character.to_string();
    let compatible: String = text
        .nfkd()
        .filter(|part| !is_combining_mark(*part))
        .collect();
    let confusable: String = skeleton(&text)
        .filter(|part| !is_combining_mark(*part))
        .collect();
    let mut readings = vec![compatible.to_lowercase(), confusable.to_lowercase()];
    readings.retain(|reading| !reading.is_empty() && reading.is_ascii());
    readings.dedup();
    readings
}

/// What a character may be taken for, itself included.
pub(crate) fn of(character: char) -> Vec<String> {
    if character.is_ascii() {
        return vec![character.to_ascii_lowercase().to_string()];
    }
    READINGS.get(&character).cloned().unwrap_or_default()
}

/// The characters outside of ASCII that may be taken for one of ASCII.
pub(crate) fn like(character: char) -> Vec<char> {
    let wanted = character.to_ascii_lowercase().to_string();
    let confused = skeleton(&wanted).collect::<String>();
    let mut found: Vec<char> = READINGS
        .iter()
        .filter(|(_, readings)| readings.contains(&wanted) || readings.contains(&confused))
        .map(|(character, _)| *character)
        .collect();
    found.sort_unstable();
    found
}

/// Whether a text has a bracket and, behind it, letters that may be taken for a marker's.
///
/// Every reading of every character counts, and so does every bar as a letter.
pub(crate) fn has_marker(text: &str) -> bool {
    const NAME: &str = "externaluntrustedcontent";
    let characters: Vec<char> = text.chars().collect();
    let brackets = characters
        .iter()
        .enumerate()
        .filter(|(_, character)| is_angle(**character));
    brackets.into_iter().any(|(at, _)| {
        ["", "end"].iter().any(|before| {
            let name = folded(before) + &folded(NAME);
            let mut places = vec![0];
            for character in &characters[at + 1..] {
                if is_angle(*character) || matches!(character, '[' | ']') {
                    return false;
                }
                if is_combining_mark(*character) {
                    continue;
                }
                let mut next = Vec::new();
                if !character.is_alphanumeric() {
                    next.clone_from(&places);
                }
                for reading in of(*character).iter().map(|reading| folded(reading)) {
                    let fits = places.iter().filter(|place| {
                        !reading.is_empty() && name[**place..].starts_with(&reading)
                    });
                    next.extend(fits.map(|place| place + reading.len()));
                }
                if next.contains(&name.len()) {
                    return true;
                }
                if next.is_empty() {
                    return false;
                }
                next.sort_unstable();
                next.dedup();
                places = next;
            }
            false
        })
    })
}

fn folded(text: &str) -> String {
    text.replace(['i', '1', '|'], "l")
        .replace('0', "o")
        .replace('m', "rn")
}

fn is_angle(character: char) -> bool {
    "<>«»‹›⟨⟩⟪⟫《》〈〉❮❯❬❭❰❱＜＞﹤﹥".contains(character)
        || of(character)
            .iter()
            .any(|reading| matches!(reading.as_str(), "<" | ">" | "<<" | ">>"))
}
