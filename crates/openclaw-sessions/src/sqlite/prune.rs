//! Retention: the oldest sessions go when there are too many, too old or too large ones.

use std::collections::{BTreeSet, VecDeque};
use std::fs;
use std::sync::atomic::{AtomicI64, Ordering};

use rusqlite::{OptionalExtension as _, Transaction};

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
/// For how long a clock that is wrong costs nothing: see [`first_kept`].
const DOUBT: i64 = DAY;
/// How many sessions are looked at before others have their turn.
const STEP: usize = 20;
/// How many files of locks are looked at.
const MOST_LOCKS: usize = 50_000;

/// When this process has to look again.
#[derive(Default)]
pub(super) struct Pruning {
    next: AtomicI64,
}

/// A pass over all sessions. Which of them were used before others goes by the order of their last messages, which no
/// clock can change.
struct Pass {
    /// Those that are left to look at, the oldest first.
    left: VecDeque<Candidate>,
    /// What has turns from this one on is not too old; none where nothing is.
    first_kept: Option<i64>,
}

/// A session, and its last turn when the pass began.
struct Candidate {
    session: i64,
    turn: Option<i64>,
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
                match Pass::begin(keeper) {
                    Ok(pass) => go_on(keeper, &again, pass),
                    Err(error) => failed(&error),
                }
            }
        });
    }
}

impl Pass {
    fn begin(keeper: &mut Keeper) -> Result<Self, SessionError> {
        // What is left of a deletion that was cut would count as too much, and cost another session.
        sweep(keeper)?;
        let left = keeper.read(candidates)?;
        Ok(Self {
            left: left.unwrap_or_default(),
            first_kept: first_kept(keeper)?,
        })
    }

    /// The next session that goes; none where all others stay.
    fn next(&mut self, keeper: &mut Keeper) -> Result<Option<Candidate>, SessionError> {
        let Some(oldest) = self.left.pop_front() else {
            return Ok(None);
        };
        // The newest one stays, however large.
        let goes = !self.left.is_empty() && goes(keeper, &oldest, self.first_kept)?;
        Ok(goes.then_some(oldest))
    }
}

/// Looks at the next sessions, and leaves the rest for later, so that turns can come in between.
fn go_on(keeper: &mut Keeper, again: &WeakDesk, mut pass: Pass) {
    match step(keeper, &mut pass) {
        Ok(true) => {
            let then = again.clone();
            again.leave(move |keeper| go_on(keeper, &then, pass));
        }
        Ok(false) => {}
        Err(error) => failed(&error),
    }
}

fn failed(error: &SessionError) {
    tracing::warn!(%error, "old sessions can't be deleted");
}

/// Looks at some sessions; whether there is more to be done.
fn step(keeper: &mut Keeper, pass: &mut Pass) -> Result<bool, SessionError> {
    let mut deleted = 0_u32;
    let mut is_over = false;
    for _ in 0..STEP {
        let Some(oldest) = pass.next(keeper)? else {
            is_over = true;
            break;
        };
        deleted += u32::from(delete_unused(keeper, &oldest)?);
    }
    if deleted > 0 {
        tracing::info!(sessions = deleted, "old sessions were deleted");
        shrink(keeper)?;
    }
    if !is_over {
        return Ok(true);
    }
    tidy_locks(keeper)?;
    let now = keeper.place.now();
    keeper.change(|transaction, _| {
        transaction.execute("UPDATE store SET pruned = ?1", [now])?;
        Ok(())
    })?;
    Ok(false)
}

/// Deletes a session unless somebody uses it, or has since the pass began.
fn delete_unused(keeper: &mut Keeper, candidate: &Candidate) -> Result<bool, SessionError> {
    let key = keeper.read(|transaction| {
        let query = "SELECT key FROM sessions WHERE id = ?1";
        let key = transaction.query_row(query, [candidate.session], |row| row.get(0));
        Ok(key.optional()?.flatten())
    })?;
    let Some::<String>(key) = key.flatten() else {
        return Ok(false);
    };
    let Ok(Some(lock)) = keeper.place.locks_of(&key).try_take() else {
        return Ok(false);
    };
    let last = keeper.read(|transaction| {
        let query = "SELECT max(id) FROM turns WHERE session = ?1";
        Ok(transaction.query_row(query, [candidate.session], |row| row.get(0))?)
    })?;
    if last != Some(candidate.turn) || !delete(keeper, &key)? {
        return Ok(false);
    }
    lock.discard();
    Ok(true)
}

