//! The one who has the database open in a thread: opens it when it is needed, and again when it has
//! become another file; sets a damaged one aside.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::{Transaction, TransactionBehavior};

use super::failure::{Failure, Intent};
use super::opening::{Store, beside, is_sound, open_existing, open_or_make};
use super::place::{FileIdentity, StorePlace, reason_of};
use crate::error::SessionError;

/// How often work is begun again because the file is damaged or has become another one.
const ATTEMPTS: u32 = 4;
/// How long opening may take while others open and close the database.
const OPENING: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(5);

/// The one who has the database open.
pub(super) struct Keeper {
    pub(super) place: Arc<StorePlace>,
    store: Option<Store>,
}

impl Keeper {
    pub(super) fn new(place: Arc<StorePlace>) -> Self {
        Self { place, store: None }
    }

    /// Reads, if there is a store. What is read is of one moment.
    pub(super) fn read<T>(
        &mut self,
        mut work: impl FnMut(&Transaction<'_>) -> Result<T, Failure>,
    ) -> Result<Option<T>, SessionError> {
        self.attempt(Intent::Read, |keeper, _| {
            let place = Arc::clone(&keeper.place);
            let Some(store) = keeper.existing()? else {
                return Ok(None);
            };
            let behaviour = TransactionBehavior::Deferred;
            let transaction = store.connection.transaction_with_behavior(behaviour)?;
            let read = work(&transaction)?;
            // Read from a file that was set aside meanwhile, it would be of another time.
            drop(transaction);
            keeper.still_there(&place)?;
            Ok(Some(read))
        })
    }

    /// Changes the store if there is one, all or nothing.
    pub(super) fn change<T>(
        &mut self,
        mut work: impl FnMut(&Transaction<'_>, &str) -> Result<T, Failure>,
    ) -> Result<Option<T>, SessionError> {
        self.attempt(Intent::Write, |keeper, _| {
            if keeper.existing()?.is_none() {
                return Ok(None);
            }
            keeper.commit(&mut work).map(Some)
        })
    }

    /// Changes the store, all or nothing; it is made if there is none.
    pub(super) fn write<T>(
        &mut self,
        mut work: impl FnMut(&Transaction<'_>, &str) -> Result<T, Failure>,
    ) -> Result<T, SessionError> {
        self.attempt(Intent::Write, |keeper, place| {
            if keeper.existing()?.is_none() {
                keeper.store = Some(patiently(|| open_or_make(place))?);
            }
            keeper.commit(&mut work)
        })
    }

    /// Gives back room that is not needed, at most so many pages; how many are left.
    pub(super) fn shrink(&mut self, pages: i64) -> Result<i64, SessionError> {
        let left = self.attempt(Intent::Write, |keeper, _| {
            let Some(store) = keeper.existing()? else {
                return Ok(0);
            };
            let sql = format!("PRAGMA incremental_vacuum({pages})");
            let mut statement = store.connection.prepare(&sql)?;
            let mut rows = statement.query([])?;
            while rows.next()?.is_some() {}
            drop(rows);
            drop(statement);
            let left = store
                .connection
                .pragma_query_value(None, "freelist_count", |row| row.get(0))?;
            Ok(left)
        })?;
        Ok(left)
    }

    /// Moves everything from the journal into the database, if nobody is in the way, and closes it.
    pub(super) fn settle(&mut self) {
        let there = self.place.identity().ok().flatten();
        let Some(store) = self.store.take() else {
            return;
        };
        if there != Some(store.file) {
            return;
        }
        let settled = store
            .connection
            .busy_timeout(Duration::ZERO)
            .and_then(|()| {
                let sql = "PRAGMA wal_checkpoint(TRUNCATE)";
                store.connection.query_row(sql, [], |_| Ok(()))
            });
        if let Err(error) = settled {
            tracing::debug!(error = %error, "the journal of the sessions stays as it is");
        }
    }

    /// Closes the database until it is needed again.
    pub(super) fn rest(&mut self) {
        self.store = None;
    }

    fn attempt<T>(
        &mut self,
        intent: Intent,
        mut work: impl FnMut(&mut Self, &StorePlace) -> Result<T, Failure>,
    ) -> Result<T, SessionError> {
        let place = Arc::clone(&self.place);
        for attempt in 0..ATTEMPTS {
            let seen = place.identity().ok().flatten();
            let failure = match work(self, &place) {
                Ok(done) => return Ok(done),
                Err(failure) => failure,
            };
            let damage = failure.damage();
            if let Failure::Known(error) = failure {
                return Err(error);
            }
            // After any other failure nothing is assumed about the connection.
            let used = self.store.take().map(|store| store.file);
            let there = place.identity().ok().flatten();
            // What went wrong with a file that is gone does not matter any more.
            if matches!(failure, Failure::Replaced) || there != used.or(seen) {
                continue;
            }
            let Some(damage) = damage else {
                return Err(failure.into_error(&place, intent));
            };
            let file = used.or(seen);
            set_aside(&place, file, damage, attempt > 0)
                .map_err(|failure| failure.into_error(&place, intent))?;
        }
        Err(place.unusable("it does not stay as it is; is the disk broken?"))
    }

    /// The store, if there is one: opened, and the one that is at the path now.
    fn existing(&mut self) -> Result<Option<&mut Store>, Failure> {
        let place = Arc::clone(&self.place);
        let there = place
            .identity()
            .map_err(|error| place.unusable(reason_of(&error)))?;
        if self.store.as_ref().map(|store| store.file) != there {
            self.store = None;
        }
        if self.store.is_none() {
            self.store = patiently(|| open_existing(&place))?;
        }
        Ok(self.store.as_mut())
    }

    fn commit<T>(
        &mut self,
        work: &mut impl FnMut(&Transaction<'_>, &str) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let place = Arc::clone(&self.place);
        let Some(store) = self.store.as_mut() else {
            return Err(Failure::Replaced);
        };
        let behaviour = TransactionBehavior::Immediate;
        let transaction = store.connection.transaction_with_behavior(behaviour)?;
        let done = work(&transaction, &store.id)?;
        transaction.commit()?;
        self.still_there(&place)?;
        Ok(done)
    }

    /// Another process may have set the file aside while we used it: then our work went with it,
    /// and is done again in the new one.
    fn still_there(&self, place: &StorePlace) -> Result<(), Failure> {
        let there = place
            .identity()
            .map_err(|error| place.unusable(reason_of(&error)))?;
        if there == self.store.as_ref().map(|store| store.file) {
            Ok(())
        } else {
            Err(Failure::Replaced)
        }
    }
}

/// Opens, while others may be opening and closing the same database.
fn patiently<T>(mut open: impl FnMut() -> Result<T, Failure>) -> Result<T, Failure> {
    let deadline = Instant::now() + OPENING;
    loop {
        match open() {
            Err(failure) if failure.is_busy() && Instant::now() < deadline => {
                std::thread::sleep(PAUSE);
            }
            done => return done,
        }
    }
}

/// Sets a damaged store aside under another name, unless somebody else has done so or, at the first
/// time, it turns out to be sound.
fn set_aside(
    place: &StorePlace,
    seen: Option<FileIdentity>,
    damage: &str,
    is_certain: bool,
) -> Result<(), Failure> {
    let failed = |error: &io::Error| place.unwritable(reason_of(error));
    let _lock = place.lock_store()?;
    let there = place.identity().map_err(|error| failed(&error))?;
    if there.is_none() || there != seen || (!is_certain && is_sound(place)) {
        return Ok(());
    }
    let mut time = place.now();
    while beside(&place.path, &format!(".corrupt-{time}")).exists() {
        time += 1;
    }
    let aside = beside(&place.path, &format!(".corrupt-{time}"));
    // The database goes last: a new one must not find the journal of this one.
    for suffix in ["-wal", "-shm", ""] {
        let from = beside(&place.path, suffix);
        match fs::rename(&from, beside(&aside, suffix)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(&error).into()),
            Ok(()) => {}
        }
    }
    tell(place, &aside, damage);
    Ok(())
}

fn tell(place: &StorePlace, aside: &Path, damage: &str) {
    let remark = format!(
        "the sessions in {} could not be read ({damage}); they were set aside as {}, and new ones \
         are begun",
        place.path.display(),
        aside.display()
    );
    tracing::error!(aside = %aside.display(), damage, "the store of sessions was set aside");
    place.remark(remark);
}
