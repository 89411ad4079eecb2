//! What a command says and returns when it can't do what it was asked.

use std::borrow::Cow;
use std::process::ExitCode;

use openclaw_engine::{Blame, EngineFailure};
use serde_json::{Value as Json, json};

/// What a command tells its caller with its exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done.
    Done,
    /// The operation failed.
    Failed,
    /// The command line or the configuration is wrong.
    Usage,
    /// Somebody ended it.
    Interrupted(Signal),
}

/// What somebody ended a command with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// The terminal is gone.
    HangUp,
    /// A person pressed Ctrl-C.
    Interrupt,
    /// A program asked us to leave.
    Terminate,
}

impl Signal {
    /// The exit code that shells give to a program that died of it.
    pub(crate) fn code(self) -> u8 {
        128 + match self {
            Self::HangUp => 1,
            Self::Interrupt => 2,
            Self::Terminate => 15,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Done => Self::SUCCESS,
            Exit::Failed => Self::from(1),
            Exit::Usage => Self::from(2),
            Exit::Interrupted(signal) => Self::from(signal.code()),
        }
    }
}

/// Why a command ended without its result.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Whoever read our output has gone: nothing is wrong.
    ReaderGone,
    /// Somebody ended it, and knows that.
    Interrupted(Signal),
    /// Something went wrong.
    Told(Box<Told>),
}

/// A failure with its words.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) exit: Exit,
    /// A word for scripts that stays the same.
    pub(crate) code: Cow<'static, str>,
    pub(crate) message: String,
    /// What to do.
    pub(crate) hint: Option<String>,
    /// The server that somebody has to log in to, if that is the reason.
    pub(crate) login: Option<String>,
}

impl Failure {
    /// The operation failed.
    pub(crate) fn failed(code: &'static str, message: impl Into<String>) -> Self {
        Self::told(Exit::Failed, code, message)
    }

    /// The command line or the configuration is wrong.
    pub(crate) fn usage(code: &'static str, message: impl Into<String>) -> Self {
        Self::told(Exit::Usage, code, message)
    }

    fn told(exit: Exit, code: &'static str, message: impl Into<String>) -> Self {
        Self::Told(Box::new(Told {
            exit,
            code: Cow::Borrowed(code),
            message: message.into(),
            hint: None,
            login: None,
        }))
    }

    /// Says what to do.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        if let Self::Told(told) = &mut self {
            told.hint = Some(hint.into());
        }
        self
    }
}

impl From<EngineFailure> for Failure {
    fn from(failure: EngineFailure) -> Self {
        let needs_login = failure.code == "needs-auth";
        Self::Told(Box::new(Told {
            exit: match failure.blame {
                Blame::Operation => Exit::Failed,
                Blame::Asker => Exit::Usage,
            },
            code: failure.code,
            message: failure.message,
            hint: failure.hint,
            login: failure.server.filter(|_| needs_login),
        }))
    }
}

impl Told {
    /// The failure for programs.
    pub(crate) fn json(&self) -> Json {
        let mut error = json!({ "code": self.code, "message": self.message });
        if let Some(hint) = &self.hint {
            error["hint"] = json!(hint);
        }
        json!({ "error": error })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blame_decides_the_exit_code() {
        let told = |failure: EngineFailure| match Failure::from(failure) {
            Failure::Told(told) => *told,
            other => panic!("{other:?}"),
        };
        let failed = told(EngineFailure::operation("gone", "it is gone"));
        assert_eq!(failed.exit, Exit::Failed);
        let asked = told(EngineFailure::asker("unknown-tool", "no such tool").hint("look"));
        assert_eq!(asked.exit, Exit::Usage);
        assert_eq!(
            asked.json(),
            json!({ "error": { "code": "unknown-tool", "message": "no such tool", "hint": "look" } })
        );
    }

    #[test]
    fn signals_have_the_exit_codes_of_shells() {
        let codes = [Signal::HangUp, Signal::Interrupt, Signal::Terminate].map(Signal::code);
        assert_eq!(codes, [129, 130, 143]);
    }
}
