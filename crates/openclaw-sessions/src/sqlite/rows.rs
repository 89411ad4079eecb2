//! What is asked of the database, in its language.

use rusqlite::{OptionalExtension as _, Transaction, params};

use super::blobs;
use super::body::Body;
use super::failure::Failure;
use super::place::time_of;
use super::reading::{Reading, natural};
use crate::key::SessionKey;
use crate::store::{SessionFilter, SessionSummary, TurnEnd, TurnState};

/// A turn that has left a trace, in the store of this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TurnRow {
    pub(super) store: String,
    session: i64,
    turn: i64,
    /// The number of its first message. All later ones are its own, too.
    first: i64,
}

/// What is to be kept.
pub(super) struct Kept<'a> {
    pub(super) key: &'a SessionKey,
    pub(super) now: i64,
    pub(super) bodies: &'a [Body],
    /// Up to which number the (only) message stands for all before it, if it is a summary.
    pub(super) until: Option<i64>,
}

const RUNNING: i64 = 0;
/// A turn that is missing, which can't be, must not hide its messages.
const MESSAGE: &str = "SELECT messages.number, messages.time,
         coalesce(turns.first, messages.number), coalesce(turns.state, 2), messages.body
     FROM messages LEFT JOIN turns ON turns.id = messages.turn";

fn code(state: TurnState) -> i64 {
    match state {
        TurnState::Running => RUNNING,
        TurnState::Complete => 1,
        TurnState::Interrupted => 2,
        TurnState::Failed => 3,
    }
}

fn state(code: i64) -> TurnState {
    match code {
        RUNNING => TurnState::Running,
        1 => TurnState::Complete,
        3 => TurnState::Failed,
        _ => TurnState::Interrupted,
    }
}

/// Which row a session is.
pub(super) fn session(of: &Transaction<'_>, key: &str) -> Result<Option<i64>, Failure> {
    let query = "SELECT id FROM sessions WHERE key = ?1";
    Ok(of.query_row(query, [key], |row| row.get(0)).optional()?)
}

/// The session, if turns of it were never ended.
pub(super) fn left_open(of: &Transaction<'_>, key: &str) -> Result<Option<i64>, Failure> {
    let query = "SELECT sessions.id FROM sessions JOIN turns ON turns.session = sessions.id
                 WHERE sessions.key = ?1 AND turns.state = ?2 LIMIT 1";
    let row = of.query_row(query, params![key, RUNNING], |row| row.get(0));
    Ok(row.optional()?)
}

/// Marks the turns that were never ended as interrupted.
pub(super) fn interrupt(of: &Transaction<'_>, session: i64, now: i64) -> Result<(), Failure> {
    let query = "UPDATE turns SET state = ?1, ended = ?2 WHERE session = ?3 AND state = ?4";
    let interrupted = code(TurnState::Interrupted);
    of.execute(query, params![interrupted, now, session, RUNNING])?;
    Ok(())
}

/// Keeps messages; their numbers.
pub(super) fn append(
    of: &Transaction<'_>,
    store: &str,
    turn: Option<TurnRow>,
    kept: &Kept<'_>,
) -> Result<(TurnRow, Vec<u64>), Failure> {
    let count = i64::try_from(kept.bodies.len()).unwrap_or_default();
    // A row of another store means nothing here.
    let turn = turn.filter(|turn| turn.store == store);
    let (session, last) = extend(of, kept, count)?;
    let first = last - count + 1;
    let turn = match turn.filter(|turn| turn.session == session) {
        Some(turn) => turn,
        None => begin(of, store, session, first, kept.now)?,
    };
    let until = match kept.until {
        None => None,
        Some(until) => Some(summarised(of, session, until.min(first - 1))?),
    };
    let query = "INSERT INTO messages (session, number, turn, time, until, body)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let mut statement = of.prepare(query)?;
    let mut numbers = Vec::with_capacity(kept.bodies.len());
    for (number, body) in (first..).zip(kept.bodies) {
        let row = params![session, number, turn.turn, kept.now, until, body.json];
        let id = statement.insert(row)?;
        link(of, id, body)?;
        numbers.push(natural(number));
    }
    Ok((turn, numbers))
}

