//! Images and other files in messages.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use openclaw_conversation::{AnswerPart, Blob, Media, Message, UserPart};
use openclaw_sessions::{SessionStore as _, SqliteSessions};

use crate::lab::{Lab, answer, begin, key, turn};

fn media(blob: Blob, bytes: usize) -> Media {
    Media {
        mime_type: "image/png".to_owned(),
        name: None,
        bytes: bytes as u64,
        blob,
        text: None,
    }
}

pub(crate) fn image(bytes: &[u8]) -> Message {
    let blob = Blob::Here(STANDARD.encode(bytes).into());
    Message::User {
        parts: vec![UserPart::Media(media(blob, bytes.len()))],
    }
}

fn tool_image(bytes: &[u8]) -> Message {
    let mut message = answer("image");
    if let Message::Tool(answer) = &mut message {
        let blob = Blob::Here(STANDARD.encode(bytes).into());
        answer
            .parts
            .push(AnswerPart::Media(media(blob, bytes.len())));
    }
    message
}

pub(crate) async fn blobs(store: &SqliteSessions, name: &str) -> Vec<Blob> {
    let mut turn = begin(store, &key(name)).await;
    let history = turn.history().await.unwrap();
    let media = history.iter().flat_map(|kept| kept.message.media());
    media.map(|media| media.blob.clone()).collect()
}

#[tokio::test]
async fn bytes_are_kept_once_and_come_back_as_they_were() {
    let lab = Lab::new();
    let store = lab.store();
    let bytes: Vec<u8> = (0..100_000_u32).map(|n| n.to_le_bytes()[0]).collect();
    turn(
        &store,
        &key("a"),
        vec![image(&bytes), tool_image(&bytes), image(b"small")],
    )
    .await;
    let found = blobs(&store, "a").await;
    assert_eq!(found[0], found[1]);
    let Blob::Kept(id) = &found[0] else {
        panic!("the bytes are in the message");
    };
    assert_eq!(
        store.blob(id).await.unwrap().unwrap(),
        STANDARD.encode(&bytes)
    );
    assert_eq!(lab.rows("blobs"), 2);
}

#[tokio::test]
async fn bytes_of_any_length_come_back_as_they_were() {
    let lab = Lab::new();
    let store = lab.store();
    // Around what is written and read at once, and around a page of the database.
    for length in [
        0, 1, 2, 3, 3_071, 3_072, 3_073, 4_096, 49_151, 49_152, 49_153, 98_305, 1_000_000,
    ] {
        let bytes: Vec<u8> = (0..251).cycle().take(length).collect();
        let name = length.to_string();
        turn(&store, &key(&name), vec![image(&bytes)]).await;
        let found = blobs(&store, &name).await;
        let Blob::Kept(id) = &found[0] else {
            panic!("the bytes are in the message");
        };
        let text = store.blob(id).await.unwrap().unwrap();
        assert_eq!(STANDARD.decode(text).unwrap(), bytes, "{length}");
    }
    assert_eq!(lab.rows("blobs"), 13);
}

#[tokio::test]
async fn bytes_stay_as_long_as_a_message_needs_them() {
    let lab = Lab::new();
    let store = lab.store();
    turn(&store, &key("a"), vec![image(b"both"), image(b"only a")]).await;
    let kept = blobs(&store, "a").await[0].clone();
    let Blob::Kept(id) = kept.clone() else {
        panic!("the bytes are in the message");
    };
    // In b it came from the history of a, say.
    let again = Message::User {
        parts: vec![UserPart::Media(media(kept, 4))],
    };
    turn(&store, &key("b"), vec![again]).await;
    assert!(store.delete(&key("a"), Duration::ZERO).await.unwrap());
    assert_eq!((lab.rows("blobs"), lab.rows("links")), (1, 1));
    assert!(store.blob(&id).await.unwrap().is_some());
    assert!(store.delete(&key("b"), Duration::ZERO).await.unwrap());
    assert_eq!((lab.rows("blobs"), lab.rows("links")), (0, 0));
    assert_eq!(store.blob(&id).await.unwrap(), None);
}

#[tokio::test]
async fn what_is_no_base64_stays_in_the_message() {
    let lab = Lab::new();
    let store = lab.store();
    let blob = Blob::Here("no base64!".into());
    let message = Message::User {
        parts: vec![UserPart::Media(media(blob.clone(), 3))],
    };
    turn(&store, &key("a"), vec![message]).await;
    assert_eq!(blobs(&store, "a").await, [blob]);
}
