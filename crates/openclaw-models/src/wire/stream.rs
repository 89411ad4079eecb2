//! An answer as it arrives: events or lines, within limits of time and size.

use std::time::Duration;

use bytes::{Buf as _, BytesMut};
use openclaw_http::{Arriving, HttpError};
use openclaw_sse::EventParser;
use tokio::time::{Instant, timeout, timeout_at};

use crate::model::Stop;
use crate::wire::growing::{Fault, Growing};
use crate::wire::limits::{EVENT, GRACE, LINGER};

/// Understands the events of one answer.
pub(crate) trait Decode: Send {
    /// Takes an event's name and data, or a line.
    fn event(
        &mut self,
        name: Option<&str>,
        data: &[u8],
        answer: &mut Growing<'_, '_>,
    ) -> Result<Flow, Fault>;

    /// Whether the model has stopped, though more may come: what the answer cost.
    fn is_complete(&self) -> bool {
        false
    }

    /// Says why the model stopped, or what is missing, once nothing more comes.
    fn end(&mut self) -> Result<Stop, String>;
}

/// Whether more is to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// Yes.
    More,
    /// No: this was the end.
    Done,
}

/// How events are told from each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// Server-sent events.
    Events,
    /// Lines.
    Lines,
}

/// Why reading stopped.
#[derive(Debug)]
pub(crate) enum Broken {
    /// By what came.
    Fault(Fault),
    /// Nothing came for so long.
    Silent(Duration),
    /// It took too long in all.
    Late,
    /// Something came, and it was no event.
    Strange,
}

impl From<Fault> for Broken {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// How long an answer is waited for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// Until then it has to be whole.
    pub(crate) until: Instant,
    /// How long nothing may come.
    pub(crate) idle: Duration,
}

/// Reads an answer to its end.
pub(crate) async fn read(
    body: &mut Arriving,
    framing: Framing,
    decoder: &mut dyn Decode,
    answer: &mut Growing<'_, '_>,
    patience: Patience,
) -> Result<Stop, Broken> {
    let Patience { until, idle } = patience;
    let mut pieces = Pieces::new(framing);
    let decoder = &mut Attentive {
        inner: decoder,
        has_event: false,
    };
    let mut has_come = false;
    loop {
        let is_complete = decoder.is_complete();
        let silence = Instant::now() + if is_complete { GRACE } else { idle };
        let next = match timeout_at(silence.min(until), body.next()).await {
            Ok(next) => next,
            // There is an answer; who says no farewell is not waited for.
            Err(_) if is_complete => break,
            Err(_) if silence < until => return Err(Broken::Silent(idle)),
            Err(_) => return Err(Broken::Late),
        };
        let flow = match next.map_err(|error| broken_off(&error))? {
            Some(bytes) => {
                has_come |= !bytes.is_empty();
                pieces.push(&bytes, decoder, answer)?
            }
            None => {
                pieces.end(decoder, answer)?;
                if has_come && !decoder.has_event {
                    return Err(Broken::Strange);
                }
                break;
            }
        };
        if flow == Flow::Done {
            // The end of the body is on its way; with it the connection can be used again.
            let _ = timeout(LINGER, body.next()).await;
            break;
        }
    }
    let stop = decoder.end();
    stop.map_err(|missing| Broken::Fault(Fault::Cut(missing)))
}

/// Remembers whether there was an event.
struct Attentive<'d> {
    inner: &'d mut dyn Decode,
    has_event: bool,
}

impl Decode for Attentive<'_> {
    fn event(
        &mut self,
        name: Option<&str>,
        data: &[u8],
        answer: &mut Growing<'_, '_>,
    ) -> Result<Flow, Fault> {
        self.has_event = true;
        self.inner.event(name, data, answer)
    }

    fn is_complete(&self) -> bool {
        self.inner.is_complete()
    }

    fn end(&mut self) -> Result<Stop, String> {
        self.inner.end()
    }
}

fn broken_off(error: &HttpError) -> Fault {
    match error {
        HttpError::TooLarge(_) => Fault::Unreadable(error.to_string()),
        other => Fault::Cut(other.to_string()),
    }
}

/// Bytes, put together to events.
enum Pieces {
    Events(EventParser),
    Lines(BytesMut),
}

impl Pieces {
    fn new(framing: Framing) -> Self {
        match framing {
            Framing::Events => Self::Events(EventParser::new(EVENT)),
            Framing::Lines => Self::Lines(BytesMut::new()),
        }
    }

    fn push(
        &mut self,
        bytes: &[u8],
        decoder: &mut dyn Decode,
        answer: &mut Growing<'_, '_>,
    ) -> Result<Flow, Fault> {
        match self {
            Self::Events(parser) => {
                parser.push(bytes);
                while let Some(event) = parser.next().map_err(|_| too_large())? {
                    if event.data.is_empty() {
                        continue;
                    }
                    let name = event.name.as_deref();
                    if decoder.event(name, &event.data, answer)? == Flow::Done {
                        return Ok(Flow::Done);
                    }
                }
            }
            Self::Lines(buffer) => {
                let mut looked_at = buffer.len();
                buffer.extend_from_slice(bytes);
                while let Some(end) = line_end(buffer, looked_at) {
                    looked_at = 0;
                    let line = buffer.split_to(end);
                    buffer.advance(1);
                    if line_flow(&line, decoder, answer)? == Flow::Done {
                        return Ok(Flow::Done);
                    }
                }
                if buffer.len() > EVENT {
                    return Err(too_large());
                }
            }
        }
        Ok(Flow::More)
    }

    /// What has no end is no event; a last line may have none.
    fn end(&mut self, decoder: &mut dyn Decode, answer: &mut Growing<'_, '_>) -> Result<(), Fault> {
        if let Self::Lines(buffer) = self {
            let line = buffer.split();
            // Half a line says no more than that the answer broke off.
            if serde_json::from_slice::<serde::de::IgnoredAny>(&line).is_ok() {
                line_flow(&line, decoder, answer)?;
            }
        }
        Ok(())
    }
}

fn line_flow(
    line: &[u8],
    decoder: &mut dyn Decode,
    answer: &mut Growing<'_, '_>,
) -> Result<Flow, Fault> {
    let line = line.trim_ascii();
    if line.is_empty() {
        return Ok(Flow::More);
    }
    if line.len() > EVENT {
        return Err(too_large());
    }
    decoder.event(None, line, answer)
}

fn line_end(buffer: &[u8], from: usize) -> Option<usize> {
    let rest = buffer.get(from..)?;
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    Some(from + end)
}

fn too_large() -> Fault {
    Fault::Unreadable(format!("an event has more than {} MiB", EVENT >> 20))
}
