//! Whether a person is asked about tools.

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{SessionMode, SessionModeId, SessionModeState};
use openclaw_content::shown_line;

use crate::problems::unfit;

/// What happens when a tool needs the consent of a person.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Mode {
    /// They are asked.
    #[default]
    Ask,
    /// It runs.
    AllowAll,
}

impl Mode {
    const ALL: [Self; 2] = [Self::Ask, Self::AllowAll];

    /// The mode of this name.
    pub(crate) fn named(name: &SessionModeId) -> Result<Self, Error> {
        let mode = Self::ALL.into_iter().find(|mode| mode.id() == &*name.0);
        mode.ok_or_else(|| {
            let name = shown_line(&name.0, 40);
            unfit(format!(
                "there is no mode `{name}`: use `ask` or `allow-all`"
            ))
        })
    }

    /// All modes, for an editor, and this one as the chosen one.
    pub(crate) fn state(self) -> SessionModeState {
        let modes = Self::ALL.into_iter().map(Self::described);
        SessionModeState::new(self.id(), modes.collect())
    }

    fn id(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::AllowAll => "allow-all",
        }
    }

    fn described(self) -> SessionMode {
        let (name, description) = match self {
            Self::Ask => ("Ask", "Asks before a tool runs that needs approval"),
            Self::AllowAll => ("Allow all", "Runs every tool without a question"),
        };
        SessionMode::new(self.id(), name).description(description.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_known_by_their_names() {
        for mode in Mode::ALL {
            assert_eq!(Mode::named(&SessionModeId::new(mode.id())).unwrap(), mode);
            assert_eq!(mode.state().available_modes.len(), 2);
        }
        let error = Mode::named(&SessionModeId::new("yolo\n")).unwrap_err();
        assert!(error.message.contains("`yolo`"), "{}", error.message);
    }
}
