use std::path::{Path, PathBuf};

use openclaw_config::Restart;
use openclaw_process::{GuardianProgram, Launcher};

use super::*;

/// A definition that leads nowhere, and says which it is.
struct Nowhere(&'static str);

impl TargetSource for Nowhere {
    fn target(&self) -> PendingTarget<'_> {
        Box::pin(async { Err(Unresolved::lasting(self.0)) })
    }
}

fn setup(which: &'static str) -> ServerSetup {
    let launcher = Launcher::new(GuardianProgram::at(Path::new("/nowhere")));
    ServerSetup {
        name: "fake".to_owned(),
        source: Arc::new(Nowhere(which)),
        connector: Arc::new(Connector::new(
            Arc::new(launcher),
            Vec::new(),
            PathBuf::from("/"),
            None,
        )),
        pace: Pace::program(Restart::Never),
        idle_timeout: None,
        discovery_interval: None,
        redactor: Redactor::new(),
        drain: Duration::ZERO,
        listener: None,
    }
}

#[tokio::test]
async fn settings_that_come_late_do_not_take_the_place_of_newer_ones() {
    let server = ManagedServer::new(setup("first"));
    let (older, newer) = (server.number_settings(), server.number_settings());
    server.settings(newer, setup("newer")).await;
    server.settings(older, setup("older")).await;
    let state = server.start().await;
    assert_eq!(state.status, Status::Failed);
    assert_eq!(state.reason.as_deref(), Some("newer"));
    let newest = server.number_settings();
    server.settings(newest, setup("newest")).await;
    assert_eq!(server.start().await.reason.as_deref(), Some("newest"));
}
