//! Servers that are lent to a session: they are there for it alone, and go with whoever lends them.

use std::time::Instant;

use openclaw_engine::{
    CallArguments, CallRequest, Engine, EngineFailure, LendServers, Lender, LentLaunch, LentServer,
    LentValue, LoanReport, OfServer, ReplyEngine as _, ReplyRequest, ServersQuery, SessionChoice,
    ShownState,
};
use openclaw_testkit::FakeServer;
use openclaw_testkit::leaks::{eventually, processes_with_argument};
use serde_json::{Value, json};

use crate::house::{House, SOON, Silent, assert_gone, entry, fake, servers};

/// The definition of a fake server, as it is lent.
fn lent(name: &str, fake: &FakeServer, env: &[(&str, &str)]) -> LentServer {
    let arguments = fake.arguments().into_iter();
    let env = env.iter().map(|(name, value)| LentValue {
        name: (*name).to_owned(),
        value: (*value).to_owned(),
    });
    LentServer {
        name: name.to_owned(),
        launch: LentLaunch::Stdio {
            command: fake.program().to_str().unwrap().to_owned(),
            args: arguments.map(|it| it.into_string().unwrap()).collect(),
            env: env.collect(),
        },
    }
}

fn lender(id: &str) -> Lender {
    Lender { id: id.to_owned() }
}

fn loan(by: &str, session: &str, servers: Vec<LentServer>) -> LendServers {
    LendServers {
        lender: lender(by),
        agent: None,
        session: SessionChoice::Editor(session.to_owned()),
        directory: None,
        servers,
    }
}

fn names(report: &LoanReport) -> Vec<Option<&str>> {
    let servers = report.servers.iter();
    servers.map(|it| it.name.as_deref()).collect()
}

/// Whether a fake server runs.
fn runs(fake: &FakeServer) -> bool {
    !processes_with_argument(fake.marker()).is_empty()
}

async fn ready(house: &House, whose: &str) -> Vec<(String, ShownState)> {
    let query = ServersQuery {
        agent: Some(whose.to_owned()),
        wait: true,
        ..ServersQuery::default()
    };
    let report = house.engine.servers(query).await.unwrap();
    let servers = report.servers.into_iter();
    servers.map(|it| (it.name, it.state)).collect()
}

/// Calls a tool as it is in a session.
async fn echo(house: &House, whose: &str, tool: &str) -> Result<Value, EngineFailure> {
    let request = CallRequest {
        agent: Some(whose.to_owned()),
        tool: tool.to_owned(),
        arguments: CallArguments {
            words: vec![("message".to_owned(), "hello".to_owned())],
            ..CallArguments::default()
        },
        approved: true,
        framed: false,
        correlation: String::new(),
    };
    let report = house.engine.call(request).await?;
    Ok(json!(report.content))
}

#[tokio::test]
async fn what_is_lent_is_there_in_its_session_alone_and_ends_with_it() {
    let (own, mine) = (fake(""), fake(""));
    let house = House::of_gateway(&servers(&json!({ "own": entry(&own) })));
    let lending = house.engine.lending(lender("a"));
    let work = async {
        let lent = vec![lent("mine", &mine, &[])];
        let report = house.engine.lend(loan("a", "one", lent)).await.unwrap();
        assert_eq!(report.session_key, "agent:main:acp:one");
        assert_eq!(names(&report), [Some("mine")]);

        let key = report.session_key.as_str();
        let expected = [
            ("mine".to_owned(), ShownState::Ready),
            ("own".to_owned(), ShownState::Ready),
        ];
        assert_eq!(ready(&house, key).await, expected);
        assert_eq!(ready(&house, "main").await, expected[1..]);
        assert_eq!(house.names().await, ["own"]);
        assert!(echo(&house, key, "mine/echo").await.is_ok());
        let failure = echo(&house, "main", "mine/echo").await.unwrap_err();
        assert_eq!(failure.code, "unknown-server", "{failure:?}");
        let other = echo(&house, "agent:main:acp:two", "mine/echo").await;
        assert_eq!(other.unwrap_err().code, "unknown-server");
        // What is not there is told at once.
        let began = Instant::now();
        let unknown = echo(&house, key, "mine/nothing").await.unwrap_err();
        assert_eq!(unknown.code, "unknown-tool", "{unknown:?}");
        assert!(began.elapsed() < SOON);

        // Reading the configuration anew changes nothing about it.
        let pids = processes_with_argument(mine.marker());
        house.engine.reload().await.unwrap();
        assert_eq!(ready(&house, key).await, expected);
        assert_eq!(processes_with_argument(mine.marker()), pids);

        let over = house.engine.lend(loan("a", "one", Vec::new()));
        over.await.unwrap();
        assert!(!runs(&mine), "it is waited for");
        assert!(runs(&own));
        assert_eq!(ready(&house, key).await, expected[1..]);
    };
    tokio::select! {
        _ = lending => panic!("it is not answered"),
        () = work => {}
    }
    house.finish(&[&own, &mine]).await;
}

