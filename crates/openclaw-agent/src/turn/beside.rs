//! What stands beside a message in this turn, and is not kept with it.

use openclaw_engine::ReplyEvent;

use super::Running;
use crate::compaction;
use crate::tools::Ready;

/// Which part of the room resources take: the rest is for what was said before.
const SHARE: u64 = 3;
/// How many bytes a token has at least, about: other letters than those of ASCII take more tokens,
/// and what does not fit then is shortened with everything else.
const TOKEN_BYTES: u64 = 3;

impl Running<'_> {
    /// Puts the resources that the configuration names beside the message. They take about a third of
    /// what the model holds beside everything that is always sent and the message, so that there is
    /// room for what was said before.
    pub(super) async fn put_beside(&mut self, tools: &Ready) {
        let asking = self.asking;
        let servers = &asking.agents.servers;
        let session = Some(asking.key.as_str());
        let most = self.bytes_beside(tools);
        let injection = Box::pin(servers.inject(asking.plan, session, most)).await;
        for text in injection.problems {
            self.hear(ReplyEvent::Notice { text });
        }
        self.conversation.put_before_last(injection.texts);
    }

    /// How many bytes of resources a third of the tokens holds that there are beside what is always
    /// sent and the message.
    fn bytes_beside(&self, tools: &Ready) -> usize {
        let always = self.prompt.tokens() + tools.tokens;
        let room = compaction::room(self.asking.model.facts(), always);
        let newest = self.conversation.messages().last();
        let taken = self.conversation.taken();
        let newest = newest.map_or(0, |message| compaction::tokens(message, taken));
        let room = room.saturating_sub(newest);
        let bytes = (room / SHARE).saturating_mul(TOKEN_BYTES);
        usize::try_from(bytes).unwrap_or(usize::MAX)
    }
}
