//! One turn: rounds of the model and its calls, kept as they happen.

mod asked;
mod beside;
mod earlier;
mod files;
mod shorten;
mod told;

use std::collections::HashSet;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream;
use openclaw_config::ServerScope;
use openclaw_content::ModelText;
use openclaw_conversation::{
    AnswerPart, AssistantMessage, AssistantPart, Message, ToolAnswer, ToolCall, UserPart,
};
use openclaw_engine::{Attachment, Audience, EarlierMessage, ReplyEvent, ReplyReport};
use openclaw_mcp::{AgentPlan, AgentTools, Standing, Status};
use openclaw_models::{
    Model, ModelError, ModelEvent, ModelReply, ModelRequest, Stop, SystemPrompt,
};
use openclaw_sessions::{SessionKey, Turn, TurnEnd};
use tokio::time::timeout;

use self::told::{Told, call_report, media_parts};
use crate::agents::Agents;
use crate::attachments::{self, Intake};
use crate::calls::{Asked, Caller};
use crate::compaction;
use crate::error::TurnError;
use crate::history::{Conversation, Taken};
use crate::person::Line;
use crate::prompt::{self, Prompt};
use crate::skills::OfferedSkills;
use crate::tools::{Ready, Sight};

/// How many calls run side by side.
const CALLS_AT_ONCE: usize = 32;

/// How long another turn of the session is waited for in silence.
const SILENT_WAIT: Duration = Duration::from_secs(1);

/// What a turn is made with.
pub(crate) struct Asking<'a> {
    pub(crate) agents: &'a Agents,
    pub(crate) plan: &'a AgentPlan,
    pub(crate) key: &'a SessionKey,
    pub(crate) model: &'a dyn Model,
    pub(crate) audience: &'a dyn Audience,
    /// What the agent is told for this turn alone.
    pub(crate) instructions: Option<&'a str>,
    pub(crate) approved: bool,
    pub(crate) correlation: &'a str,
}

/// What a person says, as it came.
pub(crate) struct Said {
    pub(crate) message: String,
    pub(crate) attachments: Vec<Attachment>,
    /// What others say beside it.
    pub(crate) beside: Vec<UserPart>,
    /// What was said before elsewhere, for a session that has nothing yet.
    pub(crate) earlier: Vec<EarlierMessage>,
}

impl Asking<'_> {
    /// Answers what a person says. Dropping it stops the turn and its calls.
    ///
    /// What comes with a message is taken in when the session is ours: that may take a while, and who
    /// asked first is answered first.
    pub(crate) async fn answer(&self, said: Said) -> Result<ReplyReport, TurnError> {
        attachments::check(&said.message, &said.attachments)?;
        prompt::check_instructions(self.instructions)?;
        self.check_length(&said.message)?;
        let within = self.plan.agent.timeout;
        let kept = self.begin(within).await?;
        self.audience.hear(ReplyEvent::Started {
            session_key: self.key.as_str().to_owned(),
            model: self.model.name().to_owned(),
        });
        let mut running = Running::new(self, kept);
        let result = match timeout(within, Box::pin(running.run(said))).await {
            Ok(result) => result,
            Err(_) => Err(TurnError::TimedOut { within }),
        };
        let Running { kept, told, .. } = running;
        let end = match &result {
            Ok(()) => TurnEnd::Complete,
            Err(TurnError::TimedOut { .. }) => TurnEnd::Interrupted,
            Err(_) => TurnEnd::Failed,
        };
        let finished = kept.finish(end).await;
        result?;
        finished?;
        Ok(told.report(self.key.as_str()))
    }

    /// Begins the turn, and says so where another one has to be waited for.
    async fn begin(&self, within: Duration) -> Result<Box<dyn Turn>, TurnError> {
        let begun = self.agents.store.begin(self.key, within);
        tokio::pin!(begun);
        match timeout(SILENT_WAIT, &mut begun).await {
            Ok(begun) => Ok(begun?),
            Err(_) => {
                let text = "waiting for another turn of this session to end".to_owned();
                self.audience.hear(ReplyEvent::Notice { text });
                Ok(begun.await?)
            }
        }
    }

    /// What a person should know about the store, each thing once.
    fn hear_remarks(&self) {
        for text in self.agents.new_remarks() {
            self.audience.hear(ReplyEvent::Notice { text });
        }
    }

    /// Refuses what the model can't hold at all. Only the person's own words count: how much files
    /// take is a guess, and what is foreign is cut to what there is room for.
    fn check_length(&self, message: &str) -> Result<(), TurnError> {
        let facts = self.model.facts();
        let needed = compaction::text_tokens(message);
        let room = compaction::room(facts, 0);
        if needed <= room {
            return Ok(());
        }
        Err(TurnError::Model(ModelError::TooLong {
            model: self.model.name().to_owned(),
            reason: format!(
                "the message takes about {needed} tokens, and there is room for {room}"
            ),
        }))
    }

    /// Takes in what a person says and what comes with it.
    async fn taken_in(&self, said: Said) -> Result<Message, TurnError> {
        let intake = Intake {
            framer: &self.agents.framer,
            media: &self.agents.media,
            takes_documents: self.model.facts().takes_documents,
            audience: self.audience,
        };
        let mut parts = intake.user_parts(said.message, said.attachments).await?;
        parts.extend(said.beside);
        Ok(Message::User { parts })
    }
}

