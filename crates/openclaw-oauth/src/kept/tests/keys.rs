//! The key in a file.

use std::os::unix::fs::PermissionsExt as _;

use super::*;

#[tokio::test]
async fn a_machine_without_a_keyring_gets_a_file_and_a_word_about_it() {
    let place = Place::new();
    let store = place.store();
    let remarks = store.probe().await.unwrap();
    let [remark] = remarks.as_slice() else {
        panic!("{remarks:?}")
    };
    let text = remark.to_string();
    assert_eq!(
        text,
        format!(
            "the key to saved logins is in the file {}, and not in a keyring: the session bus can't \
             be reached: No such file or directory (os error 2)",
            place.key().display()
        )
    );
    assert_eq!(place.files(), ["key", "key.lock"], "nothing else is left");
    let key = fs::read(place.key()).unwrap();
    assert_eq!(store.probe().await.unwrap(), remarks);
    assert_eq!(place.store().probe().await.unwrap(), remarks);
    assert_eq!(fs::read(place.key()).unwrap(), key);
    log_in(&docs(&store)).await;
    assert!(has_grant(&docs(&place.store())).await);
}

#[tokio::test]
async fn a_key_that_others_may_read_is_refused_until_it_is_closed() {
    let place = Place::new();
    log_in(&docs(&place.store())).await;
    for mode in [0o640, 0o604, 0o620, 0o601] {
        fs::set_permissions(place.key(), fs::Permissions::from_mode(mode)).unwrap();
        let logins = docs(&place.store());
        for error in [
            logins.read().await.unwrap_err(),
            place.store().probe().await.unwrap_err(),
            change(&logins, |_| ()).await.unwrap_err(),
        ] {
            assert_eq!(error.remedy(), Remedy::Change);
            assert!(error.to_string().contains(&format!("(mode {mode:04o})")));
            let command = format!("chmod 600 '{}'", place.key().display());
            assert!(error.hint_text().unwrap().contains(&command));
        }
    }
    fs::set_permissions(place.key(), fs::Permissions::from_mode(0o600)).unwrap();
    assert!(has_grant(&docs(&place.store())).await);
}

#[tokio::test]
async fn a_damaged_key_is_named_and_kept() {
    for text in ["", "{}", "x"] {
        let place = Place::new();
        log_in(&docs(&place.store())).await;
        let before = fs::read_to_string(place.key()).unwrap();
        let damaged = match text {
            "x" => before.replace("\"key\": \"", "\"key\": \"x"),
            text => text.to_owned(),
        };
        fs::write(place.key(), &damaged).unwrap();
        for error in [
            docs(&place.store()).read().await.unwrap_err(),
            place.store().probe().await.unwrap_err(),
        ] {
            assert_eq!(error.remedy(), Remedy::Change);
            assert!(error.hint_text().unwrap().contains("backup"), "{error}");
        }
        assert_eq!(fs::read_to_string(place.key()).unwrap(), damaged);
        fs::write(place.key(), before).unwrap();
        assert!(has_grant(&docs(&place.store())).await);
    }
}

#[tokio::test]
async fn without_its_key_a_login_is_needed_and_what_was_sealed_is_put_aside() {
    let place = Place::new();
    log_in(&docs(&place.store())).await;
    fs::remove_file(place.key()).unwrap();
    let logins = docs(&place.store());
    let error = logins.read().await.unwrap_err();
    assert_eq!(error.remedy(), Remedy::LogIn);
    assert!(error.to_string().contains("is gone"), "{error}");
    assert!(!place.key().exists(), "reading makes no key");
    log_in(&logins).await;
    assert!(has_grant(&docs(&place.store())).await);
    assert!(logins.path().with_extension("json.corrupt-1").exists());
}

#[tokio::test]
async fn who_still_knows_a_key_that_was_deleted_puts_it_back() {
    let place = Place::new();
    let logins = docs(&place.store());
    log_in(&logins).await;
    fs::remove_file(place.key()).unwrap();
    change(&logins, |kept| kept.wanted_scopes.push("x".to_owned()))
        .await
        .unwrap();
    assert!(has_grant(&docs(&place.store())).await);
}

