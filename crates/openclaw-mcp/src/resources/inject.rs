//! Resources beside a message: read when a turn begins, framed, within limits.

mod present;

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream;
use openclaw_content::{ModelText, shown_line};
use openclaw_mcp_client::{CallOptions, Connection, RequestError, UnknownOutcome};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout, timeout_at};

use super::choice::{chooses_of, chosen};
use super::contents::Contents;
use super::kept::{Look, ResourceKey, Rest, Watch};
use super::room::shares;
use crate::servers::{AgentPlan, InstanceKey, PlannedServer, Servers};

/// How many resources stand beside a message.
const MOST: usize = 20;
/// How many of one server are read at once in a turn: a slow one must not hold up the others.
const AT_ONCE: usize = 4;
/// How long reading one may take.
const EACH: Duration = Duration::from_secs(5);
/// How long reading all may take.
const ALL: Duration = Duration::from_secs(8);
/// How long a server has to agree to tell of changes.
const SUBSCRIBING: Duration = Duration::from_secs(2);
/// How large a resource may be that is shown although most of it is left out; where its server says
/// how large it is, a larger one is not even read.
const LARGEST: u64 = 16 * 1024 * 1024;

/// Resources beside a message.
#[derive(Debug, Default)]
pub struct Injection {
    /// What the model reads beside the message: framed, or in our own words.
    pub texts: Vec<ModelText>,
    /// What could not be put there, for people: one line each, fit for a terminal.
    pub problems: Vec<String>,
}

/// A server whose resources are wanted.
struct Source {
    server: Arc<PlannedServer>,
    instance: InstanceKey,
    connection: Arc<Connection>,
    /// The addresses, and the sizes that the server says they have.
    wanted: Vec<(String, Option<u64>)>,
    /// Those for which there is no place.
    left_out: usize,
    /// Keeps it from being asked for all at once.
    turns: Semaphore,
}

/// Why a resource can't be shown.
enum Unread {
    /// It took too long.
    Slow,
    /// It took too long a moment ago, and was not asked for again.
    Resting,
    /// There was no time left for it.
    Late,
    /// It is too large to be read for this.
    Large,
    /// The server did not give it, in words for people.
    Refused(String),
}

impl Unread {
    /// In our own words, for the model.
    fn told(&self) -> &'static str {
        match self {
            Self::Slow => "the server took too long",
            Self::Resting => "the server took too long a moment ago",
            Self::Late => "there was no time left",
            Self::Large => "it is too large",
            Self::Refused(_) => "the server did not give it",
        }
    }

    /// For people, on one line.
    fn shown(&self) -> String {
        match self {
            Self::Refused(reason) => shown_line(reason, 300),
            other => other.told().to_owned(),
        }
    }
}

/// What became of a resource.
struct Found<'a> {
    uri: &'a str,
    outcome: Result<Arc<Contents>, Unread>,
}

impl Servers {
    /// The resources that the configuration puts beside a message to an agent, framed, in at most so
    /// many bytes. Servers that are not ready are not waited for.
    pub async fn inject(&self, agent: &AgentPlan, session: Option<&str>, most: usize) -> Injection {
        self.kept_resources.retain(|_, _| true);
        let sources = self.sources(agent, session);
        if sources.is_empty() {
            return Injection::default();
        }
        let found = self.read_all(&sources).await;
        let budget = usize::try_from(agent.agent.resources.max_bytes).unwrap_or(usize::MAX);
        self.present_resources(agent, &sources, &found, most.min(budget))
    }

    /// Forgets resources that no agent has beside its messages any longer.
    pub(crate) fn forget_resources(&self) {
        let plan = self.plan();
        self.kept_resources.retain(|instance, uri| {
            plan.agents.values().any(|agent| {
                agent.servers().any(|server| {
                    server.fingerprint() == Some(instance.0)
                        && !agent.denies(server.name())
                        && super::is_chosen(agent, server, uri)
                })
            })
        });
    }

    /// The servers of an agent that are ready and of which something is wanted.
    fn sources(&self, agent: &AgentPlan, session: Option<&str>) -> Vec<Source> {
        let mut sources: Vec<Source> = agent
            .servers()
            .filter(|server| !agent.denies(server.name()) && chooses_of(agent, server))
            .filter_map(|server| {
                let instance = self.instance(server, session)?;
                let connection = instance.connection()?;
                if !connection.server().capabilities.resources {
                    return None;
                }
                let wanted = chosen(agent, server, &instance.state().catalog);
                let instance = server.instance_key(session)?;
                (!wanted.is_empty()).then(|| Source {
                    server: Arc::clone(server),
                    instance,
                    connection,
                    wanted: wanted.into_iter().collect(),
                    left_out: 0,
                    turns: Semaphore::new(AT_ONCE),
                })
            })
            .collect();
        let needs: Vec<usize> = sources.iter().map(|it| it.wanted.len()).collect();
        for (source, places) in sources.iter_mut().zip(shares(MOST, &needs)) {
            source.left_out = source.wanted.len() - places;
            source.wanted.truncate(places);
        }
        sources
    }

