use std::sync::Arc;
use std::time::SystemTime;

use openclaw_config::SessionRetention;
use openclaw_state::StateDirectory;

use super::*;
use crate::sqlite::place::SessionsSetup;

fn place(directory: &Path, migrations: &'static [Migration]) -> StorePlace {
    let mut place = StorePlace::new(SessionsSetup {
        state: StateDirectory::open(directory).unwrap(),
        retention: SessionRetention::default(),
        clock: Arc::new(SystemTime::now),
    });
    place.migrations = migrations;
    place
}

fn version(path: &Path) -> i32 {
    let database = Connection::open(path).unwrap();
    let query = |row: &rusqlite::Row<'_>| row.get(0);
    database
        .pragma_query_value(None, "user_version", query)
        .unwrap()
}

const TO_TWO: Migration = |transaction| {
    transaction
        .execute_batch("ALTER TABLE sessions ADD COLUMN title TEXT; UPDATE store SET pruned = 2")
};
const TO_THREE: Migration =
    |transaction| transaction.execute_batch("UPDATE store SET pruned = pruned * 10");
const FAILING: Migration =
    |transaction| transaction.execute_batch("UPDATE store SET pruned = 99; SELECT nothing");

fn pruned(store: &Store) -> i64 {
    let query = "SELECT pruned FROM store";
    store
        .connection
        .query_row(query, [], |row| row.get(0))
        .unwrap()
}

#[test]
fn an_older_store_is_brought_up_to_date_and_a_copy_is_kept() {
    let directory = tempfile::tempdir().unwrap();
    let old = place(directory.path(), &[]);
    let id = open_or_make(&old).unwrap().id;

    let new = place(directory.path(), &[TO_TWO, TO_THREE]);
    let store = open_existing(&new).unwrap().unwrap();
    assert_eq!((pruned(&store), &store.id), (20, &id));
    drop(store);
    assert_eq!(version(&new.path), 3);
    let backup = beside(&new.path, ".v1.bak");
    assert_eq!(version(&backup), 1);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(&backup).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    // To the old program it is newer, and stays as it is.
    let before = fs::read(&new.path).unwrap();
    let refused = open_or_make(&old).err().unwrap();
    let expected = SessionError::Newer {
        path: old.path.clone(),
        found: 3,
        known: 1,
    };
    assert_eq!(
        format!("{refused:?}"),
        format!("{:?}", Failure::Known(expected))
    );
    assert_eq!(fs::read(&new.path).unwrap(), before);
}

#[test]
fn a_migration_that_fails_changes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let old = place(directory.path(), &[]);
    open_or_make(&old).unwrap();
    let new = place(directory.path(), &[TO_TWO, FAILING]);
    let failure = open_existing(&new).err().unwrap();
    assert!(failure.damage().is_none(), "{failure:?}");
    let store = open_existing(&old).unwrap().unwrap();
    assert_eq!(pruned(&store), 0);
    drop(store);
    // A second try replaces the copy of the first.
    let new = place(directory.path(), &[TO_TWO]);
    assert_eq!(pruned(&open_existing(&new).unwrap().unwrap()), 2);
}

#[test]
fn many_bring_it_up_to_date_once() {
    let directory = tempfile::tempdir().unwrap();
    open_or_make(&place(directory.path(), &[])).unwrap();
    let new = place(directory.path(), &[TO_TWO, TO_THREE]);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| assert_eq!(pruned(&open_existing(&new).unwrap().unwrap()), 20));
        }
    });
}

#[test]
fn making_that_was_cut_is_done_again() {
    let directory = tempfile::tempdir().unwrap();
    let place = place(directory.path(), &[]);
    fs::create_dir_all(place.path.parent().unwrap()).unwrap();
    let begun = Connection::open(&place.path).unwrap();
    begun
        .execute_batch("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;")
        .unwrap();
    drop(begun);
    assert!(open_existing(&place).unwrap().is_none());
    let store = open_or_make(&place).unwrap();
    let read = |name: &str| -> String {
        let query = |row: &rusqlite::Row<'_>| Ok(format!("{:?}", row.get_ref(0)?));
        store
            .connection
            .pragma_query_value(None, name, query)
            .unwrap()
    };
    assert_eq!(read("auto_vacuum"), "Integer(2)");
    assert!(
        read("journal_mode").contains("Text"),
        "{}",
        read("journal_mode")
    );
    assert_eq!(read("synchronous"), "Integer(1)");
    assert_eq!(read("foreign_keys"), "Integer(1)");
}