#[tokio::test]
async fn what_another_machine_sealed_is_told_from_what_is_damaged() {
    let (here, there) = (Place::new(), Place::new());
    let (ours, theirs) = (docs(&here.store()), docs(&there.store()));
    log_in(&ours).await;
    log_in(&theirs).await;
    fs::copy(theirs.path(), ours.path()).unwrap();
    let error = ours.read().await.unwrap_err();
    assert_eq!(error.remedy(), Remedy::LogIn);
    assert!(error.to_string().contains("another machine"), "{error}");
    // With its key it is as good as ours, also where another one is known.
    fs::copy(there.key(), here.key()).unwrap();
    assert!(has_grant(&ours).await);
}

#[tokio::test]
async fn a_keyring_that_should_be_there_and_is_not_makes_no_second_key() {
    let place = Place::new();
    let store = place.with(keyring_at("nonsense"));
    for error in [
        store.probe().await.unwrap_err(),
        change(&docs(&store), |_| ()).await.unwrap_err(),
    ] {
        assert_eq!(error.remedy(), Remedy::Change);
        let text = error.to_string();
        assert!(text.contains("DBUS_SESSION_BUS_ADDRESS"), "{text}");
        assert!(error.hint_text().is_some());
    }
    assert!(!place.key().exists());
    // Unless there is one already.
    place.store().probe().await.unwrap();
    let remarks = store.probe().await.unwrap();
    assert_eq!(remarks.len(), 1);
    log_in(&docs(&store)).await;
    assert!(has_grant(&docs(&place.store())).await);
}

#[tokio::test]
async fn where_there_is_nothing_to_write_no_key_is_made_and_no_keyring_asked() {
    let place = Place::new();
    // Whoever asks this keyring is told what is wrong with it.
    let logins = docs(&place.with(keyring_at("nonsense")));
    let amending = logins.amend(SOON, |_| Box::pin(async { Ok(7) }));
    assert_eq!(amending.await.unwrap(), 7);
    let failing = logins.amend::<(), _>(SOON, |_| {
        Box::pin(async { Err(OAuthError::login_needed("nobody is logged in")) })
    });
    let error = failing.await.unwrap_err();
    assert_eq!(error, OAuthError::login_needed("nobody is logged in"));
    assert!(!place.key().exists());
    let writing = |logins: ServerLogins| async move {
        let amending = logins.amend(SOON, |kept| {
            kept.wanted_scopes.push("x".to_owned());
            Box::pin(async { Ok(()) })
        });
        amending.await
    };
    let error = writing(logins.clone()).await.unwrap_err();
    assert!(
        error.to_string().contains("DBUS_SESSION_BUS_ADDRESS"),
        "{error}"
    );
    assert!(logins.stamp().is_absence());
    writing(docs(&place.store())).await.unwrap();
    assert!(place.key().exists());
    let (_, kept) = docs(&place.store()).read().await.unwrap();
    assert_eq!(kept.wanted_scopes, ["x"]);
}

#[tokio::test]
async fn what_is_kept_is_not_amended_where_it_could_not_be_saved() {
    let place = Place::new();
    let logins = docs(&place.store());
    log_in(&logins).await;
    fs::set_permissions(logins.path(), fs::Permissions::from_mode(0o400)).unwrap();
    let amending = logins.amend::<(), _>(SOON, |_| panic!("a token would be lost"));
    let error = amending.await.unwrap_err();
    assert!(error.to_string().contains("read-only"), "{error}");
    assert!(has_grant(&logins).await);
}

#[tokio::test]
async fn a_session_without_the_keyring_that_has_the_key_costs_no_login() {
    let place = Place::new();
    log_in(&docs(&place.store())).await;
    let logins = docs(&place.store());
    bad_files::edit(logins.path(), |file| {
        file["data"]["key"] = "0000000000000000".into();
        file["data"]["keyPlace"] = "keyring".into();
    });
    let before = logins.stamp();
    for error in [
        logins.read().await.unwrap_err(),
        change(&logins, |kept| kept.grant = None).await.unwrap_err(),
    ] {
        assert_eq!(error.remedy(), Remedy::Wait, "{error}");
        assert_eq!(
            error.hint_text(),
            Some("use it where the keyring is, or run `openclaw mcp logout docs` and log in here")
        );
    }
    assert_eq!(logins.stamp(), before);
    // As the hint says.
    assert!(matches!(take(&logins).await, Some(Taken::Sealed(_))));
    log_in(&logins).await;
    assert!(has_grant(&docs(&place.store())).await);
}
