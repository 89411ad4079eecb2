//! Finding servers that others wrote, starting them, and proof that nothing of them is left.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use openclaw_mcp_client::{
    AddressTarget, ConnectError, Connection, Endpoint, ProgramTarget, Target, Timeouts,
};
use openclaw_process::Inherited;
use openclaw_testkit::leaks::{descendants, processes_with_argument};
use openclaw_testkit::partners;

use crate::lab::{Lab, SOON, address, eventually, target};

/// How long a server may take to start: Node and Python are slow on a busy machine.
pub(super) const STARTING: Duration = Duration::from_mins(1);
/// What `listen.cjs` makes a server say.
const LISTENING: &str = "listening on 127.0.0.1:";

pub(super) const EVERYTHING: &str = "@modelcontextprotocol/server-everything/dist/index.js";
pub(super) const FILESYSTEM: &str = "@modelcontextprotocol/server-filesystem/dist/index.js";
pub(super) const SUPERGATEWAY: &str = "supergateway/dist/index.js";

/// A lab for real servers. All of them have the path of its directory in their command lines, so
/// that none can be missed in the end.
pub(super) struct RealLab {
    lab: Lab,
    servers: Vec<Listening>,
    directory: tempfile::TempDir,
}

/// A server that listens. It is killed when this is dropped, with all that it started.
pub(super) struct Listening {
    child: Child,
    lines: Arc<Mutex<Vec<String>>>,
    readers: Vec<JoinHandle<()>>,
}

/// Their Node.
pub(super) fn node() -> PathBuf {
    modules().join(".bin/node")
}

/// What their Node can run.
pub(super) fn modules() -> PathBuf {
    partners().join("node_modules")
}

/// One of the example servers of the SDK.
pub(super) fn example(name: &str) -> String {
    format!("@modelcontextprotocol/sdk/dist/esm/examples/server/{name}.js")
}

impl RealLab {
    pub(super) fn new() -> Self {
        Self {
            lab: Lab::new(),
            servers: Vec::new(),
            directory: tempfile::tempdir().unwrap(),
        }
    }

    /// A directory of its own, which is gone in the end.
    pub(super) fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// What all command lines contain.
    pub(super) fn marker(&self) -> &str {
        self.directory.path().to_str().unwrap()
    }

    /// A program that is spoken to over its standard streams.
    pub(super) fn program(&self, command: &Path, arguments: &[&str]) -> Target {
        let arguments: Vec<String> = arguments.iter().map(|&it| it.to_owned()).collect();
        let words = || arguments.iter().map(String::as_str);
        let is_marked = |word: &str| word.contains(self.marker());
        assert!(words().chain(command.to_str()).any(is_marked));
        patient(target(Endpoint::Program(ProgramTarget {
            command: command.to_str().unwrap().to_owned(),
            arguments,
            environment: Vec::new(),
            inherited: Inherited::Nothing,
            directory: None,
        })))
    }

    /// A script for Node that is spoken to over its standard streams. One of its arguments must
    /// contain the path of the directory.
    pub(super) fn script(&self, script: &str, arguments: &[&str]) -> Target {
        let script = modules().join(script);
        let mut words = vec![script.to_str().unwrap()];
        words.extend(arguments);
        self.program(&node(), &words)
    }

    /// A script for Node that listens, spoken to at this path.
    pub(super) async fn serve(&mut self, script: &str, arguments: &[&str], path: &str) -> Target {
        let mut child = Command::new(node())
            .arg("--require")
            .arg(partners().join("listen.cjs"))
            .arg(modules().join(script))
            .args(arguments)
            .arg(self.marker())
            // There are some that leave when it ends.
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines: Arc<Mutex<Vec<String>>> = Arc::default();
        let readers = vec![
            read_lines(child.stdout.take().unwrap(), lines.clone()),
            read_lines(child.stderr.take().unwrap(), lines.clone()),
        ];
        let server = Listening {
            child,
            lines,
            readers,
        };
        let listens = eventually(STARTING, || server.port().is_some()).await;
        let said = server.lines.lock().unwrap().join("\n");
        assert!(listens, "{script} does not listen but says: {said}");
        let port = server.port().unwrap();
        self.servers.push(server);
        patient(address(&format!("http://127.0.0.1:{port}{path}")))
    }

    /// The server that was started last and listens.
    pub(super) fn server(&self) -> &Listening {
        self.servers.last().unwrap()
    }

    pub(super) async fn try_connect(&self, target: &Target) -> Result<Connection, ConnectError> {
        self.lab.connector().connect(target).await
    }

    pub(super) async fn connect(&self, target: &Target) -> Connection {
        self.lab.connect(target).await
    }

    /// Makes sure that nothing is left: no process, no descriptor.
    pub(super) async fn finish(mut self) {
        self.servers.clear();
        self.lab.finish().await;
        let marker = self.directory.path().to_str().unwrap();
        let left = || processes_with_argument(marker);
        assert!(
            eventually(SOON, || left().is_empty()).await,
            "processes are left: {:?}",
            left()
        );
    }
}

/// Real servers get more time than fake ones.
fn patient(mut target: Target) -> Target {
    "real".clone_into(&mut target.name);
    target.timeouts = Timeouts {
        connection: STARTING,
        request: Duration::from_secs(20),
        total: STARTING,
    };
    target
}

/// The address of a target that has one.
pub(super) fn address_of(target: &mut Target) -> &mut AddressTarget {
    match &mut target.endpoint {
        Endpoint::Address(address) => address,
        Endpoint::Program(program) => panic!("it has no address: {program:?}"),
    }
}

fn read_lines(
    stream: impl Read + Send + 'static,
    lines: Arc<Mutex<Vec<String>>>,
) -> JoinHandle<()> {
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            lines.lock().unwrap().push(line);
        }
    })
}

impl Listening {
    /// How many lines it wrote that contain this.
    pub(super) fn said(&self, text: &str) -> usize {
        let lines = self.lines.lock().unwrap();
        lines.iter().filter(|line| line.contains(text)).count()
    }

    /// What it wrote on the first line that contains this, after it.
    pub(super) fn after(&self, text: &str) -> Option<String> {
        let lines = self.lines.lock().unwrap();
        let rest = lines.iter().find_map(|line| line.split_once(text))?.1;
        Some(rest.trim().to_owned())
    }

    fn port(&self) -> Option<u16> {
        let lines = self.lines.lock().unwrap();
        let port = lines.iter().find_map(|line| line.strip_prefix(LISTENING))?;
        port.trim().parse().ok()
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        // A gateway has programs of its own, which would outlive it.
        let started = descendants(self.child.id());
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if !started.is_empty() {
            let started = started.iter().map(u32::to_string);
            let _ = Command::new("kill").arg("-KILL").args(started).status();
        }
        for reader in self.readers.drain(..) {
            let _ = reader.join();
        }
    }
}
