//! Orders of one session, one after the other, as they came in.

use std::collections::HashMap;

use tokio::sync::oneshot;

/// How many sessions are remembered before those that are over are forgotten.
const SWEEP: usize = 256;

/// Which order of a session is the last one so far.
#[derive(Debug)]
pub(crate) struct Lanes {
    /// Whose sessions are those that name no agent.
    agent: String,
    last: HashMap<String, oneshot::Receiver<Over>>,
}

/// An order is over; one that did not wait to the end passes on what it was waiting for.
#[derive(Debug)]
struct Over(Option<oneshot::Receiver<Over>>);

/// The place of an order in its session. Whoever drops it lets the next one begin.
#[derive(Debug)]
pub(crate) struct Lane {
    before: Option<oneshot::Receiver<Over>>,
    over: Option<oneshot::Sender<Over>>,
}

impl Lanes {
    pub(crate) fn new(agent: String) -> Self {
        let last = HashMap::new();
        Self { agent, last }
    }

    /// Gives an order its place. One without a session waits for nobody.
    pub(crate) fn enter(&mut self, session: Option<&str>) -> Lane {
        let Some(session) = session else {
            return Lane {
                before: None,
                over: None,
            };
        };
        if self.last.len() >= SWEEP {
            self.last.retain(|_, last| match last.try_recv() {
                Err(oneshot::error::TryRecvError::Empty) => true,
                Ok(Over(Some(before))) => {
                    *last = before;
                    true
                }
                Ok(Over(None)) | Err(oneshot::error::TryRecvError::Closed) => false,
            });
        }
        // A bare key and the whole one are one session.
        let key = if session.starts_with("agent:") {
            session.to_owned()
        } else {
            format!("agent:{}:{session}", self.agent)
        };
        let (over, is_over) = oneshot::channel();
        Lane {
            before: self.last.insert(key, is_over),
            over: Some(over),
        }
    }
}

impl Lane {
    /// Waits until the orders before it are over.
    pub(crate) async fn wait(&mut self) {
        while let Some(before) = &mut self.before {
            self.before = match before.await {
                Ok(Over(before)) => before,
                Err(_) => None,
            };
        }
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        if let Some(over) = self.over.take() {
            // Nobody may wait for it.
            let _ = over.send(Over(self.before.take()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn orders_of_a_session_wait_for_each_other_and_others_do_not() {
        let mut lanes = Lanes::new("main".to_owned());
        let first = lanes.enter(Some("a"));
        let mut second = lanes.enter(Some("a"));
        let mut other = lanes.enter(Some("b"));
        let mut none = lanes.enter(None);
        other.wait().await;
        none.wait().await;
        let mut waiting = Box::pin(second.wait());
        assert!(futures_util::poll!(&mut waiting).is_pending());
        drop(first);
        waiting.await;
    }

    #[tokio::test]
    async fn one_that_gives_up_lets_nobody_overtake() {
        let mut lanes = Lanes::new("main".to_owned());
        let first = lanes.enter(Some("a"));
        let second = lanes.enter(Some("agent:main:a"));
        let mut third = lanes.enter(Some("a"));
        drop(second);
        let mut waiting = Box::pin(third.wait());
        assert!(futures_util::poll!(&mut waiting).is_pending());
        drop(first);
        waiting.await;
    }

    #[test]
    fn sessions_that_are_over_are_forgotten() {
        let mut lanes = Lanes::new("main".to_owned());
        let held = lanes.enter(Some("held"));
        for number in 0..10_000 {
            drop(lanes.enter(Some(&number.to_string())));
        }
        assert!(lanes.last.len() <= SWEEP + 1);
        assert!(lanes.last.contains_key("agent:main:held"));
        drop(held);
    }
}
