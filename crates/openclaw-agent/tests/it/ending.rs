//! Turns that end otherwise than with an answer.

use std::sync::atomic::Ordering;

use openclaw_agent::TurnError;
use openclaw_models::ModelError;
use openclaw_sessions::{SessionError, TurnState};
use openclaw_testkit::leaks::eventually;
use serde_json::json;

use crate::house::{House, Listener, SOON, fake, one};
use crate::scripted::{Scripted, Step};

#[tokio::test]
async fn whoever_stops_waiting_stops_the_call_and_the_turn_is_marked() {
    let fake = fake("");
    let house = House::new(&one(&fake), &[&fake]);
    let model = Scripted::new([Step::Call(
        "",
        vec![("mcp_fake_sleep", json!({"ms": 60_000}))],
    )]);
    let listener = Listener::default();
    {
        let reply = house.reply_in(&model, "x", "main", &listener);
        tokio::pin!(reply);
        let is_busy = || {
            let plan = house.agents.plan(None).unwrap();
            let views = house.servers.view(&plan);
            let connection = views.into_iter().find_map(|it| it.state?.connection);
            connection.is_some_and(|it| it.diagnostics().in_flight > 0)
        };
        tokio::select! {
            result = &mut reply => panic!("{result:?}"),
            busy = eventually(SOON, is_busy) => assert!(busy),
        }
    }
    assert!(listener.has_started_a_tool.load(Ordering::SeqCst));
    let journal = fake.journal();
    let is_cancelled = || {
        journal
            .methods()
            .iter()
            .any(|it| it == "notifications/cancelled")
    };
    assert!(
        eventually(SOON, is_cancelled).await,
        "{:?}",
        journal.methods()
    );
    let kept = house.kept("main").await;
    assert_eq!(kept.len(), 2);
    assert!(
        kept.iter().all(|it| it.state == TurnState::Interrupted),
        "{kept:?}"
    );

    // The next turn knows, and has the session for itself.
    let model = Scripted::new([Step::Say("go on")]);
    house.reply(&model, "and?").await.unwrap();
    let seen = model.seen();
    assert!(seen[0].answers()[0].is_error);
    house.finish().await;
}

#[tokio::test]
async fn a_turn_has_a_deadline() {
    let fake = fake("");
    let mut config = one(&fake);
    config["agents"] = json!({ "defaults": { "timeoutSeconds": 1 } });
    let house = House::new(&config, &[&fake]);
    let model = Scripted::new([Step::Hang]);
    let error = house.reply(&model, "x").await.unwrap_err();
    assert!(matches!(error, TurnError::TimedOut { .. }), "{error}");
    assert_eq!(house.kept("main").await[0].state, TurnState::Interrupted);
    house.finish().await;
}

#[tokio::test]
async fn what_a_model_could_not_answer_does_not_stand_in_the_way() {
    let house = House::new(&json!({}), &[]);
    let refused = ModelError::KeyRefused {
        provider: "test".to_owned(),
        reason: "no".to_owned(),
    };
    let model = Scripted::new([Step::Fail(refused)]);
    let error = house.reply(&model, "first").await.unwrap_err();
    assert!(
        matches!(error, TurnError::Model(ModelError::KeyRefused { .. })),
        "{error}"
    );
    assert_eq!(house.kept("main").await[0].state, TurnState::Failed);
    let model = Scripted::new([Step::Say("hello")]);
    house.reply(&model, "second").await.unwrap();
    assert_eq!(model.seen()[0].said_by_user(), ["second"]);
    house.finish().await;
}

#[tokio::test]
async fn turns_of_one_session_wait_for_each_other_and_those_of_others_do_not() {
    let mut config = json!({});
    config["agents"] = json!({ "defaults": { "timeoutSeconds": 1 } });
    let house = House::new(&config, &[]);
    let hanging = Scripted::new([Step::Hang]);
    let quick = Scripted::new([]);
    let listener = Listener::default();
    let first = house.reply_in(&hanging, "x", "one", &listener);
    let second = async {
        let has_begun = || listener.heard().iter().any(|it| it.starts_with("started"));
        assert!(eventually(SOON, has_begun).await);
        house.reply_in(&quick, "y", "two", &listener).await.unwrap();
        house.reply_in(&quick, "z", "one", &listener).await
    };
    let (first, second) = tokio::join!(first, second);
    assert!(matches!(first, Err(TurnError::TimedOut { .. })));
    match second {
        Ok(_) => {}
        Err(TurnError::Session(SessionError::InUse { .. })) => panic!("it waited too briefly"),
        Err(error) => panic!("{error}"),
    }
    let kept = house.kept("one").await;
    let states: Vec<TurnState> = kept.iter().map(|it| it.state).collect();
    assert_eq!(
        states,
        [
            TurnState::Interrupted,
            TurnState::Complete,
            TurnState::Complete
        ]
    );
    house.finish().await;
}

