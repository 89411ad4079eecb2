//! QR codes, for a person whose browser is on their phone.

use std::fmt;

use qrcode::types::Color;
use qrcode::{EcLevel, QrCode};

use crate::Page;

/// The width of the light border, in modules. The standard asks for four; cameras are content with
/// two, and on a terminal every line counts.
const BORDER: usize = 2;

/// Black on white, whatever the terminal's own colours are: these two of the 256 are in no theme.
const BLACK_ON_WHITE: &str = "\u{1b}[38;5;16;48;5;231m";
const RESET: &str = "\u{1b}[0m";

/// Why there is no code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoCode {
    /// Nobody looks.
    NoTerminal,
    /// A code of any size can't hold it.
    TooLong,
    /// It would be cut off, or have to be scrolled, and no camera takes half of one.
    NoRoom {
        /// How many columns it needs.
        columns: usize,
        /// How many lines it needs.
        lines: usize,
    },
}

impl fmt::Display for NoCode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoTerminal => formatter.write_str("there is no terminal to show a QR code on"),
            Self::TooLong => formatter.write_str("the address is too long for a QR code"),
            Self::NoRoom { columns, lines } => write!(
                formatter,
                "the QR code of the address needs a terminal of {columns} columns and {lines} lines"
            ),
        }
    }
}

/// A text as a QR code, on a page that shows so many lines at once.
///
/// It corrects few errors, because a screen has no scratches and addresses are long.
pub fn code(text: &str, page: Page, lines: Option<usize>) -> Result<String, NoCode> {
    let width = page.width.ok_or(NoCode::NoTerminal)?;
    let code = QrCode::with_error_correction_level(text, EcLevel::L);
    let modules = Modules::new(&code.map_err(|_| NoCode::TooLong)?);
    // One line is left for what is written below it.
    let room = lines.map_or(usize::MAX, |lines| lines.saturating_sub(1));
    if modules.width() > width || modules.lines() > room {
        return Err(NoCode::NoRoom {
            columns: modules.width(),
            lines: modules.lines() + 1,
        });
    }
    Ok(modules.text(page.coloured))
}

/// The squares of a code with its border.
struct Modules {
    inner: usize,
    dark: Vec<bool>,
}

impl Modules {
    fn new(code: &QrCode) -> Self {
        let colours = code.to_colors();
        Self {
            inner: code.width(),
            dark: colours.iter().map(|it| *it == Color::Dark).collect(),
        }
    }

    /// How many columns it takes, one for each square.
    fn width(&self) -> usize {
        self.inner + 2 * BORDER
    }

    /// How many lines it takes, one for two squares.
    fn lines(&self) -> usize {
        self.width().div_ceil(2)
    }

    /// Whether a square is dark. What is outside of the code is not.
    fn is_dark(&self, column: usize, row: usize) -> bool {
        let place = |value: usize| {
            let value = value.checked_sub(BORDER)?;
            (value < self.inner).then_some(value)
        };
        match (place(column), place(row)) {
            (Some(column), Some(row)) => self
                .dark
                .get(row * self.inner + column)
                .copied()
                .unwrap_or(false),
            _ => false,
        }
    }

