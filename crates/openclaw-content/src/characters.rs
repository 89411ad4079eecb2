//! What each character is, or looks like.

mod lookalikes;

use std::sync::LazyLock;

use lookalikes::{COMBINING, LETTERS, SIGNS};

/// What a character is to whoever looks for forgeries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// None of the others.
    Plain,
    /// The end of a line, other than a line feed.
    Break,
    /// Not shown, or changes how its neighbours are shown.
    Invisible,
    /// Stands on or under another character.
    Combining,
    /// `<` or what looks like it.
    OpenAngle,
    /// `>` or what looks like it.
    CloseAngle,
    /// `[` or what looks like it.
    OpenSquare,
    /// `]` or what looks like it.
    CloseSquare,
    /// `|` or what looks like it.
    Bar,
    /// `/` or what looks like it.
    Slash,
    /// One or more letters or digits of ASCII, in small letters, or what looks like them; or
    /// [`LONG_S`].
    Letters(&'static str),
}

/// Set for bytes that may begin something to be stripped.
pub(crate) const STRIPPED: u8 = 1;

/// Set for bytes that may begin a bracket with which a forgery begins.
pub(crate) const BRACKET: u8 = 2;

/// Characters in a page of the table.
const PAGE: usize = 256;

/// Pages that a table of all characters has.
const PAGES: usize = 0x11_0000 / PAGE;

/// Brackets that look like `<`, beside those that Unicode's data of look-alikes names.
const OPEN_ANGLES: &str = "<«‹〈⟨⟪⟬⟮❬❰《〈⋘≺⊰⋖⧼⦑⦓⦕⪡⫷◁◀◂◃◄◅⊲⏴˱";

/// Brackets that look like `>`, beside those that Unicode's data of look-alikes names.
const CLOSE_ANGLES: &str = ">»›〉⟩⟫⟭⟯❭❱》〉⋙≻⊱⋗⧽⦒⦔⦖⪢⫸▷▶▸▹►▻⊳⏵˲➤";

/// Brackets that look like `[`.
const OPEN_SQUARES: &str = "[［⁅⟦【〖〚⦋⦍⦏⎡⎢⎣";

/// Brackets that look like `]`.
const CLOSE_SQUARES: &str = "]］⁆⟧】〗〛⦌⦎⦐⎤⎥⎦";

/// What looks like `|`.
const BARS: &str = "|｜￨¦│┃┆┇┊┋╎╏║❘❙❚⎪⏐▏▕❲❳";

/// What looks like `/`.
const SLASHES: &str = "/／⁄∕╱⧸⟋";

/// Letters that Unicode's data does not count as look-alikes and that are used as such.
const FURTHER_LETTERS: &[(&str, &str)] = &[
    ("a", "ᴀДдΛλΔ∀Ꭺ"),
    ("b", "ʙвВßΒ"),
    ("c", "ᴄϹϲ€©¢"),
    ("d", "ᴅ"),
    ("e", "ᴇΣεℇ∃єЄ"),
    ("f", "ꜰ"),
    ("g", "ɢ"),
    ("h", "ʜнН"),
    ("i", "ɪ"),
    ("j", "ᴊ"),
    ("k", "ᴋкκ"),
    ("l", "ʟ£"),
    ("m", "ᴍм"),
    ("n", "ɴИиПпηπΠ"),
    ("o", "ᴏθΘ"),
    ("p", "ᴘ"),
    ("r", "ʀЯя®гᴦ"),
    ("s", "ꜱ§"),
    ("t", "ᴛтτ†"),
    ("u", "ᴜЦцμµ∪"),
    ("v", "ᴠ"),
    ("w", "ᴡωшШ"),
    ("x", "хχ×✕✖"),
    ("y", "ʏ"),
    ("z", "ᴢ"),
];

/// The long s, which is an `s` by its meaning and an `f` by its looks.
pub(crate) const LONG_S: &str = "~";

const LONG_S_CHARACTERS: &str = "ſẛ";

/// Where alphabets begin that are letters in circles, squares and flags.
const ALPHABETS: [u32; 3] = [0x1_F150, 0x1_F170, 0x1_F1E6];

const ALPHABET: &str = "abcdefghijklmnopqrstuvwxyz";

