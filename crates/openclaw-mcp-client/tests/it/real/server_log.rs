//! What servers want logged, as far as it reaches our log.

use std::fmt::{Debug, Write};
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::DefaultGuard;
use tracing::{Event, Metadata, Subscriber};

/// Reads the log of this thread while it lives.
pub(super) struct ServerLog {
    lines: Arc<Mutex<Vec<String>>>,
    _guard: DefaultGuard,
}

impl ServerLog {
    pub(super) fn read() -> Self {
        let lines: Arc<Mutex<Vec<String>>> = Arc::default();
        let guard = tracing::subscriber::set_default(Reader(lines.clone()));
        Self {
            lines,
            _guard: guard,
        }
    }

    /// How many lines of servers contain this.
    pub(super) fn count(&self, text: &str) -> usize {
        let lines = self.lines.lock().unwrap();
        let is_one = |line: &&String| line.starts_with("server says: ") && line.contains(text);
        lines.iter().filter(is_one).count()
    }
}

struct Reader(Arc<Mutex<Vec<String>>>);

impl Subscriber for Reader {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn event(&self, event: &Event<'_>) {
        let mut message = Message(String::new());
        event.record(&mut message);
        self.0.lock().unwrap().push(message.0);
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

struct Message(String);

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "message" {
            let _ = write!(self.0, "{value:?}");
        }
    }
}
