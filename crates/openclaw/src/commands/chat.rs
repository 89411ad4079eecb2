//! `openclaw chat`
//!
//! | module | owns |
//! |---|---|
//! | `desk` | where messages come from |
//! | `history` | what was typed before, kept between runs |
//! | `names` | what can name a session and a model |
//! | `own` | what is typed behind a slash |
//! | `doing` | what our own commands do |
//! | `suggest` | how a message can go on |

mod desk;
mod doing;
mod history;
mod names;
mod own;
mod suggest;

use std::time::Duration;

use openclaw_engine::{
    AgentQuery, Attachment, CommandReport, CommandsQuery, Engine, ReplyRequest, ServersQuery,
    SessionChoice, SessionsQuery,
};
use tokio::time::timeout;

use crate::browser::Browser;
use crate::cli::ChatOptions;
use crate::commands::Session;
use crate::commands::agent::FRESH;
use crate::commands::engine::{listen, with_lasting_engine};
use crate::commands::turn::{Manner, Outcome, Setting, hear};
use crate::failure::{Exit, Failure};
use crate::render::{count, name, session_key};
use crate::signals::Diverted;
use crate::terminal::KeptModes;

use desk::{Desk, Next, Seating};
use history::Remembered;
use names::{check_key, check_model, owner_of};
use own::{Typed, typed};

/// What answers commands, in the place of a model.
const COMMANDS: &str = "builtin/commands";
/// How long something may take that is only good to know.
const PATIENCE: Duration = Duration::from_secs(2);

/// Talks with an agent until the person leaves.
pub(super) fn run(session: &mut Session<'_>, options: ChatOptions) -> Result<Exit, Failure> {
    if let Some(model) = &options.model {
        check_model(model)?;
    }
    if let Some(key) = &options.session_key {
        check_key(key)?;
    }
    let state = session.state()?;
    let signals = listen()?;
    let mut interrupts = signals.interrupts();
    let modes = KeptModes::now();
    let (seating, begun) = Seating::find(session.output);
    // Where nobody sits, Ctrl-C ends the program as any other.
    let caught = seating.is_person().then(|| interrupts.catch());
    let remembered = Remembered::of(&state, session.redactor);
    let of_key = options.session_key.as_deref().and_then(owner_of);
    let owner = options.agent.or_else(|| of_key.map(str::to_owned));
    let result = with_lasting_engine(session, signals, async |engine, session| {
        let owner = match owner {
            Some(owner) => owner,
            None => engine.agent(AgentQuery::default()).await?.id,
        };
        let mut chat = Chat {
            engine,
            desk: Desk::open(seating, begun, remembered, session.output),
            seating,
            browser: Browser::of(|name| std::env::var_os(name)),
            owner,
            choice: match options.session_key {
                Some(key) => SessionChoice::Key(key),
                None if options.new => SessionChoice::Fresh(FRESH.to_owned()),
                None => SessionChoice::Main,
            },
            model: options.model,
            approved: options.yes,
            images: Vec::new(),
            files: Vec::new(),
            lost: Vec::new(),
        };
        let result = Box::pin(chat.talk(session, &mut interrupts)).await;
        // From here on Ctrl-C ends the program: it may wait for servers to stop.
        drop(caught);
        result
    });
    drop(modes);
    result
}

/// A conversation.
struct Chat<'e> {
    engine: &'e dyn Engine,
    desk: Desk,
    seating: Seating,
    browser: Browser,
    /// The agent that answers.
    owner: String,
    choice: SessionChoice,
    model: Option<String>,
    approved: bool,
    /// What comes with the next message.
    images: Vec<Attachment>,
    files: Vec<Attachment>,
    /// The servers of which it was said that they can't be used.
    lost: Vec<String>,
}

/// What follows from a line.
enum Then {
    /// The next one.
    GoOn,
    /// The person leaves.
    Leave,
}

