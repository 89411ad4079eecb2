//! Retention: the oldest sessions go when there are too many, too old or too large ones.

use std::collections::BTreeSet;
use std::fs;
use std::sync::atomic::{AtomicI64, Ordering};

use rusqlite::{OptionalExtension as _, Transaction, params};

use super::desk::{Desk, WeakDesk};
use super::failure::Failure;
use super::keeper::Keeper;
use super::place::lock_name;
use super::removal::{delete, shrink, sweep};
use crate::error::SessionError;
use crate::lock::LockPaths;

/// How often sessions are looked through, over all processes.
const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;
/// For how long a clock that is wrong costs nothing: see [`age`].
const DOUBT: i64 = DAY;
/// How many sessions are looked at before others have their turn.
const STEP: i64 = 20;
/// How many files of locks are looked at.
const MOST_LOCKS: usize = 50_000;

/// When this process has to look again.
#[derive(Default)]
pub(super) struct Pruning {
    next: AtomicI64,
}

/// How far a pass has come: everything up to this age and row was looked at.
#[derive(Clone, Copy, Debug, Default)]
struct Cursor {
    updated: i64,
    id: i64,
}

struct Candidate {
    at: Cursor,
    key: String,
}

/// What is too old.
#[derive(Clone, Copy)]
struct Age {
    /// What was used last before this is.
    last_day: i64,
    /// Except what has turns from here on: a clock that was behind says that they are older than they are.
    first: i64,
}

/// What becomes of a session.
enum Verdict {
    Goes,
    /// It stays, unlike others behind it.
    Stays,
    /// It stays, and so do all behind it.
    AllStay,
}

impl Pruning {
    /// Begins a pass if it is time for one.
    pub(super) fn begin(&self, desk: &Desk, now: i64) {
        // One that is further away was set by a clock that was wrong.
        let next = self.next.load(Ordering::Relaxed);
        if (now + 1..=now.saturating_add(HOUR)).contains(&next) {
            return;
        }
        self.next.store(now.saturating_add(HOUR), Ordering::Relaxed);
        let again = desk.downgrade();
        desk.leave(move |keeper| {
            let last = keeper.read(|transaction| {
                let query = "SELECT pruned FROM store";
                Ok(transaction.query_row(query, [], |row| row.get(0))?)
            });
            let now = keeper.place.now();
            // A time in the future is of a clock that was wrong.
            if let Ok(Some(last)) = last
                && !(now - HOUR..=now).contains(&last)
            {
                go_on(keeper, &again, Cursor::default());
            }
        });
    }
}

/// Looks at the next sessions, and leaves the rest for later, so that turns can come in between.
fn go_on(keeper: &mut Keeper, again: &WeakDesk, from: Cursor) {
    match step(keeper, from) {
        Ok(Some(cursor)) => {
            let then = again.clone();
            again.leave(move |keeper| go_on(keeper, &then, cursor));
        }
        Ok(None) => {}
        Err(error) => tracing::warn!(error = %error, "old sessions can't be deleted"),
    }
}

/// Looks at some sessions; from where to go on, if this was not the end.
fn step(keeper: &mut Keeper, from: Cursor) -> Result<Option<Cursor>, SessionError> {
    let candidates = keeper.read(|transaction| candidates(transaction, from))?;
    let age = age(keeper)?;
    let mut deleted = 0_u32;
    let mut cursor = from;
    let mut is_over = true;
    for candidate in candidates.unwrap_or_default() {
        let verdict = judge(keeper, candidate.at, age)?;
        is_over = matches!(verdict, Verdict::AllStay);
        if is_over {
            break;
        }
        cursor = candidate.at;
        if matches!(verdict, Verdict::Goes) {
            deleted += u32::from(delete_unused(keeper, &candidate)?);
        }
    }
    if deleted > 0 {
        tracing::info!(sessions = deleted, "old sessions were deleted");
        shrink(keeper)?;
    }
    if !is_over {
        return Ok(Some(cursor));
    }
    sweep(keeper)?;
    tidy_locks(keeper)?;
    let now = keeper.place.now();
    keeper.change(|transaction, _| {
        transaction.execute("UPDATE store SET pruned = ?1", [now])?;
        Ok(())
    })?;
    Ok(None)
}

/// Deletes a session unless somebody uses it.
fn delete_unused(keeper: &mut Keeper, candidate: &Candidate) -> Result<bool, SessionError> {
    let Ok(Some(lock)) = keeper.place.locks_of(&candidate.key).try_take() else {
        return Ok(false);
    };
    let is_as_old = keeper.read(|transaction| {
        let query = "SELECT count(*) FROM sessions WHERE id = ?1 AND updated = ?2";
        let row = [candidate.at.id, candidate.at.updated];
        Ok(transaction.query_row(query, row, |row| row.get::<_, i64>(0))? > 0)
    })?;
    if is_as_old != Some(true) || !delete(keeper, &candidate.key)? {
        return Ok(false);
    }
    lock.discard();
    Ok(true)
}

