//! Lists, resources, prompts, completion, and hearing of changes.

use std::time::Duration;

use openclaw_mcp_client::{CompletionTarget, Content, Truncation};
use serde_json::{Map, json};
use tokio::time::{Instant, timeout};

use crate::lab::{Lab, SOON, WAYS, call, close, echo, eventually, object};

#[tokio::test]
async fn everything_a_server_offers_is_read_in_pages() {
    let mut lab = Lab::new();
    for way in WAYS {
        let (target, _) = lab.server_of(&format!("{way} --page-size 3 --tools 10"));
        let connection = lab.connect(&target).await;
        let tools = connection.list_tools().await.unwrap();
        assert!(tools.items.len() > 20 && tools.truncated.is_none(), "{way}");
        assert!(tools.dropped.is_empty(), "{way}: {:?}", tools.dropped);
        let add = tools.items.iter().find(|tool| tool.name == "add").unwrap();
        assert!(add.output_schema.is_some());
        let resources = connection.list_resources().await.unwrap().items;
        let templates = connection.list_resource_templates().await.unwrap().items;
        let prompts = connection.list_prompts().await.unwrap().items;
        assert!(
            !resources.is_empty() && !templates.is_empty() && !prompts.is_empty(),
            "{way}"
        );
        for resource in &resources {
            let contents = connection.read_resource(&resource.uri, None).await.unwrap();
            assert!(
                !contents.contents.is_empty() && contents.missing == 0,
                "{way}"
            );
        }
        for prompt in &prompts {
            let arguments: Map<_, _> = prompt
                .arguments
                .iter()
                .map(|argument| (argument.name.clone(), json!("value")))
                .collect();
            let filled = connection
                .get_prompt(&prompt.name, arguments, None)
                .await
                .unwrap();
            assert!(!filled.messages.is_empty(), "{way}");
        }
        close(connection).await;
    }
    lab.finish().await;
}

#[tokio::test]
async fn arguments_are_completed() {
    let mut lab = Lab::new();
    for way in WAYS {
        let (target, _) = lab.server_of(way);
        let connection = lab.connect(&target).await;
        let prompt = CompletionTarget::Prompt("greeting".to_owned());
        let others = object(json!({"name": "Ada"}));
        let completed = connection
            .complete(&prompt, "style", "f", others)
            .await
            .unwrap();
        assert_eq!(completed.values, ["formal", "friendly", "funny"], "{way}");
        let template = connection
            .list_resource_templates()
            .await
            .unwrap()
            .items
            .remove(0);
        let template = CompletionTarget::Template(template.uri_template);
        let completed = connection
            .complete(&template, "number", "", Map::new())
            .await
            .unwrap();
        assert!(completed.values.len() == 100 && completed.has_more, "{way}");
        assert_eq!(completed.total, Some(250), "{way}");
        close(connection).await;
    }
    lab.finish().await;
}

#[tokio::test]
async fn every_kind_of_content_arrives() {
    let mut lab = Lab::new();
    for way in WAYS {
        let (target, _) = lab.server_of(way);
        let connection = lab.connect(&target).await;
        let content = call(&connection, "mixed", json!({})).await.unwrap().content;
        let has = |like: fn(&Content) -> bool| content.iter().any(like);
        assert!(has(|it| matches!(it, Content::Text { .. })), "{way}");
        assert!(has(|it| matches!(it, Content::Image { .. })), "{way}");
        assert!(has(|it| matches!(it, Content::Audio { .. })), "{way}");
        assert!(has(|it| matches!(it, Content::Resource(_))), "{way}");
        assert!(has(|it| matches!(it, Content::Link { .. })), "{way}");
        assert!(has(|it| matches!(it, Content::Unknown(_))), "{way}");
        let sum = call(&connection, "add", json!({"a": 2, "b": 3}))
            .await
            .unwrap();
        assert!(sum.structured.is_some(), "{way}");
        let failed = call(&connection, "fail", json!({})).await.unwrap();
        assert!(failed.is_error, "{way}");
        close(connection).await;
    }
    lab.finish().await;
}

#[tokio::test]
async fn one_bad_item_costs_only_itself() {
    let mut lab = Lab::new();
    for way in WAYS {
        let (target, _) = lab.server_of(&format!("{way} --bad-tool"));
        let connection = lab.connect(&target).await;
        let tools = connection.list_tools().await.unwrap();
        assert!(tools.dropped.len() >= 4, "{way}: {:?}", tools.dropped);
        let reasons: Vec<_> = tools.dropped.iter().map(|it| it.reason.as_str()).collect();
        assert!(reasons.contains(&"it has no name"), "{way}: {reasons:?}");
        assert!(
            reasons.contains(&"`without_inputSchema` has no input schema"),
            "{reasons:?}"
        );
        assert!(tools.items.iter().any(|tool| tool.name == "echo"), "{way}");
        let resources = connection.list_resources().await.unwrap();
        assert!(
            !resources.items.is_empty() && !resources.dropped.is_empty(),
            "{way}"
        );
        let prompts = connection.list_prompts().await.unwrap();
        assert!(
            !prompts.items.is_empty() && !prompts.dropped.is_empty(),
            "{way}"
        );
        echo(&connection, "hello").await;
        close(connection).await;
    }
    lab.finish().await;
}

