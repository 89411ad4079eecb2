//! What happens is told to those who collect traces, in one vocabulary.
//!
//! A turn, what it asks of models, the calls that it makes and what goes over the wire for them are spans
//! of one trace. They are named and described as the semantic conventions of OpenTelemetry for generative
//! AI and for MCP have it, and never hold what was said: no messages, no arguments, no results.
//!
//! | module | owns | never contains |
//! |---|---|---|
//! | `context` | which trace something belongs to, as it travels between programs | spans |
//! | `settings` | whether traces are exported, where and how: variables and settings | exporting |
//! | `turn`, `model`, `tool`, `exchange` | the kinds of spans, and what each says | who collects them |
//! | `live` | spans, the queue and the export, with the feature `otel` | what spans are about |
//! | `absent` | the same without that feature: nothing | |
//!
//! Which trace is meant goes along with the task: whoever is polled within [`Telemetry::around`] or
//! [`within`] is part of it. A task that is spawned is not, unless it is told.

#[cfg(not(feature = "otel"))]
mod absent;
mod context;
mod exchange;
#[cfg(feature = "otel")]
mod live;
mod model;
mod settings;
mod tool;
mod turn;

#[cfg(not(feature = "otel"))]
use absent as chosen;
#[cfg(feature = "otel")]
use live as chosen;

pub use chosen::{Telemetry, Traced, within};
pub use context::TraceContext;
pub use exchange::{Details, Exchange, ExchangeError, Wire};
pub use model::{ModelAnswer, ModelSpan};
pub use settings::{Configured, HeaderSource, PendingHeaders, Reading, Sampler, Settings};
pub use tool::ToolSpan;
pub use turn::{Tokens, TurnSpan};
