//! Messages from rows: read in one thread, understood in others meanwhile.

use std::collections::VecDeque;
use std::mem;
use std::thread::{Builder, Scope, ScopedJoinHandle, scope};

use rusqlite::{Row, Rows};

use super::body::message_of;
use super::failure::Failure;
use super::place::time_of;
use crate::store::{KeptMessage, TurnState};

/// How many rows are handed over at once.
const ROWS: usize = 1_250;
/// How many bytes of them.
const BYTES: usize = 1024 * 1024;
/// How many threads are busy with them at most.
const THREADS: usize = 3;

/// Messages that were read.
#[derive(Debug, Default)]
pub(super) struct Reading {
    pub(super) messages: Vec<KeptMessage>,
    /// How many are lost because the file is damaged there: they are notes, or missing.
    pub(super) lost: usize,
}

/// Rows whose bodies nobody has looked at. The bodies lie behind each other, since to free many
/// small ones in another thread takes longer than to understand them.
#[derive(Default)]
struct Chunk {
    heads: Vec<Head>,
    bodies: Vec<u8>,
}

struct Head {
    number: i64,
    time: i64,
    turn: i64,
    state: TurnState,
    /// Where its body ends.
    end: usize,
}

impl Reading {
    /// Reads rows of number, time, turn, state and body.
    pub(super) fn extend(
        &mut self,
        rows: &mut Rows<'_>,
        state: fn(i64) -> TurnState,
    ) -> Result<(), Failure> {
        scope(|scope| {
            let mut chunk = Chunk::default();
            let mut busy = VecDeque::new();
            while let Some(row) = rows.next()? {
                chunk.push(row, state)?;
                if chunk.is_full() {
                    if busy.len() == THREADS
                        && let Some(oldest) = busy.pop_front()
                    {
                        self.join(oldest)?;
                    }
                    busy.push_back(understand(scope, mem::take(&mut chunk))?);
                }
            }
            let rest = chunk.understood();
            for thread in busy {
                self.join(thread)?;
            }
            self.add(rest);
            Ok(())
        })
    }

    fn join(&mut self, thread: ScopedJoinHandle<'_, Self>) -> Result<(), Failure> {
        let part = thread.join().map_err(|_| Failure::Thread)?;
        self.add(part);
        Ok(())
    }

    fn add(&mut self, part: Self) {
        self.messages.extend(part.messages);
        self.lost += part.lost;
    }
}

impl Chunk {
    fn is_full(&self) -> bool {
        self.heads.len() >= ROWS || self.bodies.len() >= BYTES
    }

    fn push(&mut self, row: &Row<'_>, state: fn(i64) -> TurnState) -> Result<(), Failure> {
        // Not taken as text: where the file is damaged it may be none.
        let body = row.get_ref(4)?.as_bytes().map_err(rusqlite::Error::from)?;
        self.bodies.extend_from_slice(body);
        self.heads.push(Head {
            number: row.get(0)?,
            time: row.get(1)?,
            turn: row.get(2)?,
            state: state(row.get(3)?),
            end: self.bodies.len(),
        });
        Ok(())
    }

    fn understood(self) -> Reading {
        let mut reading = Reading {
            messages: Vec::with_capacity(self.heads.len()),
            lost: 0,
        };
        let mut from = 0;
        for head in self.heads {
            let body = self.bodies.get(from..head.end).unwrap_or_default();
            from = head.end;
            let (message, is_whole) = message_of(body);
            reading.lost += usize::from(!is_whole);
            reading.messages.push(KeptMessage {
                number: natural(head.number),
                time: time_of(head.time),
                turn: natural(head.turn),
                state: head.state,
                message,
            });
        }
        reading
    }
}

fn understand<'scope>(
    scope: &'scope Scope<'scope, '_>,
    chunk: Chunk,
) -> Result<ScopedJoinHandle<'scope, Reading>, Failure> {
    let thread = Builder::new().name("sessions-parse".to_owned());
    let thread = thread.spawn_scoped(scope, move || chunk.understood());
    thread.map_err(|_| Failure::Thread)
}

/// A number of the database, where none is below zero.
pub(super) fn natural(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}
