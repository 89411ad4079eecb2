//! Logging in to servers with the real program, as people do it with a browser and without one.
//!
//! | module | owns |
//! |---|---|
//! | `browser` | a browser that does nothing by itself |
//! | `running` | a program that takes its time, and what it has said so far |

mod browser;
mod clients;
mod files;
mod hostile;
mod isolation;
mod keys;
mod logout;
mod refusals;
mod running;
mod secrecy;
pub(crate) mod terminal;
mod together;
mod tokens;
mod ways;

use openclaw_testkit::fake_login::{Counters, FakeLogin};
use openclaw_testkit::leaks::{descendants, wait_until};
use serde_json::{Value as Json, json};

use crate::lab::{Lab, SOON};
use crate::program::Run;

pub(crate) use browser::{get, parameter, sent_to};
pub(crate) use running::Running;

/// A call that needs nothing but a login.
pub(crate) const CALL: [&str; 4] = ["mcp", "call", "fake/echo", "message=hi"];

/// A home directory whose configuration has one server, called `fake`, that one has to log in to.
pub(crate) struct LoginLab {
    pub(crate) lab: Lab,
    pub(crate) server: FakeLogin,
    _quiet: Quiet,
}

/// Fails when it is dropped while a process that the test started is left.
struct Quiet;

impl LoginLab {
    /// With a server that has these flags; `fake-login-server --help` tells what they are.
    pub(crate) fn new(flags: &str) -> Self {
        Self::with(flags, &json!({}))
    }

    /// The same, with further settings of the server.
    pub(crate) fn with(flags: &str, more: &Json) -> Self {
        let server = FakeLogin::start(flags).unwrap();
        let lab = Self {
            lab: Lab::empty(),
            server,
            _quiet: Quiet,
        };
        lab.place("fake", more)
    }

    /// Somebody who has logged in.
    pub(crate) fn logged_in(flags: &str) -> Self {
        let lab = Self::new(flags);
        lab.log_in();
        lab
    }

    /// Puts the server into the configuration by this name, with further settings.
    pub(crate) fn place(self, name: &str, more: &Json) -> Self {
        let lab = self
            .lab
            .settings(json!({ "mcp": { "servers": { name: { "url": self.server.url() } } } }))
            .settings(json!({ "mcp": { "servers": { name: more } } }));
        Self { lab, ..self }
    }

    /// Starts a login, and lets a person open the address.
    pub(crate) fn begin(&self) -> Running<'_> {
        self.begin_with(&["mcp", "auth", "fake", "--no-browser"])
    }

    pub(crate) fn begin_with(&self, arguments: &[&str]) -> Running<'_> {
        Running::of(&self.lab, self.lab.home.command(arguments))
    }

    /// Logs in with a browser on this machine.
    pub(crate) fn log_in(&self) -> Run {
        let running = self.begin();
        let page = get(&sent_to(&running.address()));
        assert_eq!(page.status, 200, "{page:?}");
        let run = running.ended();
        assert_eq!(run.code, Some(0), "{run}");
        run
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        self.lab.run(arguments)
    }

    pub(crate) fn done(&self, arguments: &[&str]) -> Run {
        self.lab.done(arguments)
    }

    /// Calls a tool that needs nothing but a login.
    pub(crate) fn calls(&self) {
        let run = self.done(&CALL);
        assert_eq!(run.stdout, "hi\n", "{run}");
    }

    /// A call fails because somebody has to log in, which is told with the command to run.
    #[track_caller]
    pub(crate) fn needs_login(&self) -> Run {
        let run = self.run(&CALL);
        assert_eq!(run.code, Some(1), "{run}");
        assert!(run.stderr.contains("`openclaw mcp auth fake`"), "{run}");
        assert_eq!(self.state(), "needs-auth", "{run}");
        run
    }

    /// How the server is.
    pub(crate) fn state(&self) -> String {
        let status = self.run(&["mcp", "status", "fake", "--json"]).json();
        status["state"].as_str().unwrap().to_owned()
    }

    /// What is known of the login.
    pub(crate) fn status(&self) -> Json {
        self.lab.json(&["mcp", "status", "fake"])
    }

    pub(crate) fn counters(&self) -> Counters {
        self.server.counters()
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let left = || descendants(std::process::id());
            assert!(wait_until(SOON, || left().is_empty()), "{:?}", left());
        }
    }
}
