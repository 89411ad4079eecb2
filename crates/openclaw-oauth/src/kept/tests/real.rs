//! A real keyring: GNOME Keyring.

use openclaw_testkit::keychain::Keychain;

use super::*;

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
    keyring_at(&keychain.address()).patience(SOON)
}

#[tokio::test]
async fn the_key_is_in_the_keyring_and_nowhere_else() {
    let keychain = keychain!();
    let place = Place::new();
    let store = place.with(keyring(&keychain));
    assert_eq!(store.probe().await.unwrap(), []);
    log_in(&docs(&store)).await;
    assert!(!place.key().exists());
    let accounts = keychain.accounts("openclaw").unwrap();
    let [account] = accounts.as_slice() else {
        panic!("{accounts:?}")
    };
    let digits = account.strip_prefix("tokens:").unwrap();
    assert_eq!(digits.len(), 16, "{account}");
    let key = keychain.lookup("openclaw", account).unwrap().unwrap();
    assert_eq!(key.len(), 64);
    assert!(has_grant(&docs(&place.with(keyring(&keychain)))).await);
    // Another state directory has another key.
    let other = Place::new();
    log_in(&docs(&other.with(keyring(&keychain)))).await;
    assert_eq!(keychain.accounts("openclaw").unwrap().len(), 2);
}

#[tokio::test]
async fn twenty_stores_that_begin_at_once_make_one_key() {
    let keychain = keychain!();
    let place = Place::new();
    let stores: Vec<LoginStore> = (0..20).map(|_| place.with(keyring(&keychain))).collect();
    let writing = stores.iter().enumerate().map(|(number, store)| {
        let logins = store.of(&number.to_string(), &url());
        tokio::spawn(async move { log_in(&logins).await })
    });
    let writing: Vec<_> = writing.collect();
    for written in writing {
        written.await.unwrap();
    }
    let store = place.with(keyring(&keychain));
    for number in 0..20 {
        assert!(has_grant(&store.of(&number.to_string(), &url())).await);
    }
    assert_eq!(keychain.accounts("openclaw").unwrap().len(), 1);
}

#[tokio::test]
async fn a_locked_keyring_is_waited_for_and_no_second_key_is_made() {
    let mut keychain = keychain!();
    let place = Place::new();
    log_in(&docs(&place.with(keyring(&keychain)))).await;
    keychain.lock().unwrap();
    let store = place.with(keyring(&keychain).silent());
    let (logins, other) = (docs(&store), store.of("other", &url()));
    for error in [
        logins.read().await.unwrap_err(),
        change(&logins, |_| ()).await.unwrap_err(),
        store.probe().await.unwrap_err(),
        change(&other, |_| ()).await.unwrap_err(),
    ] {
        assert_eq!(error.remedy(), Remedy::Wait, "{error}");
        assert!(error.to_string().contains("is locked"), "{error}");
        assert!(error.hint_text().unwrap().contains("unlock"));
    }
    assert!(!place.key().exists());
    // What was never there needs no key.
    assert_eq!(other.read().await.unwrap().1, KeptLogins::default());
    keychain.unlock().unwrap();
    assert!(has_grant(&logins).await);
    // Once it is known, the keyring may be locked again.
    keychain.lock().unwrap();
    change(&logins, |kept| kept.wanted_scopes.push("x".to_owned()))
        .await
        .unwrap();
    log_in(&other).await;
    assert!(has_grant(&logins).await);
}

#[tokio::test]
async fn a_locked_keyring_that_has_no_key_gets_none_and_no_file_is_made() {
    let mut keychain = keychain!();
    let place = Place::new();
    keychain.lock().unwrap();
    let store = place.with(keyring(&keychain).silent());
    let error = store.probe().await.unwrap_err();
    assert_eq!(error.remedy(), Remedy::Wait, "{error}");
    assert!(!place.key().exists());
    keychain.unlock().unwrap();
    assert_eq!(store.probe().await.unwrap(), []);
}

#[tokio::test]
async fn a_person_who_does_not_unlock_is_asked_once_by_all_servers_together() {
    let mut keychain = keychain!();
    let place = Place::new();
    let store = place.with(keyring(&keychain));
    for name in ["1", "2", "3", "4"] {
        log_in(&store.of(name, &url())).await;
    }
    keychain.lock().unwrap();
    let store = place.with(keyring(&keychain));
    let reading = ["1", "2", "3", "4"].map(|name| {
        let logins = store.of(name, &url());
        tokio::spawn(async move { logins.read().await })
    });
    for read in reading {
        let error = read.await.unwrap().unwrap_err();
        assert_eq!(error.remedy(), Remedy::Wait, "{error}");
        assert!(error.to_string().contains("password was not given"));
    }
    assert_eq!(keychain.prompts(), 1);
}

#[tokio::test]
async fn a_person_who_did_not_unlock_is_left_alone_by_those_who_try_again() {
    let mut keychain = keychain!();
    let place = Place::new();
    log_in(&docs(&place.with(keyring(&keychain)))).await;
    keychain.lock().unwrap();
    let store = place.with(keyring(&keychain));
    let logins = docs(&store);
    for _ in 0..5 {
        let error = logins.read().await.unwrap_err();
        assert_eq!(error.remedy(), Remedy::Wait, "{error}");
        assert_eq!(keychain.prompts(), 1, "{error}");
    }
    // Whoever wants to log in is there to be asked.
    assert!(store.probe().await.is_err());
    assert_eq!(keychain.prompts(), 2);
    assert!(logins.read().await.is_err());
    assert_eq!(keychain.prompts(), 2);
    keychain.unlock().unwrap();
    assert!(has_grant(&logins).await);
    assert_eq!(keychain.prompts(), 2);
}

