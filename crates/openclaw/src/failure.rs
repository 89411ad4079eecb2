//! What a command says and returns when it can't do what it was asked.

use std::process::ExitCode;

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
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Done => Self::SUCCESS,
            Exit::Failed => Self::from(1),
            Exit::Usage => Self::from(2),
        }
    }
}

/// Why a command ended without its result.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Whoever read our output has gone: nothing is wrong.
    ReaderGone,
    /// Something went wrong.
    Told(Box<Told>),
}

/// A failure with its words.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) exit: Exit,
    /// A word for scripts that stays the same.
    pub(crate) code: &'static str,
    pub(crate) message: String,
    /// What to do.
    pub(crate) hint: Option<String>,
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
            code,
            message: message.into(),
            hint: None,
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
