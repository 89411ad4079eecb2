//! Servers that need secrets.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use openclaw_mcp::{ServerState, StartMode, Status};
use openclaw_testkit::fake_vault::{Condition, FakeVault, Kind};
use openclaw_testkit::leaks::eventually;
use serde_json::{Value, json};

use crate::house::{House, entry, fake, text};
use crate::lab::{SOON, program};

/// A directory with secrets in files.
struct Secrets(tempfile::TempDir);

impl Secrets {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, value: &str) {
        fs::write(self.path(name), value).unwrap();
    }

    fn reference(&self, name: &str) -> String {
        format!("secret://file/{}", self.path(name).display())
    }
}

fn state(house: &House, server: &str) -> ServerState {
    let views = house.servers.view(&house.main());
    let view = views.into_iter().find(|it| it.server.name() == server);
    view.and_then(|it| it.state).unwrap()
}

fn variable(house: &House, server: &str, name: &str) -> Option<String> {
    let pid = state(house, server).connection?.diagnostics().pid?;
    let environment = fs::read(Path::new("/proc").join(pid.to_string()).join("environ")).ok()?;
    environment.split(|byte| *byte == 0).find_map(|pair| {
        let pair = String::from_utf8_lossy(pair).into_owned();
        let value = pair.strip_prefix(name)?.strip_prefix('=')?;
        Some(value.to_owned())
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_gets_its_secrets_when_it_starts_and_anew_at_every_restart() {
    let (secrets, fake) = (Secrets::new(), fake(""));
    secrets.write("token", "the-first-token");
    let more = json!({ "env": {
        "TOKEN": secrets.reference("token"),
        "HEADER": { "prefix": "Bearer ", "secret": secrets.reference("token") },
        "PLAIN": "as it is",
    }});
    let config = json!({ "mcp": { "servers": { "s": entry(&fake, more) } } });
    let house = House::new(StartMode::OnDemand, &config, &[&fake]);
    // Nothing is asked for before it is needed: what changes until then counts.
    secrets.write("token", "the-second-token");
    let agent = house.started().await;
    assert_eq!(variable(&house, "s", "TOKEN").unwrap(), "the-second-token");
    assert_eq!(
        variable(&house, "s", "HEADER").unwrap(),
        "Bearer the-second-token"
    );
    assert_eq!(variable(&house, "s", "PLAIN").unwrap(), "as it is");
    secrets.write("token", "the-third-token");
    let pid = || {
        state(&house, "s")
            .connection
            .and_then(|it| it.diagnostics().pid)
    };
    let before = pid();
    house.call_as(&agent, "s/crash", json!({})).await;
    let is_new = || pid().is_some_and(|now| Some(now) != before);
    assert!(eventually(SOON, is_new).await, "it was not restarted");
    assert_eq!(variable(&house, "s", "TOKEN").unwrap(), "the-third-token");
    house.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_secret_that_can_not_be_had_stops_its_server_alone_until_it_is_refreshed() {
    let (secrets, good, bad) = (Secrets::new(), fake(""), fake(""));
    secrets.write("good", "a-good-secret");
    let needs = |name: &str| json!({ "env": { "TOKEN": secrets.reference(name) } });
    let config = json!({ "mcp": { "servers": {
        "bad": entry(&bad, needs("bad")),
        "good": entry(&good, needs("good")),
        "plain": entry(&fake(""), json!({})),
    }}});
    let house = House::new(StartMode::Eager, &config, &[&good, &bad]);
    let agent = house.started().await;
    assert_eq!(state(&house, "good").status, Status::Ready);
    assert_eq!(state(&house, "plain").status, Status::Ready);
    let failed = state(&house, "bad");
    assert_eq!(failed.status, Status::Failed);
    let reason = failed.reason.unwrap();
    let reference = format!("secret://file{}", secrets.path("bad").display());
    for word in ["`env.TOKEN`", &format!("`{reference}`"), "cannot read"] {
        assert!(reason.contains(word), "{word}: {reason}");
    }
    let outcome = house
        .call_as(&agent, "bad/echo", json!({"message": "x"}))
        .await;
    assert!(
        text(&outcome).contains("there is no tool"),
        "{}",
        text(&outcome)
    );
    // It does not come back by itself, but when it is asked to.
    secrets.write("bad", "now-it-is-there");
    let server = agent.server("bad").map(Arc::clone).unwrap();
    house.servers.refresh_all(&agent, &[server]).await;
    assert_eq!(state(&house, "bad").status, Status::Ready);
    assert_eq!(variable(&house, "bad", "TOKEN").unwrap(), "now-it-is-there");
    house.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn secrets_go_into_headers_that_can_hold_them() {
    let secrets = Secrets::new();
    secrets.write("key", "key-of-the-service\n");
    secrets.write("lines", "first-line\nsecond: line");
    let server = fake("http").start().unwrap();
    let remote = |more: Value| {
        let mut entry = json!({ "url": server.url() });
        entry
            .as_object_mut()
            .unwrap()
            .extend(crate::house::object(more));
        entry
    };
    let config = json!({ "mcp": { "servers": {
        "header": remote(json!({ "headers": {
            "X-Key": secrets.reference("key"),
            "Authorization": { "prefix": "Token ", "secret": secrets.reference("key") },
        }})),
        "apikey": remote(json!({ "apiKey": secrets.reference("key") })),
        "lines": remote(json!({ "headers": { "X-Key": secrets.reference("lines") } })),
    }}});
    let house = House::new(StartMode::Eager, &config, &[]);
    let agent = house.started().await;
    // What the server saw is what is not shown to anybody, so it is taken from its journal.
    for server in ["header", "apikey"] {
        let outcome = house
            .call_as(&agent, &format!("{server}/headers"), json!({}))
            .await;
        let text = text(&outcome);
        assert!(text.contains("[REDACTED]"), "{text}");
        assert!(!text.contains("key-of-the-service"), "{text}");
    }
    let journal = fs::read_to_string(server.journal().path()).unwrap();
    for seen in [
        "\"x-key\":\"key-of-the-service\"",
        "\"authorization\":\"Token key-of-the-service\"",
        "\"authorization\":\"Bearer key-of-the-service\"",
    ] {
        assert!(journal.contains(seen), "{seen}: {journal}");
    }
    let failed = state(&house, "lines");
    assert_eq!(failed.status, Status::Failed);
    let reason = failed.reason.unwrap();
    assert!(reason.contains("`headers.x-key`"), "{reason}");
    assert!(reason.contains("line break"), "{reason}");
    assert!(!reason.contains("second"), "{reason}");
    house.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_was_there_waits_for_a_store_that_is_not_there_now() {
    let (vault, fake) = (FakeVault::start().unwrap(), fake(""));
    {
        let mut world = vault.world();
        world.mount("kv", Kind::One);
        world.put("kv", "app", json!({ "token": "the-token-of-it" }));
        world.allow("hvs.token-for-everything", &["*"]);
    }
    let config = json!({
        "env": { "vars": {
            "VAULT_ADDR": vault.origin(),
            "VAULT_TOKEN": "hvs.token-for-everything",
        }},
        "secrets": { "timeoutMs": 500 },
        "mcp": { "servers": {
            "s": entry(&fake, json!({
                "env": { "A": "secret://vault/kv/app#token" },
                "maxRestarts": 1,
            })),
        }},
    });
    let house = House::new(StartMode::Eager, &config, &[&fake]);
    let agent = house.started().await;
    assert_eq!(state(&house, "s").status, Status::Ready);
    vault.world().condition = Condition::Sealed;
    house.call_as(&agent, "s/crash", json!({})).await;
    // More often than the server may fail, which has nothing to do with it.
    let is_waiting = || {
        let state = state(&house, "s");
        state.hindrances >= 3 && state.status == Status::Restarting
    };
    let waits = eventually(SOON, is_waiting).await;
    assert!(waits, "{:?}", state(&house, "s").reason);
    assert_eq!(
        state(&house, "s").restarts,
        1,
        "that is how often it was lost"
    );
    vault.world().condition = Condition::Ready;
    let is_ready = || state(&house, "s").status == Status::Ready;
    let comes = eventually(SOON, is_ready).await;
    assert!(comes, "{:?}", state(&house, "s").reason);
    house.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_gives_no_secret_is_asked_as_often_as_a_server_may_fail() {
    let (secrets, fake) = (Secrets::new(), fake(""));
    secrets.write("program", "#!/bin/sh\necho the-token-of-it\n");
    let path = secrets.path("program");
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let config = json!({
        "secrets": { "providers": { "program": { "source": "exec", "command": path } } },
        "mcp": { "servers": {
            "s": entry(&fake, json!({
                "env": { "A": "secret://exec/program/a" },
                "maxRestarts": 2,
            })),
        }},
    });
    let house = House::new(StartMode::Eager, &config, &[&fake]);
    let agent = house.started().await;
    assert_eq!(state(&house, "s").status, Status::Ready);
    // As a password manager that is locked: each time it is asked, a window opens.
    let asked = secrets.path("asked");
    let failing = format!("#!/bin/sh\necho asked >>{}\nexit 1\n", asked.display());
    secrets.write("program", &failing);
    house.call_as(&agent, "s/crash", json!({})).await;
    let is_given_up = || state(&house, "s").status == Status::Failed;
    let ends = eventually(SOON, is_given_up).await;
    assert!(ends, "{:?}", state(&house, "s").reason);
    assert_eq!(fs::read_to_string(&asked).unwrap().lines().count(), 2);
    let reason = state(&house, "s").reason.unwrap();
    assert!(
        reason.contains("the program of the secret provider"),
        "{reason}"
    );
    house.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn variables_that_are_mended_count_for_a_server_that_is_just_being_started() {
    let (directory, fake) = (tempfile::tempdir().unwrap(), fake(""));
    // It hangs until there is a file, then it fails unless the variable is right.
    let flag = directory.path().join("go");
    let script = format!(
        "while ! [ -e {} ]; do sleep 0.05; done; [ \"$KEY\" = right ] && echo the-token-of-it",
        flag.display()
    );
    let config = |key: &str| {
        json!({
            "env": { "vars": { "KEY": key } },
            "secrets": { "providers": { "program": {
                "source": "exec", "command": "/bin/sh", "args": ["-c", script],
                "passEnv": ["KEY"], "timeoutMs": 60000,
            }}},
            "mcp": { "servers": {
                "s": entry(&fake, json!({ "env": { "A": "secret://exec/program/a" } })),
            }},
        })
    };
    let house = House::new(StartMode::Eager, &config("wrong"), &[&fake]);
    let is_connecting = || state(&house, "s").status == Status::Connecting;
    assert!(eventually(SOON, is_connecting).await);
    house
        .servers
        .reload(crate::house::config(house.path(), &config("right")));
    fs::write(&flag, "").unwrap();
    let is_ready = || state(&house, "s").status == Status::Ready;
    assert!(
        eventually(SOON, is_ready).await,
        "{:?}",
        state(&house, "s").reason
    );
    house.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_hangs_costs_only_the_time_of_its_own_server() {
    let (slow, quick) = (fake(""), fake(""));
    let config = json!({
        "secrets": { "providers": { "hangs": {
            "source": "exec", "command": "/bin/sleep", "args": ["600"], "timeoutMs": 5000,
        }}},
        "mcp": { "servers": {
            "slow": entry(&slow, json!({ "env": { "A": "secret://exec/hangs/a" } })),
            "quick": entry(&quick, json!({})),
        }},
    });
    assert!(program().exists());
    let house = House::new(StartMode::Eager, &config, &[&slow, &quick]);
    let is = |server, status| state(&house, server).status == status;
    assert!(eventually(SOON, || is("quick", Status::Ready)).await);
    assert!(is("slow", Status::Connecting), "it waits for its secret");
    assert!(eventually(SOON, || is("slow", Status::Failed)).await);
    let reason = state(&house, "slow").reason.unwrap();
    assert!(reason.contains("did not answer within 5s"), "{reason}");
    house.finish().await;
}
