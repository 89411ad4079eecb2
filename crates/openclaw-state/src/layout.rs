//! What lies where in the state directory, stated once for the code and for people.

use std::fmt::Write;

/// The log of all processes.
pub const LOG: &str = "logs/openclaw.log";
/// How large one log file may grow.
pub const LOG_LIMIT: u64 = 10_000_000;
/// How many older log files are kept.
pub const LOG_KEEP: u32 = 4;
/// The log of all calls of tools.
pub const AUDIT: &str = "logs/audit.jsonl";
/// How large one file of it may grow.
pub const AUDIT_LIMIT: u64 = 10_000_000;
/// How many older files of it are kept.
pub const AUDIT_KEEP: u32 = 9;
/// The key that fingerprints are hashed with.
pub const STATE_KEY: &str = "mcp/state-key.json";
/// Taken while the key is made.
pub const STATE_KEY_LOCK: &str = "mcp/state-key.lock";
/// Taken while the configuration is edited.
pub const CONFIG_LOCK: &str = "mcp/config.lock";
/// Copies of the configuration from before each edit.
pub const CONFIG_BACKUPS: &str = "mcp/config-backups";
/// How many of those copies are kept.
pub const CONFIG_BACKUPS_KEEP: usize = 5;

/// What servers speak, by the fingerprints of their definitions.
pub const ERAS: &str = "mcp/eras.json";
/// Taken while it is written.
pub const ERAS_LOCK: &str = "mcp/eras.lock";

/// The definitions of tools, as they were at first sight.
pub const PINS: &str = "mcp/pins.json";
/// Taken while they are written.
pub const PINS_LOCK: &str = "mcp/pins.lock";

/// The tools that a person always allows.
pub const APPROVALS: &str = "mcp/approvals.json";
/// Taken while they are written.
pub const APPROVALS_LOCK: &str = "mcp/approvals.lock";

/// What is kept about the logins to servers, a file for each.
pub const TOKENS: &str = "mcp/tokens";
/// How large one of these files may be.
pub const TOKENS_LIMIT: u64 = 1_000_000;
/// How many files that could not be opened are kept for each of them.
pub const TOKENS_SET_ASIDE: usize = 5;
/// The key that they are sealed with, where it is in no keyring.
pub const TOKENS_KEY: &str = "mcp/tokens/key";
/// Taken while a key is made.
pub const TOKENS_KEY_LOCK: &str = "mcp/tokens/key.lock";

/// The whole texts of results that were too long to be shown at once.
pub const RESULTS: &str = "results";
/// How large one of these texts may be, in bytes.
pub const RESULT_LIMIT: u64 = 80 * 1024 * 1024;
/// How large all of them may be together, in bytes.
pub const RESULTS_LIMIT: u64 = 256_000_000;
/// How many days each of them is kept.
pub const RESULTS_DAYS: u64 = 7;

/// What was said with agents: a database of SQLite.
pub const SESSIONS: &str = "sessions/sessions.sqlite";
/// The version of its format.
pub const SESSIONS_VERSION: u32 = 1;
/// Taken while it is made, migrated or set aside.
pub const SESSIONS_STORE_LOCK: &str = "sessions/store.lock";
/// The locks of single sessions.
pub const SESSIONS_LOCKS: &str = "sessions/locks";

/// What was typed in conversations.
pub const CHAT_HISTORY: &str = "chat/history.json";
/// Taken while it is written.
pub const CHAT_HISTORY_LOCK: &str = "chat/history.lock";
/// How many messages it has.
pub const CHAT_HISTORY_ENTRIES: usize = 1_000;
/// How long one of them may be, in bytes.
pub const CHAT_HISTORY_ENTRY: usize = 16 * 1024;
/// How long all of them may be together, in bytes.
pub const CHAT_HISTORY_LIMIT: usize = 1_000_000;

