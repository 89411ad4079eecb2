//! The test that rules out most places of a text at the price of one multiplication.

/// The number of bytes of an encoded value by which it is looked up.
///
/// No value that is learned has a shorter encoding.
pub(super) const WINDOW: usize = 6;

/// The bits per window; at this density about one place in a hundred passes by chance.
const BITS_PER_WINDOW: usize = 128;

/// The smallest table: 4 KiB.
const SMALLEST_BITS: usize = 1 << 15;

/// The [`WINDOW`] bytes of a window as a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Window(u64);

impl Window {
    #[inline]
    pub(super) fn new(bytes: [u8; WINDOW]) -> Self {
        let [first, second, third, fourth, fifth, sixth] = bytes;
        Self(u64::from_le_bytes([
            first, second, third, fourth, fifth, sixth, 0, 0,
        ]))
    }

    /// Returns the window that ends at a place of a text.
    pub(super) fn ending_at(text: &[u8], end: usize) -> Option<Self> {
        text.get(..end)?.last_chunk().copied().map(Self::new)
    }
}

/// A set of windows that may say yes in error, but never no.
#[derive(Clone)]
pub(super) struct Filter {
    bits: Vec<u64>,
    /// How far a hash is shifted to become the number of a bit.
    shift: u32,
}

impl Filter {
    /// Makes an empty filter with room for a number of windows.
    pub(super) fn with_capacity(windows: usize) -> Self {
        let bits = (windows.saturating_mul(BITS_PER_WINDOW))
            .max(SMALLEST_BITS)
            .next_power_of_two();
        Self {
            bits: vec![0; bits / 64],
            shift: 64 - bits.trailing_zeros(),
        }
    }

    /// Says whether the filter has room for a number of windows.
    pub(super) fn has_room_for(&self, windows: usize) -> bool {
        self.bits.len().saturating_mul(64) >= windows.saturating_mul(BITS_PER_WINDOW)
    }

    pub(super) fn insert(&mut self, window: Window) {
        let (word, bit) = self.place(window);
        if let Some(word) = self.bits.get_mut(word) {
            *word |= bit;
        }
    }

    #[inline]
    pub(super) fn may_contain(&self, window: Window) -> bool {
        let (word, bit) = self.place(window);
        self.bits.get(word).is_some_and(|word| word & bit != 0)
    }

    #[inline]
    fn place(&self, window: Window) -> (usize, u64) {
        // Multiplication by 2^64 divided by the golden ratio spreads neighbours far apart
        // (Knuth, volume 3, §6.4).
        let hash = window.0.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift;
        let word = usize::try_from(hash >> 6).unwrap_or(usize::MAX);
        (word, 1 << (hash & 63))
    }
}

impl Default for Filter {
    fn default() -> Self {
        Self::with_capacity(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(text: &str) -> Window {
        Window::ending_at(text.as_bytes(), text.len()).unwrap()
    }

    #[test]
    fn contains_what_was_inserted_and_little_else() {
        let mut filter = Filter::with_capacity(1000);
        let windows: Vec<Window> = (0_u32..1000)
            .map(|number| window(&format!("x{number:07}")))
            .collect();
        for &window in &windows {
            filter.insert(window);
        }
        assert!(windows.iter().all(|&window| filter.may_contain(window)));
        let by_chance = (0_u32..10_000)
            .filter(|number| filter.may_contain(window(&format!("{number:05}xyz"))))
            .count();
        assert!(by_chance < 500, "{by_chance}");
        assert!(filter.has_room_for(1000));
        assert!(!filter.has_room_for(100_000));
    }

    #[test]
    fn a_window_is_six_bytes_of_a_text() {
        assert_eq!(window("abcdef"), window("xabcdef"));
        assert_ne!(window("abcdef"), window("abcdeg"));
        assert_eq!(Window::ending_at(b"abcdefg", 6), Some(window("abcdef")));
        assert_eq!(Window::ending_at(b"abcdefg", 5), None);
        assert_eq!(Window::ending_at(b"abcdefg", 8), None);
    }
}
