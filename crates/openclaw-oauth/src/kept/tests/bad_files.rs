//! Files that are not what they should be.

use std::time::SystemTime;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

/// Why reading says that a login is needed.
async fn reason(logins: &ServerLogins) -> String {
    let error = logins.read().await.unwrap_err();
    assert_eq!(error.remedy(), Remedy::LogIn, "{error}");
    let text = error.to_string();
    let reason = text.strip_prefix("the saved login can't be opened: ");
    reason.unwrap_or_else(|| panic!("{text}")).to_owned()
}

/// Makes sure that a login takes the place of what is there, and that it is not gone.
async fn give_way(place: &Place, logins: &ServerLogins) {
    let bytes = fs::read(logins.path()).unwrap();
    log_in(logins).await;
    assert!(has_grant(&docs(&place.store())).await);
    let aside = logins.path().with_extension("json.corrupt-1");
    assert_eq!(fs::read(aside).unwrap(), bytes);
}

pub(super) fn edit(path: &Path, edit: impl FnOnce(&mut Value)) {
    let mut value: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    edit(&mut value);
    fs::write(path, serde_json::to_vec(&value).unwrap()).unwrap();
}

#[tokio::test]
async fn what_is_no_file_of_ours_is_put_aside_by_the_next_login_and_not_by_reading() {
    let whole = {
        let place = Place::new();
        let logins = docs(&place.store());
        log_in(&logins).await;
        fs::read(logins.path()).unwrap()
    };
    let half = whole[..whole.len() / 2].to_vec();
    for (contents, expected) in [
        (Vec::new(), "not JSON"),
        (half, "not JSON"),
        (vec![0; 4096], "not JSON"),
        (b"\xff\xfe".to_vec(), "not JSON"),
        (b"[[[[[[".repeat(10_000), "not JSON"),
        (b"{}".to_vec(), "names no format"),
        (b"null".to_vec(), "names no format"),
        (
            br#"{"format":"openclaw state key","version":1,"data":{}}"#.to_vec(),
            "another format",
        ),
        (
            br#"{"format":"openclaw logins","version":1,"data":{"key":1}}"#.to_vec(),
            "wrong shape",
        ),
        (vec![b' '; 1_000_001], "larger than the limit of 1 MB"),
    ] {
        let place = Place::new();
        let logins = docs(&place.store());
        fs::create_dir_all(logins.path().parent().unwrap()).unwrap();
        fs::write(logins.path(), &contents).unwrap();
        let reason = reason(&logins).await;
        assert!(reason.contains(expected), "{reason}");
        assert_eq!(fs::read(logins.path()).unwrap(), contents);
        give_way(&place, &logins).await;
    }
}

#[tokio::test]
async fn of_what_was_put_aside_the_newest_few_are_kept_for_each_server() {
    let place = Place::new();
    let store = place.store();
    let (logins, other) = (docs(&store), store.of("other", &url()));
    log_in(&other).await;
    fs::write(other.path(), "other").unwrap();
    log_in(&other).await;
    for number in 0..12 {
        log_in(&logins).await;
        fs::write(logins.path(), number.to_string()).unwrap();
        let then = SystemTime::UNIX_EPOCH + Duration::from_secs(number);
        let file = fs::File::options().write(true).open(logins.path()).unwrap();
        file.set_modified(then).unwrap();
    }
    log_in(&logins).await;
    assert!(has_grant(&logins).await);
    let aside = |logins: &ServerLogins| -> Vec<String> {
        let name = logins.path().file_name().unwrap().to_str().unwrap();
        let names = place.files();
        let names = names
            .iter()
            .filter(|it| it.starts_with(name) && *it != name);
        let directory = logins.path().parent().unwrap();
        let read = |name: &String| fs::read_to_string(directory.join(name)).unwrap();
        let mut contents: Vec<String> = names.map(read).collect();
        contents.sort();
        contents
    };
    assert_eq!(aside(&logins), ["10", "11", "7", "8", "9"]);
    assert_eq!(aside(&other), ["other"]);
}

#[tokio::test]
async fn what_killed_processes_left_behind_is_deleted_before_a_login_and_nothing_else_is() {
    let place = Place::new();
    let store = place.store();
    let logins = docs(&store);
    log_in(&logins).await;
    let directory = logins.path().parent().unwrap();
    let an_hour_ago = SystemTime::now() - Duration::from_mins(61);
    for (name, is_old) in [
        (".openclaw-old", true),
        (".openclaw-new", false),
        ("x", true),
    ] {
        let file = fs::File::create(directory.join(name)).unwrap();
        if is_old {
            file.set_modified(an_hour_ago).unwrap();
        }
    }
    for path in [logins.path(), &place.key()] {
        let file = fs::File::options().write(true).open(path).unwrap();
        file.set_modified(an_hour_ago).unwrap();
    }
    let mut before = place.files();
    store.probe().await.unwrap();
    before.retain(|name| name != ".openclaw-old");
    assert_eq!(place.files(), before);
    assert_eq!(before.len(), 6, "{before:?}");
    assert!(has_grant(&docs(&place.store())).await);
}

