//! CRC32C, by which Secret Manager says what it stored.

/// The polynomial of Castagnoli, its bits in reverse order.
const POLYNOMIAL: u32 = 0x82f6_3b78;

/// What each byte does to a checksum.
const TABLE: [u32; 256] = table();

const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut index = 0;
    let mut byte: u32 = 0;
    while index < table.len() {
        let mut value = byte;
        let mut bit = 0;
        while bit < 8 {
            let carry = value & 1;
            value >>= 1;
            if carry == 1 {
                value ^= POLYNOMIAL;
            }
            bit += 1;
        }
        table[index] = value;
        index += 1;
        byte += 1;
    }
    table
}

/// The checksum of some bytes.
pub(super) fn crc32c(bytes: &[u8]) -> u32 {
    let step = |sum: u32, byte: &u8| {
        let [low, ..] = sum.to_le_bytes();
        TABLE[usize::from(low ^ byte)] ^ (sum >> 8)
    };
    !bytes.iter().fold(u32::MAX, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check value of the catalogue of checksums, and the examples of RFC 3720, B.4.
    #[test]
    fn checksums_are_those_of_the_standards() {
        assert_eq!(crc32c(b""), 0);
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc32c(&[0xff; 32]), 0x62a8_ab43);
    }
}
