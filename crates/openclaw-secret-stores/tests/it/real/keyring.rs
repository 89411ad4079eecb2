//! A real keyring: GNOME Keyring, and `secret-tool` of libsecret beside us.

use std::time::Duration;

use openclaw_config::Environment;
use openclaw_secret_stores::{Keyring, SecretErrorKind};
use openclaw_secrets::Secret;
use openclaw_testkit::keychain::Keychain;
use openclaw_testkit::leaks::{eventually, open_descriptors, wait_until};
use tokio::time::Instant;

use crate::house::House;

/// How long something may take that takes no time, on a busy machine.
const SOON: Duration = Duration::from_secs(30);

/// A keyring that is open, or the end of a test that nobody wants.
macro_rules! keychain {
    () => {
        match Keychain::start().unwrap() {
            Some(keychain) => keychain,
            None => return,
        }
    };
}

fn keyring(keychain: &Keychain) -> Keyring {
    let address = keychain.address();
    let variables = [("DBUS_SESSION_BUS_ADDRESS", address.as_str())];
    let keyring = Keyring::new(&Environment::new(variables, None, "/".as_ref()));
    // So long that nobody waits for it unnoticed.
    keyring.patience(SOON * 2)
}

fn house(keychain: &Keychain) -> House {
    House::new(&[("DBUS_SESSION_BUS_ADDRESS", &keychain.address())])
}

fn secret(text: &str) -> Secret {
    Secret::new(text)
}

#[tokio::test]
async fn what_is_stored_is_found_until_it_is_deleted() {
    let keychain = keychain!();
    let keyring = keyring(&keychain);
    keyring.check().await.unwrap();
    assert_eq!(keyring.get("s", "a").await.unwrap(), None);
    keyring.set("s", "a", &secret("first")).await.unwrap();
    assert_eq!(keyring.get("s", "a").await.unwrap(), Some(secret("first")));
    keyring.set("s", "a", &secret("sécond\tone")).await.unwrap();
    let found = keyring.get("s", "a").await.unwrap();
    assert_eq!(found, Some(secret("sécond\tone")));
    assert_eq!(keyring.get("s", "b").await.unwrap(), None);
    assert_eq!(keyring.get("t", "a").await.unwrap(), None);
    assert!(keyring.delete("s", "a").await.unwrap());
    assert!(!keyring.delete("s", "a").await.unwrap());
    assert_eq!(keyring.get("s", "a").await.unwrap(), None);
}

#[tokio::test]
async fn a_reference_leads_to_what_secret_tool_stored() {
    let keychain = keychain!();
    keychain
        .store("my app", "a/b#c?d=%41", b"from libsecret")
        .unwrap();
    let house = house(&keychain);
    let value = house.get("secret://keyring/my app/a/b#c?d=%41").await;
    assert_eq!(value.unwrap(), "from libsecret");
    let shown = house.redactor.redact("it is from libsecret").into_owned();
    assert_eq!(shown, "it is [REDACTED]", "the redactor knows it");
}

#[tokio::test]
async fn secret_tool_finds_what_we_stored_and_replaces_it() {
    let keychain = keychain!();
    let keyring = keyring(&keychain);
    keyring
        .set("openclaw", "x.env.T", &secret("ours"))
        .await
        .unwrap();
    let found = keychain.lookup("openclaw", "x.env.T").unwrap();
    assert_eq!(found.as_deref(), Some("ours"));
    // One entry, not a second beside ours.
    keychain.store("openclaw", "x.env.T", b"theirs").unwrap();
    let found = keyring.get("openclaw", "x.env.T").await.unwrap();
    assert_eq!(found, Some(secret("theirs")));
    keyring
        .set("openclaw", "x.env.T", &secret("ours again"))
        .await
        .unwrap();
    let found = keychain.lookup("openclaw", "x.env.T").unwrap();
    assert_eq!(found.as_deref(), Some("ours again"));
}

#[tokio::test]
async fn a_missing_entry_does_not_keep_the_others_from_being_found() {
    let keychain = keychain!();
    keychain.store("s", "a", b"value-a").unwrap();
    let house = house(&keychain);
    let references = ["secret://keyring/s/none", "secret://keyring/s/a"];
    let mut found = house.resolve(&references).await;
    let value = found.pop().unwrap().unwrap().value;
    assert_eq!(value.expose(), "value-a");
    let error = found.pop().unwrap().unwrap_err();
    assert_eq!(error.kind(), SecretErrorKind::Missing);
    assert_eq!(
        error.to_string(),
        "the keyring has no entry for the service \"s\" and the account \"none\""
    );
    assert_eq!(
        error.hint_text(),
        Some("store it with `secret-tool store --label openclaw service s username none`")
    );
}

