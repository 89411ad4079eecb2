//! Where the socket is, and who can reach it.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::Path;

use openclaw_engine::Engine;
use openclaw_link::{Listener, NoGateway, Remote, SOCKET_NAME};
use rustix::fs::Mode;

use crate::setup::{Gateway, Way};

async fn absent(state: &Path) -> bool {
    let reached = Remote::connect(state, "0.1.0").await;
    matches!(reached, Err(NoGateway::Absent))
}

#[tokio::test]
async fn without_a_gateway_there_is_none() {
    let state = tempfile::tempdir().unwrap();
    assert!(absent(state.path()).await);
    assert!(absent(&state.path().join("missing")).await);
    // A file that is no socket, and a socket that nobody listens at.
    fs::write(state.path().join(SOCKET_NAME), "x").unwrap();
    assert!(absent(state.path()).await);
    fs::remove_file(state.path().join(SOCKET_NAME)).unwrap();
    drop(std::os::unix::net::UnixListener::bind(state.path().join(SOCKET_NAME)).unwrap());
    assert!(state.path().join(SOCKET_NAME).exists());
    assert!(absent(state.path()).await);
}

#[tokio::test]
async fn what_is_in_the_way_is_said() {
    let state = tempfile::tempdir().unwrap();
    fs::write(state.path().join("file"), "x").unwrap();
    let reached = Remote::connect(&state.path().join("file"), "0.1.0").await;
    match reached.map(|_| ()) {
        Err(NoGateway::Unreachable(error)) => {
            assert_eq!(error.kind(), io::ErrorKind::NotADirectory);
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_socket_that_was_left_behind_is_replaced() {
    let state = tempfile::tempdir().unwrap();
    drop(std::os::unix::net::UnixListener::bind(state.path().join(SOCKET_NAME)).unwrap());
    // So is what is left of a gateway that was killed while it began to listen.
    let private = state.path().join("gateway.sock.new");
    fs::create_dir(&private).unwrap();
    drop(std::os::unix::net::UnixListener::bind(private.join("socket")).unwrap());
    let gateway = Gateway::start_in(Way::Socket, state);
    gateway.remote().await.statistics().await.unwrap();
    assert!(!private.exists());
}

#[tokio::test]
async fn the_socket_is_ours_alone_whatever_the_umask_is() {
    for umask in [0o000, 0o022, 0o777] {
        let state = tempfile::tempdir().unwrap();
        let before = rustix::process::umask(Mode::from_raw_mode(umask));
        let listener = Listener::bind(state.path()).unwrap();
        rustix::process::umask(before);
        let metadata = fs::symlink_metadata(state.path().join(SOCKET_NAME)).unwrap();
        assert!(metadata.file_type().is_socket());
        assert_eq!(metadata.permissions().mode() & 0o7777, 0o600);
        let left: Vec<_> = fs::read_dir(state.path()).unwrap().collect();
        assert_eq!(left.len(), 1);
        drop(listener);
    }
}

#[tokio::test]
async fn the_socket_is_gone_when_nobody_listens_any_longer() {
    let state = tempfile::tempdir().unwrap();
    let listener = Listener::bind(state.path()).unwrap();
    assert!(state.path().join(SOCKET_NAME).exists());
    drop(listener);
    assert!(!state.path().join(SOCKET_NAME).exists());
    assert!(absent(state.path()).await);
}

#[tokio::test]
async fn the_socket_of_another_gateway_is_left_alone() {
    let state = tempfile::tempdir().unwrap();
    let old = Listener::bind(state.path()).unwrap();
    let gateway = Gateway::start_in(Way::Socket, state);
    drop(old);
    gateway.remote().await.statistics().await.unwrap();
}

#[tokio::test]
async fn a_missing_state_directory_is_an_error() {
    let state = tempfile::tempdir().unwrap();
    let bound = Listener::bind(&state.path().join("missing"));
    assert_eq!(bound.err().unwrap().kind(), io::ErrorKind::NotFound);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn paths_that_are_too_long_for_an_address_work() {
    for length in [60, 80, 90, 95, 100, 150, 240] {
        let root = tempfile::tempdir().unwrap();
        let state = root.path().join("d".repeat(length));
        fs::create_dir(&state).unwrap();
        let gateway = Gateway::start_at(Way::Socket, root, &state);
        let remote = Remote::connect(&state, "0.1.0").await.unwrap();
        remote.statistics().await.unwrap();
        drop(gateway);
    }
}

#[tokio::test]
async fn a_socket_that_was_deleted_can_be_made_again_and_the_old_one_leaves_it_alone() {
    let state = tempfile::tempdir().unwrap();
    let path = state.path().join(SOCKET_NAME);
    let old = Listener::bind(state.path()).unwrap();
    assert!(!old.place().is_gone());
    fs::remove_file(&path).unwrap();
    assert!(old.place().is_gone());
    let new = old.place().listen().unwrap();
    assert!(!new.place().is_gone() && !old.place().is_gone());
    drop(old);
    assert!(path.exists());
    // What somebody else has put there stays.
    fs::remove_file(&path).unwrap();
    fs::write(&path, "x").unwrap();
    assert!(!new.place().is_gone());
    drop(new);
    assert_eq!(fs::read(&path).unwrap(), b"x");
}