/// Where recordings lie while a program transcribes them. Not `media`: the TypeScript `OpenClaw` keeps
/// files of its own there.
pub const TRANSCRIPTION: &str = "transcription";
/// Taken while such a place is made, and while those that were left are removed.
pub const TRANSCRIPTION_LOCK: &str = "transcription/recordings.lock";

/// What clients of the gateway over HTTP prove who they are with.
pub const GATEWAY_TOKEN: &str = "gateway.token";
/// Taken while it is made.
pub const GATEWAY_TOKEN_LOCK: &str = "gateway.token.lock";
/// Where commands reach the gateway.
pub const GATEWAY_SOCKET: &str = "gateway.sock";
/// Held by the gateway for as long as it runs.
pub const GATEWAY_LOCK: &str = "gateway.lock";

/// The folder with what is kept of editors' sessions beside what was said in them.
pub const EDITORS: &str = "editors";

/// One kind of file in the state directory.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its path, relative to the directory.
    pub path: String,
    /// What it is for.
    pub purpose: &'static str,
    /// How large it may grow.
    pub quota: String,
    /// The version of its format, for files that have one.
    pub version: Option<u32>,
    /// What happens when a person deletes it.
    pub deleting: &'static str,
}

/// Every kind of file that this program keeps.
pub fn entries() -> Vec<Entry> {
    let mut entries = logs();
    entries.extend(configuration());
    entries.extend(servers());
    entries.extend(logins());
    entries.push(results());
    entries.extend(sessions());
    entries.extend(chat());
    entries.push(editors());
    entries.extend(transcription());
    entries.extend(gateway());
    entries
}

/// A file that processes lock, and that has nothing in it.
fn lock(path: &str, purpose: &'static str) -> Entry {
    Entry {
        path: path.to_owned(),
        purpose,
        quota: "empty".to_owned(),
        version: None,
        deleting: "Safe while no `openclaw` runs.",
    }
}

fn editors() -> Entry {
    Entry {
        path: format!("{EDITORS}/*.json"),
        purpose: "Which project a session of an editor belongs to, and what it is about.",
        quota: "64 KiB for each session".to_owned(),
        version: Some(1),
        deleting: "Safe: editors no longer list the session; what was said is kept.",
    }
}

fn transcription() -> Vec<Entry> {
    vec![
        Entry {
            path: format!("{TRANSCRIPTION}/recording-*"),
            purpose: "A recording while a program transcribes it; one that was left by a kill is \
                      removed by the next `openclaw`.",
            quota: "5 recordings of 15 MiB for each message".to_owned(),
            version: None,
            deleting: "Safe while no `openclaw` runs.",
        },
        lock(TRANSCRIPTION_LOCK, "Taken while such a place is made."),
    ]
}

fn gateway() -> Vec<Entry> {
    vec![
        Entry {
            path: GATEWAY_TOKEN.to_owned(),
            purpose: "The token that clients of the gateway bring over HTTP, where the configuration \
                      names none.",
            quota: "under 1 KB".to_owned(),
            version: None,
            deleting: "Safe: the next gateway makes a new one, and its clients need that.",
        },
        lock(GATEWAY_TOKEN_LOCK, "Taken while the token is made."),
        Entry {
            path: GATEWAY_SOCKET.to_owned(),
            purpose: "Where commands reach the gateway; there while it runs.",
            quota: "empty".to_owned(),
            version: None,
            deleting: "Safe: one that runs makes it again within seconds.",
        },
        Entry {
            path: GATEWAY_LOCK.to_owned(),
            purpose: "Held by the gateway for as long as it runs, so that there is only one.",
            quota: "under 1 KB".to_owned(),
            version: None,
            deleting: "Safe while no gateway runs.",
        },
    ]
}