/// All sessions, the one first in which something was said last before all others.
fn candidates(transaction: &Transaction<'_>) -> Result<VecDeque<Candidate>, Failure> {
    let query = "SELECT id, (SELECT max(id) FROM turns WHERE session = sessions.id)
                 FROM sessions WHERE key IS NOT NULL ORDER BY (
                     SELECT id FROM messages WHERE session = sessions.id ORDER BY number DESC LIMIT 1
                 ), id";
    let mut statement = transaction.prepare(query)?;
    let rows = statement.query_map([], |row| {
        Ok(Candidate {
            session: row.get(0)?,
            turn: row.get(1)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Whether a session goes, as the oldest one: it is too old, or there is too much.
fn goes(
    keeper: &mut Keeper,
    oldest: &Candidate,
    first_kept: Option<i64>,
) -> Result<bool, SessionError> {
    if first_kept.is_some_and(|first| oldest.turn.is_none_or(|turn| turn < first)) {
        return Ok(true);
    }
    let retention = keeper.place.retention;
    let found = keeper.read(|transaction| {
        let number = |pragma: &str| -> Result<u64, Failure> {
            let value: i64 = transaction.pragma_query_value(None, pragma, |row| row.get(0))?;
            Ok(u64::try_from(value).unwrap_or_default())
        };
        let used = number("page_count")?.saturating_sub(number("freelist_count")?);
        let bytes = used.saturating_mul(number("page_size")?);
        Ok((super::rows::count(transaction)?, bytes))
    })?;
    let Some((count, bytes)) = found else {
        return Ok(false);
    };
    let count = u64::try_from(count).unwrap_or_default();
    Ok(count > retention.sessions || bytes > retention.bytes)
}

/// The first turn that is not too old; none where nothing is.
///
/// A clock that jumps ahead makes everything old at once, and what is deleted does not come back when it is
/// set right. So it is believed only once a turn began by it a day ago, and ages are counted from then.
/// Turns count in the order in which they began: one that began while the clock was wrong says nothing any
/// longer once others have followed it.
///
/// A clock that is behind makes what is used by it old as soon as it is set right. Often it goes on from where it
/// was when the machine was last on, so that such a turn looks like any other before a long absence. So one is
/// old only if another one began a day after it by the same clock and is too old as well; else it is as old as
/// what followed it.
fn first_kept(keeper: &mut Keeper) -> Result<Option<i64>, SessionError> {
    let days = i64::try_from(keeper.place.retention.days).unwrap_or(i64::MAX);
    if days == 0 {
        return Ok(None);
    }
    let doubted = keeper.place.now().saturating_sub(DOUBT);
    let first = keeper.read(|transaction| {
        let query = "SELECT began FROM turns WHERE began <= ?1 ORDER BY id DESC LIMIT 1";
        let began = transaction.query_row(query, [doubted], |row| row.get::<_, i64>(0));
        let Some(began) = began.optional()? else {
            return Ok(None);
        };
        let last_day = began.saturating_sub(days.saturating_mul(DAY));
        let query = "SELECT min(id) FROM turns WHERE began BETWEEN ?1 AND ?2";
        let young: i64 = transaction.query_row(query, [last_day, doubted], |row| row.get(0))?;
        let query = "SELECT max(id) FROM (
                         SELECT id, began, max(began) OVER (
                             ORDER BY id DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
                         ) AS later FROM turns
                         WHERE id < ?1 AND began <= ?2
                     ) WHERE later - began >= ?3";
        let old = transaction.query_row(query, [young, doubted, DOUBT], |row| row.get(0));
        let old: Option<i64> = old?;
        Ok(Some(old.map_or(0, |old| old.saturating_add(1))))
    })?;
    Ok(first.flatten())
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