/// A turn that runs.
struct Running<'a> {
    asking: &'a Asking<'a>,
    kept: Box<dyn Turn>,
    conversation: Conversation,
    /// How many messages there were before this turn.
    before: usize,
    prompt: Prompt,
    skills: Arc<OfferedSkills>,
    told: Told,
    /// Whether it was said which files of earlier turns the model is not sent.
    has_told_of_files: bool,
    /// The identifiers of calls that were given away.
    ids: HashSet<String>,
}

impl<'a> Running<'a> {
    fn new(asking: &'a Asking<'a>, kept: Box<dyn Turn>) -> Self {
        Self {
            asking,
            kept,
            conversation: Conversation::new(Taken::by(asking.model.facts())),
            before: 0,
            prompt: Prompt::default(),
            skills: Arc::default(),
            told: Told::default(),
            has_told_of_files: false,
            ids: HashSet::new(),
        }
    }

    async fn run(&mut self, mut said: Said) -> Result<(), TurnError> {
        let past = self.kept.history().await;
        self.asking.hear_remarks();
        let past = past?;
        // What is refused here leaves no trace: nothing was kept.
        let mut messages = match std::mem::take(&mut said.earlier) {
            earlier if past.is_empty() => earlier::messages(earlier)?,
            // The session goes on from what it has.
            _ => Vec::new(),
        };
        messages.push(Box::pin(self.asking.taken_in(said)).await?);
        self.conversation = Conversation::of(past, self.conversation.taken());
        self.ids = self.conversation.call_ids().map(str::to_owned).collect();
        self.keep_all(messages).await?;
        self.before = self.conversation.len().saturating_sub(1);
        let (agents, plan) = (self.asking.agents, self.asking.plan);
        let session = self.asking.key.as_str();
        self.start_servers().await;
        let tools = agents.servers.tools(plan, Some(session));
        self.skills = Arc::new(OfferedSkills::find(agents, plan));
        let skills = self.skills.block();
        self.prompt = Prompt::new(plan, &skills, &tools, &agents.servers.view(plan));
        self.prompt.tell_instructions(self.asking.instructions);
        let ready = self.ready(&tools);
        self.put_beside(&ready).await;
        for _ in 0..plan.agent.max_rounds {
            let tools = agents.servers.tools(plan, Some(session));
            let tools = self.ready(&tools);
            self.prompt.tell_search(tools.searches);
            let ModelReply { mut message, stop } = self.ask(&tools).await?;
            self.told.add_usage(message.usage);
            self.told.model.clone_from(&message.model);
            self.name_calls(&mut message);
            let text = message.text();
            let calls: Vec<ToolCall> = message.calls().cloned().collect();
            if calls.is_empty() && text.trim().is_empty() && stop == Stop::Refused {
                // An empty answer would be kept as one.
                return Err(TurnError::Model(ModelError::Refused {
                    model: message.model,
                    reason: "the service does not let it answer this".to_owned(),
                }));
            }
            self.keep(Message::Assistant(message)).await?;
            self.told.add_text(&text);
            if calls.is_empty() {
                self.end(text, stop);
                return Ok(());
            }
            if !text.trim().is_empty() {
                self.hear(ReplyEvent::Block { text });
            }
            self.make_calls(&calls).await?;
        }
        Err(TurnError::TooManyRounds {
            rounds: plan.agent.max_rounds,
            calls: self.told.calls.len(),
        })
    }

    /// What the model sees of the tools: all of them, or those that it has found so far.
    fn ready(&self, tools: &Arc<AgentTools>) -> Arc<Ready> {
        let asking = self.asking;
        let sight = Sight {
            search: asking.plan.agent.tool_search,
            facts: asking.model.facts(),
            has_skills: self.skills.are_there(),
            known: &|| self.conversation.known_tools(self.conversation.len()),
        };
        asking.agents.ready.of(tools, sight)
    }

    /// Starts the servers of the agent, each once, and says which can't be used.
    async fn start_servers(&self) {
        let (servers, plan) = (&self.asking.agents.servers, self.asking.plan);
        let session = self.asking.key.as_str();
        let shared: Vec<String> = plan
            .servers()
            .filter(|server| {
                let definition = server.server();
                definition.is_some_and(|it| it.scope == ServerScope::Shared)
            })
            .map(|server| server.name().to_owned())
            .collect();
        tokio::join!(
            servers.start(plan, Some(&shared)),
            servers.start_for(plan, session),
        );
        for view in servers.view(plan) {
            let Some(state) = &view.state else { continue };
            let is_lost = match state.status {
                Status::Failed | Status::NeedsAuth | Status::Restarting => true,
                Status::Ready | Status::Connecting | Status::Stopped => false,
            };
            if is_lost && view.standing == Standing::Usable {
                let (name, status) = (view.server.name(), state.status.as_str());
                let text = format!("the server {name} can't be used: {status}");
                self.hear(ReplyEvent::Notice { text });
            }
        }
    }

