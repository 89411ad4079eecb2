//! A thread that has the database to itself, and is asked through a bounded queue.

use std::io;
use std::sync::Arc;
use std::thread;

use tokio::sync::{mpsc, oneshot};

use super::keeper::Keeper;
use super::place::StorePlace;
use crate::error::SessionError;

/// How many questions may wait.
const WAITING: usize = 1_024;

type Job = Box<dyn FnOnce(&mut Keeper) + Send>;

/// What a thread is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DeskWork {
    /// Whatever does not belong to a turn: a long session that somebody looks at must not keep
    /// turns waiting.
    Reading,
    /// Turns.
    Writing,
}

/// Where questions are handed in.
#[derive(Clone)]
pub(super) struct Desk {
    place: Arc<StorePlace>,
    jobs: mpsc::Sender<Job>,
}

impl Desk {
    /// Starts the thread. It ends when nobody can ask it any more and all questions are answered.
    pub(super) fn start(place: &Arc<StorePlace>, work: DeskWork) -> io::Result<Self> {
        let (jobs, mut waiting) = mpsc::channel::<Job>(WAITING);
        let mut keeper = Keeper::new(Arc::clone(place));
        let name = match work {
            DeskWork::Reading => "sessions-read",
            DeskWork::Writing => "sessions-write",
        };
        thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || {
                while let Some(job) = waiting.blocking_recv() {
                    job(&mut keeper);
                }
                if work == DeskWork::Writing {
                    keeper.settle();
                }
            })?;
        Ok(Self {
            place: Arc::clone(place),
            jobs,
        })
    }

    /// Whether the thread is gone.
    pub(super) fn is_closed(&self) -> bool {
        self.jobs.is_closed()
    }

    /// Asks, and waits for the answer. Whatever was handed in is done even if nobody waits.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&mut Keeper) -> Result<T, SessionError> + Send + 'static,
    ) -> Result<T, SessionError> {
        let (sender, answer) = oneshot::channel();
        let job: Job = Box::new(move |keeper| {
            // Whoever asked may be gone, and then needs no answer.
            let _ = sender.send(question(keeper));
        });
        let gone = || self.place.unusable("its thread has ended");
        self.jobs.send(job).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }

    /// The same desk, for those who must not keep its thread.
    pub(super) fn downgrade(&self) -> WeakDesk {
        WeakDesk(self.jobs.downgrade())
    }

    /// Hands in work whose end nobody waits for, if there is room. Says whether there was.
    pub(super) fn leave(&self, work: impl FnOnce(&mut Keeper) + Send + 'static) -> bool {
        self.jobs.try_send(Box::new(work)).is_ok()
    }
}

/// A desk that does not keep its thread from ending.
#[derive(Clone)]
pub(super) struct WeakDesk(mpsc::WeakSender<Job>);

impl WeakDesk {
    /// Hands in work if somebody else still uses the desk and there is room.
    pub(super) fn leave(&self, work: impl FnOnce(&mut Keeper) + Send + 'static) {
        if let Some(jobs) = self.0.upgrade() {
            // What is not done now is done another time.
            let _ = jobs.try_send(Box::new(work));
        }
    }
}
