//! From letters and where they stand to words and lines.
//!
//! Letters are taken in the order in which they are drawn, which is the order of reading with nearly
//! everything that writes documents, columns included. Spaces and line ends often are not drawn: they
//! are seen from the distances.

use hayro_interpret::kurbo::{Point, Vec2};

/// A gap of so much of a letter's height is a space.
const SPACE: f64 = 0.15;
/// A step across the line of so much of a letter's height begins another line.
const LINE: f64 = 0.6;
/// One of so much begins another paragraph.
const PARAGRAPH: f64 = 1.8;
/// The least cosine between the directions of two letters of a line.
const STRAIGHT: f64 = 0.7;

/// A letter, or several that are drawn as one.
pub(super) struct Placed<'t> {
    pub(super) text: &'t str,
    /// Where it begins on its line.
    pub(super) start: Point,
    /// Where the next one would begin.
    pub(super) end: Point,
    /// The direction of its line, of any length: one that takes no room has it as well.
    pub(super) along: Vec2,
    pub(super) height: f64,
}

/// What stands between pages.
const BETWEEN: &str = "\n\n";

/// The text of a document, as it grows.
pub(super) struct Lines {
    /// The page as it grows.
    text: String,
    /// How much room there is for it.
    limit: usize,
    /// Whether there was text before this page.
    has_begun: bool,
    is_cut: bool,
    /// Where the last letter ended, in which direction it went, and its height.
    last: Option<(Point, Vec2, f64)>,
}

impl Lines {
    /// A text of at most so many bytes.
    pub(super) fn at_most(limit: usize) -> Self {
        Self {
            text: String::new(),
            limit,
            has_begun: false,
            is_cut: false,
            last: None,
        }
    }

    /// Whether something was left out.
    pub(super) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Ends a page: what it adds to the text, as a paragraph of its own. Lines have no spaces at their
    /// ends.
    pub(super) fn end_page(&mut self) -> String {
        self.last = None;
        let written = std::mem::take(&mut self.text);
        let mut page = String::with_capacity(written.len() + BETWEEN.len());
        for line in written.lines().map(str::trim_end) {
            if line.is_empty() && (page.is_empty() || page.ends_with("\n\n")) {
                continue;
            }
            page.push_str(line);
            page.push('\n');
        }
        page.truncate(page.trim_end().len());
        if page.is_empty() {
            return page;
        }
        self.limit = self.limit.saturating_sub(page.len() + BETWEEN.len());
        if std::mem::replace(&mut self.has_begun, true) {
            page.insert_str(0, BETWEEN);
        }
        page
    }

    /// Adds a letter.
    pub(super) fn add(&mut self, placed: &Placed<'_>) {
        let height = placed.height.max(f64::MIN_POSITIVE);
        let before = self.last;
        let length = placed.along.hypot();
        let direction = if length.is_normal() {
            placed.along / length
        } else {
            before.map_or(Vec2::new(1.0, 0.0), |(_, direction, _)| direction)
        };
        if let Some((at, along, last_height)) = before {
            let gap = placed.start - at;
            let (forward, across) = (gap.dot(along), gap.cross(along).abs());
            let (small, large) = (height.min(last_height), height.max(last_height));
            if across > LINE * large || along.dot(direction) < STRAIGHT {
                self.push(if across > PARAGRAPH * large {
                    "\n\n"
                } else {
                    "\n"
                });
            // What goes back on its line is written from right to left, word by word.
            } else if forward > SPACE * small || forward < -2.0 * large {
                self.space(placed.text);
            }
        }
        self.push(placed.text);
        self.last = Some((placed.end, direction, height));
    }

    fn space(&mut self, next: &str) {
        let (Some(before), Some(after)) = (self.text.chars().next_back(), next.chars().next())
        else {
            return;
        };
        let is_there = before.is_whitespace() || after.is_whitespace();
        let is_needless = is_unspaced(before) && is_unspaced(after);
        if !is_there && !is_needless {
            self.push(" ");
        }
    }

    fn push(&mut self, text: &str) {
        if self.is_cut || self.text.len() + text.len() > self.limit {
            self.is_cut = true;
            return;
        }
        self.text.push_str(text);
    }
}

