//! A conversation made shorter, so that the model can hold it.

use openclaw_content::{note, recollection, security_notice};
use openclaw_conversation::Message;
use openclaw_engine::ReplyEvent;
use openclaw_models::{ModelError, ModelReply, ModelRequest, Stop, SystemPrompt};

use super::Running;
use super::asked::ask;
use crate::compaction::{self, SUMMARY_SYSTEM, summary_question};
use crate::error::TurnError;
use crate::history::Conversation;
use crate::tools::Ready;

/// With less room than this nothing sensible can be said.
const LEAST_ROOM: u64 = 400;
/// How many tokens a summary may take; models that think need some for that.
const SUMMARY_TOKENS: u64 = 4_000;
/// How often less is sent to a service that says it is too much.
const HALVINGS: u32 = 4;

impl Running<'_> {
    /// Asks the model, with less where it could not hold everything.
    pub(super) async fn ask(&mut self, tools: &Ready) -> Result<ModelReply, TurnError> {
        let room = self.room(tools)?;
        // What is not here costs nothing but its name.
        self.fetch_files().await?;
        if self.conversation.tokens() > room {
            self.shorten(tools, room).await;
        }
        let mut halvings = 0;
        loop {
            let sent = self.conversation.tokens();
            match self.ask_once(tools).await {
                Err(error @ ModelError::TooLong { .. }) => {
                    // The service counts otherwise, or another model stands in.
                    halvings += 1;
                    self.shorten(tools, sent.min(room) / 2).await;
                    let is_less = self.conversation.tokens() < sent;
                    if halvings > HALVINGS || !is_less {
                        return Err(error.into());
                    }
                }
                other => return Ok(other?),
            }
        }
    }

    /// How many tokens there are for the conversation.
    fn room(&self, tools: &Ready) -> Result<u64, TurnError> {
        let prompt = self.prompt.tokens();
        let facts = self.asking.model.facts();
        let room = compaction::room(facts, prompt + tools.tokens);
        let newest = self.conversation.messages().last();
        let newest = newest.map_or(0, compaction::own_tokens);
        if room >= LEAST_ROOM.max(newest) {
            return Ok(room);
        }
        let (count, tokens) = (tools.set.tools().len(), tools.tokens);
        Err(TurnError::Model(ModelError::TooLong {
            model: self.asking.model.name().to_owned(),
            reason: format!(
                "of the {} tokens that it holds, {count} tools take about {tokens}, the \
                 instructions {prompt} and the message {newest}",
                facts.context_window
            ),
        }))
    }

    /// Makes the conversation shorter: what was said before this turn is summarised, then details go.
    async fn shorten(&mut self, tools: &Ready, room: u64) {
        let old = self.conversation.old_part(self.before, room / 3);
        if let Some(old) = old
            && let Some(summary) = self.summarised(tools, old, room).await
        {
            self.replace_old(old, summary).await;
        }
        if self.conversation.tokens() > room {
            let stripped = self.conversation.strip(room);
            if stripped.left_out {
                self.notice("results of earlier calls were left out to save room");
            }
            if stripped.shortened {
                let is_said = matches!(
                    self.conversation.messages().last(),
                    Some(Message::User { .. })
                );
                self.notice(if is_said {
                    "what came with the message is cut: the model can't hold all of it"
                } else {
                    "results of calls are cut: the model can't hold all of them"
                });
            }
        }
        // Nobody could summarise it, and it is too much even without details: for this turn it goes.
        if self.conversation.tokens() > room
            && let Some(old) = self.conversation.old_part(self.before, room / 3)
        {
            let text = note(
                "What was said before is left out: there is no room for it.",
                &[],
            );
            let tools = self.conversation.known_tools(old);
            self.conversation
                .replace_first(old, Message::Summary { text, tools });
            self.before = self.before - old + 1;
            self.notice("the beginning of the conversation was left out of this turn");
        }
    }

    /// Keeps a summary, and puts it into the place of what it stands for.
    async fn replace_old(&mut self, old: usize, summary: String) {
        let until = self.conversation.number_before(old);
        let message = Message::Summary {
            text: recollection(&summary),
            tools: self.conversation.known_tools(old),
        };
        let kept = self.kept.summarise(until, message.clone()).await;
        if let Err(error) = kept {
            // It is made again the next time.
            tracing::warn!("a summary can't be kept: {error}");
        }
        self.conversation.replace_first(old, message);
        self.before = self.before - old + 1;
        self.notice("the beginning of the conversation was summarised");
    }

    fn notice(&self, text: &str) {
        let text = text.to_owned();
        self.hear(ReplyEvent::Notice { text });
    }

    /// What a model says the first messages were about; nothing if it can't say that.
    async fn summarised(&mut self, tools: &Ready, old: usize, room: u64) -> Option<String> {
        let mut part = Conversation::new(self.conversation.taken());
        for message in self.conversation.messages().iter().take(old) {
            part.push(message.clone(), 0);
        }
        part.push(summary_question(), 0);
        part.strip(room);
        let notice = security_notice();
        let request = ModelRequest {
            system: SystemPrompt {
                stable: SUMMARY_SYSTEM,
                current: notice.as_str(),
            },
            messages: part.messages(),
            // Services want to know the tools of calls that they read.
            tools: &tools.set,
            max_tokens: Some(SUMMARY_TOKENS),
        };
        let reply = ask(self.asking.model, request, &mut |_| {}).await;
        match reply {
            Ok(reply) => {
                self.told.add_usage(reply.message.usage);
                let text = reply.message.text();
                let is_whole = reply.stop == Stop::Done && !text.trim().is_empty();
                if !is_whole {
                    tracing::warn!("the model wrote no summary of the conversation");
                }
                is_whole.then_some(text)
            }
            Err(error) => {
                tracing::warn!("the conversation can't be summarised: {error}");
                None
            }
        }
    }
}
