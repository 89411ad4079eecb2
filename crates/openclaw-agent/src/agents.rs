//! Everything that agents share; which agent, session and model a request means.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

use openclaw_content::Framer;
use openclaw_conversation::UserPart;
use openclaw_engine::{Audience, ReplyReport, ReplyRequest, SessionChoice};
use openclaw_mcp::{AgentPlan, Servers, UnknownAgent};
use openclaw_media::MediaReader;
use openclaw_models::{Model, Models};
use openclaw_sessions::{ReservedKind, SessionKey, SessionStore};
use openclaw_telemetry::{Tokens, TurnSpan};
use ring::rand::{SecureRandom as _, SystemRandom};

use crate::error::TurnError;
use crate::skills::LoggedProblems;
use crate::tools::ReadyTools;
use crate::turn::{Asking, Said};

/// What agents are made of.
pub struct AgentsSetup {
    /// The servers that their tools are of.
    pub servers: Arc<Servers>,
    /// Their models.
    pub models: Arc<Models>,
    /// What puts files that come with messages into words.
    pub media: Arc<MediaReader>,
    /// Where what is said is kept.
    pub store: Arc<dyn SessionStore>,
    /// The state directory, where skills may be.
    pub state: PathBuf,
    /// The names of commands that no skill gets.
    pub commands: &'static [&'static str],
}

/// The agents of a configuration.
pub struct Agents {
    pub(crate) servers: Arc<Servers>,
    models: Arc<Models>,
    pub(crate) media: Arc<MediaReader>,
    pub(crate) store: Arc<dyn SessionStore>,
    pub(crate) ready: ReadyTools,
    pub(crate) skill_problems: LoggedProblems,
    pub(crate) state: PathBuf,
    pub(crate) commands: &'static [&'static str],
    pub(crate) framer: Framer,
    /// How many remarks about the store were passed on.
    told: AtomicUsize,
}

impl Agents {
    /// The agents of a configuration.
    pub fn new(setup: AgentsSetup) -> Self {
        Self {
            servers: setup.servers,
            models: setup.models,
            media: setup.media,
            store: setup.store,
            ready: ReadyTools::default(),
            state: setup.state,
            commands: setup.commands,
            skill_problems: LoggedProblems::default(),
            framer: Framer::new(),
            told: AtomicUsize::new(0),
        }
    }

    /// An agent, the default one if none is named.
    pub fn plan(&self, name: Option<&str>) -> Result<Arc<AgentPlan>, TurnError> {
        self.servers.agent(name).map_err(unknown_agent)
    }

    /// What there is to say about the store that nobody was told.
    pub(crate) fn new_remarks(&self) -> Vec<String> {
        let remarks = self.store.remarks();
        let told = self.told.swap(remarks.len(), Ordering::Relaxed);
        remarks.into_iter().skip(told).collect()
    }

    /// The session of this name, and whose it is. A bare name is of the agent, or of the default one.
    pub fn key(
        &self,
        agent: Option<&str>,
        text: &str,
    ) -> Result<(Arc<AgentPlan>, SessionKey), TurnError> {
        let asked = self.plan(agent)?;
        let key = SessionKey::parse(text, &asked.agent.id)?;
        if agent.is_some() && *key.agent() != asked.agent.id {
            return Err(TurnError::OtherAgent {
                owner: key.agent().to_string(),
                asked: asked.agent.id.to_string(),
            });
        }
        let plan = self.plan_in(&key)?;
        Ok((plan, key))
    }

    /// The agent of a session, as it is there.
    fn plan_in(&self, key: &SessionKey) -> Result<Arc<AgentPlan>, TurnError> {
        let agent = key.agent().as_str();
        let plan = self.servers.agent_in(agent, key.as_str());
        plan.map_err(unknown_agent)
    }

    /// The agent and the session that a request means.
    pub fn meant(&self, request: &ReplyRequest) -> Result<(Arc<AgentPlan>, SessionKey), TurnError> {
        self.chosen(request.agent.as_deref(), &request.session)
    }

    /// The agent and the session that somebody chooses.
    pub fn chosen(
        &self,
        agent: Option<&str>,
        session: &SessionChoice,
    ) -> Result<(Arc<AgentPlan>, SessionKey), TurnError> {
        if let SessionChoice::Key(text) = session {
            return self.key(agent, text);
        }
        let id = &self.plan(agent)?.agent.id;
        let key = match session {
            SessionChoice::Key(_) | SessionChoice::Main => SessionKey::main(id),
            SessionChoice::Fresh(prefix) => {
                SessionKey::fresh(id, prefix, SystemTime::now(), random())
            }
            SessionChoice::Editor(name) => SessionKey::reserved(id, ReservedKind::Acp, name)?,
        };
        Ok((self.plan_in(&key)?, key))
    }

    /// Has an agent answer a message. Dropping it stops the turn and its calls.
    pub async fn reply(
        &self,
        request: ReplyRequest,
        audience: &dyn Audience,
    ) -> Result<ReplyReport, TurnError> {
        self.reply_beside(request, Vec::new(), audience).await
    }

    /// The same, where something of others stands beside what the person says.
    pub async fn reply_beside(
        &self,
        request: ReplyRequest,
        beside: Vec<UserPart>,
        audience: &dyn Audience,
    ) -> Result<ReplyReport, TurnError> {
        let (plan, key) = self.meant(&request)?;
        let model = self.models.chosen(&plan.agent, request.model.as_deref());
        let model = Box::pin(model).await?;
        let turn = self.turn(&*model, &plan, &key, request, beside, audience);
        Box::pin(turn).await
    }

    /// Has a model answer a message for an agent.
    pub async fn reply_with(
        &self,
        model: &dyn Model,
        plan: &AgentPlan,
        key: &SessionKey,
        request: ReplyRequest,
        audience: &dyn Audience,
    ) -> Result<ReplyReport, TurnError> {
        let turn = self.turn(model, plan, key, request, Vec::new(), audience);
        Box::pin(turn).await
    }

    async fn turn(
        &self,
        model: &dyn Model,
        plan: &AgentPlan,
        key: &SessionKey,
        request: ReplyRequest,
        beside: Vec<UserPart>,
        audience: &dyn Audience,
    ) -> Result<ReplyReport, TurnError> {
        let asking = Asking {
            agents: self,
            plan,
            key,
            model,
            audience,
            instructions: request.instructions.as_deref(),
            approved: request.approved,
            correlation: &request.correlation,
        };
        let said = Said {
            message: request.message,
            attachments: request.attachments,
            beside,
            earlier: request.earlier,
        };
        let told = TurnSpan::begin(plan.agent.id.as_str(), || {
            self.servers.session_hash(key.as_str())
        });
        let result = told.around(Box::pin(asking.answer(said))).await;
        match &result {
            Ok(report) => {
                let usage = report.usage.map(|usage| Tokens {
                    input: usage.input_tokens,
                    output: usage.output_tokens,
                    cached: usage.cached_tokens,
                });
                told.replied(&report.model, usage);
            }
            Err(error) => told.failed(error.code()),
        }
        result
    }
}

fn unknown_agent(error: UnknownAgent) -> TurnError {
    TurnError::UnknownAgent {
        name: error.name,
        known: error.known,
    }
}

/// A number that nobody else has.
fn random() -> u64 {
    let mut bytes = [0; 8];
    if SystemRandom::new().fill(&mut bytes).is_err() {
        // The time makes it different from others; nobody has to be unable to guess it.
        return u64::from(std::process::id());
    }
    u64::from_le_bytes(bytes)
}
