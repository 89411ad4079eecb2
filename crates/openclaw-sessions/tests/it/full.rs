//! A disk without room.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use openclaw_conversation::Blob;
use openclaw_sessions::{SessionError, SessionStore as _, TurnEnd, TurnState};

use crate::lab::{Lab, PATIENCE, begin, key, texts, turn, user};
use crate::media::blobs;
use crate::worker::Worker;

#[tokio::test]
async fn without_room_nothing_is_half_written_and_with_room_it_goes_on() {
    let lab = Lab::new();
    // The first limit is met by the journal, the second by the database as well.
    for (name, blocks) in [("a", 3_000), ("b", 9_000)] {
        let mut worker = Worker::start_without_room(lab.state(), &format!("fill {name}"), blocks);
        let refused = worker.next().unwrap();
        assert!(
            refused.starts_with("refused the session can't be saved"),
            "{refused}"
        );
        let kept = worker.next().unwrap();
        let kept: usize = kept.strip_prefix("kept ").unwrap().parse().unwrap();
        worker.end();
        let store = lab.store();
        let shown = store.show(&key(name)).await.unwrap().unwrap();
        assert!(kept > 2, "{kept}");
        // Both messages of each append, or none of them.
        assert_eq!(shown.len(), kept + 1);
        let texts = texts(&shown);
        for (index, pair) in texts.chunks(2).take(kept / 2).enumerate() {
            assert_eq!(pair[0], (index * 2).to_string());
        }
        assert_eq!(texts[kept], "there is room");
        assert!(shown.iter().all(|kept| kept.state == TurnState::Complete));
        assert_eq!(store.remarks(), Vec::<String>::new());
        assert_eq!(lab.integrity(), "ok");
    }
}

/// The bytes of a file of which no two pieces are the same.
pub(crate) fn file(length: usize) -> Vec<u8> {
    let numbers = (0_u64..).flat_map(|number| number.wrapping_mul(0x9e37_79b9).to_le_bytes());
    numbers.take(length).collect()
}

#[tokio::test]
async fn a_file_for_which_the_room_ends_in_its_middle_is_not_there_at_all() {
    let lab = Lab::new();
    let store = lab.store();
    // The tables are there, and nothing else is.
    turn(&store, &key("other"), vec![user("x")]).await;
    store.close().await;
    let length = 12_000_000;
    // The first limit is met when its place is made, the second when its bytes are put there.
    for (name, blocks) in [("a", 8_000), ("b", 22_000)] {
        let order = format!("attach {name} {length}");
        let mut worker = Worker::start_without_room(lab.state(), &order, blocks);
        let refused = worker.next().unwrap();
        assert!(
            refused.starts_with("refused the session can't be saved"),
            "{refused}"
        );
        assert_eq!((lab.rows("blobs"), lab.rows("links")), (0, 0));
        let store = lab.store();
        assert_eq!(store.show(&key(name)).await.unwrap(), None);
        store.close().await;
        worker.release();
        worker.end();
        assert_eq!((lab.rows("blobs"), lab.rows("links")), (1, 1));
        let store = lab.store();
        let found = blobs(&store, name).await;
        let Blob::Kept(id) = &found[0] else {
            panic!("the bytes are in the message");
        };
        let kept = store.blob(id).await.unwrap().unwrap();
        assert!(STANDARD.decode(kept).unwrap() == file(length));
        assert!(store.delete(&key(name), PATIENCE).await.unwrap());
        store.close().await;
        assert_eq!(lab.integrity(), "ok");
    }
}

#[tokio::test]
async fn a_directory_that_can_not_be_written_is_a_clear_error() {
    if rustix::process::geteuid().is_root() {
        // Rights do not bind root; a file where the directory should be does.
        let lab = Lab::new();
        fs::write(lab.state().join("sessions"), "").unwrap();
        let refused = lab.store().begin(&key("a"), PATIENCE).await.err().unwrap();
        assert!(
            matches!(refused, SessionError::Unwritable { .. }),
            "{refused}"
        );
        return;
    }
    let lab = Lab::new();
    let store = lab.store();
    turn(&store, &key("a"), vec![user("x")]).await;
    store.close().await;
    let mode = |mode| {
        let mode = fs::Permissions::from_mode(mode);
        fs::set_permissions(lab.file(), mode).unwrap();
    };
    mode(0o400);
    let store = lab.store();
    let mut refused = begin(&store, &key("a")).await;
    let error = refused.append(vec![user("y")]).await.unwrap_err();
    assert!(matches!(error, SessionError::Unwritable { .. }), "{error}");
    mode(0o600);
    refused.append(vec![user("z")]).await.unwrap();
    refused.finish(TurnEnd::Complete).await.unwrap();
    let shown = store.show(&key("a")).await.unwrap().unwrap();
    assert_eq!(texts(&shown), ["x", "z"]);
}
