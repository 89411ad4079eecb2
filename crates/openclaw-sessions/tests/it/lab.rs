//! A state directory with a store, and messages for it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use openclaw_config::{AgentId, SessionRetention};
use openclaw_content::definition_text;
use openclaw_conversation::{
    AnswerPart, AssistantMessage, AssistantPart, CallArguments, Message, ToolAnswer, ToolCall,
    UserPart,
};
use openclaw_sessions::{
    KeptMessage, SessionKey, SessionStore as _, SessionsSetup, SqliteSessions, Turn, TurnEnd,
};
use openclaw_state::StateDirectory;

pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// A state directory that goes with the test, and a clock that is put forward by hand.
pub(crate) struct Lab {
    directory: tempfile::TempDir,
    pub(crate) clock: Arc<AtomicU64>,
}

impl Lab {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        // While it is empty it may be closed to others.
        StateDirectory::open(directory.path()).unwrap();
        Self {
            directory,
            clock: Arc::new(AtomicU64::new(1_800_000_000_000)),
        }
    }

    pub(crate) fn state(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.state().join("sessions/sessions.sqlite")
    }

    pub(crate) fn store(&self) -> SqliteSessions {
        self.store_with(SessionRetention::default())
    }

    pub(crate) fn store_with(&self, retention: SessionRetention) -> SqliteSessions {
        let clock = Arc::clone(&self.clock);
        open(self.state(), retention, move || {
            UNIX_EPOCH + Duration::from_millis(clock.load(Ordering::Relaxed))
        })
    }

    /// What a check of the whole database says.
    pub(crate) fn integrity(&self) -> String {
        let database = rusqlite::Connection::open(self.file()).unwrap();
        database.busy_timeout(Duration::from_secs(10)).unwrap();
        database
            .query_row("PRAGMA integrity_check", [], |row| row.get(0))
            .unwrap()
    }

    /// How many rows a table has.
    pub(crate) fn rows(&self, table: &str) -> i64 {
        let database = rusqlite::Connection::open(self.file()).unwrap();
        let query = format!("SELECT count(*) FROM {table}");
        database.query_row(&query, [], |row| row.get(0)).unwrap()
    }
}

pub(crate) fn open(
    state: &Path,
    retention: SessionRetention,
    clock: impl Fn() -> SystemTime + Send + Sync + 'static,
) -> SqliteSessions {
    SqliteSessions::open(SessionsSetup {
        state: StateDirectory::open(state).unwrap(),
        retention,
        clock: Arc::new(clock),
    })
}

pub(crate) fn key(text: &str) -> SessionKey {
    SessionKey::parse(text, &AgentId::main()).unwrap()
}

pub(crate) fn user(text: &str) -> Message {
    Message::User {
        parts: vec![UserPart::Text {
            text: text.to_owned(),
        }],
    }
}

pub(crate) fn said(text: &str) -> Message {
    assistant(AssistantPart::Text {
        text: text.to_owned(),
    })
}

pub(crate) fn call(text: &str) -> Message {
    assistant(AssistantPart::ToolCall(ToolCall {
        id: text.to_owned(),
        name: "mcp_files_read".to_owned(),
        arguments: CallArguments::parse("{\"path\": \"a\"}"),
        opaque: None,
    }))
}

pub(crate) fn answer(text: &str) -> Message {
    Message::Tool(ToolAnswer {
        call: text.to_owned(),
        name: "mcp_files_read".to_owned(),
        server: Some("files".to_owned()),
        parts: vec![AnswerPart::Text {
            text: definition_text(text, 10_000).text,
        }],
        is_error: false,
        duration_ms: 3,
        called: None,
        found: Vec::new(),
    })
}

pub(crate) fn summary(text: &str) -> Message {
    Message::Summary {
        text: definition_text(text, 10_000).text,
        tools: Vec::new(),
    }
}

fn assistant(part: AssistantPart) -> Message {
    Message::Assistant(AssistantMessage {
        parts: vec![part],
        model: "builtin/offline".to_owned(),
        usage: None,
    })
}

/// What a message made here says.
pub(crate) fn text(message: &Message) -> String {
    match message {
        Message::User { parts } => match parts.first().unwrap() {
            UserPart::Text { text } => text.clone(),
            UserPart::Foreign { text } => text.as_str().to_owned(),
            UserPart::Media(media) => media.mime_type.clone(),
        },
        Message::Assistant(said) => {
            let calls: String = said.calls().map(|call| call.id.clone()).collect();
            said.text() + &calls
        }
        Message::Tool(answer) => answer.call.clone(),
        Message::Summary { text, .. } => text.as_str().to_owned(),
    }
}

pub(crate) fn texts(messages: &[KeptMessage]) -> Vec<String> {
    messages.iter().map(|kept| text(&kept.message)).collect()
}

/// One whole turn with these messages.
pub(crate) async fn turn(store: &SqliteSessions, key: &SessionKey, messages: Vec<Message>) {
    let mut turn = begin(store, key).await;
    turn.append(messages).await.unwrap();
    turn.finish(TurnEnd::Complete).await.unwrap();
}

pub(crate) async fn begin(store: &SqliteSessions, key: &SessionKey) -> Box<dyn Turn> {
    store.begin(key, PATIENCE).await.unwrap()
}

/// Whether the long tests are wanted.
pub(crate) fn is_full_scale() -> bool {
    std::env::var("OPENCLAW_TEST_SCALE").is_ok_and(|scale| scale == "full")
}