/// The kinds of all characters.
pub(crate) struct Table {
    /// What a byte may begin.
    first_bytes: [u8; 256],
    /// For each page, which of `pages` it is.
    index: Vec<u8>,
    /// For each character of a page, which of `kinds` it is.
    pages: Vec<[u8; PAGE]>,
    kinds: Vec<Kind>,
}

static TABLE: LazyLock<Table> = LazyLock::new(Table::build);

/// The table, built when it is first used.
pub(crate) fn table() -> &'static Table {
    &TABLE
}

impl Table {
    /// What a character is.
    #[inline]
    pub(crate) fn kind(&self, character: char) -> Kind {
        let number = character as usize;
        let page = self.index.get(number / PAGE).copied().unwrap_or(0);
        let kind = self
            .pages
            .get(usize::from(page))
            .map_or(0, |page| page[number % PAGE]);
        self.kinds
            .get(usize::from(kind))
            .copied()
            .unwrap_or(Kind::Plain)
    }

    /// The next place, at `from` or behind it, where something of `wanted` may begin.
    #[inline]
    pub(crate) fn next(&self, bytes: &[u8], from: usize, wanted: u8) -> Option<usize> {
        let rest = bytes.get(from..)?;
        let mut chunks = rest.chunks_exact(16);
        let mut position = from;
        for chunk in &mut chunks {
            let any = chunk
                .iter()
                .fold(0, |any, byte| any | self.first_bytes[usize::from(*byte)]);
            if any & wanted != 0 {
                break;
            }
            position += 16;
        }
        let tail = bytes.get(position..)?;
        let found = tail
            .iter()
            .position(|byte| self.first_bytes[usize::from(*byte)] & wanted != 0);
        found.map(|offset| position + offset)
    }

    fn build() -> Self {
        let mut table = Self {
            first_bytes: [0; 256],
            index: vec![0; PAGES],
            pages: vec![[0; PAGE]],
            kinds: vec![Kind::Plain],
        };
        table.add_signs();
        table.add_letters();
        for (first, last) in COMBINING {
            table.add(*first..=*last, Kind::Combining);
        }
        table
    }

    /// Everything that is not a letter; what comes first counts.
    fn add_signs(&mut self) {
        for (first, last) in BREAKS {
            self.add(*first..=*last, Kind::Break);
        }
        for (first, last) in INVISIBLE {
            self.add(*first..=*last, Kind::Invisible);
        }
        for plane in 0..=16 {
            let last = plane << 16 | 0xFFFF;
            self.add(last - 1..=last, Kind::Invisible);
        }
        for (kind, members) in [
            (Kind::OpenAngle, OPEN_ANGLES),
            (Kind::CloseAngle, CLOSE_ANGLES),
            (Kind::OpenSquare, OPEN_SQUARES),
            (Kind::CloseSquare, CLOSE_SQUARES),
            (Kind::Bar, BARS),
            (Kind::Slash, SLASHES),
        ] {
            self.add(members.chars().map(u32::from), kind);
        }
        for (sign, members) in SIGNS {
            let kind = match sign {
                '<' => Kind::OpenAngle,
                '>' => Kind::CloseAngle,
                '[' => Kind::OpenSquare,
                ']' => Kind::CloseSquare,
                '/' => Kind::Slash,
                _ => Kind::Bar,
            };
            self.add(members.iter().copied(), kind);
        }
    }

    fn add_letters(&mut self) {
        for characters in ["abcdefghijklmnopqrstuvwxyz", "0123456789"] {
            for (at, character) in characters.char_indices() {
                let kind = Kind::Letters(characters.get(at..=at).unwrap_or_default());
                self.add(
                    [character, character.to_ascii_uppercase()].map(u32::from),
                    kind,
                );
            }
        }
        self.add(
            LONG_S_CHARACTERS.chars().map(u32::from),
            Kind::Letters(LONG_S),
        );
        for (letters, members) in LETTERS {
            self.add(members.iter().copied(), Kind::Letters(letters));
        }
        for (letters, members) in FURTHER_LETTERS {
            self.add(members.chars().map(u32::from), Kind::Letters(letters));
        }
        for first in ALPHABETS {
            for (number, at) in (first..).zip(0..ALPHABET.len()) {
                self.add(
                    [number],
                    Kind::Letters(ALPHABET.get(at..=at).unwrap_or_default()),
                );
            }
        }
    }

