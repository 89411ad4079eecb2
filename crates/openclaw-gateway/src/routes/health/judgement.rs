//! What the engine says about itself, as numbers and troubles.

use std::collections::BTreeMap;

use openclaw_engine::{EngineFailure, Overview, ShownState, StatisticsReport};
use serde::Serialize;

/// What the engine says about itself, as numbers and troubles.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Judgement {
    pub(super) servers: Counts,
    pub(super) problems: Vec<Trouble>,
}

/// How many servers there are, by name.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Counts {
    total: usize,
    ready: usize,
    /// Those that can't be used and should be.
    troubled: usize,
}

/// Something that is not as it should be.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Trouble {
    /// The server, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<String>,
    /// How it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<ShownState>,
    /// What is wrong.
    message: String,
}

/// The engine says nothing.
pub(super) fn silence() -> EngineFailure {
    EngineFailure::operation("silent", "the engine does not answer")
}

impl Judgement {
    /// What there is to say where the engine says nothing.
    pub(super) fn of_silence() -> Self {
        let mut judgement = Self::default();
        judgement.about_us(silence().message);
        judgement
    }

    /// What both answers of the engine come to. The statistics have the servers of all agents, the overview
    /// those of the default agent with reasons.
    pub(super) fn of(
        statistics: Result<StatisticsReport, EngineFailure>,
        overview: Result<Overview, EngineFailure>,
    ) -> Self {
        let mut judgement = Self::default();
        let mut reasons: BTreeMap<String, (ShownState, String)> = BTreeMap::new();
        let mut of_default = Vec::new();
        match overview {
            Ok(overview) => {
                for error in overview.errors() {
                    judgement.about_us(error.to_owned());
                }
                for server in overview.servers {
                    if let Some(error) = server.error {
                        reasons.insert(server.name.clone(), (server.state, error));
                    }
                    of_default.push((server.name, server.state));
                }
            }
            Err(failure) => judgement.about_us(failure.message),
        }
        let servers = match statistics {
            Ok(statistics) => {
                let servers = statistics.servers.into_iter();
                servers.map(|it| (it.server, it.state)).collect()
            }
            // Better some of them than none.
            Err(failure) => {
                judgement.about_us(failure.message);
                of_default
            }
        };
        for (server, state) in servers {
            let reason = reasons.remove(&server);
            judgement.about(server, state, reason);
        }
        judgement
    }

    fn about(&mut self, server: String, state: ShownState, reason: Option<(ShownState, String)>) {
        self.servers.total += 1;
        self.servers.ready += usize::from(state == ShownState::Ready);
        if !state.is_trouble() {
            return;
        }
        self.servers.troubled += 1;
        // The reason may be that of another one of the same name, which is less badly off.
        let reason = reason.filter(|(of, _)| *of == state);
        self.problems.push(Trouble {
            server: Some(server),
            state: Some(state),
            message: reason.map_or_else(|| "the server can't be used".to_owned(), |it| it.1),
        });
    }

    fn about_us(&mut self, message: String) {
        let trouble = Trouble {
            server: None,
            state: None,
            message,
        };
        // Both answers may be missing for the same reason.
        if !self.problems.contains(&trouble) {
            self.problems.push(trouble);
        }
    }
}

#[cfg(test)]
mod tests;
