//! What the pages of a PDF say.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};

use hayro_interpret::font::{Glyph, GlyphRun};
use hayro_interpret::hayro_cmap::BfString;
use hayro_interpret::hayro_syntax::{LoadPdfError, Pdf};
use hayro_interpret::kurbo::{Affine, BezPath, Point, Rect};
use hayro_interpret::{
    BlendMode, ClipPath, Context, Device, DrawMode, DrawProps, Image, ImageDrawProps,
    InterpreterCache, InterpreterSettings, SoftMask, interpret_page,
};

use super::TEXT_LIMIT;
use super::called::Outcome;
use super::lines::{Lines, Placed};

/// After how long reading ends: what was read by then is worth more than nothing.
const ENOUGH: Duration = Duration::from_secs(8);
/// Stands for a letter that nothing says more about.
const UNKNOWN: char = char::REPLACEMENT_CHARACTER;
/// How many units of a font the letter M is wide and high.
const UNITS: f64 = 1000.0;

/// Reads a document, and writes its text page by page.
pub(super) fn read(
    document: Vec<u8>,
    write: &mut dyn FnMut(&str) -> io::Result<()>,
) -> io::Result<Outcome> {
    let pdf = match Pdf::new(document) {
        Ok(pdf) => pdf,
        Err(LoadPdfError::Decryption(_)) => return Ok(Outcome::Locked),
        Err(LoadPdfError::Invalid) => return Ok(Outcome::Broken),
    };
    let cache = InterpreterCache::new();
    let mut page_reader = PageReader {
        lines: Lines::at_most(TEXT_LIMIT),
        known: 0,
        unknown: 0,
        begun: Instant::now(),
    };
    let pages = pdf.pages();
    if pages.is_empty() {
        return Ok(Outcome::Broken);
    }
    let mut early = None;
    // What is not written yet.
    let mut held = String::new();
    for page in pages.iter() {
        // Only where letters are relative to each other matters, so the page may have any size.
        let area = Rect::new(0.0, 0.0, 1.0, 1.0);
        let settings = InterpreterSettings::default();
        let mut context = Context::new(Affine::IDENTITY, area, &cache, pdf.xref(), settings);
        let interpreted = catch_unwind(AssertUnwindSafe(|| {
            page_reader.pause();
            interpret_page(page, &mut context, &mut page_reader);
        }));
        held.push_str(&page_reader.lines.end_page());
        // Where only the beginning comes to be read, it must not be one that nobody can read.
        if page_reader.known >= page_reader.unknown {
            write(&held)?;
            held.clear();
        }
        if let Err(reason) = interpreted {
            early = Some(if reason.is::<Enough>() {
                Outcome::TooMuch
            } else {
                Outcome::Broken
            });
            break;
        }
    }
    Ok(page_reader.outcome(early))
}

/// With which a page is left that is not worth to be read on.
struct Enough;

/// Takes the letters of a page as they are drawn, and nothing else.
struct PageReader {
    lines: Lines,
    known: usize,
    unknown: usize,
    begun: Instant,
}

impl PageReader {
    /// What came of it, given how it would be called if it ended early and without a letter.
    fn outcome(&self, early: Option<Outcome>) -> Outcome {
        if self.known == 0 && self.unknown == 0 {
            return early.unwrap_or(Outcome::NoText);
        }
        // Few unknown letters are signs; many are a font that keeps its letters to itself.
        if self.unknown > self.known {
            return Outcome::NoLetters;
        }
        if early.is_some() || self.lines.is_cut() {
            Outcome::Cut
        } else {
            Outcome::Whole
        }
    }

    /// Leaves the page if there is no room for more, or no time. A device has no other way to say so,
    /// and a page may go on for as long as it likes.
    fn pause(&self) {
        if self.lines.is_cut() || self.begun.elapsed() > ENOUGH {
            resume_unwind(Box::new(Enough));
        }
    }

    fn take(&mut self, glyph: &Glyph<'_>, transform: Affine) {
        let width = match glyph {
            Glyph::Outline(glyph) => glyph.advance_width(),
            Glyph::Type3(glyph) => glyph.advance_width(),
        };
        let width = f64::from(width.unwrap_or_default());
        let start = transform * Point::ZERO;
        let mut letter = [0; 4];
        let named;
        let text = match glyph.as_unicode() {
            Some(BfString::Char(character)) => &*character.encode_utf8(&mut letter),
            Some(BfString::String(text)) => {
                named = text;
                &named
            }
            None => &*UNKNOWN.encode_utf8(&mut letter),
        };
        if text.contains(UNKNOWN) {
            self.unknown += 1;
        } else if !text.trim().is_empty() {
            self.known += 1;
        }
        self.lines.add(&Placed {
            text,
            start,
            end: transform * Point::new(width, 0.0),
            along: transform * Point::new(UNITS, 0.0) - start,
            height: (transform * Point::new(0.0, UNITS) - start).hypot(),
        });
    }
}

impl Device<'_> for PageReader {
    // Text that is there to be read and not to be seen counts: scans have what a machine recognised
    // in them.
    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, '_>, props: DrawProps<'_>, _: &DrawMode) {
        for glyph in run.glyphs() {
            self.pause();
            self.take(glyph, props.transform * glyph.transform());
        }
    }

    fn draw_path(&mut self, _: &BezPath, _: DrawProps<'_>, _: &DrawMode) {
        self.pause();
    }

    fn push_clip_path(&mut self, _: &ClipPath) {
        self.pause();
    }

    fn push_transparency_group(&mut self, _: f32, _: Option<SoftMask<'_>>, _: BlendMode) {
        self.pause();
    }

    fn draw_image(&mut self, _: Image<'_, '_>, _: ImageDrawProps<'_>) {
        self.pause();
    }

    fn pop_clip(&mut self) {}
    fn pop_transparency_group(&mut self) {}
}
