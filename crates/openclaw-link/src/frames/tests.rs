use proptest::prelude::*;

use super::*;

fn framed(message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).unwrap();
    [&length.to_be_bytes(), message].concat()
}

/// Feeds bytes in pieces of the given sizes, and collects messages.
fn read(bytes: &[u8], pieces: &[usize], limit: usize) -> Result<Vec<Vec<u8>>, TooLong> {
    let mut reader = FrameReader::default();
    let mut messages = Vec::new();
    let mut rest = bytes;
    let mut sizes = pieces.iter().copied().cycle();
    while !rest.is_empty() {
        let room = reader.room();
        let size = sizes.next().unwrap_or(1).min(room.len()).min(rest.len());
        room[..size].copy_from_slice(&rest[..size]);
        reader.filled(size);
        rest = &rest[size..];
        while let Some(message) = reader.take(limit)? {
            messages.push(message.to_vec());
        }
    }
    Ok(messages)
}

proptest! {
    #[test]
    fn messages_arrive_as_they_were_sent_in_whatever_pieces(
        messages in prop::collection::vec((0..20_000_usize, any::<u8>()), 0..8),
        pieces in prop::collection::vec(1..30_000_usize, 1..8),
    ) {
        let messages: Vec<Vec<u8>> = messages
            .into_iter()
            .map(|(length, first)| (0..length).map(|at| first.wrapping_add(at.to_le_bytes()[0])).collect())
            .collect();
        let bytes: Vec<u8> = messages.iter().flat_map(|message| framed(message)).collect();
        prop_assert_eq!(read(&bytes, &pieces, LONGEST_FRAME).unwrap(), messages);
    }

    #[test]
    fn any_bytes_are_read_without_harm(
        bytes in prop::collection::vec(any::<u8>(), 0..2_000),
        pieces in prop::collection::vec(1..500_usize, 1..5),
    ) {
        if let Ok(messages) = read(&bytes, &pieces, 1_000) {
            prop_assert!(messages.iter().all(|message| message.len() <= 1_000));
        }
    }
}

#[test]
fn memory_grows_with_what_arrives_and_not_with_what_is_announced() {
    let mut reader = FrameReader::default();
    let announced = u32::try_from(LONGEST_FRAME).unwrap().to_be_bytes();
    reader.room()[..4].copy_from_slice(&announced);
    reader.filled(4);
    assert_eq!(reader.take(LONGEST_FRAME), Ok(None));
    assert!(reader.room().len() <= 2 * PIECE);
    let mut arrived = 0;
    while arrived < 1 << 20 {
        let count = reader.room().len();
        reader.filled(count);
        arrived += count;
        assert_eq!(reader.take(LONGEST_FRAME), Ok(None));
        assert!(reader.held() <= 2 * (arrived + PIECE), "{arrived}");
    }
}

#[test]
fn more_than_the_limit_is_refused_when_it_is_announced() {
    let mut reader = FrameReader::default();
    reader.room()[..4].copy_from_slice(&u32::MAX.to_be_bytes());
    reader.filled(4);
    let refused = reader.take(LONGEST_FRAME).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "a message of 4294967295 bytes is announced, and 268435456 is the most"
    );
}

#[test]
fn nothing_is_held_while_nothing_is_under_way() {
    let mut reader = FrameReader::default();
    let bytes = framed(b"hello");
    reader.room()[..bytes.len()].copy_from_slice(&bytes);
    reader.filled(bytes.len());
    assert_eq!(
        reader.take(10).unwrap().as_deref(),
        Some(b"hello".as_slice())
    );
    assert_eq!(reader.held(), 0);
    reader.room();
    reader.filled(0);
    assert_eq!(reader.held(), 0);
}

#[test]
fn a_long_message_is_handed_on_where_it_lies() {
    let mut reader = FrameReader::default();
    let bytes = framed(&vec![7; 1 << 20]);
    let mut rest = &bytes[..];
    while !rest.is_empty() {
        let room = reader.room();
        let size = room.len().min(rest.len());
        room[..size].copy_from_slice(&rest[..size]);
        reader.filled(size);
        rest = &rest[size..];
    }
    let held = reader.buffer.as_ptr() as usize;
    let message = reader.take(LONGEST_FRAME).unwrap().unwrap();
    assert_eq!(message.len(), 1 << 20);
    assert_eq!(message.as_ptr() as usize, held + HEADER);
    assert_eq!(reader.held(), 0);
}
