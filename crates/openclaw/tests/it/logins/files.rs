//! What is kept about logins, where somebody or something has been at the files.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use super::{CALL, LoginLab};

/// The directory with what is kept.
pub(super) fn directory(lab: &LoginLab) -> PathBuf {
    lab.lab.home.path().join(".openclaw/mcp/tokens")
}

/// The names of the files in it.
pub(super) fn names(lab: &LoginLab) -> Vec<String> {
    let files = fs::read_dir(directory(lab)).unwrap().flatten();
    let names = files.map(|it| it.file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// The file with the only login.
pub(super) fn login_file(lab: &LoginLab) -> PathBuf {
    let mut names = names(lab);
    names.retain(|name| Path::new(name).extension().is_some_and(|it| it == "json"));
    assert_eq!(names.len(), 1, "{names:?}");
    directory(lab).join(&names[0])
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// A login that can't be opened: that is told with the reason, and another one takes its place.
fn assert_replaced(lab: &LoginLab, bytes: &[u8]) {
    let path = login_file(lab);
    let run = lab.needs_login();
    assert!(
        run.stderr.contains("the saved login can't be opened"),
        "{run}"
    );
    assert_eq!(
        fs::read(&path).unwrap(),
        bytes,
        "it is left alone until then"
    );
    lab.log_in();
    lab.calls();
    let aside = format!("{}.corrupt-1", path.display());
    assert_eq!(fs::read(&aside).unwrap(), bytes, "{:?}", names(lab));
    fs::remove_file(aside).unwrap();
}

#[test]
fn what_is_kept_is_sealed_and_for_its_owner_alone() {
    let lab = LoginLab::logged_in("");
    assert_eq!(mode(&directory(&lab)), 0o700);
    for name in names(&lab) {
        assert_eq!(mode(&directory(&lab).join(&name)), 0o600, "{name}");
    }
    let text = fs::read_to_string(login_file(&lab)).unwrap();
    let _: Json = serde_json::from_str(&text).unwrap();
    for word in ["access", "refresh", "token", "tools", "client-", "http"] {
        assert!(!text.contains(word), "{word}: {text}");
    }
    assert!(
        lab.log_in().stderr.contains("not in a keyring"),
        "it is told"
    );
}

#[test]
fn a_file_that_is_damaged_needs_a_new_login() {
    let lab = LoginLab::logged_in("");
    let whole = fs::read(login_file(&lab)).unwrap();
    let mut flipped = whole.clone();
    // Within what is sealed.
    let at = whole.len() * 3 / 4;
    flipped[at] = if flipped[at] == b'A' { b'B' } else { b'A' };
    for bytes in [
        b"".to_vec(),
        b"{".to_vec(),
        b"null\n".to_vec(),
        vec![0xff; 100],
        vec![0; 4096],
        flipped,
    ] {
        fs::write(login_file(&lab), &bytes).unwrap();
        assert_replaced(&lab, &bytes);
    }
}

#[test]
fn a_file_that_breaks_off_needs_a_new_login() {
    let lab = LoginLab::logged_in("");
    for share in [1, 2, 3] {
        let whole = fs::read(login_file(&lab)).unwrap();
        let bytes = &whole[..whole.len() * share / 4];
        fs::write(login_file(&lab), bytes).unwrap();
        assert_replaced(&lab, bytes);
    }
}

#[test]
fn a_file_of_another_machine_needs_a_new_login() {
    let other = LoginLab::logged_in("");
    let foreign = fs::read(login_file(&other)).unwrap();
    let lab = LoginLab::logged_in("");
    fs::write(login_file(&lab), &foreign).unwrap();
    assert_replaced(&lab, &foreign);
}

#[test]
fn a_file_of_another_server_needs_a_new_login() {
    let lab = LoginLab::logged_in("");
    let path = login_file(&lab);
    let foreign = fs::read(&path).unwrap();
    fs::remove_file(&path).unwrap();
    let second = lab.server.second_url();
    let lab = lab.place("fake", &serde_json::json!({ "url": second }));
    lab.log_in();
    fs::write(login_file(&lab), &foreign).unwrap();
    assert_replaced(&lab, &foreign);
}

#[test]
fn without_its_key_a_login_needs_a_new_one() {
    let lab = LoginLab::logged_in("");
    fs::remove_file(directory(&lab).join("key")).unwrap();
    let bytes = fs::read(login_file(&lab)).unwrap();
    assert_replaced(&lab, &bytes);
}

#[test]
fn a_key_that_others_may_read_is_refused_until_it_is_closed() {
    let lab = LoginLab::logged_in("");
    let key = directory(&lab).join("key");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
    for arguments in [&CALL[..], &["mcp", "auth", "fake"]] {
        let run = lab.run(arguments);
        assert_eq!(run.code, Some(1), "{run}");
        assert!(run.stderr.contains("other users may read the key"), "{run}");
        assert!(run.stderr.contains("chmod 600"), "{run}");
    }
    assert_eq!(lab.counters().authorizations, 1);
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    lab.calls();
}

#[test]
fn a_file_of_a_newer_program_is_left_alone() {
    let lab = LoginLab::logged_in("");
    let path = login_file(&lab);
    let text = fs::read_to_string(&path).unwrap();
    let mut document: Json = serde_json::from_str(&text).unwrap();
    document["version"] = 99.into();
    let newer = document.to_string();
    fs::write(&path, &newer).unwrap();
    for arguments in [&CALL[..], &["mcp", "auth", "fake"]] {
        let run = lab.run(arguments);
        assert_eq!(run.code, Some(1), "{run}");
        assert!(run.stderr.contains("update openclaw"), "{run}");
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), newer);
}

#[test]
fn a_directory_that_cannot_be_written_is_told_before_anybody_is_asked() {
    let lab = LoginLab::new("");
    let mcp = lab.lab.home.path().join(".openclaw/mcp");
    fs::create_dir_all(&mcp).unwrap();
    fs::set_permissions(&mcp, fs::Permissions::from_mode(0o700)).unwrap();
    // Even who may do everything can't make a directory where there is a file.
    fs::write(mcp.join("tokens"), "in the way").unwrap();
    let run = lab.run(&["mcp", "auth", "fake", "--no-browser"]);
    assert_eq!(run.code, Some(1), "{run}");
    assert!(run.stderr.contains("tokens"), "{run}");
    assert_eq!(lab.counters().registrations, 0);
    fs::remove_file(mcp.join("tokens")).unwrap();
    lab.log_in();
    lab.calls();
}

#[test]
fn a_login_that_cannot_be_opened_can_be_given_up() {
    let lab = LoginLab::logged_in("");
    fs::write(login_file(&lab), "{").unwrap();
    lab.done(&["mcp", "logout", "fake"]);
    let left = names(&lab);
    let is_login = |name: &String| Path::new(name).extension() == Some("json".as_ref());
    assert!(!left.iter().any(is_login), "{left:?}");
    let run = lab.needs_login();
    assert!(!run.stderr.contains("can't be opened"), "{run}");
}
