//! What sessions cost: `cargo bench -p openclaw-sessions`. The program fails if a budget is not kept.

#![expect(
    clippy::expect_used,
    reason = "a benchmark that can't be set up has nothing to say"
)]

use std::hint::black_box;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use openclaw_config::{AgentId, SessionRetention};
use openclaw_content::{Excerpt, Framer, Origin};
use openclaw_conversation::{
    AnswerPart, AssistantMessage, AssistantPart, CallArguments, Message, ToolAnswer, ToolCall,
    UserPart,
};
use openclaw_sessions::{SessionKey, SessionStore as _, SessionsSetup, SqliteSessions, TurnEnd};
use openclaw_state::StateDirectory;
use openclaw_testkit::figures::{Report, median, micros};
use tokio::runtime::Builder;

/// What opening a session of ten thousand messages may cost.
const OPENING: Duration = Duration::from_millis(20);
/// What keeping a message may cost.
const KEEPING: Duration = Duration::from_micros(500);
const MESSAGES: usize = 10_000;
const PATIENCE: Duration = Duration::from_secs(10);

fn open(state: &Path) -> SqliteSessions {
    SqliteSessions::open(SessionsSetup {
        state: StateDirectory::open(state).expect("a state directory"),
        retention: SessionRetention::default(),
        clock: Arc::new(SystemTime::now),
    })
}

fn key(name: &str) -> SessionKey {
    SessionKey::parse(name, &AgentId::main()).expect("a key")
}

/// A question, a call, its answer in a frame, and a reply: about 1.6 KB.
fn turn(number: usize) -> Vec<Message> {
    let words = "the quick brown fox jumps over the lazy dog and back again ".repeat(5);
    let assistant = |part| {
        Message::Assistant(AssistantMessage {
            parts: vec![part],
            model: "builtin/offline".to_owned(),
            usage: None,
        })
    };
    let id = format!("call-{number}");
    let framed = Framer::new().frame(&Origin::new("files", "read"), &words, &Excerpt::default());
    vec![
        Message::User {
            parts: vec![UserPart::Text {
                text: words.clone(),
            }],
        },
        assistant(AssistantPart::ToolCall(ToolCall {
            id: id.clone(),
            name: "mcp_files_read".to_owned(),
            arguments: CallArguments::parse(r#"{"path": "notes/today.md", "lines": 20}"#),
            opaque: None,
        })),
        Message::Tool(ToolAnswer {
            call: id,
            name: "mcp_files_read".to_owned(),
            server: Some("files".to_owned()),
            parts: vec![AnswerPart::Text { text: framed.text }],
            is_error: false,
            duration_ms: 12,
            called: None,
            found: Vec::new(),
        }),
        assistant(AssistantPart::Text { text: words }),
    ]
}

async fn fill(store: &SqliteSessions, name: &str) {
    for number in 0..MESSAGES / 40 {
        let mut running = store.begin(&key(name), PATIENCE).await.expect("a turn");
        let messages = (0..10).flat_map(|part| turn(number * 10 + part)).collect();
        running.append(messages).await.expect("kept");
        running.finish(TurnEnd::Complete).await.expect("an end");
    }
}

/// Opens the session as the first thing that a process does.
async fn opened(state: &Path) -> Duration {
    let store = open(state);
    let start = Instant::now();
    let mut running = store.begin(&key("long"), PATIENCE).await.expect("a turn");
    let history = running.history().await.expect("messages");
    let took = start.elapsed();
    assert_eq!(black_box(&history).len(), MESSAGES);
    running.finish(TurnEnd::Complete).await.expect("an end");
    store.close().await;
    took
}

async fn kept(store: &SqliteSessions) -> Vec<Duration> {
    let mut running = store.begin(&key("kept"), PATIENCE).await.expect("a turn");
    let mut durations = Vec::new();
    for number in 0..1_000 {
        let message = turn(number).swap_remove(2);
        let start = Instant::now();
        running.append(vec![message]).await.expect("kept");
        durations.push(start.elapsed());
    }
    running.finish(TurnEnd::Complete).await.expect("an end");
    durations
}

/// A turn with a question and an answer, all of it.
async fn whole_turns(store: &SqliteSessions) -> Vec<Duration> {
    let mut durations = Vec::new();
    for number in 0..300 {
        let mut messages = turn(number);
        let (question, answer) = (messages.swap_remove(0), messages.swap_remove(0));
        let start = Instant::now();
        let mut running = store.begin(&key("short"), PATIENCE).await.expect("a turn");
        running.append(vec![question]).await.expect("kept");
        running.append(vec![answer]).await.expect("kept");
        running.finish(TurnEnd::Complete).await.expect("an end");
        durations.push(start.elapsed());
    }
    durations
}

fn main() -> ExitCode {
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    let directory = tempfile::tempdir().expect("a directory");
    let mut report = Report::default();
    runtime.block_on(async {
        let store = open(directory.path());
        let start = Instant::now();
        let mut first = store.begin(&key("first"), PATIENCE).await.expect("a turn");
        first.append(turn(0)).await.expect("kept");
        first.finish(TurnEnd::Complete).await.expect("an end");
        Report::say("the first turn in a new store", &micros(start.elapsed()));

        let middle = median(kept(&store).await);
        let is_kept = middle < KEEPING;
        let budget = micros(KEEPING);
        report.judge("keeping a message", &micros(middle), &budget, is_kept);
        let middle = median(whole_turns(&store).await);
        Report::say("a whole turn: begin, two messages, end", &micros(middle));

        fill(&store, "long").await;
        store.close().await;
        let mut durations = Vec::new();
        for _ in 0..30 {
            durations.push(opened(directory.path()).await);
        }
        let least = durations.iter().min().copied().unwrap_or_default();
        Report::say("opening 10,000 messages, at best", &micros(least));
        let middle = median(durations);
        let is_kept = middle < OPENING;
        let budget = micros(OPENING);
        report.judge(
            "opening 10,000 messages in a new process",
            &micros(middle),
            &budget,
            is_kept,
        );
    });
    if report.is_kept() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
