//! How far an order is, told to whoever wants to know: calls of tools one by one, text as it grows.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use openclaw_content::{shown_line, shown_text};
use openclaw_engine::ReplyEvent;
use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::Peer;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until, timeout};

/// How often text that grows is told.
const PACE: Duration = Duration::from_millis(200);
/// After how long without news it is told that the agent still works: clients give up on a call that is
/// silent, and many wait on while there is progress.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// How many steps are kept for a client that does not read.
const MOST_STEPS: usize = 64;
/// How much of a step is told, in characters.
const STEP: usize = 300;
/// How much of the text so far is told: the end of it, in bytes.
const TEXT: usize = 2000;
/// How long what is left to tell may hold up the reply.
const FAREWELL: Duration = Duration::from_secs(1);

/// What there is to tell of an order.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    state: Mutex<State>,
    news: Notify,
}

#[derive(Debug, Default)]
struct State {
    steps: VecDeque<String>,
    /// What the agent has said since the last block.
    text: String,
    /// Whether there is more of it than was told.
    has_grown: bool,
    /// The tools that run, by the calls they run for.
    running: Vec<(String, String)>,
}

impl Progress {
    /// Something happened.
    pub(crate) fn hear(&self, event: &ReplyEvent) {
        let mut state = self.state();
        match event {
            ReplyEvent::Started { .. } => state.step("the agent works".to_owned()),
            ReplyEvent::Partial { text } => {
                state.grow(text);
                state.has_grown = true;
            }
            // What was said so far was told as it grew.
            ReplyEvent::Retracted { .. } | ReplyEvent::Block { .. } => {
                state.text.clear();
                state.has_grown = false;
            }
            ReplyEvent::ToolStarted { id, name, .. } => {
                state.running.push((id.clone(), name.clone()));
                state.step(format!("calls {name}"));
            }
            ReplyEvent::ToolProgress { id, text } => {
                let running = state.running.iter().find(|(call, _)| call == id);
                let name = running.map_or_else(|| "a tool".to_owned(), |(_, name)| name.clone());
                state.step(format!("{name}: {text}"));
            }
            ReplyEvent::ToolResult { id, call, .. } => {
                state.running.retain(|(running, _)| running != id);
                let end = if call.is_error { "failed" } else { "finished" };
                let (name, time) = (&call.name, call.duration_ms);
                state.step(format!("{name} {end} after {time} ms"));
            }
            ReplyEvent::Visit { url, why } => state.step(format!("{why}: {url}")),
            ReplyEvent::Notice { text } => state.step(text.clone()),
            ReplyEvent::Reasoning { .. }
            | ReplyEvent::Media { .. }
            | ReplyEvent::Answer { .. }
            | ReplyEvent::Final { .. } => return,
        }
        drop(state);
        self.news.notify_one();
    }

    /// Waits for the next thing to tell: a step, the text so far, or that the agent still works.
    async fn next(&self, told: &mut Told) -> String {
        loop {
            if let Some(step) = self.step() {
                return step;
            }
            let has_grown = self.state().has_grown;
            tokio::select! {
                () = self.news.notified() => {}
                () = sleep_until(told.next_text), if has_grown => {
                    told.next_text = Instant::now() + PACE;
                    if let Some(text) = self.text() {
                        return text;
                    }
                }
                () = sleep_until(told.last + HEARTBEAT) => {
                    let seconds = told.begun.elapsed().as_secs();
                    return format!("still at work after {seconds} s");
                }
            }
        }
    }

    fn step(&self) -> Option<String> {
        let step = self.state().steps.pop_front()?;
        Some(shown_line(&step, STEP))
    }