fn logs() -> Vec<Entry> {
    vec![
        Entry {
            path: format!("{LOG}, .1 … .{LOG_KEEP}"),
            purpose: "The log of all `openclaw` processes, secrets removed.",
            quota: format!("{} files of {} MB", LOG_KEEP + 1, LOG_LIMIT / 1_000_000),
            version: None,
            deleting: "Safe at any time.",
        },
        lock(&format!("{LOG}.lock"), "Taken while the log is rotated."),
        Entry {
            path: format!("{AUDIT}, .1 … .{AUDIT_KEEP}"),
            purpose: "Every call of a tool: when, by whom, which, how it ended; arguments and \
                      sessions only as hashes.",
            quota: format!("{} files of {} MB", AUDIT_KEEP + 1, AUDIT_LIMIT / 1_000_000),
            version: None,
            deleting: "Safe at any time.",
        },
        lock(&format!("{AUDIT}.lock"), "Taken while that is rotated."),
    ]
}

fn configuration() -> Vec<Entry> {
    vec![
        Entry {
            path: STATE_KEY.to_owned(),
            purpose: "A random key, so that fingerprints of server definitions tell nothing to \
                      others.",
            quota: "under 1 KB".to_owned(),
            version: Some(1),
            deleting: "Safe: a new one is made, and what was remembered about servers is \
                       forgotten.",
        },
        lock(STATE_KEY_LOCK, "Taken while the key is made."),
        Entry {
            path: format!("{CONFIG_BACKUPS}/<16 hex digits>/openclaw.json.N"),
            purpose: "The configuration as it was before each of the last edits.",
            quota: format!("{CONFIG_BACKUPS_KEEP} files for each configuration file"),
            version: None,
            deleting: "Safe at any time.",
        },
        lock(CONFIG_LOCK, "Taken while the configuration is edited."),
    ]
}

/// What is remembered about servers.
fn servers() -> Vec<Entry> {
    vec![
        Entry {
            path: ERAS.to_owned(),
            purpose: "Which era of the protocol and which transport each MCP server spoke last.",
            quota: "1,000 servers, under 200 KB".to_owned(),
            version: Some(1),
            deleting: "Safe at any time: it is found out again.",
        },
        lock(ERAS_LOCK, "Taken while it is written."),
        Entry {
            path: PINS.to_owned(),
            purpose: "Hashes of the definitions of tools at first sight, so that a change is \
                      noticed.",
            quota: "50,000 tools, under 16 MB".to_owned(),
            version: Some(1),
            deleting: "Safe, but whatever servers say then counts as first seen.",
        },
        lock(PINS_LOCK, "Taken while they are written."),
        Entry {
            path: APPROVALS.to_owned(),
            purpose: "The tools that a person always allows, by agent and server, with hashes of \
                      their definitions.",
            quota: "5,000 tools, under 16 MB".to_owned(),
            version: Some(1),
            deleting: "Safe at any time: the person is asked again.",
        },
        lock(APPROVALS_LOCK, "Taken while they are written."),
    ]
}

fn logins() -> Vec<Entry> {
    vec![
        Entry {
            path: format!("{TOKENS}/<32 hex digits>.json"),
            purpose: "The login to one MCP server, sealed: its tokens, logins that were begun, \
                      clients that registered themselves.",
            quota: format!("{} MB each", TOKENS_LIMIT / 1_000_000),
            version: Some(1),
            deleting: "Safe, but you have to log in again; `openclaw mcp logout` gives the tokens \
                       back as well.",
        },
        lock(
            &format!("{TOKENS}/<32 hex digits>.lock"),
            "Taken while that is changed, and while a token is renewed.",
        ),
        Entry {
            path: format!("{TOKENS}/<32 hex digits>.json.corrupt-<n>"),
            purpose: "What could not be opened when somebody logged in anew.",
            quota: format!("{TOKENS_SET_ASIDE} for each server, the oldest gives way"),
            version: None,
            deleting: "Safe at any time.",
        },
        Entry {
            path: format!("{TOKENS}/.openclaw-*"),
            purpose: "A login that was being written; left behind only by a process that was killed.",
            quota: "deleted by the next login after an hour".to_owned(),
            version: None,
            deleting: "Safe while no `openclaw` runs.",
        },
        Entry {
            path: TOKENS_KEY.to_owned(),
            purpose: "The key that logins are sealed with, on machines without a keyring.",
            quota: "under 1 KB".to_owned(),
            version: Some(1),
            deleting: "You have to log in again everywhere.",
        },
        lock(TOKENS_KEY_LOCK, "Taken while a key is made."),
    ]
}

