//! What the commands of the conversation itself do.

use std::path::Path;
use std::time::SystemTime;

use openclaw_content::shown_line;
use openclaw_engine::{Attachment, ModelsQuery, OneSession, SessionChoice, SessionsQuery};
use tokio::time::timeout;

use crate::commands::Session;
use crate::commands::agent::{FRESH, MOST_FILES, MOST_IMAGES, file, image};
use crate::commands::chat::names::{check_key, check_model, owner_of};
use crate::commands::chat::own::{OWN, Own};
use crate::commands::chat::suggest::expanded;
use crate::commands::chat::{Chat, PATIENCE, Then};
use crate::commands::engine::answered;
use crate::failure::Failure;
use crate::render::{self, count, name, session_key};

/// How many messages are shown unless somebody says otherwise.
const SHOWN: usize = 20;
/// How much of a name is shown.
const NAME: usize = 300;
/// What is said to send no file along after all.
const NONE: &str = "-";
/// How wide a terminal is that has no room for descriptions beside commands, and where they begin there.
const NARROW: usize = 70;
const INDENT: usize = 6;
/// The column in which descriptions begin elsewhere.
const COLUMN: usize = 24;

impl Chat<'_> {
    /// Does what a command of ours says.
    pub(super) async fn perform(
        &mut self,
        own: Own,
        following: &str,
        session: &mut Session<'_>,
    ) -> Result<Then, Failure> {
        match own {
            Own::Leave => return Ok(Then::Leave),
            Own::Help => self.help(session).await?,
            Own::New => {
                self.choice = SessionChoice::Fresh(FRESH.to_owned());
                session
                    .output
                    .explain("the next message begins a new session\n")?;
            }
            Own::Session => self.go_to(following, session).await?,
            Own::Sessions => self.sessions(session).await?,
            Own::History => self.history(following, session).await?,
            Own::Model => self.ask_model(following, session).await?,
            Own::Image if following == NONE => {
                self.images.clear();
                self.show_attached(session)?;
            }
            Own::File if following == NONE => {
                self.files.clear();
                self.show_attached(session)?;
            }
            Own::Image => {
                let image = |path: &Path| image(path, "send any other file with `/file`");
                let full = (self.images.len() >= MOST_IMAGES).then_some(MOST_IMAGES);
                let added = attach(following, full, "image", image)?;
                self.images.push(added);
                self.show_attached(session)?;
            }
            Own::File => {
                let full = (self.files.len() >= MOST_FILES).then_some(MOST_FILES);
                let added = attach(following, full, "file", file)?;
                self.files.push(added);
                self.show_attached(session)?;
            }
        }
        Ok(Then::GoOn)
    }

    async fn help(&self, session: &mut Session<'_>) -> Result<(), Failure> {
        let mut text = String::new();
        let page = session.output.messages_page();
        let is_narrow = page.width.is_some_and(|width| width < NARROW);
        let mut line = |head: String, description: &str| {
            let line = if is_narrow {
                let description = page.line(description, INDENT);
                format!("  {}\n{:INDENT$}{description}", head.trim_end(), "")
            } else {
                let head = render::padded(&head, COLUMN - 2);
                format!("  {head}{}", page.line(description, COLUMN))
            };
            text.push_str(line.trim_end());
            text.push('\n');
        };
        for (word, usage, description) in OWN {
            line(format!("/{word} {usage} "), description);
        }
        let commands = self.commands().await.into_iter();
        let is_own = |name: &str| OWN.iter().any(|(own, ..)| *own == name);
        for command in commands.filter(|command| !is_own(&command.name)) {
            let usage = command.usage.as_deref().unwrap_or_default();
            let head = format!("/{} {} ", name(&command.name), shown_line(usage, NAME));
            line(head, &command.description);
        }
        text.push_str(
            "A line that ends with \\ goes on, and so does one with Alt-Enter. Tab completes. Ctrl-C \
             stops the reply, Ctrl-D leaves.\n",
        );
        session.output.explain(&text)
    }

    /// The model that is asked.
    pub(super) async fn asked_model(&self) -> String {
        if let Some(model) = &self.model {
            return model.clone();
        }
        let asking = self.engine.models(ModelsQuery { ask: false });
        let models = match timeout(PATIENCE, asking).await {
            Ok(Ok(report)) => report.models,
            _ => Vec::new(),
        };
        let own = |it: &openclaw_engine::ModelReport| it.agent == self.owner && !it.is_fallback;
        match models.into_iter().find(own) {
            Some(model) => model.model,
            None => "no model".to_owned(),
        }
    }

    async fn ask_model(
        &mut self,
        following: &str,
        session: &mut Session<'_>,
    ) -> Result<(), Failure> {
        if following.is_empty() {
            let model = name(&self.asked_model().await);
            return session.output.explain(&format!("{model}\n"));
        }
        check_model(following)?;
        self.model = Some(following.to_owned());
        let model = name(following);
        session
            .output
            .explain(&format!("from now on {model} is asked\n"))
    }

    async fn sessions(&self, session: &mut Session<'_>) -> Result<(), Failure> {
        let asking = self.engine.sessions(SessionsQuery {
            agent: Some(self.owner.clone()),
        });
        let report = answered(session.output, "looking for sessions", asking).await?;
        if report.sessions.is_empty() {
            let words = "there are no sessions; the first message begins one\n";
            return session.output.explain(words);
        }
        let page = session.output.messages_page();
        let text = render::sessions(&report.sessions, SystemTime::now(), page);
        session.output.explain(&text)
    }

    async fn go_to(&mut self, key: &str, session: &mut Session<'_>) -> Result<(), Failure> {
        if key.is_empty() {
            let words = match &self.choice {
                SessionChoice::Key(key) => format!("{}\n", session_key(key)),
                SessionChoice::Main => "main\n".to_owned(),
                SessionChoice::Editor(id) => format!("acp:{id}\n"),
                SessionChoice::Fresh(_) => "the next message begins a new session\n".to_owned(),
            };
            return session.output.explain(&words);
        }
        check_key(key)?;
        // Whose it is stands in the key, where that is whole.
        let agent = match owner_of(key) {
            Some(_) => None,
            None => Some(self.owner.clone()),
        };
        let query = OneSession {
            agent,
            key: key.to_owned(),
        };
        if let Some(owner) = owner_of(key) {
            // An agent that there is not has no sessions, and says so.
            let agent = Some(owner.to_owned());
            self.engine.sessions(SessionsQuery { agent }).await?;
        }
        let asking = self.engine.session(query);
        let looked = timeout(PATIENCE, asking).await;
        let words = match looked {
            Ok(Ok(transcript)) => {
                let said = count(transcript.messages.len(), "message");
                let words = format!("{}: {said} so far\n", session_key(&transcript.key));
                self.follow(transcript.key);
                words
            }
            Ok(Err(failure)) if failure.code == "unknown-session" => {
                self.follow(key.to_owned());
                format!("{}: nothing said so far\n", session_key(key))
            }
            Ok(Err(failure)) => return Err(failure.into()),
            // It takes long to read: it is there.
            Err(_) => {
                self.follow(key.to_owned());
                format!("{}\n", session_key(key))
            }
        };
        session.output.explain(&words)
    }

    async fn history(&self, following: &str, session: &mut Session<'_>) -> Result<(), Failure> {
        let shown = match following {
            "" => SHOWN,
            number => number.parse().map_err(|_| {
                let message = "`/history` takes how many messages to show, as `/history 50`";
                Failure::usage("usage", message)
            })?,
        };
        let key = match &self.choice {
            SessionChoice::Key(key) => key.clone(),
            SessionChoice::Main => "main".to_owned(),
            SessionChoice::Editor(id) => format!("acp:{id}"),
            SessionChoice::Fresh(_) => {
                return session.output.explain("nothing was said in this session\n");
            }
        };
        let asking = self.engine.session(OneSession {
            agent: Some(self.owner.clone()),
            key,
        });
        let asked = answered(session.output, "reading the session", asking).await;
        let mut transcript = match asked {
            Ok(transcript) => transcript,
            Err(Failure::Told(told)) if told.code == "unknown-session" => {
                return session.output.explain("nothing was said in this session\n");
            }
            Err(failure) => return Err(failure),
        };
        let before = transcript.messages.len().saturating_sub(shown);
        transcript.messages.drain(..before);
        let mut text = render::transcript(&transcript, session.output.messages_page());
        if before > 0 {
            text.push_str(&format!("\n({} before that)\n", count(before, "message")));
        }
        session.output.explain(&text)
    }

    fn show_attached(&self, session: &mut Session<'_>) -> Result<(), Failure> {
        if self.images.is_empty() && self.files.is_empty() {
            return session.output.explain("with the next message: nothing\n");
        }
        let mut text = "with the next message:\n".to_owned();
        for attachment in self.images.iter().chain(&self.files) {
            let called = attachment.name.as_deref().map(name);
            let called = called.unwrap_or_else(|| "(no name)".to_owned());
            text.push_str(&format!("  {called} ({})\n", attachment.mime_type));
        }
        session.output.explain(&text)
    }
}

/// Reads what comes with the next message.
fn attach(
    following: &str,
    full: Option<usize>,
    word: &str,
    read: impl Fn(&Path) -> Result<Attachment, Failure>,
) -> Result<Attachment, Failure> {
    if let Some(most) = full {
        let message = format!("a message can have {most} {word}s at most");
        return Err(Failure::usage("attachment", message));
    }
    if following.is_empty() {
        let message = format!("`/{word}` takes the path of a file, as `/{word} picture.png`");
        return Err(Failure::usage("usage", message));
    }
    read(&expanded(following))
}
