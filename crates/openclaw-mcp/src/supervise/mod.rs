//! Keeping servers running.

mod catalog;
mod change_counter;
mod fleet;
mod pace;
mod server;
mod state;
mod task;
mod watch;

pub use catalog::Catalog;
pub(crate) use change_counter::ChangeCounter;
pub use fleet::{Fleet, Reconciled, Wanted};
pub use pace::Pace;
pub use server::{
    LoginWatch, ManagedServer, PendingTarget, Remedy, ServerSetup, StateListener, TargetSource,
    Unresolved,
};
pub use state::{ServerState, Status};
