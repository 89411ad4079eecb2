//! What goes back and forth on a connection, whatever carries it: requests that wait for their
//! answers, and what the server says on its own.

mod allowance;
mod changes;
mod in_flight;
mod inbound;
mod server_log;
mod server_requests;
mod versions;
mod visits;

pub(crate) use allowance::LogAllowance;
pub use changes::Changes;
pub(crate) use in_flight::{Lost, Pulse, Reply, Ticket, TicketKind, TicketOptions};
pub use in_flight::{Progress, ProgressListener};
pub(crate) use inbound::{Inbound, Outbox, Source};
pub(crate) use server_requests::{Asked, ask, look_at};
pub use versions::ResourceVersion;
