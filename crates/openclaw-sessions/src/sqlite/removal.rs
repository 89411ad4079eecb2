//! Deleting sessions, in small steps and without leaving anything behind.

use rusqlite::{OptionalExtension as _, Transaction, params};

use super::failure::Failure;
use super::keeper::Keeper;
use super::rows;
use crate::error::SessionError;

/// How many messages go at once, so that nobody else has to wait for long.
const STEP: i64 = 500;
/// How many pages of the file are given back at once.
const PAGES: i64 = 1_000;
/// How many such steps follow a deletion at most; the rest waits for the next one.
const SHRINKS: u32 = 100;

/// Deletes a session whose lock is held. Says whether there was one.
pub(super) fn delete(keeper: &mut Keeper, key: &str) -> Result<bool, SessionError> {
    let doomed = keeper.change(|transaction, _| {
        let Some(session) = rows::session(transaction, key)? else {
            return Ok(false);
        };
        // From here on nobody sees it, whatever happens to us.
        let query = "UPDATE sessions SET key = NULL WHERE id = ?1";
        transaction.execute(query, [session])?;
        Ok(true)
    })?;
    if doomed != Some(true) {
        return Ok(false);
    }
    sweep(keeper)?;
    Ok(true)
}

/// Deletes what is left of sessions that nobody sees any more, also of those whose deletion was cut.
pub(super) fn sweep(keeper: &mut Keeper) -> Result<(), SessionError> {
    while keeper.change(|transaction, _| step(transaction))? == Some(true) {}
    Ok(())
}

/// Gives the room back to the system.
pub(super) fn shrink(keeper: &mut Keeper) -> Result<(), SessionError> {
    let mut left = i64::MAX;
    for _ in 0..SHRINKS {
        let now = keeper.shrink(PAGES)?;
        if now == 0 || now >= left {
            break;
        }
        left = now;
    }
    Ok(())
}

/// Deletes some messages, or a session that has none left. Says whether there may be more.
fn step(transaction: &Transaction<'_>) -> Result<bool, Failure> {
    let query = "SELECT id FROM sessions WHERE key IS NULL LIMIT 1";
    let session: Option<i64> = transaction
        .query_row(query, [], |row| row.get(0))
        .optional()?;
    let Some(session) = session else {
        return Ok(false);
    };
    let query = "SELECT min(number) FROM messages WHERE session = ?1";
    let first: Option<i64> = transaction.query_row(query, [session], |row| row.get(0))?;
    if let Some(first) = first {
        delete_messages(transaction, session, first + STEP)?;
    } else {
        transaction.execute("DELETE FROM turns WHERE session = ?1", [session])?;
        transaction.execute("DELETE FROM sessions WHERE id = ?1", [session])?;
    }
    Ok(true)
}

fn delete_messages(
    transaction: &Transaction<'_>,
    session: i64,
    before: i64,
) -> Result<(), Failure> {
    let query = "SELECT DISTINCT links.blob FROM messages
                 JOIN links ON links.message = messages.id
                 WHERE messages.session = ?1 AND messages.number < ?2";
    let mut statement = transaction.prepare(query)?;
    let blobs = statement.query_map([session, before], |row| row.get(0))?;
    let blobs: Vec<i64> = blobs.collect::<Result<_, _>>()?;
    // Their links go with them.
    let query = "DELETE FROM messages WHERE session = ?1 AND number < ?2";
    transaction.execute(query, params![session, before])?;
    let query = "DELETE FROM blobs WHERE id = ?1
                 AND NOT EXISTS (SELECT 1 FROM links WHERE links.blob = ?1)";
    let mut statement = transaction.prepare(query)?;
    for blob in blobs {
        statement.execute([blob])?;
    }
    Ok(())
}