#[tokio::test]
async fn a_value_that_is_no_text_is_refused_and_not_shown() {
    let keychain = keychain!();
    keychain.store("s", "a", b"hunter2\xff\xfe").unwrap();
    let error = house(&keychain).get("secret://keyring/s/a").await;
    let error = error.unwrap_err();
    assert_eq!(error.kind(), SecretErrorKind::Unusable);
    assert!(error.to_string().contains("binary"), "{error}");
    assert!(!format!("{error:?}").contains("hunter2"));
}

#[tokio::test]
async fn two_entries_of_one_name_are_not_chosen_between() {
    let keychain = keychain!();
    // Another attribute makes it another entry, which the same search finds.
    for more in ["one", "two"] {
        let line = [
            "store", "--label", "x", "service", "s", "username", "a", "n", more,
        ];
        let stored = keychain.secret_tool(&line, more.as_bytes()).unwrap();
        assert!(stored.status.success(), "{stored:?}");
    }
    let keyring = keyring(&keychain);
    let reason = "the keyring has 2 entries for the service \"s\" and the account \"a\"";
    let error = keyring.get("s", "a").await.unwrap_err();
    assert_eq!(error.to_string(), reason);
    assert!(error.hint_text().unwrap().contains("Seahorse"));
    let error = keyring.set("s", "a", &secret("x")).await.unwrap_err();
    assert_eq!(error.to_string(), reason);
    let error = keyring.delete("s", "a").await.unwrap_err();
    assert_eq!(error.to_string(), reason);
}

#[tokio::test]
async fn a_locked_keyring_whose_password_is_not_given_says_so() {
    let mut keychain = keychain!();
    keychain.store("s", "a", b"value").unwrap();
    keychain.lock().unwrap();
    let keyring = keyring(&keychain);
    let begun = Instant::now();
    keyring.check().await.unwrap();
    for error in [
        keyring.get("s", "a").await.unwrap_err(),
        keyring.set("s", "a", &secret("other")).await.unwrap_err(),
        keyring.set("s", "new", &secret("other")).await.unwrap_err(),
        keyring.delete("s", "a").await.unwrap_err(),
    ] {
        assert_eq!(
            error.to_string(),
            "the keyring is locked, and its password was not given"
        );
        assert_eq!(error.kind(), SecretErrorKind::Refused);
        assert!(error.hint_text().unwrap().contains("--unlock"));
    }
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
    keychain.unlock().unwrap();
    assert_eq!(keyring.get("s", "a").await.unwrap(), Some(secret("value")));
}

#[tokio::test]
async fn that_there_is_no_entry_is_said_for_certain_only_by_an_open_keyring() {
    let mut keychain = keychain!();
    keychain.store("s", "a", b"value").unwrap();
    let keyring = keyring(&keychain);
    let found = keyring.get_unlocked("s", "a").await.unwrap();
    assert_eq!(found, Some(secret("value")));
    assert_eq!(keyring.get_unlocked("s", "none").await.unwrap(), None);
    keychain.lock().unwrap();
    assert_eq!(keyring.get("s", "none").await.unwrap(), None);
    let error = keyring.get_unlocked("s", "none").await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the keyring is locked, and its password was not given"
    );
    keychain.stall_prompts().unwrap();
    let before = keychain.prompts();
    let error = keyring.silent().get_unlocked("s", "none").await;
    assert_eq!(error.unwrap_err().to_string(), "the keyring is locked");
    assert_eq!(keychain.prompts(), before);
}

#[tokio::test]
async fn nobody_is_asked_for_the_password_by_one_who_may_not() {
    let mut keychain = keychain!();
    keychain.store("s", "a", b"value").unwrap();
    let keyring = keyring(&keychain).silent();
    assert_eq!(keyring.get("s", "a").await.unwrap(), Some(secret("value")));
    keyring.set("s", "b", &secret("other")).await.unwrap();
    assert!(keyring.delete("s", "b").await.unwrap());
    keychain.lock().unwrap();
    keychain.stall_prompts().unwrap();
    for error in [
        keyring.get("s", "a").await.unwrap_err(),
        keyring.set("s", "b", &secret("other")).await.unwrap_err(),
    ] {
        assert_eq!(error.to_string(), "the keyring is locked");
        assert!(!error.is_absence());
    }
    assert!(!keychain.is_prompting());
}

#[tokio::test]
async fn the_first_bus_of_a_list_that_is_there_is_used() {
    let keychain = keychain!();
    keychain.store("s", "a", b"value").unwrap();
    let list = format!("unix:path=/nowhere/bus;{}", keychain.address());
    let variables = [("DBUS_SESSION_BUS_ADDRESS", list.as_str())];
    let keyring = Keyring::new(&Environment::new(variables, None, "/".as_ref()));
    assert_eq!(keyring.get("s", "a").await.unwrap(), Some(secret("value")));
}

