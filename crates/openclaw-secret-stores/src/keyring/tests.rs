use super::*;
#[cfg(target_os = "linux")]
use crate::error::SecretErrorKind;

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_bus_that_is_not_there_is_named_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let bus = format!("unix:path={}/bus", directory.path().display());
    for (variable, value, reason) in [
        (
            "DBUS_SESSION_BUS_ADDRESS",
            bus.as_str(),
            "the session bus can't be reached: No such file or directory (os error 2)",
        ),
        (
            "XDG_RUNTIME_DIR",
            directory.path().to_str().unwrap(),
            "there is no session bus to reach a keyring on (DBUS_SESSION_BUS_ADDRESS is not set)",
        ),
    ] {
        let environment = Environment::new([(variable, value)], None, directory.path());
        let error = Keyring::new(&environment).get("s", "a").await.unwrap_err();
        assert_eq!(error.to_string(), reason);
        assert_eq!(error.kind(), SecretErrorKind::Unavailable);
        let hint = error.hint_text().unwrap();
        assert!(hint.contains("GNOME Keyring"), "{hint}");
        assert!(hint.contains("password of the keyring on its standard input"));
        assert!(error.is_absence());
    }
    let nonsense = [("DBUS_SESSION_BUS_ADDRESS", "nonsense")];
    let environment = Environment::new(nonsense, None, directory.path());
    let error = Keyring::new(&environment).get("s", "a").await.unwrap_err();
    assert_eq!(error.kind(), SecretErrorKind::Misconfigured, "{error}");
    assert!(!error.is_absence(), "there should be one");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn of_a_list_of_buses_the_one_that_should_work_is_named() {
    let reason = async |addresses: &str| {
        let variables = [("DBUS_SESSION_BUS_ADDRESS", addresses)];
        let environment = Environment::new(variables, None, "/".as_ref());
        let error = Keyring::new(&environment).check().await.unwrap_err();
        (error.kind(), error.is_absence())
    };
    let (missing, wrong) = (SecretErrorKind::Unavailable, SecretErrorKind::Misconfigured);
    let none = "unix:path=/nowhere/1; unix:path=/nowhere/2;";
    assert_eq!(reason(none).await, (missing, true));
    assert_eq!(reason(";").await, (missing, true));
    for list in [
        "unix:path=/nowhere/1;nonsense",
        "nonsense;unix:path=/nowhere/1",
    ] {
        assert_eq!(reason(list).await, (wrong, false), "{list}");
    }
}

#[test]
fn a_missing_entry_comes_with_the_command_that_stores_it() {
    let error = missing("openclaw", "github.env.TOKEN");
    assert_eq!(
        error.to_string(),
        "the keyring has no entry for the service \"openclaw\" and the account \"github.env.TOKEN\""
    );
    let hint = error.hint_text().unwrap();
    assert!(hint.contains("github.env.TOKEN"), "{hint}");
    #[cfg(target_os = "linux")]
    assert!(
        missing("my app", "it's")
            .hint_text()
            .unwrap()
            .ends_with(r"service 'my app' username 'it'\''s'`"),
    );
}

#[test]
fn the_time_that_is_told_is_that_which_was_set() {
    for (left, told) in [
        (Duration::from_nanos(9_999_987_123), "10s"),
        (Duration::from_secs(10), "10s"),
        (Duration::from_millis(1_499), "1.5s"),
        (Duration::from_micros(599_950), "600ms"),
        (Duration::ZERO, "0ns"),
    ] {
        assert_eq!(format!("{:?}", rounded(left)), told);
    }
    assert!(rounded(Duration::MAX) > Duration::from_hours(1));
}

#[tokio::test(start_paused = true)]
async fn who_is_asked_too_late_is_told_why() {
    let asking = Asking::default();
    asking.has_turn.store(true, Ordering::Relaxed);
    let patience = Duration::from_secs(10);
    let silent = asking.too_late(patience);
    assert_eq!(silent.to_string(), "the keyring did not answer within 10s");
    assert_eq!(silent.kind(), SecretErrorKind::Unavailable);
    #[cfg(target_os = "linux")]
    {
        asking.begin();
        let locked = asking.too_late(patience);
        assert_eq!(
            locked.to_string(),
            "the keyring is locked, and nobody unlocked it within 10s"
        );
        // What uses it is not started again and again.
        assert_eq!(locked.kind(), SecretErrorKind::Refused);
        // Nor is what came to no turn meanwhile.
        let behind = Asking {
            others_wait: Arc::clone(&asking.others_wait),
            ..Asking::default()
        };
        assert_eq!(behind.too_late(patience), locked);
        asking.end();
        assert_eq!(behind.too_late(patience), silent);
        assert_eq!(asking.too_late(patience), silent);
    }
}