    /// Reads all that is wanted, side by side; the results are in the same order.
    async fn read_all<'a>(&self, sources: &'a [Source]) -> Vec<Vec<Found<'a>>> {
        let until = Instant::now() + ALL;
        let reading = sources.iter().map(|source| {
            let each = source.wanted.iter().map(move |(uri, size)| {
                let reading = self.read_one(source, uri, *size, until);
                Box::pin(async move {
                    let outcome = reading.await;
                    Found { uri, outcome }
                })
            });
            let each: Vec<_> = each.collect();
            Box::pin(async move { stream::iter(each).buffered(MOST).collect().await })
        });
        let reading: Vec<_> = reading.collect();
        let servers = reading.len().max(1);
        stream::iter(reading).buffered(servers).collect().await
    }

    async fn read_one(
        &self,
        source: &Source,
        uri: &str,
        size: Option<u64>,
        until: Instant,
    ) -> Result<Arc<Contents>, Unread> {
        let key = (source.instance.clone(), uri.to_owned());
        let watch = match self.kept_resources.look(&key, &source.connection) {
            Look::Kept(contents) => return Ok(contents),
            Look::Resting(Rest::Slow) => return Err(Unread::Resting),
            Look::Resting(Rest::Large) => return Err(Unread::Large),
            Look::Read(_) if size.is_some_and(|size| size > LARGEST) => return Err(Unread::Large),
            Look::Read(watch) => watch,
        };
        // Waiting for others is not the resource's fault.
        let turns = async {
            let of_server = source.turns.acquire().await;
            (of_server, self.kept_resources.turns.acquire().await)
        };
        let Ok((Ok(_of_server), Ok(_of_all))) = timeout_at(until, turns).await else {
            return Err(Unread::Late);
        };
        let all_of_its_time = Instant::now() + EACH;
        let is_late = until < all_of_its_time;
        let until = until.min(all_of_its_time);
        match timeout_at(until, self.read_now(&key, &source.connection, watch)).await {
            Ok(Ok(contents)) if contents.total as u64 > LARGEST => {
                self.kept_resources.rest(&key, Rest::Large);
                Err(Unread::Large)
            }
            Ok(Ok(contents)) => Ok(contents),
            Ok(Err(error)) if !is_slow(&error) => {
                if matches!(error, RequestError::BadResult(_)) {
                    // It is there, and can't be used: larger than any answer may be, most likely.
                    self.kept_resources.rest(&key, Rest::Large);
                }
                let reason = error.to_string();
                let reason = self.redactor.redact_learned(&reason).into_owned();
                Err(Unread::Refused(reason))
            }
            Ok(Err(_)) | Err(_) if is_late => Err(Unread::Late),
            Ok(Err(_)) | Err(_) => {
                self.kept_resources.rest(&key, Rest::Slow);
                Err(Unread::Slow)
            }
        }
    }

    async fn read_now(
        &self,
        key: &ResourceKey,
        connection: &Arc<Connection>,
        watch: Watch,
    ) -> Result<Arc<Contents>, RequestError> {
        let uri = &key.1;
        if watch == Watch::Unasked {
            // Before it is read, so that no change is missed.
            let asked = timeout(SUBSCRIBING, connection.subscribe(uri)).await;
            let watch = match asked {
                Ok(Ok(())) => Watch::Agreed,
                Ok(Err(_)) | Err(_) => Watch::Refused,
            };
            self.kept_resources.watched(key, connection, watch);
        }
        let version = connection.watched_version(uri);
        let options = CallOptions {
            idle: Some(EACH),
            total: Some(EACH),
            ..CallOptions::default()
        };
        let read = connection.read_resource_with(uri, options).await?;
        let contents = Arc::new(Contents::of(read, uri, &self.redactor));
        self.kept_resources
            .keep(key, connection, version, &contents);
        Ok(contents)
    }
}

/// Whether there is no answer because there was not enough time for one.
fn is_slow(error: &RequestError) -> bool {
    matches!(
        error,
        RequestError::OutcomeUnknown(UnknownOutcome::Silent(_) | UnknownOutcome::Overdue(_))
    )
}