#[tokio::test]
async fn a_locked_keyring_that_waits_for_its_password_is_given_up_on() {
    let mut keychain = keychain!();
    keychain.store("s", "a", b"value").unwrap();
    keychain.lock().unwrap();
    keychain.stall_prompts().unwrap();
    // Long enough for a busy machine to find out that it is locked.
    let patience = Duration::from_secs(3);
    let keyring = keyring(&keychain).patience(patience);
    let begun = Instant::now();
    let error = keyring.get("s", "a").await.unwrap_err();
    let reason = "the keyring is locked, and nobody unlocked it within 3s";
    assert_eq!(error.to_string(), reason);
    assert!(begun.elapsed() >= patience);
    // A resolver hears our words and not that time is up.
    let mut house = house(&keychain);
    house.settings.timeout = patience;
    let error = house.get("secret://keyring/s/a").await.unwrap_err();
    assert_eq!(error.to_string(), reason);
    assert_eq!(error.kind(), SecretErrorKind::Refused);
}

#[tokio::test]
async fn a_bus_without_a_keyring_is_told_from_no_bus_at_all() {
    let Some(keychain) = Keychain::without_keyring().unwrap() else {
        return;
    };
    let begun = Instant::now();
    let keyring = keyring(&keychain);
    for error in [
        keyring.check().await.unwrap_err(),
        keyring.get("s", "a").await.unwrap_err(),
    ] {
        assert_eq!(
            error.to_string(),
            "no Secret Service runs on the session bus"
        );
        assert!(error.hint_text().unwrap().contains("GNOME Keyring"));
        assert!(error.is_absence());
    }
    drop(keychain);
    let error = keyring.check().await.unwrap_err();
    assert!(error.is_absence());
    let error = error.to_string();
    assert!(
        error.starts_with("the session bus can't be reached"),
        "{error}"
    );
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
}

#[tokio::test]
async fn a_keyring_that_dies_while_it_is_asked_is_noticed_and_found_again() {
    let mut keychain = keychain!();
    keychain.store("s", "a", b"value").unwrap();
    keychain.lock().unwrap();
    keychain.stall_prompts().unwrap();
    let asking = {
        let keyring = keyring(&keychain);
        tokio::spawn(async move { keyring.get("s", "a").await })
    };
    // It waits for the password when its window is being started.
    assert!(eventually(SOON, || keychain.is_prompting()).await);
    keychain.kill();
    let begun = Instant::now();
    let error = asking.await.unwrap().unwrap_err();
    assert_eq!(
        error.to_string(),
        "the Secret Service went away before it answered"
    );
    assert!(!error.is_absence(), "it was there");
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
    keychain.unlock().unwrap();
    let found = keyring(&keychain).get("s", "a").await.unwrap();
    assert_eq!(found, Some(secret("value")));
}

#[tokio::test]
async fn fifty_at_once_are_all_answered_and_leave_nothing_open() {
    let keychain = keychain!();
    let keyring = keyring(&keychain);
    let before = open_descriptors().len();
    let name = |number: usize| {
        (
            format!("account-{number}"),
            secret(&format!("value-{number}")),
        )
    };
    let writing = (0..50).map(|number| {
        let keyring = keyring.clone();
        tokio::spawn(async move {
            let (account, value) = name(number);
            keyring.set("many", &account, &value).await.unwrap();
            assert_eq!(keyring.get("many", &account).await.unwrap(), Some(value));
        })
    });
    for written in writing.collect::<Vec<_>>() {
        written.await.unwrap();
    }
    let references: Vec<String> = (0..50)
        .map(|number| format!("secret://keyring/many/{}", name(number).0))
        .collect();
    let references: Vec<&str> = references.iter().map(String::as_str).collect();
    let found = house(&keychain).resolve(&references).await;
    for (number, found) in found.into_iter().enumerate() {
        assert_eq!(found.unwrap().value, name(number).1);
    }
    let is_closed = || open_descriptors().len() <= before;
    assert!(
        eventually(SOON, is_closed).await,
        "{:?}",
        open_descriptors()
    );
}

#[test]
fn a_runtime_ends_while_the_keyring_waits_for_its_password() {
    let Some(mut keychain) = Keychain::start().unwrap() else {
        return;
    };
    keychain.store("s", "a", b"value").unwrap();
    keychain.lock().unwrap();
    keychain.stall_prompts().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let keyring = keyring(&keychain);
    let asking = runtime.spawn(async move { keyring.get("s", "a").await });
    assert!(wait_until(SOON, || keychain.is_prompting()));
    assert!(!asking.is_finished());
    let begun = std::time::Instant::now();
    drop(runtime);
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
}
