use std::fs;

use super::*;

fn store(directory: &tempfile::TempDir) -> ResultStore {
    let state = StateDirectory::open(&directory.path().join("state")).unwrap();
    ResultStore::new(&state).unwrap()
}

const ORIGIN: (&str, &str) = ("files", "read");

fn is_missing(found: &Result<StoredResult, ReadResultError>) -> bool {
    matches!(found, Err(ReadResultError::Missing))
}

#[test]
fn what_was_kept_is_read_in_parts_also_by_another_process() {
    let directory = tempfile::tempdir().unwrap();
    let now = SystemTime::now();
    let text = "a€ä😀".repeat(1_000);
    let id = store(&directory)
        .keep("main", Some("k"), ORIGIN, &text, now)
        .unwrap()
        .to_string();
    let store = store(&directory);
    let mut read = String::new();
    loop {
        let part = store.read("main", Some("k"), &id, read.len() as u64, 997, now);
        let part = part.unwrap();
        assert_eq!((part.server.as_str(), part.tool.as_str()), ORIGIN);
        assert_eq!(part.start, read.len() as u64);
        read.push_str(&part.text);
        if part.end() == part.total {
            break;
        }
    }
    assert_eq!(read, text);
    let inside = store.read("main", Some("k"), &id, 2, 5, now).unwrap();
    assert_eq!((inside.start, inside.text.as_str()), (1, "€ä"));
    let end = store.read("main", Some("k"), &id, read.len() as u64, 5, now);
    assert!(matches!(
        end,
        Err(ReadResultError::PastEnd { total: 10_000 })
    ));
    let far = store.read("main", Some("k"), &id, u64::MAX, 5, now);
    assert!(matches!(far, Err(ReadResultError::PastEnd { .. })));
}

#[test]
fn only_its_agent_and_its_session_read_a_result() {
    let directory = tempfile::tempdir().unwrap();
    let store = store(&directory);
    let now = SystemTime::now();
    let keep = |session| {
        store
            .keep("main", session, ORIGIN, "text", now)
            .unwrap()
            .to_string()
    };
    let (with, without) = (keep(Some("agent:main:secret")), keep(None));
    let read = |agent, session, id: &str| store.read(agent, session, id, 0, 10, now);
    assert!(read("main", Some("agent:main:secret"), &with).is_ok());
    assert!(is_missing(&read("main", Some("agent:main:other"), &with)));
    assert!(is_missing(&read("main", Some(""), &with)));
    assert!(is_missing(&read("main", None, &with)));
    assert!(is_missing(&read("other", Some("agent:main:secret"), &with)));
    assert!(read("main", None, &without).is_ok());
    assert!(read("main", Some("agent:main:other"), &without).is_ok());
    assert!(is_missing(&read("other", None, &without)));
    let path = store.directory.join(format!("{with}.result"));
    let written = fs::read_to_string(path).unwrap();
    assert!(!written.contains("secret"), "{written}");
}

#[test]
fn no_text_of_a_model_becomes_a_path() {
    let directory = tempfile::tempdir().unwrap();
    let store = store(&directory);
    let now = SystemTime::now();
    let id = store.keep("main", None, ORIGIN, "text", now).unwrap();
    for text in [
        "",
        "..",
        "../mcp/state-key.json",
        &format!("{id}.result"),
        &format!("./{id}"),
    ] {
        let error = store.read("main", None, text, 0, 10, now).unwrap_err();
        assert!(matches!(error, ReadResultError::NotAnId), "{error}");
    }
    let unknown = ResultId::random().unwrap().to_string();
    assert!(is_missing(&store.read("main", None, &unknown, 0, 10, now)));
}