/// Makes room for so many messages in a session, which is made if it is not there. Answers the last
/// number.
fn extend(of: &Transaction<'_>, kept: &Kept<'_>, count: i64) -> Result<(i64, i64), Failure> {
    let query = "INSERT INTO sessions (key, agent, created, updated, messages, last)
                 VALUES (?1, ?2, ?3, ?3, ?4, ?4)
                 ON CONFLICT (key) DO UPDATE SET updated = ?3, messages = messages + ?4,
                     last = last + ?4
                 RETURNING id, last";
    let (key, agent) = (kept.key.as_str(), kept.key.agent().as_str());
    Ok(
        of.query_row(query, params![key, agent, kept.now, count], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?,
    )
}

fn begin(
    of: &Transaction<'_>,
    store: &str,
    session: i64,
    first: i64,
    now: i64,
) -> Result<TurnRow, Failure> {
    let query = "INSERT INTO turns (session, first, state, began) VALUES (?1, ?2, ?3, ?4)";
    of.execute(query, params![session, first, RUNNING, now])?;
    Ok(TurnRow {
        store: store.to_owned(),
        session,
        turn: of.last_insert_rowid(),
        first,
    })
}

/// Up to which number a summary stands for all messages: never fewer than an earlier one.
fn summarised(of: &Transaction<'_>, session: i64, until: i64) -> Result<i64, Failure> {
    let before = summary(of, session)?.map_or(0, |(_, before)| before);
    Ok(until.max(before))
}

/// The number of the last summary, and up to which number it stands for all messages.
fn summary(of: &Transaction<'_>, session: i64) -> Result<Option<(i64, i64)>, Failure> {
    let query = "SELECT number, until FROM messages WHERE session = ?1 AND until IS NOT NULL
                 ORDER BY number DESC LIMIT 1";
    let row = of.query_row(query, [session], |row| Ok((row.get(0)?, row.get(1)?)));
    Ok(row.optional()?)
}

/// Keeps the media of a message.
fn link(of: &Transaction<'_>, message: i64, body: &Body) -> Result<(), Failure> {
    for media in &body.media {
        if let Some(data) = &media.data {
            blobs::keep(of, &media.id, data)?;
        }
        let query = "INSERT OR IGNORE INTO links (message, blob)
                     SELECT ?1, id FROM blobs WHERE hash = ?2";
        of.execute(query, params![message, &*media.id.0])?;
    }
    Ok(())
}

/// The last summary of a session and all messages after those that it stands for, but for those of
/// this turn.
pub(super) fn history(
    of: &Transaction<'_>,
    key: &str,
    turn: Option<&TurnRow>,
    missing: &mut Missing,
) -> Result<Reading, Failure> {
    let mut reading = Reading::default();
    let Some((session, last)) = session_until(of, key)? else {
        return Ok(reading);
    };
    let turn = turn.filter(|turn| turn.session == session);
    let end = turn.map_or(last + 1, |turn| turn.first);
    let mut after = 0;
    if let Some((number, until)) = summary(of, session)? {
        let query = format!("{MESSAGE} WHERE messages.session = ?1 AND messages.number = ?2");
        let mut statement = of.prepare(&query)?;
        reading.extend(&mut statement.query(params![session, number])?, state)?;
        after = until;
    }
    let range = params![session, after, end];
    let query = format!(
        "{MESSAGE} WHERE messages.session = ?1 AND messages.number > ?2 AND messages.number < ?3
         AND messages.until IS NULL ORDER BY messages.number"
    );
    let before = reading.messages.len();
    let mut statement = of.prepare(&query)?;
    reading.extend(&mut statement.query(range)?, state)?;
    let query = "SELECT count(*) FROM messages WHERE session = ?1 AND until IS NOT NULL
                 AND number > ?2 AND number < ?3";
    let summaries: i64 = of.query_row(query, range, |row| row.get(0))?;
    let expected = natural(end - 1 - after - summaries);
    reading.lost += missing.count(reading.messages.len() - before, expected)?;
    Ok(reading)
}

/// All messages of a session, if there is one.
pub(super) fn all(
    of: &Transaction<'_>,
    key: &str,
    missing: &mut Missing,
) -> Result<Option<Reading>, Failure> {
    let Some((session, last)) = session_until(of, key)? else {
        return Ok(None);
    };
    let query = format!("{MESSAGE} WHERE messages.session = ?1 ORDER BY messages.number");
    let mut statement = of.prepare(&query)?;
    let mut reading = Reading::default();
    reading.extend(&mut statement.query([session])?, state)?;
    reading.lost += missing.count(reading.messages.len(), natural(last))?;
    Ok(Some(reading))
}

/// Which row a session is, and the number of its last message.
fn session_until(of: &Transaction<'_>, key: &str) -> Result<Option<(i64, i64)>, Failure> {
    let query = "SELECT id, last FROM sessions WHERE key = ?1";
    let row = of.query_row(query, [key], |row| Ok((row.get(0)?, row.get(1)?)));
    Ok(row.optional()?)
}

/// Messages that are not there. Not every damage is met while reading: an index may have lost its way to
/// a message, or somebody deleted it.
///
/// The first time the whole file is suspected, and looked at. If it is sound, the others are worth having.
#[derive(Default)]
pub(super) struct Missing {
    is_known: bool,
}

impl Missing {
    fn count(&mut self, found: usize, expected: u64) -> Result<usize, Failure> {
        let expected = usize::try_from(expected).unwrap_or(usize::MAX);
        let missing = expected.saturating_sub(found);
        if missing > 0 && !std::mem::replace(&mut self.is_known, true) {
            return Err(Failure::Damaged("messages are missing"));
        }
        Ok(missing)
    }
}

/// Ends a turn.
pub(super) fn finish(
    of: &Transaction<'_>,
    store: &str,
    turn: &TurnRow,
    end: TurnEnd,
    now: i64,
) -> Result<(), Failure> {
    if turn.store != store {
        return Ok(());
    }
    let state = match end {
        TurnEnd::Complete => TurnState::Complete,
        TurnEnd::Failed => TurnState::Failed,
        TurnEnd::Interrupted => TurnState::Interrupted,
    };
    let query = "UPDATE turns SET state = ?1, ended = ?2 WHERE id = ?3 AND state = ?4";
    of.execute(query, params![code(state), now, turn.turn, RUNNING])?;
    Ok(())
}

/// The sessions, the one that was last used first.
pub(super) fn list(
    of: &Transaction<'_>,
    filter: &SessionFilter,
) -> Result<Vec<SessionSummary>, Failure> {
    let query = "SELECT key, messages, created, updated FROM sessions
                 WHERE key IS NOT NULL AND (?1 IS NULL OR agent = ?1)
                 ORDER BY updated DESC, id DESC";
    let mut statement = of.prepare(query)?;
    let agent = filter.agent.as_ref().map(openclaw_config::AgentId::as_str);
    let mut rows = statement.query([agent])?;
    let mut list = Vec::new();
    while let Some(row) = rows.next()? {
        let text: String = row.get(0)?;
        // Every key that was kept names its agent.
        let default = openclaw_config::AgentId::main();
        let Ok(key) = SessionKey::parse_existing(&text, &default) else {
            continue;
        };
        list.push(SessionSummary {
            key,
            messages: natural(row.get(1)?),
            created: time_of(row.get(2)?),
            updated: time_of(row.get(3)?),
        });
    }
    Ok(list)
}

/// How many sessions there are.
pub(super) fn count(of: &Transaction<'_>) -> Result<i64, Failure> {
    let query = "SELECT count(*) FROM sessions WHERE key IS NOT NULL";
    Ok(of.query_row(query, [], |row| row.get(0))?)
}
