//! The generated table of look-alikes, held to the Unicode data it is made of.

use std::collections::BTreeMap;
use std::path::Path;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;
use unicode_security::confusable_detection::skeleton;

/// Set to write the table instead of comparing it.
const UPDATE: &str = "OPENCLAW_UPDATE_TABLES";

/// What letters are told from, beside letters and digits.
const SIGNS: [char; 6] = ['<', '>', '[', ']', '|', '/'];

/// Where characters that look like others end; beyond are ideographs and what is never shown.
const END: u32 = 0x2_0000;

fn characters() -> impl Iterator<Item = char> {
    (0x80..END).filter_map(char::from_u32)
}

/// Everything a character may be taken for, the closest first.
fn readings(character: char) -> Vec<String> {
    let text = character.to_string();
    let compatible: String = text.nfkd().collect();
    let confusable: String = skeleton(&text).collect();
    let mut readings = vec![
        compatible.clone(),
        confusable.clone(),
        confusable.nfkd().collect(),
        skeleton(&compatible).collect(),
        skeleton(&text.to_lowercase()).collect(),
        skeleton(&text.to_uppercase()).collect(),
    ];
    for reading in &mut readings {
        *reading = reading
            .chars()
            .filter(|part| !is_combining_mark(*part))
            .collect::<String>()
            .to_lowercase();
    }
    readings
}

/// The letters and digits that a character may be taken for.
fn letters(character: char) -> Option<String> {
    readings(character).into_iter().find_map(|reading| {
        let bare = reading.replace(['(', ')', '.', ','], "");
        let letters = !bare.is_empty() && bare.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let digits = bare.len() > 1 && bare.bytes().all(|byte| byte.is_ascii_digit());
        (letters && !digits && bare.len() <= 4).then_some(bare)
    })
}

/// The bracket, bar or stroke that a character may be taken for.
fn sign(character: char) -> Option<char> {
    let readings = readings(character);
    // The first reading is by compatibility: what is a letter in another shape is no bar.
    let is_letter = readings[0].bytes().all(|byte| byte.is_ascii_alphanumeric());
    let like_bar = readings.iter().any(|reading| reading == "l") && !is_letter;
    if like_bar && !character.is_alphanumeric() {
        return Some('|');
    }
    readings.iter().find_map(|reading| {
        let first = reading
            .chars()
            .next()
            .filter(|first| SIGNS.contains(first))?;
        reading.chars().all(|part| part == first).then_some(first)
    })
}

/// Writes one group, on one line where there is room.
fn group(out: &mut String, name: &str, members: &[String]) {
    let line = format!("    ({name}, &[{}]),", members.join(", "));
    if line.len() <= 100 {
        out.push_str(&format!("{line}\n"));
    } else {
        out.push_str(&format!("    ({name}, &[\n"));
        numbers(out, members);
        out.push_str("    ]),\n");
    }
}

fn numbers(out: &mut String, numbers: &[String]) {
    let mut line = String::from("       ");
    for number in numbers {
        if line.len() + number.len() + 2 > 100 {
            out.push_str(&format!("{line}\n"));
            line = String::from("       ");
        }
        line.push_str(&format!(" {number},"));
    }
    out.push_str(&format!("{line}\n"));
}

fn table() -> String {
    let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut signs: BTreeMap<char, Vec<String>> = BTreeMap::new();
    for character in characters().filter(|character| !is_combining_mark(*character)) {
        let number = format!("0x{:X}", u32::from(character));
        if let Some(sign) = sign(character) {
            signs.entry(sign).or_default().push(number);
        } else if let Some(letters) = letters(character) {
            groups.entry(letters).or_default().push(number);
        }
    }
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for number in characters()
        .filter(|character| is_combining_mark(*character))
        .map(u32::from)
    {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    let ranges: Vec<String> = ranges
        .iter()
        .map(|(first, last)| format!("(0x{first:X}, 0x{last:X})"))
        .collect();

    let mut out = String::from(
        "//! Which characters look like letters, digits and brackets. Generated: see `tests/it/tables.rs`.\n\n\
         /// What looks like letters and digits: the letters, and the characters.\n\
         #[rustfmt::skip]\n\
         pub(super) static LETTERS: &[(&str, &[u32])] = &[\n",
    );
    for (letters, members) in &groups {
        group(&mut out, &format!("\"{letters}\""), members);
    }
    out.push_str(
        "];\n\n\
         /// What looks like a bracket, a bar or a stroke: the sign, and the characters.\n\
         #[rustfmt::skip]\n\
         pub(super) static SIGNS: &[(char, &[u32])] = &[\n",
    );
    for (sign, members) in &signs {
        group(&mut out, &format!("'{sign}'"), members);
    }
    out.push_str(
        "];\n\n\
         /// What stands on or under another character: first and last of each range.\n\
         #[rustfmt::skip]\n\
         pub(super) static COMBINING: &[(u32, u32)] = &[\n",
    );
    numbers(&mut out, &ranges);
    out.push_str("];\n");
    out
}

#[test]
fn the_table_of_look_alikes_is_what_unicode_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/characters/lookalikes.rs");
    let table = table();
    if std::env::var_os(UPDATE).is_some() {
        std::fs::write(&path, &table).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == table,
        "the table is not what the Unicode data gives: run this test with {UPDATE}=1"
    );
}