    fn text(&self) -> Option<String> {
        let mut state = self.state();
        state.has_grown = false;
        let text = shown_text(end_of(&state.text));
        (!text.trim().is_empty()).then(|| text.into_owned())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn step(&mut self, words: String) {
        if self.steps.len() == MOST_STEPS {
            self.steps.pop_front();
        }
        self.steps.push_back(words);
        // What is told after a step tells of the step, not of the text before it.
        self.has_grown = false;
    }

    fn grow(&mut self, more: &str) {
        self.text.push_str(more);
        if self.text.len() > 2 * TEXT {
            let from = self.text.ceil_char_boundary(self.text.len() - TEXT);
            self.text.drain(..from);
        }
    }
}

/// The end of a text.
fn end_of(text: &str) -> &str {
    let from = text.ceil_char_boundary(text.len().saturating_sub(TEXT));
    text.get(from..).unwrap_or_default()
}

/// When what was told.
struct Told {
    begun: Instant,
    last: Instant,
    /// When text that has grown is told again.
    next_text: Instant,
}

impl Told {
    fn new() -> Self {
        let begun = Instant::now();
        Self {
            begun,
            last: begun,
            next_text: begun,
        }
    }
}

/// Tells a client of the progress of one request.
pub(crate) struct Teller {
    peer: Peer<RoleServer>,
    token: ProgressToken,
    number: u32,
    told: Told,
}

impl Teller {
    pub(crate) fn new(peer: Peer<RoleServer>, token: ProgressToken) -> Self {
        Self {
            peer,
            token,
            number: 0,
            told: Told::new(),
        }
    }

    /// Tells what there is to tell, until this is dropped.
    pub(crate) async fn tell(&mut self, progress: &Progress) {
        loop {
            let message = progress.next(&mut self.told).await;
            self.send(message).await;
        }
    }

    /// Tells the steps that are left, before the reply says everything.
    pub(crate) async fn finish(mut self, progress: &Progress) {
        let telling = async {
            while let Some(step) = progress.step() {
                self.send(step).await;
            }
        };
        // A client that does not read gets the reply alone.
        let _ = timeout(FAREWELL, telling).await;
    }

    async fn send(&mut self, message: String) {
        self.number = self.number.saturating_add(1);
        self.told.last = Instant::now();
        let param = ProgressNotificationParam::new(self.token.clone(), f64::from(self.number))
            .with_message(message);
        if self.peer.notify_progress(param).await.is_err() {
            tracing::debug!("the client can't be told of progress");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn partial(text: &str) -> ReplyEvent {
        let text = text.to_owned();
        ReplyEvent::Partial { text }
    }

    #[tokio::test(start_paused = true)]
    async fn who_has_nothing_to_tell_says_that_it_still_works() {
        let progress = Progress::default();
        let mut told = Told::new();
        for seconds in [15, 30] {
            let message = progress.next(&mut told).await;
            assert_eq!(message, format!("still at work after {seconds} s"));
            told.last = Instant::now();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn text_is_told_at_a_pace_and_by_its_end() {
        let progress = Progress::default();
        let mut told = Told::new();
        progress.hear(&partial("one "));
        assert_eq!(progress.next(&mut told).await, "one ");
        let begun = Instant::now();
        progress.hear(&partial("two "));
        progress.hear(&partial("three"));
        assert_eq!(progress.next(&mut told).await, "one two three");
        assert!(begun.elapsed() >= PACE);
        for _ in 0..1000 {
            progress.hear(&partial("0123456789"));
        }
        let end = progress.next(&mut told).await;
        assert_eq!(end.len(), TEXT);
        assert!(progress.state().text.len() <= 2 * TEXT);
    }

    #[tokio::test(start_paused = true)]
    async fn steps_come_first_and_are_bounded() {
        let progress = Progress::default();
        let mut told = Told::new();
        progress.hear(&partial("so far"));
        for number in 0..1000 {
            let text = format!("step {number}\u{1b}[2J");
            progress.hear(&ReplyEvent::Notice { text });
        }
        assert_eq!(progress.next(&mut told).await, "step 936");
        assert_eq!(progress.state().steps.len(), MOST_STEPS - 1);
    }
}