#[tokio::test]
async fn wrong_sessions_and_messages_are_refused_before_anything_is_kept() {
    let config = json!({ "agents": { "entries": { "main": {}, "research": {} } } });
    let house = House::new(&config, &[]);
    let model = Scripted::new([]);
    let listener = Listener::default();
    for key in [
        "cron:x",
        "agent:main:hook:y",
        "",
        "a\nb",
        "agent:main",
        &"x".repeat(513),
    ] {
        let error = house
            .reply_in(&model, "x", key, &listener)
            .await
            .unwrap_err();
        assert!(matches!(error, TurnError::Key(_)), "{key:?}: {error}");
    }
    let error = house
        .reply_in(&model, "x", "agent:nobody:x", &listener)
        .await
        .unwrap_err();
    assert!(
        matches!(&error, TurnError::UnknownAgent { known, .. } if known.len() == 2),
        "{error}"
    );
    let error = house
        .agents
        .key(Some("main"), "agent:research:x")
        .err()
        .unwrap();
    assert!(matches!(error, TurnError::OtherAgent { .. }), "{error}");
    let (plan, key) = house.agents.key(Some("research"), "x").unwrap();
    assert_eq!(
        (plan.agent.id.as_str(), key.as_str()),
        ("research", "agent:research:x")
    );
    let error = house.reply(&model, " \n").await.unwrap_err();
    assert!(matches!(error, TurnError::Empty), "{error}");
    // Ten megabytes are more than this model holds.
    let large = "word ".repeat(2_000_000);
    let error = house.reply(&model, &large).await.unwrap_err();
    assert!(
        matches!(error, TurnError::Model(ModelError::TooLong { .. })),
        "{error}"
    );
    assert!(model.seen().is_empty());
    assert!(house.kept("main").await.is_empty());
    let roomy = Scripted::new([Step::Say("read")]).holding(10_000_000);
    assert_eq!(house.reply(&roomy, &large).await.unwrap().reply, "read");
    house.finish().await;
}

#[tokio::test]
async fn a_refusal_leaves_nothing_behind_that_is_read_again() {
    let house = House::new(&json!({}), &[]);
    let model = Scripted::new([Step::Refuse, Step::Say("hello")]);
    let error = house.reply(&model, "bad thing").await.unwrap_err();
    assert!(
        matches!(error, TurnError::Model(ModelError::Refused { .. })),
        "{error}"
    );
    assert_eq!(house.kept("main").await.len(), 1);
    house.reply(&model, "good thing").await.unwrap();
    assert_eq!(model.seen()[1].said_by_user(), ["good thing"]);
    house.finish().await;
}

#[tokio::test]
async fn an_answer_that_the_model_could_not_finish_says_so() {
    let house = House::new(&json!({}), &[]);
    let model = Scripted::new([Step::BreakOff("once upon"), Step::Say("the end")]);
    let broken_off = house.reply(&model, "a tale").await.unwrap();
    assert_eq!(
        (broken_off.reply.as_str(), broken_off.cut_off),
        ("once upon", true)
    );
    let finished = house.reply(&model, "go on").await.unwrap();
    assert!(!finished.cut_off);
    house.finish().await;
}

#[tokio::test]
async fn tools_that_leave_no_room_are_named() {
    let fake = fake("--tools 300");
    let mut config = one(&fake);
    config["tools"] = serde_json::json!({ "toolSearch": "off" });
    let house = House::new(&config, &[&fake]);
    let model = Scripted::new([]).holding(8_000);
    let error = house.reply(&model, "x").await.unwrap_err();
    let TurnError::Model(ModelError::TooLong { reason, .. }) = &error else {
        panic!("{error}");
    };
    assert!(reason.contains("tools take about"), "{reason}");
    assert!(
        model.seen().is_empty(),
        "nothing is asked, not even a summary"
    );
    house.finish().await;
}