impl Chat<'_> {
    /// Takes messages until there are no more.
    async fn talk(
        &mut self,
        session: &mut Session<'_>,
        interrupts: &mut Diverted,
    ) -> Result<Exit, Failure> {
        self.begin(session).await?;
        let mut has_failed = false;
        let mut interrupted = 0;
        loop {
            let prompt = format!("{}> ", name(&self.owner));
            let agent = Some(self.owner.as_str());
            let next = self
                .desk
                .next(&prompt, session.output, self.engine, agent, interrupts);
            let line = match Box::pin(next).await? {
                Next::Line(line) => line,
                Next::Interrupt => {
                    interrupted += 1;
                    let words = match (interrupted, self.seating) {
                        (1, Seating::Editor) => "",
                        (1, _) => "\n",
                        (_, Seating::Editor) => "(Ctrl-D or `/quit` leaves)\n",
                        _ => "\n(Ctrl-D or `/quit` leaves)\n",
                    };
                    session.output.explain(words)?;
                    continue;
                }
                Next::TooLong => {
                    let message = "the line is longer than the limit of 16 MB: it is not sent";
                    session.output.fail(&Failure::usage("usage", message));
                    has_failed = true;
                    continue;
                }
                Next::End => break,
            };
            interrupted = 0;
            match Box::pin(self.take(&line, session, interrupts)).await {
                Ok(Then::GoOn) => {}
                Ok(Then::Leave) => return Ok(self.exit(has_failed)),
                Err(failure @ Failure::Told(_)) => {
                    has_failed = true;
                    session.output.fail(&failure);
                }
                Err(failure) => return Err(failure),
            }
        }
        if self.seating == Seating::Lines {
            session.output.explain("\n")?;
        }
        Ok(self.exit(has_failed))
    }

    /// A person has seen what failed; a program has only the code.
    fn exit(&self, has_failed: bool) -> Exit {
        if has_failed && !self.seating.is_person() {
            Exit::Failed
        } else {
            Exit::Done
        }
    }

    /// Has servers started, and says in one line who is there.
    async fn begin(&mut self, session: &mut Session<'_>) -> Result<(), Failure> {
        let agent = Some(self.owner.clone());
        if !self.seating.is_person() {
            // An agent that there is not has no sessions, and says so. Servers are started when they are
            // needed.
            self.engine.sessions(SessionsQuery { agent }).await?;
            return Ok(());
        }
        let query = ServersQuery {
            agent,
            ..ServersQuery::default()
        };
        let servers = self.engine.servers(query).await?.servers;
        let starting = servers.iter().filter(|server| server.enabled).count();
        let mut words = format!(
            "{} with {}",
            name(&self.owner),
            name(&self.asked_model().await)
        );
        match &self.choice {
            SessionChoice::Fresh(_) => words.push_str(", in a new session"),
            SessionChoice::Main | SessionChoice::Key(_) | SessionChoice::Editor(_) => {
                let (key, messages) = self.resumed().await;
                let said = match messages {
                    0 => "nothing said so far".to_owned(),
                    number => format!("{} so far", count(number, "message")),
                };
                words.push_str(&format!(", in the session {} ({said})", session_key(&key)));
            }
        }
        if starting > 0 {
            let starting = count(starting, "server");
            words.push_str(&format!("; {starting} starting in the background"));
        }
        session
            .output
            .explain(&format!("{words}; `/help` lists the commands\n"))
    }

    /// The key of the session that goes on, and how many messages it has.
    async fn resumed(&self) -> (String, usize) {
        let wanted = match &self.choice {
            SessionChoice::Key(key) => key.clone(),
            SessionChoice::Editor(id) => format!("acp:{id}"),
            SessionChoice::Main | SessionChoice::Fresh(_) => "main".to_owned(),
        };
        let whole = format!("agent:{}:{wanted}", self.owner);
        let asking = self.engine.sessions(SessionsQuery::default());
        let sessions = match timeout(PATIENCE, asking).await {
            Ok(Ok(report)) => report.sessions,
            // It is said when a message is sent.
            _ => Vec::new(),
        };
        let found = sessions
            .into_iter()
            .find(|it| it.key == wanted || it.key == whole);
        match found {
            Some(it) => (it.key, usize::try_from(it.messages).unwrap_or(usize::MAX)),
            None => (wanted, 0),
        }
    }

    /// Does what a line says.
    async fn take(
        &mut self,
        line: &str,
        session: &mut Session<'_>,
        interrupts: &mut Diverted,
    ) -> Result<Then, Failure> {
        match typed(line) {
            Typed::Nothing => Ok(Then::GoOn),
            Typed::Own(own, following) => self.perform(own, following, session).await,
            Typed::Near { word, meant } => {
                // A skill may be called so.
                let commands = self.commands().await;
                if commands.iter().any(|command| command.name == word) {
                    return self.send(line, session, interrupts).await;
                }
                Err(unknown(word, meant))
            }
            Typed::Farewell if self.seating.is_person() => {
                let words = "(Ctrl-D or `/quit` leaves; with a space before it, it is sent)\n";
                session.output.explain(words)?;
                Ok(Then::GoOn)
            }
            Typed::Farewell | Typed::Message => self.send(line, session, interrupts).await,
        }
    }

    /// The commands that the agent answers, as far as that is known.
    async fn commands(&self) -> Vec<CommandReport> {
        let asking = self.engine.commands(CommandsQuery {
            agent: Some(self.owner.clone()),
        });
        match timeout(PATIENCE, asking).await {
            Ok(Ok(report)) => report.commands,
            _ => Vec::new(),
        }
    }

    /// Sends a message, and shows what comes of it.
    async fn send(
        &mut self,
        message: &str,
        session: &mut Session<'_>,
        interrupts: &mut Diverted,
    ) -> Result<Then, Failure> {
        let attached = self.images.iter().chain(&self.files);
        let attachments = attached.cloned().collect();
        let request = ReplyRequest {
            agent: Some(self.owner.clone()),
            session: self.choice.clone(),
            message: message.to_owned(),
            attachments,
            model: self.model.clone(),
            approved: self.approved,
            correlation: session.operation.to_string(),
            ..ReplyRequest::default()
        };
        let setting = Setting {
            manner: if self.seating.is_person() {
                Manner::Markdown
            } else {
                Manner::Plain
            },
            answers: self.desk.answers(),
            browser: &self.browser,
            known_lost: &self.lost,
        };
        interrupts.forget();
        let turn = hear(
            self.engine,
            session.output,
            request,
            setting,
            Some(interrupts),
        );
        let ended = Box::pin(turn).await?;
        let has_begun = ended.session_key.is_some();
        if let Some(key) = ended.session_key {
            self.follow(key);
            self.lost = ended.lost;
        }
        match ended.outcome {
            Outcome::Replied(report) => {
                if report.model != COMMANDS {
                    self.send_nothing_along();
                }
                self.follow(report.session_key);
                Ok(Then::GoOn)
            }
            Outcome::Stopped => {
                if has_begun {
                    self.send_nothing_along();
                }
                session.output.explain(if ended.was_calling {
                    "(stopped; what was being called may have had effects)\n"
                } else {
                    "(stopped)\n"
                })?;
                Ok(Then::GoOn)
            }
            // What should have come with the message comes with the next one.
            Outcome::Failed(failure) => Err(failure),
        }
    }

    fn send_nothing_along(&mut self) {
        self.images.clear();
        self.files.clear();
    }

    /// Goes on with a session, whose agent answers from now on.
    fn follow(&mut self, key: String) {
        if let Some(owner) = owner_of(&key) {
            owner.clone_into(&mut self.owner);
        }
        self.choice = SessionChoice::Key(key);
    }
}

/// What is said about a word that is no command.
fn unknown(word: &str, meant: &str) -> Failure {
    let message = format!("there is no command `/{}`", name(word));
    Failure::usage("unknown-command", message).hint(format!(
        "did you mean `/{meant}`? `/help` lists them, and a space before it sends it as it is"
    ))
}