/// Whether a character is of those that are written without spaces: between two of them a gap is only
/// a gap.
fn is_unspaced(character: char) -> bool {
    matches!(
        character,
        '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ffef}'
            | '\u{20000}'..='\u{3ffff}'
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Letters of height 10, each 5 wide, from a point on.
    fn write(lines: &mut Lines, (x, y): (f64, f64), text: &str) {
        for (number, letter) in (0_u8..).zip(text.chars()) {
            let start = Point::new(x + 5.0 * f64::from(number), y);
            lines.add(&Placed {
                text: letter.encode_utf8(&mut [0; 4]),
                start,
                end: start + Vec2::new(5.0, 0.0),
                along: Vec2::new(1.0, 0.0),
                height: 10.0,
            });
        }
    }

    fn written(pieces: &[((f64, f64), &str)]) -> String {
        let mut lines = Lines::at_most(1000);
        for (at, text) in pieces {
            write(&mut lines, *at, text);
        }
        lines.end_page()
    }

    #[test]
    fn spaces_and_lines_are_seen_from_distances() {
        let text = written(&[
            ((0.0, 100.0), "two"),
            ((18.0, 100.0), "words"),
            ((0.0, 88.0), "below"),
            ((0.0, 60.0), "further"),
        ]);
        assert_eq!(text, "two words\nbelow\n\nfurther");
    }

    #[test]
    fn columns_stay_apart_and_words_from_right_to_left_stay_on_their_line() {
        let columns = written(&[((0.0, 88.0), "left"), ((200.0, 200.0), "right")]);
        assert_eq!(columns, "left\n\nright");
        let backwards = written(&[((100.0, 88.0), "first"), ((50.0, 88.0), "second")]);
        assert_eq!(backwards, "first second");
    }

    #[test]
    fn gaps_between_ideographs_are_no_spaces() {
        let text = written(&[((0.0, 9.0), "世"), ((8.0, 9.0), "界"), ((16.0, 9.0), "a")]);
        assert_eq!(text, "世界 a");
    }

    #[test]
    fn drawn_spaces_are_not_doubled_and_pages_are_paragraphs() {
        let mut lines = Lines::at_most(1000);
        write(&mut lines, (0.0, 100.0), "a ");
        write(&mut lines, (20.0, 100.0), "b ");
        assert_eq!(lines.end_page(), "a b");
        write(&mut lines, (0.0, 100.0), " ");
        assert_eq!(lines.end_page(), "");
        write(&mut lines, (0.0, 100.0), "c");
        assert_eq!(lines.end_page(), "\n\nc");
    }

    #[test]
    fn no_more_is_kept_than_allowed() {
        let mut lines = Lines::at_most(3);
        write(&mut lines, (0.0, 0.0), "abcdef");
        assert!(lines.is_cut());
        assert_eq!(lines.end_page(), "abc");
        let mut lines = Lines::at_most(6);
        write(&mut lines, (0.0, 0.0), "abc");
        assert_eq!(lines.end_page(), "abc");
        write(&mut lines, (0.0, 0.0), "de");
        assert!(lines.is_cut());
        assert_eq!(lines.end_page(), "\n\nd");
    }

    #[test]
    fn letters_that_take_no_room_stand_on_lines() {
        let mut lines = Lines::at_most(1000);
        for (y, text) in [(100.0, "hi yo"), (88.0, "nx")] {
            for letter in text.chars() {
                lines.add(&Placed {
                    text: letter.encode_utf8(&mut [0; 4]),
                    start: Point::new(9.0, y),
                    end: Point::new(9.0, y),
                    along: Vec2::new(1.0, 0.0),
                    height: 10.0,
                });
            }
        }
        assert_eq!(lines.end_page(), "hi yo\nnx");
    }

    proptest! {
        #[test]
        fn any_numbers_are_borne(numbers in proptest::collection::vec(any::<[f64; 7]>(), 0..20)) {
            let mut lines = Lines::at_most(30);
            for [x, y, right, up, along, across, height] in numbers {
                lines.add(&Placed {
                    text: "é",
                    start: Point::new(x, y),
                    end: Point::new(right, up),
                    along: Vec2::new(along, across),
                    height,
                });
            }
            prop_assert!(lines.end_page().len() <= 30);
        }
    }
}
