//! A home directory whose configuration has fake servers, and proof that none of them is left.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use openclaw_testkit::leaks::{processes_with_argument, wait_until};
use openclaw_testkit::{FakeServer, JournalReader, RunningServer};
use serde_json::{Value as Json, json};

use crate::program::{Home, Run};

/// How long something may take that takes no time.
pub(crate) const SOON: Duration = Duration::from_secs(10);

/// Fails when it is dropped while a process of its servers is left.
pub(crate) struct Lab {
    pub(crate) home: Home,
    config: Json,
    fakes: Vec<FakeServer>,
    listening: Vec<RunningServer>,
}

pub(crate) fn fake() -> FakeServer {
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().unwrap().parent().unwrap();
    let program: PathBuf = profile.join("examples/fake_mcp_server");
    FakeServer::at(&program)
}

impl Lab {
    /// Without any server.
    pub(crate) fn empty() -> Self {
        let lab = Self {
            home: Home::new(),
            config: json!({}),
            fakes: Vec::new(),
            listening: Vec::new(),
        };
        lab.settings(json!({}))
    }

    /// With one server that is called `fake` and has these flags.
    pub(crate) fn new(flags: &str) -> Self {
        Self::empty().server("fake", flags, json!({}))
    }

    /// Adds a program as a server; `more` are further settings of it.
    pub(crate) fn server(mut self, name: &str, flags: &str, more: Json) -> Self {
        let fake = fake().flag("stdio").flags(flags);
        let mut entry = json!({ "command": fake.program(), "args": words(&fake) });
        merge(&mut entry, more);
        self.fakes.push(fake);
        self.settings(json!({ "mcp": { "servers": { name: entry } } }))
    }

    /// Adds a server at an address, which listens until the test is over.
    pub(crate) fn address(mut self, name: &str, flags: &str, more: Json) -> Self {
        let server = fake().flags(flags).start().unwrap();
        let mut entry = json!({ "url": server.url() });
        merge(&mut entry, more);
        self.listening.push(server);
        self.settings(json!({ "mcp": { "servers": { name: entry } } }))
    }

    /// Starts a server that listens and that the configuration does not know.
    pub(crate) fn stranger(&mut self, flags: &str) -> String {
        let server = fake().flags(flags).start().unwrap();
        let url = server.url();
        self.listening.push(server);
        url
    }

    /// A program that the configuration does not know, with its arguments.
    pub(crate) fn unknown_program(&mut self, flags: &str) -> Vec<String> {
        let fake = fake().flag("stdio").flags(flags);
        let mut line = vec![fake.program().to_str().unwrap().to_owned()];
        line.extend(words(&fake));
        self.fakes.push(fake);
        line
    }

    /// Puts more into the configuration.
    pub(crate) fn settings(mut self, more: Json) -> Self {
        merge(&mut self.config, more);
        let text = format!("{:#}\n", self.config);
        self.home.write(".openclaw/openclaw.json", &text);
        self
    }

    pub(crate) fn config_text(&self) -> String {
        std::fs::read_to_string(self.home.path().join(".openclaw/openclaw.json")).unwrap()
    }

    /// The journal of the server that was added last.
    pub(crate) fn journal(&self) -> &JournalReader {
        self.fakes.last().unwrap().journal()
    }

    /// All that the server at an address that was added last has written down.
    pub(crate) fn heard_at_address(&self) -> String {
        let server = self.listening.last().unwrap();
        std::fs::read_to_string(server.journal().path()).unwrap()
    }

    /// How often the server that was added last was asked to call a tool.
    pub(crate) fn calls(&self) -> usize {
        let methods = self.journal().methods();
        let calls = methods.iter().filter(|method| *method == "tools/call");
        calls.count()
    }

    /// Has commands do without a gateway, in tests of what they do by themselves.
    pub(crate) fn alone(mut self) -> Self {
        self.home.alone();
        self
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        let run = self.home.run(arguments);
        assert_eq!(self.processes(), 0, "a process is left: {run}");
        run
    }

    /// Runs something that must work.
    pub(crate) fn done(&self, arguments: &[&str]) -> Run {
        let run = self.run(arguments);
        assert_eq!(run.code, Some(0), "{arguments:?}: {run}");
        run
    }

    /// Runs something that must work, and reads its JSON.
    pub(crate) fn json(&self, arguments: &[&str]) -> Json {
        let mut arguments = arguments.to_vec();
        arguments.push("--json");
        let run = self.done(&arguments);
        assert_eq!(run.stderr, "", "{arguments:?}");
        run.json()
    }

    /// Runs something that must end with this code, and reads the failure of its JSON.
    pub(crate) fn failure(&self, arguments: &[&str], code: i32) -> Json {
        let mut arguments = arguments.to_vec();
        arguments.push("--json");
        let run = self.run(&arguments);
        assert_eq!(run.code, Some(code), "{arguments:?}: {run}");
        run.json()["error"].clone()
    }

    /// Starts something that takes its time.
    pub(crate) fn start(&self, arguments: &[&str]) -> Child {
        self.home
            .command(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// How many processes of the servers that are programs there are: fake ones, and those that
    /// have the home directory in their command lines. Those of a gateway that commands ask stay as long
    /// as it does, and are no commands'.
    pub(crate) fn processes(&self) -> usize {
        if self.home.has_gateway() {
            return 0;
        }
        let markers = self.fakes.iter().map(FakeServer::marker);
        let markers = markers.chain(self.home.path().to_str());
        markers
            .map(|marker| processes_with_argument(marker).len())
            .sum()
    }

    /// The processes of the fake servers, whoever has started them.
    pub(crate) fn servers(&self) -> Vec<u32> {
        let fakes = self.fakes.iter();
        fakes
            .flat_map(|fake| processes_with_argument(fake.marker()))
            .collect()
    }

    /// Ends the servers that are programs, without asking them, and says which they were.
    pub(crate) fn kill_servers(&self) -> Vec<u32> {
        let servers = self.servers();
        for pid in &servers {
            let killed = Command::new("kill").args(["-9", &pid.to_string()]).status();
            assert!(killed.is_ok(), "{pid}");
        }
        servers
    }

    /// Whether the servers that are programs have been started by a command that needs them.
    pub(crate) fn has_started(&self) -> bool {
        self.fakes.is_empty() || self.home.has_gateway() || self.processes() > 0
    }

    /// Whether all processes are gone before the time is over.
    pub(crate) fn is_quiet_within(&self, patience: Duration) -> bool {
        wait_until(patience, || self.processes() == 0)
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        self.home.stop_gateway();
        if !std::thread::panicking() {
            assert_eq!(self.processes(), 0, "a process is left");
        }
    }
}

fn words(fake: &FakeServer) -> Vec<String> {
    let arguments = fake.arguments().into_iter();
    arguments.map(|it| it.into_string().unwrap()).collect()
}

/// Lays one object over another.
fn merge(below: &mut Json, above: Json) {
    match (below, above) {
        (Json::Object(below), Json::Object(above)) => {
            for (key, value) in above {
                merge(below.entry(key).or_insert(Json::Null), value);
            }
        }
        (below, above) => *below = above,
    }
}

/// The value has all these keys.
pub(crate) fn assert_keys(value: &Json, keys: &[&str]) {
    for key in keys {
        assert!(value.get(key).is_some(), "`{key}` is missing: {value:#}");
    }
}

/// The text has nothing that a terminal acts on.
pub(crate) fn assert_harmless(text: &str) {
    let acts = |c: char| {
        (c.is_control() && c != '\n')
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    assert!(!text.contains(acts), "{text:?}");
}
