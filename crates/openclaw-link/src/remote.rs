//! The engine of a gateway, for whoever asks.

mod link;
mod open;
mod person;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use openclaw_engine::EngineFailure;
use thiserror::Error;
use tokio::sync::Mutex as AsyncMutex;
use tokio::task::JoinSet;
use tokio::time::{Duration, Instant, timeout};

use self::link::Link;
use crate::greeting::{self, Greeting, LONGEST_GREETING, PROTOCOL};
use crate::outbox::{Framing, encode};
use crate::questions::{Effect, STOP};
use crate::service::GREETING_TIME;
use crate::socket::{Reading, Stream, Writing};

/// For how long what was found counts for others who look.
const LOOKED: Duration = Duration::from_secs(1);

/// Why no gateway can be asked.
#[derive(Debug, Error)]
pub enum NoGateway {
    /// There is none.
    #[error("no gateway runs")]
    Absent,
    /// There is one that speaks another version.
    #[error("the gateway is of version {}, and speaks another protocol", .0.version)]
    Mismatch(Greeting),
    /// There is something, and it can't be talked to.
    #[error("the gateway can't be reached: {0}")]
    Unreachable(io::Error),
}

/// The engine of a gateway.
///
/// When the gateway goes away, every question that is not answered fails with the code `gateway-gone`.
/// The next one finds whichever gateway there is then, and fails in the same way if there is none: whoever
/// goes on asking for days outlives gateways. Closing it, or dropping it, closes the link and nothing of
/// the gateway.
pub struct Remote {
    state: PathBuf,
    version: String,
    greeting: Greeting,
    line: Mutex<Line>,
    /// Taken while another gateway is looked for; when one was looked for last, and what was found
    /// instead of it.
    looking: AsyncMutex<Option<(Instant, EngineFailure)>>,
}

/// A link, and what keeps it.
struct Line {
    link: Arc<Link>,
    /// Reads and writes for as long as this is there.
    _task: JoinSet<()>,
}

impl Remote {
    /// Reaches the gateway of a state directory, as a program of some version. It takes two seconds at
    /// most.
    pub async fn connect(state: &Path, version: &str) -> Result<Self, NoGateway> {
        let (greeting, line) = Line::connect(state, version).await?;
        Ok(Self {
            state: state.to_owned(),
            version: version.to_owned(),
            greeting,
            line: Mutex::new(line),
            looking: AsyncMutex::default(),
        })
    }

    /// What the gateway says about itself, the first one if there were several.
    pub fn greeting(&self) -> &Greeting {
        &self.greeting
    }

    /// Has the gateway stop; it is under way when this is answered.
    pub async fn stop(&self) -> Result<(), EngineFailure> {
        let stopped = self.current().ask::<_, ()>(STOP, Effect::None, ()).await;
        match stopped {
            // It was asked, and went away: that is what it was asked for.
            Err(failure) if link::went_away_meanwhile(&failure) => Ok(()),
            stopped => stopped,
        }
    }

    /// What questions travel over, to another gateway if the last one is gone.
    pub(crate) async fn link(&self) -> Result<Arc<Link>, EngineFailure> {
        let link = self.current();
        if !link.is_gone() {
            return Ok(link);
        }
        let mut looked = self.looking.lock().await;
        let link = self.current();
        if !link.is_gone() || link.is_closed() {
            return Ok(link);
        }
        // Those who asked at the same time hear the same.
        if let Some((at, failure)) = &*looked
            && at.elapsed() < LOOKED
        {
            return Err(failure.clone());
        }
        let failure = match Line::connect(&self.state, &self.version).await {
            Ok((greeting, new)) if greeting.config == self.greeting.config => {
                let mut current = self.line();
                if current.link.is_closed() {
                    new.link.close();
                }
                *current = new;
                return Ok(Arc::clone(&current.link));
            }
            Ok((greeting, _)) => link::gone_before(&format!(
                "the gateway that runs now reads another configuration, {}",
                greeting.config
            )),
            Err(NoGateway::Absent) => return Ok(link),
            Err(error) => link::gone_before(&error.to_string()),
        };
        *looked = Some((Instant::now(), failure.clone()));
        Err(failure)
    }

    /// Closes the link, for good.
    pub(crate) fn close(&self) {
        self.current().close();
    }

    fn current(&self) -> Arc<Link> {
        Arc::clone(&self.line().link)
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Line {
    async fn connect(state: &Path, version: &str) -> Result<(Greeting, Self), NoGateway> {
        let reached = timeout(GREETING_TIME, async {
            match Self::reach(state, version).await {
                // One that is just stopping hangs up on those who wait at its door. Whether one is
                // there is seen by knocking again.
                Err(NoGateway::Unreachable(error)) if hung_up(&error) => {
                    Self::reach(state, version).await
                }
                reached => reached,
            }
        });
        reached.await.unwrap_or_else(|_| {
            let message = "it does not answer";
            let error = io::Error::new(io::ErrorKind::TimedOut, message);
            Err(NoGateway::Unreachable(error))
        })
    }

    async fn reach(state: &Path, version: &str) -> Result<(Greeting, Self), NoGateway> {
        let stream = Stream::connect(state).await.map_err(|error| {
            match error.kind() {
                // A socket that nobody listens at was left behind.
                io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => NoGateway::Absent,
                _ => NoGateway::Unreachable(error),
            }
        })?;
        let (mut reading, mut writing) = stream.split();
        let greeting = greet(&mut reading, &mut writing, version).await;
        let greeting = greeting.map_err(NoGateway::Unreachable)?;
        if greeting.protocol != PROTOCOL {
            return Err(NoGateway::Mismatch(greeting));
        }
        let link = Arc::new(Link::new());
        let mut task = JoinSet::new();
        task.spawn(Arc::clone(&link).keep(reading, writing));
        Ok((greeting, Self { link, _task: task }))
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        self.close();
    }
}

/// Whether the other side went away before it said anything.
fn hung_up(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe
    )
}

/// Says who we are, and hears who is there.
async fn greet(
    reading: &mut Reading,
    writing: &mut Writing,
    version: &str,
) -> io::Result<Greeting> {
    let hello = encode(
        Framing::Length,
        LONGEST_GREETING,
        &greeting::command_says(version),
    );
    let hello = hello.map_err(io::Error::other)?;
    writing.bytes(&hello, &[]).await?;
    let said = reading.frame(LONGEST_GREETING).await?;
    let said = said.ok_or_else(|| {
        let message = "it hung up without a word";
        io::Error::new(io::ErrorKind::UnexpectedEof, message)
    })?;
    greeting::read_gateway(&said).ok_or_else(|| {
        let message = "what answers is not a gateway of OpenClaw";
        io::Error::new(io::ErrorKind::InvalidData, message)
    })
}