#[tokio::test]
async fn a_directory_in_the_place_of_the_file_is_put_aside_as_well() {
    let place = Place::new();
    let logins = docs(&place.store());
    fs::create_dir_all(logins.path().join("within")).unwrap();
    let reason = reason(&logins).await;
    assert!(reason.ends_with("is a directory, not a file"), "{reason}");
    log_in(&logins).await;
    assert!(has_grant(&logins).await);
    let aside = logins.path().with_extension("json.corrupt-1");
    assert!(aside.join("within").exists());
}

#[tokio::test]
async fn what_was_changed_is_not_opened() {
    for (field, value, expected) in [
        ("sealed", json!("AAAA"), "damaged"),
        ("sealed", json!("not base64"), "damaged"),
        ("salt", json!("AAAA"), "damaged"),
        ("key", json!("0000000000000000"), "another machine"),
        ("keyPlace", json!("keyring"), ""),
        ("keyPlace", json!("moon"), "wrong shape"),
    ] {
        let place = Place::new();
        let logins = docs(&place.store());
        log_in(&logins).await;
        edit(logins.path(), |file| file["data"][field] = value.clone());
        let logins = docs(&place.store());
        if expected.is_empty() {
            assert!(has_grant(&logins).await, "the key is where it is");
            continue;
        }
        let reason = reason(&logins).await;
        assert!(reason.contains(expected), "{field} {value}: {reason}");
        give_way(&place, &logins).await;
    }
}

#[tokio::test]
async fn the_file_of_one_server_is_not_opened_for_another() {
    let place = Place::new();
    let store = place.store();
    let other = store.of("other", &url());
    log_in(&docs(&store)).await;
    fs::copy(docs(&store).path(), other.path()).unwrap();
    let reason = reason(&other).await;
    assert!(reason.contains("belongs to another server"), "{reason}");
    give_way_for_other(&other).await;
    assert!(has_grant(&docs(&store)).await);
}

async fn give_way_for_other(other: &ServerLogins) {
    change(other, |kept| {
        assert_eq!(*kept, KeptLogins::default());
        kept.begin(pending("1"));
    })
    .await
    .unwrap();
    assert_eq!(other.read().await.unwrap().1.pending, [pending("1")]);
}

#[tokio::test]
async fn what_a_newer_program_wrote_is_left_alone() {
    let place = Place::new();
    let logins = docs(&place.store());
    log_in(&logins).await;
    edit(logins.path(), |file| file["version"] = json!(2));
    let bytes = fs::read(logins.path()).unwrap();
    for error in [
        logins.read().await.unwrap_err(),
        change(&logins, |kept| kept.grant = None).await.unwrap_err(),
    ] {
        assert_eq!(error.remedy(), Remedy::Change);
        assert!(error.to_string().contains("update openclaw"), "{error}");
    }
    assert_eq!(fs::read(logins.path()).unwrap(), bytes);
}

#[tokio::test]
async fn a_file_that_may_not_be_written_is_found_out_before_anything_is_asked_for() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    let logins = docs(&place.store());
    log_in(&logins).await;
    fs::set_permissions(logins.path(), fs::Permissions::from_mode(0o400)).unwrap();
    let error = change(&logins, |_| panic!("a token would be lost"));
    let error: OAuthError = error.await.map(|(): ()| ()).unwrap_err();
    assert_eq!(error.remedy(), Remedy::Change);
    assert!(error.to_string().contains("read-only"), "{error}");
    assert!(error.hint_text().unwrap().contains("disk is not full"));
    assert!(has_grant(&logins).await);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_flipped_bit_of_the_file_gives_what_was_written_or_an_error(
        place_in_file: prop::sample::Index,
        bit in 0..8_u8,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.enable_all().build().unwrap();
        runtime.block_on(async {
            let place = Place::new();
            let logins = docs(&place.store());
            log_in(&logins).await;
            let mut bytes = fs::read(logins.path()).unwrap();
            let index = place_in_file.index(bytes.len());
            bytes[index] ^= 1 << bit;
            fs::write(logins.path(), &bytes).unwrap();
            if let Ok((_, kept)) = docs(&place.store()).read().await {
                assert_eq!(kept.grant, Some(grant()));
            }
        });
    }
}