fn results() -> Entry {
    Entry {
        path: format!("{RESULTS}/<32 hex digits>.result"),
        purpose: "The whole text of a result that was too long to be shown at once, for \
                  `mcp_read_result`; who may read it only as a hash.",
        quota: format!(
            "{RESULTS_DAYS} days, {} MB together, {} MiB each",
            RESULTS_LIMIT / 1_000_000,
            RESULT_LIMIT / (1024 * 1024)
        ),
        version: Some(1),
        deleting: "Safe at any time: the model can't read on.",
    }
}

fn sessions() -> Vec<Entry> {
    vec![
        Entry {
            path: format!("{SESSIONS}, -wal, -shm"),
            purpose: "What was said with agents, with images and other files; a database of SQLite.",
            quota: "90 days, 10,000 sessions, 1 GB, unless `session.retention` says otherwise"
                .to_owned(),
            version: Some(SESSIONS_VERSION),
            deleting: "Safe while no `openclaw` runs, but all sessions are gone; \
                       `openclaw sessions delete` deletes one.",
        },
        Entry {
            path: format!("{SESSIONS}.corrupt-<milliseconds>, -wal, -shm"),
            purpose: "A database that could not be read, set aside: parts of it may be saved with \
                      the tools of SQLite.",
            quota: "as large as it was; none is deleted by itself".to_owned(),
            version: None,
            deleting: "Safe at any time: what is in it is gone.",
        },
        lock(
            SESSIONS_STORE_LOCK,
            "Taken while the database is made, migrated or set aside.",
        ),
        lock(
            &format!("{SESSIONS_LOCKS}/<32 hex digits>.lock, .next"),
            "Taken while a turn of one session runs, and by the one who is next.",
        ),
    ]
}

fn chat() -> Vec<Entry> {
    vec![
        Entry {
            path: CHAT_HISTORY.to_owned(),
            purpose: "What was typed in `openclaw chat`, for the arrow keys; credentials that are \
                      known are hidden.",
            quota: format!(
                "{CHAT_HISTORY_ENTRIES} messages, {} MB together",
                CHAT_HISTORY_LIMIT / 1_000_000
            ),
            version: Some(1),
            deleting: "Safe at any time.",
        },
        lock(CHAT_HISTORY_LOCK, "Taken while that is written."),
    ]
}

/// The table of the documentation.
pub fn reference() -> String {
    let mut text = String::from(
        "# The state directory\n\n\
         <!-- Generated by `scripts/generate`; edit `crates/openclaw-state/src/layout.rs`. -->\n\n\
         Everything that `openclaw` keeps lies in one directory, `~/.openclaw` unless \
         `OPENCLAW_STATE_DIR`, `OPENCLAW_HOME` or `--profile` says otherwise. Only its owner can \
         enter it. Files with a format version are refused when a newer `openclaw` wrote them, \
         and never overwritten; when an older one did, a copy named `….v<n>.bak` is kept.\n\n\
         The TypeScript OpenClaw may use the same directory. Its files (`state/`, `agents/`, \
         `credentials/`, `openclaw.json.bak` and others) are never touched; `openclaw.json` and \
         `.env` are read by both.\n\n\
         | file | purpose | size | format version | deleting it |\n\
         |---|---|---|---|---|\n",
    );
    for entry in entries() {
        let version = entry
            .version
            .map_or_else(|| "–".to_owned(), |version| version.to_string());
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "| `{}` | {} | {} | {} | {} |",
            entry.path, entry.purpose, entry.quota, version, entry.deleting
        );
    }
    text
}
