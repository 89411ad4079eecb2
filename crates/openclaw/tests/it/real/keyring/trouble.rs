//! A keyring that is not there, locked, slow, or not to be found.

use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};

use openclaw_testkit::keychain::Keychain;
use openclaw_testkit::leaks::wait_until;

use super::{TOKEN, add, lab, line, send, token};
use crate::lab::{Lab, SOON};

#[test]
fn without_a_keyring_the_value_is_written_and_it_is_said_why() {
    let Some(keychain) = Keychain::without_keyring().unwrap() else {
        return;
    };
    let mut lab = Lab::empty();
    lab.home.set(keychain.variables());
    let run = add(&lab, TOKEN, &[]);
    assert_eq!(token(&lab), TOKEN);
    assert!(!run.to_string().contains(TOKEN), "{run}");
    assert!(
        run.stderr.contains("has plaintext credentials"),
        "FR-5: {run}"
    );
    let reason = "warning: no keyring: no Secret Service runs on the session bus: install";
    assert!(run.stderr.contains(reason), "{run}");
}

#[test]
fn a_keyring_that_does_not_work_is_no_reason_to_write_the_value() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("bus");
    // It takes connections and never answers.
    let _silent = UnixListener::bind(&path).unwrap();
    let silent = format!("unix:path={}", path.display());
    for (address, reason) in [
        (silent.as_str(), "the keyring did not answer within 10s"),
        ("nonsense", "DBUS_SESSION_BUS_ADDRESS is not the address"),
    ] {
        let mut lab = Lab::empty();
        lab.home
            .set(vec![("DBUS_SESSION_BUS_ADDRESS", address.to_owned())]);
        let before = lab.config_text();
        let begun = Instant::now();
        let run = lab.run(&line(&format!("GITHUB_TOKEN={TOKEN}"), &["--json"]));
        assert_eq!(run.code, Some(1), "{run}");
        let error = run.json()["error"].clone();
        assert_eq!(error["code"], "keyring", "{error}");
        assert!(
            error["message"].as_str().unwrap().contains(reason),
            "{error}"
        );
        assert!(error["hint"].as_str().unwrap().contains("--no-keyring"));
        assert_eq!(lab.config_text(), before);
        let is_left = run.stderr.contains("keeps an entry");
        assert!(!is_left, "nothing was stored: {run}");
        assert!(
            begun.elapsed() < Duration::from_secs(14),
            "it is asked once"
        );
    }
}

#[test]
fn a_locked_keyring_is_a_failure_and_nothing_is_written() {
    let (lab, mut keychain) = lab!();
    keychain.lock().unwrap();
    let before = lab.config_text();
    let variable = format!("GITHUB_TOKEN={TOKEN}");
    let more = ["-e", "X_KEY=k1k2k3k4", "--json"];
    let run = lab.run(&line(&variable, &more));
    assert_eq!(run.code, Some(1), "{run}");
    let error = run.json()["error"].clone();
    assert_eq!(error["code"], "keyring", "{error}");
    assert_eq!(
        error["message"],
        "cannot keep env.GITHUB_TOKEN of mine in the keyring: the keyring is locked, and its \
         password was not given"
    );
    assert!(
        error["hint"].as_str().unwrap().contains("--no-keyring"),
        "{error}"
    );
    assert_eq!(lab.config_text(), before);
    assert_eq!(keychain.prompts(), 1, "a person is asked once");
}

#[test]
fn whoever_waits_for_the_password_can_be_stopped() {
    let (lab, mut keychain) = lab!();
    keychain.lock().unwrap();
    keychain.stall_prompts().unwrap();
    let before = lab.config_text();
    let variable = format!("GITHUB_TOKEN={TOKEN}");
    let mut child = lab.start(&line(&variable, &[]));
    assert!(wait_until(SOON, || keychain.is_prompting()));
    let begun = Instant::now();
    send("-INT", child.id());
    let ended = wait_until(SOON, || child.try_wait().unwrap().is_some());
    assert!(ended, "it did not end within {:?}", begun.elapsed());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(
        begun.elapsed() < Duration::from_secs(5),
        "{:?}",
        begun.elapsed()
    );
    assert_eq!(lab.config_text(), before);
}
