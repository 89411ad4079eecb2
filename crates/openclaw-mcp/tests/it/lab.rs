//! What every test here needs: a fake server, and something that looks after it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use openclaw_mcp::{
    ManagedServer, Pace, PendingTarget, ServerSetup, ServerState, TargetSource, Unresolved,
};
use openclaw_mcp_client::{
    CallOptions, Connector, Endpoint, ProgramTarget, Protocol, Target, Timeouts,
};
use openclaw_process::{GuardianProgram, Inherited, Launcher};
use openclaw_testkit::FakeServer;
use openclaw_testkit::leaks::{eventually, processes_with_argument};
use serde_json::Value;
use tokio::time::timeout;

pub(crate) const SOON: Duration = Duration::from_secs(10);

pub(crate) fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().unwrap().parent().unwrap();
    profile.join("examples/fake_mcp_server")
}

/// A source that counts how often it was asked.
pub(crate) struct Source {
    pub(crate) target: Result<Target, Unresolved>,
    pub(crate) asked: AtomicUsize,
}

impl TargetSource for Source {
    fn target(&self) -> PendingTarget<'_> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        Box::pin(async { self.target.clone() })
    }
}

pub(crate) struct Lab {
    pub(crate) fake: FakeServer,
    pub(crate) source: Arc<Source>,
    pub(crate) server: ManagedServer,
}

pub(crate) fn pace(restarts: u32) -> Pace {
    Pace {
        first: Duration::from_millis(20),
        longest: Duration::from_millis(80),
        healthy: Duration::from_mins(1),
        heartbeat: Duration::from_mins(1),
        heartbeat_patience: Duration::from_millis(300),
        restarts: Some(restarts),
    }
}

pub(crate) fn target(fake: &FakeServer) -> Target {
    let arguments = fake.arguments().into_iter();
    Target {
        name: "fake".to_owned(),
        fingerprint: None,
        endpoint: Endpoint::Program(ProgramTarget {
            command: fake.program().to_str().unwrap().to_owned(),
            arguments: arguments.map(|it| it.into_string().unwrap()).collect(),
            environment: Vec::new(),
            inherited: Inherited::Nothing,
            directory: None,
        }),
        protocol: Protocol::Legacy,
        timeouts: Timeouts {
            connection: Duration::from_secs(10),
            request: Duration::from_secs(5),
            total: Duration::from_secs(10),
        },
        parallel_calls: true,
        roots: None,
    }
}

pub(crate) fn connector() -> Arc<Connector> {
    Arc::new(Connector::new(
        Arc::new(Launcher::new(GuardianProgram::at(&program()))),
        std::env::vars_os().collect(),
        std::env::current_dir().unwrap(),
        None,
    ))
}

pub(crate) fn lab_with(flags: &str, pace: Pace, change: impl FnOnce(&mut ServerSetup)) -> Lab {
    let fake = FakeServer::at(&program()).flags(flags);
    let source = Arc::new(Source {
        target: Ok(target(&fake)),
        asked: AtomicUsize::new(0),
    });
    let mut setup = ServerSetup {
        name: "fake".to_owned(),
        source: source.clone(),
        connector: connector(),
        pace,
        idle_timeout: None,
        discovery_interval: None,
        drain: SOON,
        redactor: openclaw_secrets::Redactor::new(),
        listener: None,
    };
    change(&mut setup);
    Lab {
        server: ManagedServer::new(setup),
        fake,
        source,
    }
}

pub(crate) fn lab(flags: &str, restarts: u32) -> Lab {
    lab_with(flags, pace(restarts), |_| {})
}

impl Lab {
    pub(crate) async fn until(&self, like: impl FnMut(&ServerState) -> bool) -> ServerState {
        let mut watch = self.server.watch();
        let found = timeout(SOON, watch.wait_for(like)).await;
        found.expect("in time").unwrap().clone()
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> bool {
        let connection = self.server.connection().unwrap();
        let Value::Object(arguments) = arguments else {
            panic!("not an object")
        };
        let call = connection.call_tool(tool, arguments, CallOptions::default());
        call.await.is_ok()
    }

    pub(crate) async fn finish(self) {
        let marker = self.fake.marker().to_owned();
        drop(self.server);
        let is_gone = || processes_with_argument(&marker).is_empty();
        assert!(eventually(SOON, is_gone).await, "a process is left");
    }
}
