//! Where a word begins and ends.

/// How much of a word is looked at, in bytes: nobody means more by it.
const LONGEST: usize = 64;

/// A word of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// The word in lower case.
    pub text: String,
    /// Where it begins in the text, in bytes.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
}

/// The words of a text: `readTextFile2`, `read_text_file_2` and `Read text file 2` have the same.
///
/// Scripts that are written without spaces come in runs, each of which is one word here.
pub fn words(text: &str) -> Vec<Word> {
    let mut found = Vec::new();
    each_word(text, |word, start, end| {
        let text = word.to_owned();
        found.push(Word { text, start, end });
    });
    found
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Between,
    Lower,
    Upper,
    Digit,
    /// Of a script without spaces between words.
    Unspaced,
}

/// Hands over every word in lower case, with where it begins and ends.
pub(crate) fn each_word(text: &str, mut take: impl FnMut(&str, usize, usize)) {
    let mut lower = String::new();
    let mut start = 0;
    let mut before = Kind::Between;
    // Where the last character began: in `HTTPServer` the second word begins there.
    let mut last = 0;
    for (at, character) in text.char_indices() {
        let kind = kind(character);
        // A capital after a small letter begins a word; a small letter after two capitals shows that
        // the second of them did.
        let ends = match (before, kind) {
            (Kind::Between, _) | (Kind::Upper, Kind::Lower) => false,
            (before, kind) => before != kind,
        };
        if ends {
            emit(text, start, at, &mut lower, &mut take);
        } else if before == Kind::Upper && kind == Kind::Lower && last > start {
            emit(text, start, last, &mut lower, &mut take);
            start = last;
        }
        if ends || before == Kind::Between {
            start = at;
        }
        last = at;
        before = kind;
    }
    if before != Kind::Between {
        emit(text, start, text.len(), &mut lower, &mut take);
    }
}

fn emit(
    text: &str,
    start: usize,
    end: usize,
    lower: &mut String,
    take: &mut impl FnMut(&str, usize, usize),
) {
    lower.clear();
    let word = text.get(start..end).unwrap_or_default();
    if word.len() <= LONGEST && word.is_ascii() {
        lower.push_str(word);
        lower.make_ascii_lowercase();
        take(lower, start, end);
        return;
    }
    for character in word.chars() {
        if lower.len() >= LONGEST {
            break;
        }
        lower.extend(character.to_lowercase());
    }
    if !lower.is_empty() {
        take(lower, start, end);
    }
}

fn kind(character: char) -> Kind {
    match character {
        'a'..='z' => Kind::Lower,
        'A'..='Z' => Kind::Upper,
        '0'..='9' => Kind::Digit,
        _ if character.is_ascii() => Kind::Between,
        _ if is_unspaced(character) => Kind::Unspaced,
        _ if character.is_uppercase() => Kind::Upper,
        _ if character.is_numeric() => Kind::Digit,
        _ if character.is_alphabetic() => Kind::Lower,
        _ => Kind::Between,
    }
}

/// Whether words of this character's script are written without spaces between them.
pub(crate) fn is_unspaced(character: char) -> bool {
    character.is_alphanumeric()
        && matches!(
            u32::from(character),
            0x0E00..=0x0EFF // Thai, Lao
                | 0x1000..=0x109F // Myanmar
                | 0x1100..=0x11FF // Hangul, decomposed
                | 0x1780..=0x17FF // Khmer
                | 0x3005..=0x3007
                | 0x3040..=0x31FF // Hiragana, Katakana, Bopomofo
                | 0x3400..=0x4DBF
                | 0x4E00..=0x9FFF // Han
                | 0xAC00..=0xD7AF // Hangul
                | 0xF900..=0xFAFF
                | 0xFF66..=0xFF9F
                | 0x20000..=0x3FFFF
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<String> {
        words(text).into_iter().map(|word| word.text).collect()
    }

    #[test]
    fn names_are_split_however_they_are_spelled() {
        for spelling in [
            "readTextFile2",
            "read_text_file_2",
            "Read-Text.FILE/2",
            "READ text File2",
        ] {
            assert_eq!(split(spelling), ["read", "text", "file", "2"], "{spelling}");
        }
        assert_eq!(split("HTTPServer"), ["http", "server"]);
        assert_eq!(split("parseURL"), ["parse", "url"]);
        assert_eq!(split("sha256sum"), ["sha", "256", "sum"]);
        assert_eq!(split("A"), ["a"]);
        assert_eq!(split("aB"), ["a", "b"]);
        assert_eq!(split("ABc"), ["a", "bc"]);
        assert_eq!(split(" _-! "), Vec::<String>::new());
    }

    #[test]
    fn other_scripts_have_words_too() {
        assert_eq!(split("Größe ÄNDERN"), ["größe", "ändern"]);
        assert_eq!(split("Прочитай файл"), ["прочитай", "файл"]);
        assert_eq!(split("读取文件read"), ["读取文件", "read"]);
    }

    #[test]
    fn places_are_those_of_the_text() {
        let text = "Ünï readFile";
        for word in words(text) {
            let there = &text[word.start..word.end];
            assert_eq!(there.to_lowercase(), word.text);
        }
    }

    #[test]
    fn an_endless_word_is_cut() {
        let word = &words(&"x".repeat(1_000_000))[0];
        assert_eq!((word.text.len(), word.end), (64, 1_000_000));
    }
}