#[tokio::test]
async fn whoever_goes_takes_everything_along_that_is_theirs() {
    let (first, second, third) = (fake(""), fake(""), fake(""));
    let house = House::of_gateway(&servers(&json!({})));
    let staying = house.engine.lending(lender("b"));
    let work = async {
        {
            let going = house.engine.lending(lender("a"));
            let lend = async {
                for (session, fake) in [("one", &first), ("two", &second)] {
                    let lent = vec![lent("x", fake, &[])];
                    house.engine.lend(loan("a", session, lent)).await.unwrap();
                }
                // The second session is the other's from now on.
                let lent = vec![lent("x", &third, &[])];
                house.engine.lend(loan("b", "two", lent)).await.unwrap();
                assert!(!runs(&second));
                assert!(eventually(SOON, || runs(&first) && runs(&third)).await);
            };
            tokio::select! {
                _ = going => panic!("it is not answered"),
                () = lend => {}
            }
        }
        assert!(eventually(SOON, || !runs(&first)).await);
        assert!(runs(&third), "that is another's");
        let lent = vec![lent("x", &first, &[])];
        let failure = house.engine.lend(loan("a", "one", lent)).await;
        assert_eq!(failure.unwrap_err().code, "unknown-lender");
        assert!(!runs(&first));
    };
    tokio::select! {
        _ = staying => panic!("it is not answered"),
        () = work => {}
    }
    assert!(eventually(SOON, || !runs(&third)).await);
    house.finish(&[&first, &second, &third]).await;
}

#[tokio::test]
async fn a_name_that_is_taken_gets_another_and_the_same_server_is_shared() {
    let (own, other) = (fake(""), fake(""));
    let config = servers(&json!({ "fake": entry(&own) }));
    let house = House::of_gateway(&config);
    let lending = house.engine.lending(lender("a"));
    let work = async {
        let lent = vec![
            lent("fake", &own, &[]),
            lent("fake", &other, &[]),
            lent("fake", &other, &[("TOKEN", "another-one-altogether")]),
            lent("a/b\u{1b}[2J", &other, &[]),
            lent("", &other, &[]),
            LentServer {
                name: "far".to_owned(),
                launch: LentLaunch::Http {
                    url: "http://mcp.example/".to_owned(),
                    headers: Vec::new(),
                },
            },
        ];
        let report = house.engine.lend(loan("a", "one", lent)).await.unwrap();
        assert_eq!(
            names(&report),
            [
                Some("fake"),
                Some("fake-session"),
                Some("fake-session-2"),
                Some("a-b"),
                Some("server"),
                None
            ]
        );
        let problem = report.servers[5].problem.as_deref().unwrap();
        assert!(problem.contains("mcp.example"), "{problem}");
        let key = report.session_key.as_str();
        ready(&house, key).await;
        assert_eq!(processes_with_argument(own.marker()).len(), 1);
        // Two definitions that are the same share a process, whatever they are called.
        assert_eq!(processes_with_argument(other.marker()).len(), 2);
        assert!(echo(&house, key, "fake-session/echo").await.is_ok());
    };
    tokio::select! {
        _ = lending => panic!("it is not answered"),
        () = work => {}
    }
    house.finish(&[&own, &other]).await;
}

