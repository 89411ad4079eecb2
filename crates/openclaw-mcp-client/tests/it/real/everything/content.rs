//! What the server has, and what its tools give.

use openclaw_mcp_client::{CompletionTarget, Connection, Content, Embedded, RequestError};
use serde_json::{Map, Value, json};

use super::{WAYS, connect};
use crate::lab::{call, close, object};
use crate::real::partners::RealLab;

/// Its tools for a client that can ask a person, but has neither roots nor a model.
const TOOLS: [&str; 14] = [
    "echo",
    "get-annotated-message",
    "get-env",
    "get-resource-links",
    "get-resource-reference",
    "get-structured-content",
    "get-sum",
    "get-tiny-image",
    "gzip-file-as-resource",
    "toggle-simulated-logging",
    "toggle-subscriber-updates",
    "trigger-long-running-operation",
    "trigger-elicitation-request",
    "trigger-url-elicitation",
];
const PROMPTS: [&str; 4] = [
    "simple-prompt",
    "args-prompt",
    "completable-prompt",
    "resource-prompt",
];
const TEMPLATES: [&str; 2] = [
    "demo://resource/dynamic/text/{resourceId}",
    "demo://resource/dynamic/blob/{resourceId}",
];
const DOCUMENTS: usize = 7;

async fn content(connection: &Connection, tool: &str, arguments: Value) -> Vec<Content> {
    let result = call(connection, tool, arguments).await.unwrap();
    assert!(!result.is_error && result.missing.is_empty(), "{result:?}");
    result.content
}

#[tokio::test]
async fn everything_is_listed_and_nothing_dropped_that_can_be_used() {
    let mut lab = RealLab::new();
    for way in WAYS {
        let connection = connect(&mut lab, way).await;
        let tools = connection.list_tools().await.unwrap();
        assert_eq!((tools.dropped.len(), tools.truncated), (1, None));
        assert!(tools.dropped[0].reason.contains("as a task"));
        let names: Vec<_> = tools.items.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, TOOLS, "{way:?}");
        for tool in &tools.items {
            assert_eq!(tool.input_schema["type"], json!("object"), "{}", tool.name);
            assert!(tool.description.is_some() && tool.title.is_some());
        }
        let echo = &tools.items[0];
        assert_eq!(echo.input_schema["required"], json!(["message"]));
        assert_eq!(echo.annotations.read_only, Some(true));
        let resources = connection.list_resources().await.unwrap();
        assert!(resources.dropped.is_empty() && resources.items.len() == DOCUMENTS);
        let templates = connection.list_resource_templates().await.unwrap();
        let patterns = templates.items.iter().map(|it| it.uri_template.as_str());
        assert!(templates.dropped.is_empty());
        assert_eq!(patterns.collect::<Vec<_>>(), TEMPLATES, "{way:?}");
        let prompts = connection.list_prompts().await.unwrap();
        let names = prompts.items.iter().map(|it| it.name.as_str());
        assert!(prompts.dropped.is_empty());
        assert_eq!(names.collect::<Vec<_>>(), PROMPTS, "{way:?}");
        close(connection).await;
    }
    lab.finish().await;
}

#[tokio::test]
async fn resources_are_read_and_prompts_filled_in() {
    let mut lab = RealLab::new();
    for way in WAYS {
        let connection = connect(&mut lab, way).await;
        for resource in connection.list_resources().await.unwrap().items {
            let read = connection.read_resource(&resource.uri, None).await.unwrap();
            let [document] = &read.contents[..] else {
                panic!("{way:?}: {read:?}")
            };
            assert_eq!(document.uri, resource.uri);
            assert_eq!(document.mime_type.as_deref(), Some("text/markdown"));
            assert!(document.text.as_ref().is_some_and(|it| it.len() > 100));
        }
        for (uri, is_text) in [
            ("demo://resource/dynamic/text/7", true),
            ("demo://resource/dynamic/blob/7", false),
        ] {
            let read = connection.read_resource(uri, None).await.unwrap();
            let [part] = &read.contents[..] else {
                panic!("{way:?}: {read:?}")
            };
            assert_eq!(
                (part.text.is_some(), part.blob.is_some()),
                (is_text, !is_text)
            );
        }
        let missing = connection.read_resource("demo://nowhere", None).await;
        let missing = missing.unwrap_err();
        assert!(
            matches!(missing, RequestError::Refused(_)),
            "{way:?}: {missing}"
        );

        let arguments = object(json!({"city": "Jena", "state": "Thuringia"}));
        let filled = connection.get_prompt("args-prompt", arguments, None).await;
        let filled = filled.unwrap();
        assert_eq!((filled.messages.len(), filled.missing), (1, 0));
        assert!(
            matches!(&filled.messages[0].content, Content::Text { text, .. } if text.contains("Jena, Thuringia"))
        );
        let arguments = object(json!({"resourceType": "Blob", "resourceId": "3"}));
        let filled = connection.get_prompt("resource-prompt", arguments, None);
        let filled = filled.await.unwrap();
        assert!(
            matches!(&filled.messages[1].content, Content::Resource(it) if it.blob.is_some()),
            "{way:?}: {filled:?}"
        );
        let incomplete = connection.get_prompt("args-prompt", Map::new(), None).await;
        assert!(
            matches!(incomplete, Err(RequestError::Refused(_))),
            "{way:?}"
        );
        close(connection).await;
    }
    lab.finish().await;
}

