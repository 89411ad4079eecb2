//! Conversations that outlive processes: what was acknowledged is there after any kill.
//!
//! | module | owns | never contains |
//! |---|---|---|
//! | `key` | the names of sessions | which agents there are |
//! | `store` | the seam: what a store of sessions does | how it does it |
//! | `sqlite` | the store in a file of the state directory | what messages mean |
//! | `lock` | the lock of one session between processes | what is done under it |
//! | `queue` | who waits for a session in this process, in their order | |
//! | `error` | why a session can't be had | |

mod error;
mod key;
mod lock;
mod queue;
mod sqlite;
mod store;

pub use error::SessionError;
pub use key::{ReservedKind, SessionKey, SessionKeyError};
pub use sqlite::{SessionClock, SessionsSetup, SqliteSessions, stores_set_aside};
pub use store::{
    KeptMessage, PendingSession, SessionFilter, SessionStore, SessionSummary, Turn, TurnEnd,
    TurnState,
};