#[tokio::test]
async fn nobody_takes_back_what_another_lent_to_the_same_session() {
    let (first, second) = (fake(""), fake(""));
    let house = House::of_gateway(&servers(&json!({})));
    let both = futures_util::future::join(
        house.engine.lending(lender("a")),
        house.engine.lending(lender("b")),
    );
    let work = async {
        let lent_first = vec![lent("first", &first, &[])];
        let lent_second = vec![lent("second", &second, &[])];
        let report = house.engine.lend(loan("a", "one", lent_first)).await;
        let key = report.unwrap().session_key;
        let report = house.engine.lend(loan("b", "one", lent_second)).await;
        report.unwrap();
        // The first closes the session, as far as it knows.
        let over = house.engine.lend(loan("a", "one", Vec::new()));
        over.await.unwrap();
        let expected = [("second".to_owned(), ShownState::Ready)];
        assert_eq!(ready(&house, &key).await, expected);
        let over = house.engine.lend(loan("b", "one", Vec::new()));
        over.await.unwrap();
        assert_eq!(ready(&house, &key).await, []);
    };
    tokio::select! {
        _ = both => panic!("they are not answered"),
        () = work => {}
    }
    house.finish(&[&first, &second]).await;
}

#[tokio::test]
async fn only_those_are_waited_for_that_are_named() {
    let (mine, mute) = (fake(""), fake("--mute"));
    let house = House::of_gateway(&servers(&json!({})));
    let lending = house.engine.lending(lender("a"));
    let work = async {
        let lent = vec![lent("mine", &mine, &[]), lent("mute", &mute, &[])];
        let key = house.engine.lend(loan("a", "one", lent)).await;
        let query = ServersQuery {
            agent: Some(key.unwrap().session_key),
            wait: true,
            servers: Some(vec!["mine".to_owned()]),
        };
        let report = house.engine.servers(query).await.unwrap();
        let states = report.servers.iter().map(|it| it.state);
        let expected = [ShownState::Ready, ShownState::Connecting];
        assert_eq!(states.collect::<Vec<_>>(), expected);
    };
    tokio::select! {
        _ = lending => panic!("it is not answered"),
        done = tokio::time::timeout(SOON, work) => done.unwrap(),
    }
    house.finish(&[&mine, &mute]).await;
}

#[tokio::test]
async fn variables_that_decide_what_is_loaded_are_left_out_and_named() {
    let mine = fake("");
    let house = House::new(&servers(&json!({})));
    let lending = house.engine.lending(lender("a"));
    let work = async {
        let env = [("NODE_OPTIONS", "--inspect"), ("WORKSPACE", "harbour")];
        let lent = vec![lent("mine", &mine, &env)];
        let report = house.engine.lend(loan("a", "one", lent)).await.unwrap();
        assert_eq!(report.servers[0].left_out, ["NODE_OPTIONS"]);
    };
    tokio::select! {
        _ = lending => panic!("it is not answered"),
        () = work => {}
    }
    house.finish(&[&mine]).await;
}

#[tokio::test]
async fn the_policy_of_the_agent_holds_and_secrets_are_hidden() {
    let mine = fake("");
    let mut config = servers(&json!({}));
    config["tools"] = json!({ "deny": ["mcp_mine_add"] });
    let house = House::new(&config);
    let lending = house.engine.lending(lender("a"));
    let work = async {
        let env = [
            ("API_TOKEN", "hunter2-hunter2"),
            ("WORKSPACE", "quiet-harbour"),
        ];
        let lent = vec![lent("mine", &mine, &env)];
        let report = house.engine.lend(loan("a", "one", lent)).await.unwrap();
        let key = report.session_key;
        ready(&house, &key).await;
        let tools = house.engine.tools(OfServer {
            agent: Some(key.clone()),
            server: None,
        });
        let tools = tools.await.unwrap().tools;
        assert!(tools.iter().any(|tool| tool.name == "mcp_mine_echo"));
        assert!(tools.iter().all(|tool| tool.name != "mcp_mine_add"));
        let definitions = house.engine.definitions(OfServer {
            agent: Some(key.clone()),
            server: None,
        });
        let definitions = json!(definitions.await.unwrap().servers).to_string();
        assert!(!definitions.contains("hunter2"), "{definitions}");
        assert!(!definitions.contains("harbour"), "{definitions}");

        // A turn in the session has it, and commands there show it.
        let ask = async |message: &str| {
            let request = ReplyRequest {
                session: SessionChoice::Editor("one".to_owned()),
                message: message.to_owned(),
                approved: true,
                ..ReplyRequest::default()
            };
            house.engine.reply(request, &Silent).await.unwrap()
        };
        let report = ask("echo message=hunter2-hunter2").await;
        assert_eq!(report.session_key, key);
        assert_eq!(report.tool_calls[0].server.as_deref(), Some("mine"));
        assert!(!report.reply.contains("hunter2"), "{}", report.reply);
        // A plain word is no secret: the model needs it.
        let report = ask("echo message=quiet-harbour").await;
        assert!(report.reply.contains("harbour"), "{}", report.reply);
        let report = ask("/mcp servers").await;
        assert!(report.reply.contains("mine"), "{}", report.reply);
        let elsewhere = house.reply("/mcp servers").await.unwrap();
        assert!(!elsewhere.reply.contains("mine"), "{}", elsewhere.reply);
    };
    tokio::select! {
        _ = lending => panic!("it is not answered"),
        () = work => {}
    }
    house.finish(&[&mine]).await;
}

