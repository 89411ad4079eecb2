//! Files of any size that look like what they are said to be.

/// Bytes that begin as an image in PNG does, and go on so that nothing could make them up.
pub fn png(length: usize) -> Vec<u8> {
    beginning_with(b"\x89PNG\r\n\x1a\n", length)
}

/// The same for a document in PDF.
pub fn pdf(length: usize) -> Vec<u8> {
    beginning_with(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", length)
}

fn beginning_with(magic: &[u8], length: usize) -> Vec<u8> {
    let mut state: u32 = 1;
    let rest = std::iter::from_fn(move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        Some(state.to_be_bytes()[0])
    });
    let bytes = magic.iter().copied().chain(rest);
    bytes.take(length).collect()
}
