//! The configuration after everything in it was checked and laid over each other.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use url::Url;

use crate::agent::AgentId;
use crate::environment::Environment;
use crate::place::Place;
use crate::presence::Presence;
pub use crate::raw::{
    Approval, ConfigValue, FileMode, GatewayAuthMode, GatewayBind, ToolSearch, WithoutPerson,
};
use crate::report::Problem;
use crate::server::{Server, ServerName};

/// A configuration that can be used.
#[derive(Clone, Debug)]
pub struct Config {
    /// The agents; at least the default one.
    pub agents: BTreeMap<AgentId, Agent>,
    /// The agent that is meant where none is named.
    pub default_agent: AgentId,
    /// How many servers may be connected at a time.
    pub server_limits: ServerLimits,
    /// Whether what happens with servers is logged in detail.
    pub debug: bool,
    /// Where models are, by name.
    pub model_providers: BTreeMap<String, Definition<ModelProvider>>,
    /// How long sessions are kept.
    pub session_retention: SessionRetention,
    /// How secrets are got.
    pub secrets: Arc<SecretSettings>,
    /// The gateway.
    pub gateway: Definition<Gateway>,
    /// Where skills are looked for, and which of them are used.
    pub skills: Definition<SkillsSettings>,
    /// What is done with files that come with messages.
    pub media: Definition<MediaSettings>,
    /// Whether traces are exported, and where.
    pub otel: Definition<OtelSettings>,
    /// The variables that it was read with: those that it names, and those that say how a store of
    /// secrets is reached.
    pub environment: Arc<Environment>,
    /// What is set in the file, for [`Config::has`].
    pub presence: Arc<Presence>,
}

impl Config {
    /// Every server once for those who share it, and once more for each agent that has its own.
    pub fn servers(&self) -> impl Iterator<Item = &Arc<ConfiguredServer>> {
        let shared = self.agents.values().next();
        let shared = shared
            .into_iter()
            .flat_map(|agent| agent.servers.common.values());
        let own = self.agents.values().flat_map(|agent| agent.servers.own());
        shared.chain(own)
    }
}

/// One agent: what it may use.
#[derive(Clone, Debug)]
pub struct Agent {
    /// Its name.
    pub id: AgentId,
    /// Its servers.
    pub servers: AgentServers,
    /// Its model, where one is chosen.
    pub model: Option<ModelChoice>,
    /// The directory in which it works, where one is set.
    pub workspace: Option<PathBuf>,
    /// How long a turn may take.
    pub timeout: Duration,
    /// How often its model is asked in a turn.
    pub max_rounds: u32,
    /// What restricts its tools; every layer counts, and denying wins.
    pub policy: Vec<PolicyLayer>,
    /// When a person is asked before a tool runs.
    pub approval: Approval,
    /// What happens where nobody can be asked.
    pub without_person: WithoutPerson,
    /// Patterns of tools that are known to only read.
    pub read_only: Vec<String>,
    /// Whether the model searches for tools instead of seeing all definitions.
    pub tool_search: ToolSearch,
    /// Which resources stand beside every message, apart from those that servers name themselves.
    pub resources: AgentResources,
}

/// Which resources stand beside every message to an agent, by patterns over their addresses or over
/// `SERVER/ADDRESS`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentResources {
    /// These, of all its servers.
    pub inject: Vec<String>,
    /// How many bytes in all, those that servers name themselves included.
    pub max_bytes: u64,
}

/// Servers by name.
pub(crate) type ServerMap = BTreeMap<ServerName, Arc<ConfiguredServer>>;

/// The servers of an agent: those that all agents share, and its own, which win.
#[derive(Clone, Debug, Default)]
pub struct AgentServers {
    pub(crate) common: Arc<ServerMap>,
    pub(crate) own: ServerMap,
}

impl AgentServers {
    /// The server of this name.
    pub fn get(&self, name: &str) -> Option<&Arc<ConfiguredServer>> {
        self.own.get(name).or_else(|| self.common.get(name))
    }