    /// The number of a kind.
    fn number(&mut self, kind: Kind) -> u8 {
        let known = self.kinds.iter().position(|known| *known == kind);
        let number = known.unwrap_or_else(|| {
            self.kinds.push(kind);
            self.kinds.len() - 1
        });
        u8::try_from(number).unwrap_or(0)
    }

    /// Says what characters are, unless that has been said.
    fn add(&mut self, members: impl IntoIterator<Item = u32>, kind: Kind) {
        let kind_number = self.number(kind);
        let flags = match kind {
            Kind::Break | Kind::Invisible => STRIPPED,
            Kind::OpenAngle | Kind::CloseAngle | Kind::OpenSquare => BRACKET,
            _ => 0,
        };
        for character in members.into_iter().filter_map(char::from_u32) {
            let at = character as usize;
            let page = &mut self.index[at / PAGE];
            if *page == 0 {
                *page = u8::try_from(self.pages.len()).unwrap_or(0);
                self.pages.push([0; PAGE]);
            }
            let entry = &mut self.pages[usize::from(*page)][at % PAGE];
            if *entry == 0 {
                *entry = kind_number;
                let first_byte = character.encode_utf8(&mut [0; 4]).as_bytes()[0];
                self.first_bytes[usize::from(first_byte)] |= flags;
            }
        }
    }
}

/// Ends of lines: vertical tab, form feed, carriage return, next line, line and paragraph separator.
const BREAKS: &[(u32, u32)] = &[(0x0B, 0x0D), (0x85, 0x85), (0x2028, 0x2029)];

/// Control characters other than line feed and tab, and what is not shown or changes the direction
/// of its neighbours: Unicode's default ignorable characters, tags, fillers and format controls.
const INVISIBLE: &[(u32, u32)] = &[
    (0x00, 0x08),
    (0x0E, 0x1F),
    (0x7F, 0x9F),
    (0xAD, 0xAD),
    (0x34F, 0x34F),
    (0x61C, 0x61C),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x200B, 0x200F),
    (0x202A, 0x202E),
    (0x2060, 0x206F),
    (0x3164, 0x3164),
    (0xFDD0, 0xFDEF),
    (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFFB),
    (0x1_3430, 0x1_345F),
    (0x1_BCA0, 0x1_BCA3),
    (0x1_D173, 0x1_D17A),
    (0xE_0000, 0xE_0FFF),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn look_alikes_are_what_they_look_like() {
        for (character, kind) in [
            ('E', Kind::Letters("e")),
            ('Е', Kind::Letters("e")),
            ('Ｅ', Kind::Letters("e")),
            ('𝐄', Kind::Letters("e")),
            ('é', Kind::Letters("e")),
            ('Τ', Kind::Letters("t")),
            ('ﬆ', Kind::Letters("st")),
            ('🅔', Kind::Letters("e")),
            ('＜', Kind::OpenAngle),
            ('«', Kind::OpenAngle),
            ('❯', Kind::CloseAngle),
            ('｜', Kind::Bar),
            ('\u{301}', Kind::Combining),
            ('\u{200b}', Kind::Invisible),
            ('\u{e0041}', Kind::Invisible),
            ('\r', Kind::Break),
            ('\n', Kind::Plain),
            ('\t', Kind::Plain),
            ('字', Kind::Plain),
        ] {
            assert_eq!(table().kind(character), kind, "{character:?}");
        }
    }

    #[test]
    fn the_numbers_of_kinds_and_pages_fit() {
        assert!(table().kinds.len() <= 256, "{} kinds", table().kinds.len());
        assert!(table().pages.len() <= 256, "{} pages", table().pages.len());
    }

    #[test]
    fn ordinary_alphabets_are_passed_over_without_a_look() {
        for character in "aя漢語한ñ".chars() {
            let first = character.encode_utf8(&mut [0; 4]).as_bytes()[0];
            assert_eq!(table().first_bytes[usize::from(first)], 0, "{character}");
        }
    }
}