    fn hear(&self, event: ReplyEvent) {
        self.asking.audience.hear(event);
    }

    async fn ask_once(&self, tools: &Ready) -> Result<ModelReply, ModelError> {
        let audience = self.asking.audience;
        let mut listener = |event| {
            audience.hear(match event {
                ModelEvent::Text(text) => ReplyEvent::Partial { text },
                ModelEvent::Reasoning(text) => ReplyEvent::Reasoning { text },
                ModelEvent::Retracted { reason } => ReplyEvent::Retracted { reason },
                ModelEvent::Notice { text } => ReplyEvent::Notice { text },
            });
        };
        let request = ModelRequest {
            system: SystemPrompt {
                stable: &self.prompt.stable,
                current: &self.prompt.current,
            },
            messages: self.conversation.messages(),
            tools: &tools.set,
            max_tokens: None,
        };
        asked::ask(self.asking.model, request, &mut listener).await
    }

    /// Makes sure that no two calls of a conversation have the same identifier.
    fn name_calls(&mut self, message: &mut AssistantMessage) {
        for part in &mut message.parts {
            let AssistantPart::ToolCall(call) = part else {
                continue;
            };
            let mut number = 1;
            let mut id = call.id.clone();
            while id.is_empty() || !self.ids.insert(id.clone()) {
                number += 1;
                id = format!(
                    "{}-{number}",
                    if call.id.is_empty() { "call" } else { &call.id }
                );
            }
            call.id = id;
        }
    }

    /// Keeps a message before anything follows from it.
    async fn keep(&mut self, message: Message) -> Result<(), TurnError> {
        self.keep_all(vec![message]).await
    }

    /// Keeps messages, all of them or none.
    async fn keep_all(&mut self, messages: Vec<Message>) -> Result<(), TurnError> {
        let numbers = self.kept.append(messages.clone()).await?;
        for (message, number) in messages.into_iter().zip(numbers) {
            self.conversation.push(message, number);
        }
        Ok(())
    }

    /// Makes the calls of one message side by side, and keeps each answer as it comes.
    async fn make_calls(&mut self, calls: &[ToolCall]) -> Result<(), TurnError> {
        let asking = self.asking;
        let asked = Asked::new(asking.audience);
        let (line, listening) = Line::new(asking.plan.agent.id.as_str(), asking.audience);
        let skills = Arc::clone(&self.skills);
        let caller = Caller {
            servers: &asking.agents.servers,
            plan: asking.plan,
            session: asking.key.as_str(),
            correlation: asking.correlation,
            asked: asked.as_ref(),
            approved: asking.approved,
            line: &line,
            skills: &skills,
        };
        let mut passing = pin!(listening.pass_on(asking.audience, asked.as_ref()));
        let making = calls.iter().map(|call| make_call(&caller, asking, call));
        let making: Vec<PendingAnswer<'_>> = making.collect();
        let mut answers = stream::iter(making).buffer_unordered(CALLS_AT_ONCE);
        let asked_at = self.conversation.len().saturating_sub(1);
        loop {
            let answer = tokio::select! {
                biased;
                answer = answers.next() => answer,
                never = &mut passing => match never {},
            };
            let Some(answer) = answer else { break };
            // What somebody was told must be there after whatever happens.
            self.keep(Message::Tool(answer.clone())).await?;
            self.tell_answer(&answer);
        }
        drop(answers);
        self.conversation.close_calls(asked_at);
        for message in self.conversation.messages().iter().skip(asked_at + 1) {
            if let Message::Tool(answer) = message {
                self.told.add_answer(answer);
            }
        }
        Ok(())
    }

    fn tell_answer(&self, answer: &ToolAnswer) {
        let texts = answer.parts.iter().filter_map(|part| match part {
            AnswerPart::Text { text } => Some(text),
            AnswerPart::Media(_) => None,
        });
        self.hear(ReplyEvent::ToolResult {
            id: answer.call.clone(),
            call: call_report(answer),
            text: ModelText::joined(texts).into_string(),
        });
        for part in media_parts(answer) {
            self.hear(ReplyEvent::Media { part });
        }
    }

    /// Ends the turn with what the model said last.
    fn end(&mut self, text: String, stop: Stop) {
        if stop == Stop::Length {
            let text = "the answer is cut off: the model may not say more at once".to_owned();
            self.hear(ReplyEvent::Notice { text });
            self.told.cut_off = true;
        }
        self.told.reply.clone_from(&text);
        self.hear(ReplyEvent::Final { text });
    }
}

/// The answer to a call, still to come.
type PendingAnswer<'c> = Pin<Box<dyn Future<Output = ToolAnswer> + Send + 'c>>;

fn make_call<'c>(
    caller: &'c Caller<'_>,
    asking: &'c Asking<'_>,
    call: &'c ToolCall,
) -> PendingAnswer<'c> {
    Box::pin(async move {
        asking.audience.hear(caller.started(call));
        caller.make(call).await
    })
}