#[tokio::test]
async fn lists_without_end_are_cut() {
    let mut lab = Lab::new();
    for way in WAYS {
        let (target, _) = lab.server_of(&format!("{way} --repeat-cursor --page-size 2"));
        let connection = lab.connect(&target).await;
        let tools = connection.list_tools().await.unwrap();
        assert_eq!(tools.truncated, Some(Truncation::RepeatedPage), "{way}");
        assert!(!tools.items.is_empty());
        close(connection).await;
    }
    for way in ["stdio", "http"] {
        let (target, _) = lab.server_of(&format!("{way} --endless-pages --page-size 2"));
        let connection = lab.connect(&target).await;
        let tools = connection.list_tools().await.unwrap();
        assert_eq!(tools.truncated, Some(Truncation::Pages), "{way}");
        echo(&connection, "hello").await;
        close(connection).await;
    }
    lab.finish().await;
}

#[tokio::test]
async fn changes_are_heard_of() {
    let mut lab = Lab::new();
    for way in WAYS {
        let (target, journal) = lab.server_of(way);
        let connection = lab.connect(&target).await;
        let before = connection.list_tools().await.unwrap().items.len();
        if way.contains("modern") {
            // The subscription is made in the background.
            let is_listening = || {
                journal
                    .methods()
                    .iter()
                    .any(|it| it == "subscriptions/listen")
            };
            assert!(eventually(SOON, is_listening).await);
        }
        call(&connection, "change_tools", json!({})).await.unwrap();
        let changes = timeout(SOON, connection.changes()).await.expect(way);
        assert!(changes.tools, "{way}: {changes:?}");
        assert!(
            connection.list_tools().await.unwrap().items.len() > before,
            "{way}"
        );
        close(connection).await;
    }
    lab.finish().await;
}

#[tokio::test]
async fn resources_can_be_watched() {
    let mut lab = Lab::new();
    for way in WAYS {
        let (target, journal) = lab.server_of(way);
        let connection = lab.connect(&target).await;
        let uri = "test://changing".to_owned();
        connection.subscribe(&uri).await.unwrap();
        if way.contains("modern") {
            let asked = || {
                journal
                    .messages()
                    .iter()
                    .any(|it| it.to_string().contains(&uri))
            };
            assert!(eventually(SOON, asked).await);
        }
        call(&connection, "touch_resource", json!({}))
            .await
            .unwrap();
        let heard = async { while !connection.changes().await.updated.contains(&uri) {} };
        timeout(SOON, heard).await.expect(way);
        connection.unsubscribe(&uri).await.unwrap();
        close(connection).await;
    }
    lab.finish().await;
}

#[tokio::test]
async fn an_empty_cursor_ends_a_list_of_the_first_era() {
    let mut lab = Lab::new();
    for way in ["stdio --era legacy", "http --era legacy", "sse"] {
        let (target, _) = lab.server_of(&format!("{way} --empty-cursor --page-size 5"));
        let connection = lab.connect(&target).await;
        let tools = connection.list_tools().await.unwrap();
        let names: std::collections::BTreeSet<_> =
            tools.items.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(
            (names.len(), tools.truncated),
            (tools.items.len(), None),
            "{way}"
        );
        close(connection).await;
    }
    lab.finish().await;
}

#[tokio::test]
async fn a_subscription_that_the_server_ends_is_made_again() {
    let mut lab = Lab::new();
    for way in ["stdio --era modern", "http --era modern"] {
        let (target, journal) = lab.server_of(way);
        let connection = lab.connect(&target).await;
        let asked = || {
            let methods = journal.methods();
            methods
                .iter()
                .filter(|it| *it == "subscriptions/listen")
                .count()
        };
        assert!(eventually(SOON, || asked() == 1).await, "{way}");
        assert_eq!(connection.diagnostics().in_flight, 0, "nobody waits for it");
        call(&connection, "end_subscriptions", json!({}))
            .await
            .unwrap();
        assert!(eventually(SOON, || asked() >= 2).await, "{way}");
        // Something may have changed in between.
        assert!(timeout(SOON, connection.changes()).await.expect(way).tools);
        close(connection).await;
    }
    lab.finish().await;
}

#[tokio::test]
async fn a_server_that_does_not_tell_of_changes_is_not_said_to() {
    let mut lab = Lab::new();
    for way in ["stdio --era modern", "http --era modern"] {
        let (target, _) = lab.server_of(&format!("{way} --refuse-listen"));
        let connection = lab.connect(&target).await;
        let until = Instant::now() + SOON;
        while connection.subscribe("test://changing").await.is_ok() {
            assert!(Instant::now() < until, "{way}");
            echo(&connection, "meanwhile").await;
        }
        close(connection).await;
    }
    lab.finish().await;
}

#[tokio::test]
async fn a_thousand_announcements_in_a_second_are_a_few_changes() {
    let mut lab = Lab::new();
    for way in WAYS {
        let (target, _) = lab.server_of(&format!("{way} --list-changed-storm 1000"));
        let connection = lab.connect(&target).await;
        connection.list_tools().await.unwrap();
        let until = Instant::now() + Duration::from_secs(2);
        let mut changes = 0;
        while tokio::time::timeout_at(until, connection.changes())
            .await
            .is_ok()
        {
            changes += 1;
            // Calls go on meanwhile.
            echo(&connection, "hello").await;
        }
        assert!((2..=5).contains(&changes), "{way}: {changes}");
        close(connection).await;
    }
    lab.finish().await;
}
