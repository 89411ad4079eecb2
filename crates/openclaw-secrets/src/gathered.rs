//! Bytes that come in pieces.

use secrecy::zeroize::Zeroizing;

/// Bytes that come in pieces and may hold a secret: overwritten when they are moved to a larger
/// place, and when they are dropped.
///
/// Only these. What brought the pieces, such as a connection, has its own copies of them.
pub struct Gathered {
    bytes: Zeroizing<Vec<u8>>,
    most: usize,
}

/// There are more bytes than there may be.
#[derive(Debug)]
pub struct TooMany;

impl Gathered {
    /// Takes so many bytes at most.
    pub fn at_most(most: usize) -> Self {
        Self {
            bytes: Zeroizing::default(),
            most,
        }
    }

    /// Adds a piece, if there is room for it.
    pub fn add(&mut self, piece: &[u8]) -> Result<(), TooMany> {
        let length = self.bytes.len().saturating_add(piece.len());
        if length > self.most {
            return Err(TooMany);
        }
        let capacity = self.bytes.capacity();
        if length > capacity {
            // A vector that grows by itself leaves what was in it where it was.
            let larger = Vec::with_capacity(length.max(capacity.saturating_mul(2)));
            let smaller = std::mem::replace(&mut self.bytes, Zeroizing::new(larger));
            self.bytes.extend_from_slice(&smaller);
        }
        self.bytes.extend_from_slice(piece);
        Ok(())
    }

    /// All that came.
    pub fn into_bytes(self) -> Zeroizing<Vec<u8>> {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_put_together_up_to_the_last_byte() {
        let mut gathered = Gathered::at_most(10);
        gathered.add(b"").unwrap();
        gathered.add(b"0123").unwrap();
        gathered.add(b"456").unwrap();
        gathered.add(b"789").unwrap();
        gathered.add(b"x").unwrap_err();
        gathered.add(b"").unwrap();
        assert_eq!(&**gathered.into_bytes(), b"0123456789");
        Gathered::at_most(0).add(b"x").unwrap_err();
        Gathered::at_most(usize::MAX).add(b"x").unwrap();
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_was_gathered_is_nowhere_when_it_is_dropped() {
        use openclaw_testkit::memory::longest_run;
        // No run is as long where nobody gathers anything.
        const BYTE: u8 = 0xa7;
        const LONG: usize = 256;
        let mut gathered = Gathered::at_most(1_000_000);
        let mut beside = Vec::with_capacity(100);
        assert!(longest_run(BYTE).unwrap() < LONG);
        // Places of a few kilobytes: larger ones are given back to the system at once.
        for _ in 0..500 {
            let capacity = gathered.bytes.capacity();
            gathered.add(&[BYTE; 64]).unwrap();
            if gathered.bytes.capacity() != capacity {
                // What stands beside it does not let it grow where it is.
                beside.push(Box::new(capacity));
            }
        }
        assert!(beside.len() > 3);
        assert!(longest_run(BYTE).unwrap() >= 500 * 64);
        drop(gathered);
        assert!(longest_run(BYTE).unwrap() < LONG);
    }
}