    /// All servers, in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<ConfiguredServer>> {
        let mut common = self.common.values().peekable();
        let mut own = self.own.values().peekable();
        std::iter::from_fn(move || match (common.peek(), own.peek()) {
            (Some(shared), Some(mine)) => match shared.name.cmp(&mine.name) {
                std::cmp::Ordering::Less => common.next(),
                std::cmp::Ordering::Equal => {
                    common.next();
                    own.next()
                }
                std::cmp::Ordering::Greater => own.next(),
            },
            (Some(_), None) => common.next(),
            (None, _) => own.next(),
        })
    }

    /// The same with these beside them.
    #[must_use]
    pub fn with(&self, more: impl IntoIterator<Item = Arc<ConfiguredServer>>) -> Self {
        let mut all = self.clone();
        let more = more.into_iter();
        all.own
            .extend(more.map(|server| (server.name.clone(), server)));
        all
    }

    /// The servers in which this agent differs from the others.
    pub fn own(&self) -> impl Iterator<Item = &Arc<ConfiguredServer>> {
        self.own.values()
    }
}

/// A server as the configuration has it, usable or not.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfiguredServer {
    /// Its name.
    pub name: ServerName,
    /// Whether it is switched on.
    pub enabled: bool,
    /// The place that gave `command` or `url`.
    pub place: Place,
    /// Its address, if it has one that can be read, whatever else is wrong with it.
    pub address: Option<Url>,
    /// What it is.
    pub definition: Definition<Server>,
}

/// A part of the configuration that stands for itself: if it is not sound, others don't mind.
#[derive(Clone, Debug, PartialEq)]
pub enum Definition<T> {
    /// It can be used.
    Sound(Arc<T>),
    /// It can't, for these reasons.
    Broken(Vec<Problem>),
}

impl<T> Definition<T> {
    /// Sound if there is nothing against it.
    pub(crate) fn new(value: Option<T>, reasons: Vec<Problem>) -> Self {
        match value {
            Some(value) if reasons.is_empty() => Self::Sound(Arc::new(value)),
            Some(_) | None => Self::Broken(reasons),
        }
    }

    /// What it is, if it can be used.
    pub fn sound(&self) -> Option<&Arc<T>> {
        match self {
            Self::Sound(value) => Some(value),
            Self::Broken(_) => None,
        }
    }
}

/// How many servers may be connected at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerLimits {
    /// Of the plugin block.
    pub plugin: usize,
    /// Of all other places.
    pub others: Option<usize>,
}

/// A model and those that stand in for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelChoice {
    /// `provider/model`
    pub primary: String,
    /// Tried in their order when the first fails.
    pub fallbacks: Vec<String>,
}

/// One of the lists that restrict the tools of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyLayer {
    /// Where it stands in the file.
    pub origin: String,
    /// Only these; all where there are none.
    pub allow: Vec<String>,
    /// Not these.
    pub deny: Vec<String>,
}

/// A service that offers models.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelProvider {
    /// Its address, where it is not the usual one.
    pub base_url: Option<Url>,
    /// The key, where it is not in the usual variable.
    pub api_key: Option<ConfigValue>,
    /// Its protocol, where it is not the usual one.
    pub api: Option<String>,
    /// Headers for every request.
    pub headers: BTreeMap<String, ConfigValue>,
    /// How long a request may take, where it is set.
    pub timeout: Option<Duration>,
    /// Whether it may be asked without TLS, wherever it is.
    pub allow_insecure_http: bool,
    /// What is known about its models.
    pub models: Vec<ModelFacts>,
}

/// What is known about a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelFacts {
    /// Its name at the service.
    pub id: String,
    /// How many tokens it can hold.
    pub context_window: Option<u64>,
    /// How many tokens it may answer with.
    pub max_tokens: Option<u64>,
    /// What it takes beside text.
    pub input: Vec<String>,
}

/// How long sessions are kept: the oldest go first when one of these is exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionRetention {
    /// How many days after something was last said; for ever where it is 0.
    pub days: u64,
    /// How many of them.
    pub sessions: u64,
    /// How many bytes all of them may have.
    pub bytes: u64,
}

impl Default for SessionRetention {
    fn default() -> Self {
        Self {
            days: 90,
            sessions: 10_000,
            bytes: 1_000_000_000,
        }
    }
}

/// How secrets are got.
#[derive(Clone, Debug, PartialEq)]
pub struct SecretSettings {
    /// Where they are, by name, beside the places that a reference names itself.
    pub providers: BTreeMap<String, Definition<SecretProviderSettings>>,
    /// How long a store may take to answer; programs have their own limits.
    pub timeout: Duration,
}

/// A place that secrets come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SecretProviderSettings {
    /// Environment variables.
    Environment {
        /// Those that may be read; all where there is no list.
        allowlist: Option<Vec<String>>,
    },
    /// A file.
    File {
        /// Where it is.
        path: PathBuf,
        /// What it holds.
        mode: FileMode,
    },
    /// A program that is asked.
    Exec(SecretProgram),
}