#[tokio::test]
async fn a_keyring_that_never_answers_is_given_up_on() {
    let mut keychain = keychain!();
    let place = Place::new();
    log_in(&docs(&place.with(keyring(&keychain)))).await;
    keychain.lock().unwrap();
    keychain.stall_prompts().unwrap();
    let patience = Duration::from_secs(2);
    let logins = docs(&place.with(keyring(&keychain).patience(patience)));
    let error = logins.read().await.unwrap_err();
    assert_eq!(error.remedy(), Remedy::Wait, "{error}");
    assert!(error.to_string().contains("within 2s"), "{error}");
}

#[tokio::test]
async fn a_key_in_a_file_is_used_on_when_a_keyring_comes() {
    let mut keychain = keychain!();
    let place = Place::new();
    log_in(&docs(&place.store())).await;
    let store = place.with(keyring(&keychain));
    assert!(has_grant(&docs(&store)).await);
    log_in(&store.of("new", &url())).await;
    assert_eq!(keychain.accounts("openclaw").unwrap(), [""; 0]);
    assert_eq!(store.probe().await.unwrap().len(), 1);
    assert!(has_grant(&place.store().of("new", &url())).await);
    // A locked one does not matter then.
    keychain.lock().unwrap();
    let store = place.with(keyring(&keychain));
    log_in(&store.of("newer", &url())).await;
    assert!(!keychain.is_prompting());
}

#[tokio::test]
async fn with_two_keys_each_login_keeps_its_own_and_new_ones_get_that_of_the_keyring() {
    let mut keychain = keychain!();
    let place = Place::new();
    let with_keyring = || place.with(keyring(&keychain).silent());
    let url = url();
    log_in(&with_keyring().of("in keyring", &url)).await;
    // A session that does not reach the keyring.
    log_in(&place.store().of("in file", &url)).await;
    assert!(place.key().exists());
    let store = with_keyring();
    for name in ["in keyring", "in file"] {
        let logins = store.of(name, &url);
        assert!(has_grant(&logins).await);
        change(&logins, |kept| kept.wanted_scopes.push("x".to_owned()))
            .await
            .unwrap();
    }
    log_in(&store.of("new", &url)).await;
    assert_eq!(store.probe().await.unwrap(), []);
    // Sealed as before.
    let without = place.store();
    assert!(has_grant(&without.of("in file", &url)).await);
    for name in ["in keyring", "new"] {
        // Neither is it opened, nor does it give way to a new login.
        let logins = without.of(name, &url);
        let before = logins.stamp();
        for error in [
            logins.read().await.unwrap_err(),
            change(&logins, |_| panic!("it can't be seen"))
                .await
                .unwrap_err(),
        ] {
            assert_eq!(error.remedy(), Remedy::Wait);
            let text = error.to_string();
            let expected =
                "the saved login is sealed with a key in a keyring, and the session bus can't";
            assert!(text.starts_with(expected), "{text}");
            let command = format!(
                "`openclaw mcp logout {}`",
                openclaw_config::shell_word(name)
            );
            let hint = error.hint_text().unwrap();
            assert!(hint.contains(&command), "{hint}");
        }
        assert_eq!(logins.stamp(), before);
    }
    assert!(!place.files().iter().any(|it| it.contains("corrupt")));
    keychain.lock().unwrap();
    let store = place.with(keyring(&keychain).silent());
    assert!(has_grant(&store.of("in file", &url)).await);
    let error = store.of("in keyring", &url).read().await.unwrap_err();
    assert_eq!(error.remedy(), Remedy::Wait, "{error}");
    log_in(&store.of("newer", &url)).await;
    assert!(has_grant(&place.store().of("newer", &url)).await);
}

#[tokio::test]
async fn what_the_keyring_has_forgotten_needs_a_login() {
    let mut keychain = keychain!();
    let place = Place::new();
    log_in(&docs(&place.with(keyring(&keychain)))).await;
    let account = keychain.accounts("openclaw").unwrap().remove(0);
    let line = ["clear", "service", "openclaw", "username", &account];
    assert!(keychain.secret_tool(&line, b"").unwrap().status.success());
    // A locked one does not say for certain that it has forgotten.
    keychain.lock().unwrap();
    let logins = docs(&place.with(keyring(&keychain).silent()));
    let error = logins.read().await.unwrap_err();
    assert_eq!(error.remedy(), Remedy::Wait, "{error}");
    keychain.unlock().unwrap();
    let logins = docs(&place.with(keyring(&keychain)));
    let error = logins.read().await.unwrap_err();
    assert_eq!(error.remedy(), Remedy::LogIn);
    assert!(error.to_string().contains("does not have"), "{error}");
    log_in(&logins).await;
    assert!(has_grant(&docs(&place.with(keyring(&keychain)))).await);
    assert!(logins.path().with_extension("json.corrupt-1").exists());
}

#[tokio::test]
async fn an_entry_that_holds_no_key_is_named_and_kept() {
    let keychain = keychain!();
    let place = Place::new();
    log_in(&docs(&place.with(keyring(&keychain)))).await;
    let account = keychain.accounts("openclaw").unwrap().remove(0);
    keychain
        .store("openclaw", &account, b"hunter2-hunter2")
        .unwrap();
    let store = place.with(keyring(&keychain));
    for error in [
        docs(&store).read().await.unwrap_err(),
        store.probe().await.unwrap_err(),
    ] {
        assert_eq!(error.remedy(), Remedy::Change);
        assert!(error.to_string().contains(&account), "{error}");
        assert!(!format!("{error:?}").contains("hunter2"));
    }
    let found = keychain.lookup("openclaw", &account).unwrap();
    assert_eq!(found.as_deref(), Some("hunter2-hunter2"));
}
