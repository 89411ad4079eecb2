//! Bytes as hexadecimal digits.

/// Two digits for each byte.
pub(super) fn encode(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    // With all its room from the start: what is encoded may be a key, and a text that grows leaves
    // copies behind.
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] {
            text.push(char::from(DIGITS[usize::from(digit)]));
        }
    }
    text
}

/// Reads two digits for each byte of `bytes`; says whether that is exactly what the text is.
pub(super) fn decode_into(text: &str, bytes: &mut [u8]) -> bool {
    let digit = |it: u8| char::from(it).to_digit(16);
    let pairs = text.as_bytes().chunks(2);
    if text.len() != bytes.len() * 2 {
        return false;
    }
    for (byte, pair) in bytes.iter_mut().zip(pairs) {
        let (Some(high), Some(low)) = (digit(pair[0]), digit(pair[1])) else {
            return false;
        };
        *byte = u8::try_from(high * 16 + low).unwrap_or(0);
    }
    true
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_byte_has_two_digits() {
        assert_eq!(encode(&[0, 1, 15, 16, 255]), "00010f10ff");
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["", "0", "000", "00000", "0g00", "+100", "é00", "00 0"] {
            assert!(!decode_into(text, &mut [0; 2]), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_read_again(bytes: [u8; 32]) {
            let mut read = [0; 32];
            prop_assert!(decode_into(&encode(&bytes), &mut read));
            prop_assert_eq!(read, bytes);
        }

        #[test]
        fn any_text_is_read_or_refused(text in ".*") {
            let mut read = [0; 2];
            if decode_into(&text, &mut read) {
                prop_assert_eq!(encode(&read), text.to_lowercase());
            }
        }
    }
}
