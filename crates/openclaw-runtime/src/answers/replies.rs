//! Turns of an agent.

use openclaw_engine::{Audience, Pending, ReplyEngine, ReplyReport, ReplyRequest};

use crate::runtime::Runtime;

impl ReplyEngine for Runtime {
    fn reply<'a>(
        &'a self,
        request: ReplyRequest,
        audience: &'a dyn Audience,
    ) -> Pending<'a, ReplyReport> {
        Box::pin(async move { Ok(self.agents.reply(request, audience).await?) })
    }
}
