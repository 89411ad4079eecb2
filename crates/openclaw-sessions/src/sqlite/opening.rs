//! Opening the database: whose it is, its version, making it, bringing it up to date.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use openclaw_state::layout;
use ring::rand::{SecureRandom, SystemRandom};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Transaction, TransactionBehavior};

use super::failure::Failure;
use super::place::{FileIdentity, StorePlace, hexadecimal, reason_of};
use crate::error::SessionError;

/// What marks a database as a store of sessions: "ocls".
const APPLICATION: i32 = 0x6f63_6c73;
/// How long another process may write while we wait.
const BUSY: Duration = Duration::from_secs(5);
/// How large the journal may stay when it is not needed.
const JOURNAL_BYTES: i64 = 4 * 1024 * 1024;

const SCHEMA: &str = include_str!("schema.sql");
/// How many tables that makes.
const TABLES: i64 = 6;

/// Turns a database of one version into one of the next.
pub(super) type Migration = fn(&Transaction<'_>) -> rusqlite::Result<()>;
/// The first turns version 1 into version 2, and so on.
pub(super) const MIGRATIONS: &[Migration] = &[];
/// The version from which the first migration leads on.
const FIRST_VERSION: u32 = 1;
const _: () =
    assert!(layout::SESSIONS_VERSION as usize == MIGRATIONS.len() + FIRST_VERSION as usize);

/// The database, open.
pub(super) struct Store {
    pub(super) connection: Connection,
    /// What tells it from every other one, whatever it is called.
    pub(super) id: String,
    /// Which file it is.
    pub(super) file: FileIdentity,
}

/// What a file turned out to be.
enum Found {
    Empty,
    Ours(u32),
}

/// Opens the store if there is one.
pub(super) fn open_existing(place: &StorePlace) -> Result<Option<Store>, Failure> {
    let Some(file) = place
        .identity()
        .map_err(|error| unreadable(place, &error))?
    else {
        return Ok(None);
    };
    let connection = connect(place)?;
    match look(&connection)? {
        Found::Empty => Ok(None),
        Found::Ours(version) if version == newest(place) => {
            enter(place, connection, file).map(Some)
        }
        Found::Ours(version) if version > newest(place) => Err(newer(place, version).into()),
        Found::Ours(_) => {
            drop(connection);
            update(place).map(Some)
        }
    }
}

/// Opens the store, and makes it if there is none.
pub(super) fn open_or_make(place: &StorePlace) -> Result<Store, Failure> {
    if let Some(store) = open_existing(place)? {
        return Ok(store);
    }
    // Of many that start at once, one makes it.
    let lock = place.lock_store()?;
    create_file(&place.path).map_err(|error| place.unwritable(reason_of(&error)))?;
    let mut connection = connect(place)?;
    if let Found::Empty = look(&connection)? {
        make(place, &mut connection)?;
    }
    drop(connection);
    drop(lock);
    open_existing(place)?.ok_or_else(|| place.unusable("it was deleted while it was made").into())
}

/// Reads through the whole of it: whether it is sound.
pub(super) fn is_sound(place: &StorePlace) -> bool {
    let checked = || -> Result<bool, Failure> {
        let connection = connect(place)?;
        if let Found::Ours(version) = look(&connection)?
            && version == newest(place)
        {
            check_tables(&connection)?;
        }
        let query = "PRAGMA quick_check(1)";
        let verdict: String = connection.query_row(query, [], |row| row.get(0))?;
        Ok(verdict == "ok")
    };
    match checked() {
        Ok(is_sound) => is_sound,
        // What is not about damage is no reason to take the file away.
        Err(failure) => failure.damage().is_none(),
    }
}

fn newest(place: &StorePlace) -> u32 {
    FIRST_VERSION + u32::try_from(place.migrations.len()).unwrap_or_default()
}

fn newer(place: &StorePlace, found: u32) -> SessionError {
    SessionError::Newer {
        path: place.path.clone(),
        found,
        known: newest(place),
    }
}

fn unreadable(place: &StorePlace, error: &io::Error) -> SessionError {
    place.unusable(reason_of(error))
}

/// Connects to a file that is there. Nothing is written.
fn connect(place: &StorePlace) -> Result<Connection, Failure> {
    if place.path.is_dir() {
        return Err(Failure::Damaged("it is a directory"));
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(&place.path, flags)?;
    connection.busy_timeout(BUSY)?;
    // The last one to close a database deletes its journal, by name: if the database was set aside
    // meanwhile, that would be the journal of the new one.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    Ok(connection)
}

/// Looks whose the file is, which needs its first page only.
fn look(connection: &Connection) -> Result<Found, Failure> {
    let number = |pragma: &str| -> Result<i32, Failure> {
        Ok(connection.pragma_query_value(None, pragma, |row| row.get(0))?)
    };
    let (application, version) = (number("application_id")?, number("user_version")?);
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    match (application, version, tables) {
        (0, 0, 0) => Ok(Found::Empty),
        (APPLICATION, 1.., _) => Ok(Found::Ours(u32::try_from(version).unwrap_or_default())),
        _ => Err(Failure::Damaged("it is no store of sessions")),
    }
}

/// Makes a database of our version ready for use.
fn enter(place: &StorePlace, connection: Connection, file: FileIdentity) -> Result<Store, Failure> {
    connection.execute_batch(&format!(
        "PRAGMA foreign_keys = ON; PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON;
         PRAGMA trusted_schema = OFF; PRAGMA journal_size_limit = {JOURNAL_BYTES};"
    ))?;
    let id = check_tables(&connection)?;
    // Where it was set aside between opening and reading, its journal may be that of the new one.
    if place.identity().ok().flatten() != Some(file) {
        return Err(Failure::Replaced);
    }
    Ok(Store {
        connection,
        id,
        file,
    })
}

/// Sees that all tables are there; the name of the store.
fn check_tables(connection: &Connection) -> Result<String, Failure> {
    // Others may have put tables of their own beside ours: tools that copy databases do.
    let query = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN
                 ('store', 'sessions', 'turns', 'messages', 'blobs', 'links')";
    let tables: i64 = connection.query_row(query, [], |row| row.get(0))?;
    if tables != TABLES {
        return Err(Failure::Damaged("tables are missing"));
    }
    let query = "SELECT id FROM store";
    let id = connection
        .query_row(query, [], |row| row.get(0))
        .optional()?;
    id.ok_or(Failure::Damaged("its name is missing"))
}

/// Makes the tables, all or none of them.
fn make(place: &StorePlace, connection: &mut Connection) -> Result<(), Failure> {
    let mut id = [0; 16];
    SystemRandom::new()
        .fill(&mut id)
        .map_err(|_| place.unusable("the system gives no random numbers"))?;
    connection.execute_batch("PRAGMA auto_vacuum = INCREMENTAL")?;
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(SCHEMA)?;
    transaction.execute(
        "INSERT INTO store (id, pruned) VALUES (?1, 0)",
        [hexadecimal(&id)],
    )?;
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", FIRST_VERSION)?;
    for migration in MIGRATIONS {
        migration(&transaction)?;
    }
    transaction.pragma_update(None, "user_version", layout::SESSIONS_VERSION)?;
    Ok(transaction.commit()?)
}

/// Brings a database up to date, after a copy was put beside it.
fn update(place: &StorePlace) -> Result<Store, Failure> {
    let lock = place.lock_store()?;
    let mut connection = connect(place)?;
    if let Found::Ours(version) = look(&connection)?
        && version < newest(place)
    {
        back_up(place, &connection, version)?;
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let done = usize::try_from(version - FIRST_VERSION).unwrap_or_default();
        for migration in place.migrations.iter().skip(done) {
            migration(&transaction)?;
        }
        transaction.pragma_update(None, "user_version", newest(place))?;
        transaction.commit()?;
        tracing::info!(
            from = version,
            to = newest(place),
            "the store of sessions was updated"
        );
    }
    drop(connection);
    drop(lock);
    open_existing(place)?
        .ok_or_else(|| place.unusable("it was deleted while it was updated").into())
}

fn back_up(place: &StorePlace, connection: &Connection, version: u32) -> Result<(), Failure> {
    let failed = |error: &io::Error| place.unwritable(reason_of(error));
    let backup = beside(&place.path, &format!(".v{version}.bak"));
    let unfinished = beside(&backup, ".tmp");
    match fs::remove_file(&unfinished) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(&error).into()),
        _ => {}
    }
    create_file(&unfinished).map_err(|error| failed(&error))?;
    connection.execute("VACUUM INTO ?1", [unfinished.to_string_lossy()])?;
    fs::rename(&unfinished, &backup).map_err(|error| failed(&error))?;
    Ok(())
}

/// Makes an empty file for its owner alone. One that is there is not even opened: closing it again
/// would free SQLite's locks on it in this process.
fn create_file(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.create_new(true).write(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    match options.open(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// A path with something added to its name.
pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests;