    fn text(&self, coloured: bool) -> String {
        let mut text = String::new();
        for line in 0..self.lines() {
            if coloured {
                text.push_str(BLACK_ON_WHITE);
            }
            for column in 0..self.width() {
                let (upper, lower) = (2 * line, 2 * line + 1);
                let dark = (self.is_dark(column, upper), self.is_dark(column, lower));
                // Without colours the light squares are drawn, because most terminals are dark. On
                // a light one the code is a negative, which most cameras take.
                let drawn = if coloured { dark } else { (!dark.0, !dark.1) };
                text.push(match drawn {
                    (true, true) => '█',
                    (true, false) => '▀',
                    (false, true) => '▄',
                    (false, false) => ' ',
                });
            }
            if coloured {
                text.push_str(RESET);
            }
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Speech;

    /// How many dots a square has on each side.
    const DOTS: usize = 3;

    fn page(coloured: bool) -> Page {
        Page {
            width: Some(400),
            coloured,
            speech: Speech::Shell,
        }
    }

    /// An address as logins have them, of so many characters.
    fn address(length: usize) -> String {
        let beginning = "https://auth.example.com/oauth2/v1/authorize?response_type=code&client_id=\
                         3f0c6a52-58c4-4c53-9d6c-0f5f2b8f9b11&code_challenge_method=S256\
                         &redirect_uri=http%3A%2F%2F127.0.0.1%3A51234%2Fcallback&state=";
        let filling = "iV9tq-Xn_3bT0aZr7kLwPe5SdYhQ".chars().cycle();
        beginning.chars().chain(filling).take(length).collect()
    }

    /// What a camera sees of a code: whether each square is light.
    fn seen(text: &str, coloured: bool) -> Vec<Vec<bool>> {
        let mut rows = Vec::new();
        for line in text.lines() {
            let line = if coloured {
                let line = line.strip_prefix(BLACK_ON_WHITE).unwrap();
                line.strip_suffix(RESET).unwrap()
            } else {
                line
            };
            // Drawn in black on white, or in light on the dark of the terminal.
            let shade = |is_drawn: bool| is_drawn != coloured;
            let row = |full: [char; 2]| -> Vec<bool> {
                let characters = line.chars();
                characters.map(|it| shade(full.contains(&it))).collect()
            };
            rows.push(row(['█', '▀']));
            rows.push(row(['█', '▄']));
        }
        rows
    }

    /// What a camera reads, if it reads anything. Around the code is the terminal.
    fn scanned(text: &str, coloured: bool, is_terminal_light: bool) -> Option<String> {
        const AROUND: usize = 8;
        let rows = seen(text, coloured);
        let side = |squares: usize| (squares + 2 * AROUND) * DOTS;
        let (width, height) = (side(rows[0].len()), side(rows.len()));
        let is_light = |x: usize, y: usize| {
            let square = |dot: usize| (dot / DOTS).checked_sub(AROUND);
            let square = (square(y), square(x));
            let (Some(row), Some(column)) = square else {
                return is_terminal_light;
            };
            let row = rows.get(row).and_then(|row| row.get(column));
            row.copied().unwrap_or(is_terminal_light)
        };
        let mut image = rqrr::PreparedImage::prepare_from_greyscale(width, height, |x, y| {
            if is_light(x, y) { 240 } else { 20 }
        });
        let grids = image.detect_grids();
        let (_, content) = grids.first()?.decode().ok()?;
        Some(content)
    }

    #[test]
    fn a_code_can_be_scanned_from_every_terminal() {
        for length in [60, 500, 1500] {
            let text = address(length);
            let coloured = code(&text, page(true), None).unwrap();
            for is_terminal_light in [false, true] {
                let read = scanned(&coloured, true, is_terminal_light);
                assert_eq!(read.as_deref(), Some(text.as_str()), "{length}");
            }
            let plain = code(&text, page(false), None).unwrap();
            assert!(!plain.contains('\u{1b}'));
            let read = scanned(&plain, false, false);
            assert_eq!(read.as_deref(), Some(text.as_str()), "{length}");
        }
    }

    #[test]
    fn a_code_is_left_out_where_it_would_be_cut_off() {
        let text = address(500);
        let needed = NoCode::NoRoom {
            columns: 81,
            lines: 42,
        };
        let fits = |width, lines| {
            let page = Page {
                width,
                coloured: false,
                speech: Speech::Shell,
            };
            code(&text, page, lines).map(drop)
        };
        assert_eq!(fits(Some(81), Some(42)), Ok(()));
        assert_eq!(fits(Some(81), None), Ok(()));
        assert_eq!(fits(Some(80), Some(42)), Err(needed));
        assert_eq!(fits(Some(200), Some(41)), Err(needed));
        assert_eq!(fits(None, None), Err(NoCode::NoTerminal));
        assert_eq!(
            needed.to_string(),
            "the QR code of the address needs a terminal of 81 columns and 42 lines"
        );
    }

    #[test]
    fn what_no_code_holds_is_told_apart() {
        let text = address(3000);
        assert_eq!(code(&text, page(true), None), Err(NoCode::TooLong));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn a_code_has_the_size_that_was_measured(
            text in "\\PC{0,40}",
            width in 20_usize..60,
            lines in 10_usize..30,
        ) {
            let page = Page { width: Some(width), coloured: false, speech: Speech::Shell };
            match code(&text, page, Some(lines)) {
                Ok(shown) => {
                    prop_assert!(shown.lines().count() < lines);
                    for line in shown.lines() {
                        prop_assert!(line.chars().count() <= width);
                    }
                }
                Err(NoCode::NoRoom { columns, lines: needed }) => {
                    let page = Page { width: Some(columns), coloured: false, speech: Speech::Shell };
                    prop_assert!(columns > width || needed > lines);
                    prop_assert!(code(&text, page, Some(needed)).is_ok());
                }
                Err(other) => prop_assert!(false, "{other}"),
            }
        }
    }
}