#[tokio::test]
async fn arguments_are_completed() {
    let mut lab = RealLab::new();
    for way in WAYS {
        let connection = connect(&mut lab, way).await;
        let prompt = CompletionTarget::Prompt("completable-prompt".to_owned());
        let departments = connection.complete(&prompt, "department", "S", Map::new());
        let departments = departments.await.unwrap();
        assert_eq!(departments.values, ["Sales", "Support"], "{way:?}");
        assert_eq!((departments.total, departments.has_more), (Some(2), false));
        // What else was filled in narrows the choice.
        for (department, expected) in [("Sales", "David"), ("Engineering", "Alice")] {
            let others = object(json!({ "department": department }));
            let names = connection.complete(&prompt, "name", "", others).await;
            assert_eq!(names.unwrap().values[0], expected, "{way:?}");
        }
        let template = CompletionTarget::Template(TEMPLATES[0].to_owned());
        let numbers = connection.complete(&template, "resourceId", "12", Map::new());
        assert_eq!(numbers.await.unwrap().values, ["12"], "{way:?}");
        close(connection).await;
    }
    lab.finish().await;
}

#[tokio::test]
async fn every_kind_of_content_arrives() {
    let mut lab = RealLab::new();
    for way in WAYS {
        let connection = connect(&mut lab, way).await;
        let image = content(&connection, "get-tiny-image", json!({})).await;
        assert!(
            matches!(
                &image[..],
                [Content::Text { .. }, Content::Image { data, mime_type, .. }, Content::Text { .. }]
                    if data.starts_with("iVBORw0KGgo") && mime_type == "image/png"
            ),
            "{way:?}"
        );

        let arguments = json!({"messageType": "error", "includeImage": true});
        let annotated = content(&connection, "get-annotated-message", arguments).await;
        let [
            Content::Text { annotations, .. },
            Content::Image {
                annotations: of_image,
                ..
            },
        ] = &annotated[..]
        else {
            panic!("{way:?}: {annotated:?}")
        };
        let expected = json!({"priority": 1, "audience": ["user", "assistant"]});
        assert_eq!(annotations.as_ref(), Some(&expected));
        assert_eq!(of_image.as_ref().unwrap()["priority"], json!(0.5));

        let links = content(&connection, "get-resource-links", json!({"count": 4})).await;
        let links: Vec<_> = links
            .iter()
            .filter_map(|part| match part {
                Content::Link { uri, name, .. } => Some((uri.as_str(), name.as_str())),
                _ => None,
            })
            .collect();
        assert_eq!(links.len(), 4, "{way:?}");
        assert_eq!(
            links[1],
            ("demo://resource/dynamic/text/2", "Text Resource 2")
        );
        let read = connection.read_resource(links[1].0, None).await.unwrap();
        assert!(
            read.contents[0]
                .text
                .as_ref()
                .unwrap()
                .contains("Resource 2")
        );

        for (kind, is_text) in [("Text", true), ("Blob", false)] {
            let arguments = json!({"resourceType": kind, "resourceId": 5});
            let parts = content(&connection, "get-resource-reference", arguments).await;
            let [
                _,
                Content::Resource(Embedded {
                    uri, text, blob, ..
                }),
                _,
            ] = &parts[..]
            else {
                panic!("{way:?}: {parts:?}")
            };
            assert!(uri.ends_with("/5"), "{way:?}: {uri}");
            assert_eq!((text.is_some(), blob.is_some()), (is_text, !is_text));
        }
        close(connection).await;
    }
    lab.finish().await;
}

#[tokio::test]
async fn structured_content_is_as_the_schema_says() {
    let mut lab = RealLab::new();
    for way in WAYS {
        let connection = connect(&mut lab, way).await;
        let name = "get-structured-content";
        let tools = connection.list_tools().await.unwrap().items;
        let tool = tools.into_iter().find(|tool| tool.name == name).unwrap();
        let schema = tool.output_schema.unwrap();
        assert_eq!(schema["properties"]["humidity"]["type"], json!("number"));
        let arguments = json!({"location": "Chicago"});
        let result = call(&connection, name, arguments).await.unwrap();
        let expected =
            json!({"temperature": 36, "conditions": "Light rain / drizzle", "humidity": 82});
        assert_eq!(result.structured, Some(expected), "{way:?}");
        // Arguments that are not as the schema says are the tool's matter.
        let wrong = call(&connection, name, json!({"location": "Jena"})).await;
        let wrong = wrong.unwrap();
        assert!(
            wrong.is_error && wrong.structured.is_none(),
            "{way:?}: {wrong:?}"
        );
        close(connection).await;
    }
    lab.finish().await;
}
