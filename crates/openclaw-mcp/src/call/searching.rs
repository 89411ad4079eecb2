//! The tools with which a model finds others.

use std::time::Instant;

use openclaw_content::ModelText;

use super::{Call, CallEnd, Part, ToolOutcome};
use crate::search::{DESCRIBE_TOOL, Found, SEARCH_TOOLS, answer_describe, answer_search};
use crate::servers::Servers;

impl Servers {
    /// Finds tools by what they do.
    pub(super) fn search_tools(&self, call: &Call<'_>, started: Instant) -> ToolOutcome {
        let tools = self.tools(call.agent, call.session);
        let answer = answer_search(&tools, &call.arguments);
        answered(SEARCH_TOOLS, answer, started)
    }

    /// Tells what a tool takes.
    pub(super) fn describe_tool(&self, call: &Call<'_>, started: Instant) -> ToolOutcome {
        let tools = self.tools(call.agent, call.session);
        let answer = answer_describe(&tools, &call.arguments);
        answered(DESCRIBE_TOOL, answer, started)
    }
}

fn answered(name: &str, answer: Result<Found, ModelText>, started: Instant) -> ToolOutcome {
    match answer {
        Err(text) => ToolOutcome::refused(name, text, started),
        Ok(Found { text, names }) => ToolOutcome {
            name: name.to_owned(),
            server: None,
            end: CallEnd::Ok,
            parts: vec![Part::Text(text)],
            result: None,
            problem: None,
            found: names,
            duration: started.elapsed(),
        },
    }
}