#[tokio::test]
async fn names_and_what_is_shared_follow_the_configuration() {
    let (own, mine) = (fake(""), fake(""));
    let house = House::of_gateway(&servers(&json!({ "x": entry(&own) })));
    let lending = house.engine.lending(lender("a"));
    let work = async {
        let lent = vec![lent("x", &own, &[]), lent("y", &mine, &[])];
        let report = house.engine.lend(loan("a", "one", lent)).await.unwrap();
        assert_eq!(names(&report), [Some("x"), Some("y")]);
        let key = report.session_key.as_str();
        ready(&house, key).await;
        let pids = processes_with_argument(own.marker());

        // What the configuration no longer has is lent, and goes on.
        house.write(&servers(&json!({})).to_string());
        house.engine.reload().await.unwrap();
        assert_eq!(house.names().await, [""; 0]);
        let both = ready(&house, key).await;
        assert_eq!(both.len(), 2, "{both:?}");
        assert_eq!(processes_with_argument(own.marker()), pids);

        // A name that the configuration takes is its own.
        house.write(&servers(&json!({ "y": entry(&own) })).to_string());
        house.engine.reload().await.unwrap();
        let three = ready(&house, key).await;
        let names: Vec<&str> = three.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["x", "y", "y-session"]);
        assert!(echo(&house, key, "y-session/echo").await.is_ok());
    };
    tokio::select! {
        _ = lending => panic!("it is not answered"),
        () = work => {}
    }
    house.finish(&[&own, &mine]).await;
}

#[tokio::test]
async fn a_server_that_failed_is_tried_again_when_it_is_lent_again() {
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("program");
    let broken = || LentServer {
        name: "late".to_owned(),
        launch: LentLaunch::Stdio {
            command: program.to_str().unwrap().to_owned(),
            args: Vec::new(),
            env: Vec::new(),
        },
    };
    let house = House::of_gateway(&servers(&json!({})));
    let lending = house.engine.lending(lender("a"));
    let work = async {
        let report = house.engine.lend(loan("a", "one", vec![broken()]));
        let key = report.await.unwrap().session_key;
        let seen = ready(&house, &key).await;
        assert_eq!(seen, [("late".to_owned(), ShownState::Failed)]);
        let mine = fake("");
        let words: Vec<String> = std::iter::once(mine.program().as_os_str().to_owned())
            .chain(mine.arguments())
            .map(|word| format!("'{}'", word.to_str().unwrap()))
            .collect();
        std::fs::write(&program, format!("#!/bin/sh\nexec {}\n", words.join(" "))).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        std::fs::set_permissions(&program, mode).unwrap();
        let again = house.engine.lend(loan("a", "one", vec![broken()]));
        again.await.unwrap();
        let deadline = Instant::now() + SOON;
        loop {
            let seen = ready(&house, &key).await;
            if seen == [("late".to_owned(), ShownState::Ready)] {
                return mine;
            }
            assert!(Instant::now() < deadline, "{seen:?}");
            tokio::task::yield_now().await;
        }
    };
    let mine = tokio::select! {
        _ = lending => panic!("it is not answered"),
        mine = work => mine,
    };
    house.finish(&[&mine]).await;
}

#[tokio::test]
async fn a_lender_may_come_a_moment_after_its_first_loan() {
    let mine = fake("");
    let house = House::new(&servers(&json!({})));
    let lend = house
        .engine
        .lend(loan("a", "one", vec![lent("mine", &mine, &[])]));
    // In this order: the loan waits already when its lender comes.
    tokio::select! {
        biased;
        report = lend => assert_eq!(names(&report.unwrap()), [Some("mine")]),
        _ = house.engine.lending(lender("a")) => panic!("it is not answered"),
    }
    house.finish(&[&mine]).await;
    assert_gone(&[&mine]).await;
}