/// The next sessions, the oldest first.
fn candidates(transaction: &Transaction<'_>, from: Cursor) -> Result<Vec<Candidate>, Failure> {
    let query = "SELECT updated, id, key FROM sessions
                 WHERE key IS NOT NULL AND (updated, id) > (?1, ?2)
                 ORDER BY updated, id LIMIT ?3";
    let mut statement = transaction.prepare(query)?;
    let rows = statement.query_map(params![from.updated, from.id, STEP], |row| {
        Ok(Candidate {
            at: Cursor {
                updated: row.get(0)?,
                id: row.get(1)?,
            },
            key: row.get(2)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// What becomes of the oldest session. The newest one stays, however large.
fn judge(keeper: &mut Keeper, oldest: Cursor, age: Option<Age>) -> Result<Verdict, SessionError> {
    let seems_old = age.filter(|age| oldest.updated < age.last_day);
    if let Some(age) = seems_old
        && !has_turns_from(keeper, oldest.id, age.first)?
    {
        return Ok(Verdict::Goes);
    }
    let retention = keeper.place.retention;
    let found = keeper.read(|transaction| {
        let number = |pragma: &str| -> Result<u64, Failure> {
            let value: i64 = transaction.pragma_query_value(None, pragma, |row| row.get(0))?;
            Ok(u64::try_from(value).unwrap_or_default())
        };
        let used = number("page_count")?.saturating_sub(number("freelist_count")?);
        let bytes = used.saturating_mul(number("page_size")?);
        let query = "SELECT id FROM sessions WHERE key IS NOT NULL
                     ORDER BY updated DESC, id DESC LIMIT 1";
        let newest: i64 = transaction.query_row(query, [], |row| row.get(0))?;
        Ok((super::rows::count(transaction)?, bytes, newest))
    })?;
    let Some((count, bytes, newest)) = found else {
        return Ok(Verdict::AllStay);
    };
    let count = u64::try_from(count).unwrap_or_default();
    let is_too_much = count > retention.sessions || bytes > retention.bytes;
    Ok(match seems_old {
        _ if is_too_much && oldest.id != newest => Verdict::Goes,
        Some(_) => Verdict::Stays,
        None => Verdict::AllStay,
    })
}

/// Whether a session has turns from this one on.
fn has_turns_from(keeper: &mut Keeper, session: i64, first: i64) -> Result<bool, SessionError> {
    let found = keeper.read(|transaction| {
        let query = "SELECT EXISTS (SELECT 1 FROM turns WHERE session = ?1 AND id >= ?2)";
        Ok(transaction.query_row(query, [session, first], |row| row.get(0))?)
    })?;
    // Where there is nothing to be read, there is nothing to be deleted.
    Ok(found.unwrap_or(true))
}

/// What is too old; none where nothing is.
///
/// A clock that jumps ahead makes everything old at once, and what is deleted does not come back when it is
/// set right. So it is believed only once a turn began by it a day ago, and ages are counted from then.
/// Turns count in the order in which they began: one that began while the clock was wrong says nothing any
/// longer once others have followed it, and a session is not old whose turns came after some that are not.
fn age(keeper: &mut Keeper) -> Result<Option<Age>, SessionError> {
    let days = i64::try_from(keeper.place.retention.days).unwrap_or(i64::MAX);
    if days == 0 {
        return Ok(None);
    }
    let doubted = keeper.place.now().saturating_sub(DOUBT);
    let age = keeper.read(|transaction| {
        let query = "SELECT began FROM turns WHERE began <= ?1 ORDER BY id DESC LIMIT 1";
        let began = transaction.query_row(query, [doubted], |row| row.get::<_, i64>(0));
        let Some(began) = began.optional()? else {
            return Ok(None);
        };
        let last_day = began.saturating_sub(days.saturating_mul(DAY));
        let query = "SELECT min(id) FROM turns WHERE began BETWEEN ?1 AND ?2";
        let first = transaction.query_row(query, [last_day, doubted], |row| row.get(0))?;
        Ok(Some(Age { last_day, first }))
    })?;
    Ok(age.flatten())
}

/// Deletes the files of locks whose sessions are gone: those of a store that was set aside, say.
fn tidy_locks(keeper: &mut Keeper) -> Result<(), SessionError> {
    let names = keeper.read(|transaction| {
        let query = "SELECT key FROM sessions WHERE key IS NOT NULL";
        let mut statement = transaction.prepare(query)?;
        let mut rows = statement.query([])?;
        let mut names = BTreeSet::new();
        while let Some(row) = rows.next()? {
            names.insert(lock_name(&row.get::<_, String>(0)?));
        }
        Ok(names)
    })?;
    let names = names.unwrap_or_default();
    let directory = keeper.place.locks();
    let files = fs::read_dir(&directory).into_iter().flatten().flatten();
    for file in files.take(MOST_LOCKS) {
        let file = file.file_name();
        // Whoever waits has a file, too.
        let name = file.to_str().and_then(|file| {
            let lock = file.strip_suffix(".lock");
            lock.or_else(|| file.strip_suffix(".next"))
        });
        if let Some(name) = name.filter(|name| !names.contains(*name))
            && let Ok(Some(lock)) = LockPaths::new(&directory, name).try_take()
        {
            lock.discard();
        }
    }
    Ok(())
}
