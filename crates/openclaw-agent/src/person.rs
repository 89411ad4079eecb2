//! The person behind the calls of a turn: asked by servers, told of their progress.
//!
//! A connection keeps whom it may ask for as long as a request lasts, and an audience is only lent to
//! a turn. So what servers say goes over a line of bounded length to the turn, which passes it on.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};

use openclaw_content::shown_line;
use openclaw_engine::{Asks, Audience, ReplyEvent, ServerAnswer, ServerQuestion};
use openclaw_mcp::Persons;
use openclaw_mcp_client::{
    Elicitation, ElicitationAnswer, PendingAnswer, Person, Progress, ProgressListener,
};
use tokio::sync::{mpsc, oneshot};

use crate::calls::Asked;
use crate::forms::{Unshowable, form, visited};

/// How many words of servers wait to be passed on.
const WAITING: usize = 64;
/// How much of a message about progress is shown.
const SHOWN: usize = 200;

/// A word of a server for the person.
enum Word {
    Question(Box<Question>),
    Progress { id: String, text: String },
    Notice(String),
}

struct Question {
    asked: ServerQuestion,
    answer: oneshot::Sender<ServerAnswer>,
}

/// Where servers reach the turn.
pub(crate) struct Line {
    agent: String,
    has_person: bool,
    words: mpsc::Sender<Word>,
}

/// The turn's end of the line.
pub(crate) struct Listening(mpsc::Receiver<Word>);

impl Line {
    /// A line for the calls of a turn, and where it ends.
    pub(crate) fn new(agent: &str, audience: &dyn Audience) -> (Self, Listening) {
        let (words, listening) = mpsc::channel(WAITING);
        let line = Self {
            agent: agent.to_owned(),
            has_person: audience.can_answer(),
            words,
        };
        (line, Listening(listening))
    }

    /// Whom a server may ask about a call, and who hears of its progress.
    pub(crate) fn of_call(&self, id: &str) -> OfCall<'_> {
        OfCall {
            line: self,
            id: id.to_owned(),
        }
    }
}

impl Listening {
    /// Passes on what servers say, for as long as it is polled; it never ends.
    pub(crate) async fn pass_on(
        mut self,
        audience: &dyn Audience,
        asked: Option<&Asked<'_>>,
    ) -> Infallible {
        while let Some(word) = self.0.recv().await {
            match word {
                Word::Progress { id, text } => audience.hear(ReplyEvent::ToolProgress { id, text }),
                Word::Notice(text) => audience.hear(ReplyEvent::Notice { text }),
                Word::Question(question) => ask(*question, audience, asked).await,
            }
        }
        // Nobody can say anything any longer; the calls go on.
        std::future::pending().await
    }
}

async fn ask(question: Question, audience: &dyn Audience, asked: Option<&Asked<'_>>) {
    let Question {
        asked: question,
        mut answer,
    } = question;
    // One question at a time, whoever asks it.
    let _alone = match asked {
        Some(asked) => Some(asked.alone().await),
        None => None,
    };
    let said = tokio::select! {
        biased;
        () = answer.closed() => return,
        said = audience.answer(question) => said,
    };
    // It may have been withdrawn meanwhile.
    let _ = answer.send(said);
}

/// What a call has of the line.
pub(crate) struct OfCall<'l> {
    line: &'l Line,
    id: String,
}

impl OfCall<'_> {
    /// Who hears of the progress of the call.
    pub(crate) fn progress(&self) -> ProgressListener {
        let (id, words) = (self.id.clone(), self.line.words.clone());
        let last = Mutex::new(String::new());
        let listener = move |progress: Progress| {
            let text = progress_words(&progress);
            let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
            if text.is_empty() || *last == text {
                return;
            }
            last.clone_from(&text);
            // A server that is faster than whoever listens is not heard in full.
            let _ = words.try_send(Word::Progress {
                id: id.clone(),
                text,
            });
        };
        Arc::new(listener)
    }
}

/// How far a call is, in one line.
fn progress_words(progress: &Progress) -> String {
    let share = progress.total.filter(|total| *total > 0.0).map(|total| {
        let share = (progress.progress / total * 100.0).clamp(0.0, 100.0);
        format!("{share:.0} %")
    });
    let message = progress.message.as_deref().unwrap_or_default();
    let message = shown_line(message, SHOWN);
    match (share, message.is_empty()) {
        (Some(share), true) => share,
        (Some(share), false) => format!("{message} ({share})"),
        (None, _) => message,
    }
}

impl Persons for OfCall<'_> {
    fn behind(&self, server: &str, tool: &str) -> Option<Arc<dyn Person>> {
        self.line.has_person.then(|| {
            Arc::new(Caller {
                agent: self.line.agent.clone(),
                server: server.to_owned(),
                tool: tool.to_owned(),
                words: self.line.words.clone(),
            }) as Arc<dyn Person>
        })
    }
}

/// The person behind one call.
struct Caller {
    agent: String,
    server: String,
    tool: String,
    words: mpsc::Sender<Word>,
}

impl Caller {
    async fn ask(&self, question: Elicitation) -> Option<ServerAnswer> {
        let (message, asks) = match question {
            Elicitation::Form { message, schema } => {
                let fields = form(&schema);
                (message, fields.map(|fields| Asks::Form { fields }))
            }
            Elicitation::Visit { message, url, .. } => {
                (message, visited(&url).map(|url| Asks::Visit { url }))
            }
        };
        let asks = match asks {
            Ok(asks) => asks,
            Err(Unshowable(reason)) => {
                let server = shown_line(&self.server, SHOWN);
                let text =
                    format!("the server {server} asks for something that can't be shown: {reason}");
                let _ = self.words.send(Word::Notice(text)).await;
                return None;
            }
        };
        let (answer, said) = oneshot::channel();
        let asked = ServerQuestion {
            agent: self.agent.clone(),
            server: self.server.clone(),
            tool: self.tool.clone(),
            message,
            asks,
        };
        let question = Box::new(Question { asked, answer });
        self.words.send(Word::Question(question)).await.ok()?;
        said.await.ok()
    }
}

impl Person for Caller {
    fn elicit(&self, question: Elicitation) -> PendingAnswer<'_> {
        Box::pin(async move {
            let is_form = matches!(question, Elicitation::Form { .. });
            match self.ask(question).await {
                Some(ServerAnswer::Accept(fields)) => {
                    ElicitationAnswer::Accept(is_form.then_some(fields))
                }
                Some(ServerAnswer::Cancel) => ElicitationAnswer::Cancel,
                Some(ServerAnswer::Decline) | None => ElicitationAnswer::Decline,
            }
        })
    }
}
