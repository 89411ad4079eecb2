//! The encodings in which a secret must not be found, written independently of the crate.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, utf8_percent_encode};

/// The characters that `encodeURIComponent` leaves as they are.
const COMPONENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'!')
    .remove(b'~')
    .remove(b'*')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')');

const MINIMAL: &AsciiSet = &CONTROLS.add(b' ').add(b'%');

/// Returns a value in every encoding that stands for it alone.
pub(crate) fn of(value: &str) -> Vec<String> {
    let json = json(value);
    let slashes = json.replace('/', "\\/");
    let ascii = ascii_json(value, |unit| format!("\\u{unit:04x}"));
    let capital = ascii_json(value, |unit| format!("\\u{unit:04X}"));
    let minimal = utf8_percent_encode(value, MINIMAL).to_string();
    let component = utf8_percent_encode(value, COMPONENT).to_string();
    let alphanumeric = utf8_percent_encode(value, NON_ALPHANUMERIC).to_string();
    let form = form(value);
    let html = json
        .replace('<', "\\u003C")
        .replace('>', "\\u003e")
        .replace('\'', "\\u0027");
    let debug = format!("{value:?}");
    let debug = debug[1..debug.len() - 1].to_owned();
    let all = by_byte(value, |byte| format!("%{byte:02X}"));
    let hex = by_byte(value, |byte| format!("{byte:02x}"));
    vec![
        value.to_owned(),
        utf8_percent_encode(&component, COMPONENT).to_string(),
        utf8_percent_encode(&json, COMPONENT).to_string(),
        self::json(&json),
        self::json(&ascii),
        self::json(&slashes),
        json,
        slashes,
        ascii,
        capital,
        small_hex(&minimal),
        minimal,
        small_hex(&component),
        component,
        alphanumeric,
        html,
        small_hex(&form),
        form,
        small_hex(&all),
        all,
        hex.to_uppercase(),
        hex,
        STANDARD.encode(value),
        STANDARD_NO_PAD.encode(value),
        URL_SAFE.encode(value),
        URL_SAFE_NO_PAD.encode(value),
        debug,
    ]
}

/// Returns the characters of base64 that stand for a value inside a longer text.
pub(crate) fn inside_base64(value: &str) -> Vec<String> {
    let mut encoded = Vec::new();
    for offset in 0..3 {
        // Two different neighbourhoods: what they have in common depends on the value alone.
        for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
            let zeros = engine.encode([&[0; 3][..offset], value.as_bytes(), &[0; 3]].concat());
            let ones = engine.encode([&[255; 3][..offset], value.as_bytes(), &[255; 3]].concat());
            let common = zeros.bytes().zip(ones.bytes());
            encoded.push(
                common
                    .skip_while(|(zero, one)| zero != one)
                    .take_while(|(zero, one)| zero == one)
                    .map(|(zero, _)| char::from(zero))
                    .collect(),
            );
        }
    }
    encoded
}

fn json(value: &str) -> String {
    let quoted = serde_json::Value::from(value).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// What Python writes: all that is not printable ASCII is a number.
fn ascii_json(value: &str, number: impl Fn(u16) -> String) -> String {
    let mut text = String::new();
    for character in value.chars() {
        match character {
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '\u{8}' => text.push_str("\\b"),
            '\u{c}' => text.push_str("\\f"),
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            ' '..='~' => text.push(character),
            _ => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    text.push_str(&number(*unit));
                }
            }
        }
    }
    text
}

fn form(value: &str) -> String {
    by_byte(value, |byte| match byte {
        b' ' => "+".to_owned(),
        b'*' | b'-' | b'.' | b'_' => char::from(byte).to_string(),
        _ if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    })
}

fn by_byte(value: &str, write: impl Fn(u8) -> String) -> String {
    value.bytes().map(write).collect()
}

fn small_hex(text: &str) -> String {
    let mut small = String::new();
    let mut digits = 0;
    for character in text.chars() {
        if digits > 0 {
            digits -= 1;
            small.push(character.to_ascii_lowercase());
        } else {
            small.push(character);
            if character == '%' {
                digits = 2;
            }
        }
    }
    small
}