#[test]
fn what_is_too_old_is_not_read_and_soon_deleted() {
    let directory = tempfile::tempdir().unwrap();
    let store = store(&directory);
    let now = SystemTime::now();
    let id = store.keep("main", None, ORIGIN, "text", now).unwrap();
    let later = now + AGE + Duration::from_mins(1);
    assert!(is_missing(&store.read(
        "main",
        None,
        &id.to_string(),
        0,
        10,
        later
    )));
    let path = store.directory.join(id.file_name());
    assert!(path.exists());
    store.keep("main", None, ORIGIN, "text", later).unwrap();
    assert!(!path.exists());
}

#[test]
fn room_is_made_for_what_comes_and_never_of_it() {
    let directory = tempfile::tempdir().unwrap();
    let mut store = store(&directory);
    store.quota.bytes = 10_000;
    let now = SystemTime::now();
    let text = "x".repeat(3_000);
    for _ in 0..20 {
        let id = store.keep("main", None, ORIGIN, &text, now).unwrap();
        let size = |entry: io::Result<fs::DirEntry>| entry.unwrap().metadata().unwrap().len();
        let total: u64 = fs::read_dir(&store.directory).unwrap().map(size).sum();
        assert!(total <= 10_000, "{total}");
        assert!(
            store
                .read("main", None, &id.to_string(), 0, 10, now)
                .is_ok()
        );
    }
    assert_eq!(fs::read_dir(&store.directory).unwrap().count(), 3);
}

#[test]
fn what_is_too_large_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let mut store = store(&directory);
    store.largest = 100;
    let keep = |text: &str| store.keep("main", None, ORIGIN, text, SystemTime::now());
    let error = keep(&"x".repeat(101)).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
    assert!(keep(&"x".repeat(100)).is_ok());
}

#[test]
fn several_keep_and_read_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let now = SystemTime::now();
    std::thread::scope(|scope| {
        for number in 0..4 {
            let mut store = store(&directory);
            store.quota.bytes = 30_000;
            scope.spawn(move || {
                for round in 0..20 {
                    let text = format!("{number} {round} {}", "x".repeat(3_000));
                    let id = store.keep("main", None, ORIGIN, &text, now).unwrap();
                    match store.read("main", None, &id.to_string(), 0, 9_000, now) {
                        Ok(part) => assert_eq!(part.text, text),
                        // Others needed the room.
                        Err(error) => assert!(matches!(error, ReadResultError::Missing), "{error}"),
                    }
                }
            });
        }
    });
    assert!(
        fs::read_dir(directory.path().join("state/results"))
            .unwrap()
            .count()
            >= 1
    );
}

#[test]
fn a_damaged_file_is_named_damaged_and_a_deleted_directory_is_made_again() {
    let directory = tempfile::tempdir().unwrap();
    let store = store(&directory);
    let now = SystemTime::now();
    let id = store.keep("main", None, ORIGIN, "text", now).unwrap();
    fs::write(store.directory.join(id.file_name()), "{\n").unwrap();
    let error = store
        .read("main", None, &id.to_string(), 0, 10, now)
        .unwrap_err();
    assert!(matches!(error, ReadResultError::Corrupt(_)), "{error}");
    fs::remove_dir_all(&store.directory).unwrap();
    assert!(is_missing(&store.read(
        "main",
        None,
        &id.to_string(),
        0,
        10,
        now
    )));
    assert!(store.keep("main", None, ORIGIN, "text", now).is_ok());
}

#[cfg(unix)]
#[test]
fn nobody_else_can_read_them_and_links_are_not_followed() {
    use std::os::unix::fs::PermissionsExt as _;
    let directory = tempfile::tempdir().unwrap();
    let store = store(&directory);
    let now = SystemTime::now();
    let id = store.keep("main", None, ORIGIN, "text", now).unwrap();
    let path = store.directory.join(id.file_name());
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&store.directory), mode(&path)), (0o700, 0o600));
    let moved = directory.path().join("moved");
    fs::rename(&path, &moved).unwrap();
    std::os::unix::fs::symlink(&moved, &path).unwrap();
    let error = store
        .read("main", None, &id.to_string(), 0, 10, now)
        .unwrap_err();
    assert!(matches!(error, ReadResultError::Corrupt(_)), "{error}");
}