/// A program that knows secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretProgram {
    /// The program, as an absolute path.
    pub command: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables for its environment.
    pub environment: BTreeMap<String, String>,
    /// Names of our own variables that it gets.
    pub pass_environment: Vec<String>,
    /// How long it may take.
    pub timeout: Duration,
    /// How many bytes it may answer with.
    pub max_output_bytes: u64,
}

/// The gateway's settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gateway {
    /// The port it listens on.
    pub port: u16,
    /// Which addresses of this machine it listens on.
    pub bind: GatewayBind,
    /// The address that it listens on, where `bind` says so.
    pub custom_host: Option<String>,
    /// More names under which clients reach it.
    pub allowed_hosts: Vec<String>,
    /// How clients prove who they are.
    pub auth_mode: GatewayAuthMode,
    /// The token, where one is set.
    pub token: Option<ConfigValue>,
    /// The password, where one is set.
    pub password: Option<ConfigValue>,
    /// The public address under which it can be reached.
    pub public_url: Option<Url>,
}

/// Where skills are looked for, and which of them are used.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SkillsSettings {
    /// More directories with skills, after the usual ones.
    pub extra_directories: Vec<PathBuf>,
    /// The bundled skills that are used; all where there is no list.
    pub allow_bundled: Option<Vec<String>>,
    /// What holds for single skills, by name.
    pub entries: BTreeMap<String, Definition<SkillSettings>>,
}

/// What holds for one skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillSettings {
    /// Whether it is used.
    pub enabled: bool,
    /// Variables that count as set for it.
    pub environment: BTreeMap<String, ConfigValue>,
    /// Counts as its most important variable.
    pub api_key: Option<ConfigValue>,
}

/// What is done with files that come with messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MediaSettings {
    /// Who transcribes recordings, if anybody does.
    pub transcription: Option<TranscriptionSettings>,
}

/// Who transcribes recordings, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TranscriptionSettings {
    /// Whether it is done.
    pub enabled: bool,
    /// Who does it.
    pub by: Transcriber,
    /// The language that is spoken, where it is known.
    pub language: Option<String>,
    /// How long it may take.
    pub timeout: Duration,
}

/// Who transcribes recordings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transcriber {
    /// A service that speaks like OpenAI's.
    OpenAi(TranscriptionService),
    /// Deepgram.
    Deepgram(TranscriptionService),
    /// A program on this machine.
    Program(TranscriptionProgram),
}

impl Transcriber {
    /// The variable with the key of a service at its usual address, where none is set.
    pub fn key_variable(&self) -> Option<&'static str> {
        match self {
            Self::OpenAi(_) => Some("OPENAI_API_KEY"),
            Self::Deepgram(_) => Some("DEEPGRAM_API_KEY"),
            Self::Program(_) => None,
        }
    }
}

/// A service that transcribes recordings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TranscriptionService {
    /// Its address, where it is not the usual one.
    pub base_url: Option<Url>,
    /// The key, where one is set.
    pub api_key: Option<ConfigValue>,
    /// The model, where it is not the usual one.
    pub model: Option<String>,
}

/// A program that transcribes recordings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TranscriptionProgram {
    /// The program: a path, or a name to look for.
    pub command: String,
    /// What a path is relative to.
    pub directory: PathBuf,
    /// Its arguments, with places for what is known only when it is started.
    pub args: Vec<String>,
    /// Variables for its environment.
    pub environment: BTreeMap<String, ConfigValue>,
}

impl TranscriptionProgram {
    /// Stands for the recording among the arguments.
    pub const FILE: &str = "{file}";
    /// Stands for a directory that is gone afterwards.
    pub const DIRECTORY: &str = "{directory}";
    /// Stands for the language.
    pub const LANGUAGE: &str = "{language}";
}

/// Whether traces are exported, and where, as far as the file says so.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OtelSettings {
    /// Whether anything is exported.
    pub enabled: bool,
    /// Whether traces are.
    pub traces: bool,
    /// Where to, if not to the usual place.
    pub endpoint: Option<Url>,
    /// Headers for every export.
    pub headers: BTreeMap<String, ConfigValue>,
    /// What this program is called in traces, if not as usual.
    pub service_name: Option<String>,
    /// How many traces are recorded, if not all.
    pub sample_rate: Option<f64>,
    /// How long spans wait for others to be sent with, if not as usual.
    pub flush_interval: Option<Duration>,
}
