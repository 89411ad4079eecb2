//! What the server asks during calls.

use std::sync::Arc;

use openclaw_mcp_client::{
    CallOptions, Connection, Content, Elicitation, ElicitationAnswer, Outcome, RequestError,
    ToolResult,
};
use serde_json::{Value, json};

use super::{WAYS, connect, start};
use crate::lab::{Somebody, call, close, object, text};
use crate::real::partners::RealLab;

/// The error by which a server says that a person has to visit an address first.
const VISIT_NEEDED: i64 = -32042;

async fn call_for(
    somebody: &Arc<Somebody>,
    connection: &Connection,
    tool: &str,
    arguments: Value,
) -> Result<ToolResult, RequestError> {
    let options = CallOptions {
        person: Some(somebody.clone()),
        ..CallOptions::default()
    };
    connection.call_tool(tool, object(arguments), options).await
}

/// All texts of a result.
fn texts(result: &ToolResult) -> String {
    let text = |part: &Content| match part {
        Content::Text { text, .. } => format!("{text}\n"),
        other => panic!("not a text: {other:?}"),
    };
    result.content.iter().map(text).collect()
}

#[tokio::test]
async fn a_person_fills_in_a_form() {
    let mut lab = RealLab::new();
    let tool = "trigger-elicitation-request";
    for way in WAYS {
        let connection = connect(&mut lab, way).await;
        let filled = object(json!({"name": "Ada", "integer": 7, "check": true}));
        let somebody = Somebody::who(ElicitationAnswer::Accept(Some(filled)));
        let result = call_for(&somebody, &connection, tool, json!({})).await;
        let told = texts(&result.unwrap());
        for expected in [
            "- Name: Ada",
            "- Favorite Integer: 7",
            "- Agreed to terms: true",
        ] {
            assert!(told.contains(expected), "{way:?}: {told}");
        }
        let asked = somebody.asked.lock().unwrap().clone();
        let [Elicitation::Form { message, schema }] = &asked[..] else {
            panic!("{way:?}: {asked:?}")
        };
        assert!(message.starts_with("Please provide inputs"));
        assert_eq!(schema["required"], json!(["name"]));
        assert_eq!(schema["properties"]["integer"]["default"], json!(42));

        let nobody = call(&connection, tool, json!({})).await.unwrap();
        assert!(texts(&nobody).contains("User declined"), "{way:?}");
        let somebody = Somebody::who(ElicitationAnswer::Cancel);
        let result = call_for(&somebody, &connection, tool, json!({})).await;
        assert!(
            texts(&result.unwrap()).contains("User cancelled"),
            "{way:?}"
        );
        close(connection).await;
    }
    lab.finish().await;
}

#[tokio::test]
async fn a_person_visits_an_address() {
    let mut lab = RealLab::new();
    let tool = "trigger-url-elicitation";
    for way in WAYS {
        let connection = connect(&mut lab, way).await;
        let arguments = json!({
            "url": "https://example.com/visit",
            "message": "Have a look",
            "elicitationId": "visit-1",
        });
        let somebody = Somebody::who(ElicitationAnswer::Accept(None));
        let result = call_for(&somebody, &connection, tool, arguments.clone()).await;
        assert!(
            texts(&result.unwrap()).contains("User completed"),
            "{way:?}"
        );
        let expected = Elicitation::Visit {
            message: "Have a look".to_owned(),
            url: "https://example.com/visit".to_owned(),
            id: "visit-1".to_owned(),
        };
        assert_eq!(*somebody.asked.lock().unwrap(), [expected], "{way:?}");
        let nobody = call(&connection, tool, arguments).await.unwrap();
        assert!(texts(&nobody).contains("User declined"), "{way:?}");
        close(connection).await;
    }
    lab.finish().await;
}

#[tokio::test]
async fn a_call_that_needs_a_visit_first_was_not_done() {
    let mut lab = RealLab::new();
    let tool = "trigger-url-elicitation";
    for way in WAYS {
        let connection = connect(&mut lab, way).await;
        let arguments = json!({"url": "https://example.com/visit", "errorPath": true});
        let error = call(&connection, tool, arguments.clone())
            .await
            .unwrap_err();
        assert_eq!(error.outcome(), Outcome::NotDone);
        let RequestError::Refused(refusal) = &error else {
            panic!("{way:?}: {error}")
        };
        assert_eq!(refusal.code, VISIT_NEEDED, "{way:?}");
        let wanted = &refusal.data.as_ref().unwrap()["elicitations"][0];
        assert_eq!(wanted["url"], json!("https://modelcontextprotocol.io"));
        // The second time it takes the visit for granted.
        let again = call(&connection, tool, arguments).await.unwrap();
        assert!(texts(&again).contains("User declined"), "{way:?}");
        close(connection).await;
    }
    lab.finish().await;
}

#[tokio::test]
async fn roots_are_told_where_there_are_some() {
    let mut lab = RealLab::new();
    let tool = "get-roots-list";
    for way in WAYS {
        let mut target = start(&mut lab, way).await;
        let connection = lab.connect(&target).await;
        let tools = connection.list_tools().await.unwrap().items;
        assert!(!tools.iter().any(|it| it.name == tool), "{way:?}");
        close(connection).await;
        let roots = ["file:///data", "file:///a%20b"].map(|root| root.parse().unwrap());
        target.roots = Some(roots.to_vec());
        let connection = lab.connect(&target).await;
        let tools = connection.list_tools().await.unwrap().items;
        assert!(tools.iter().any(|it| it.name == tool), "{way:?}");
        let told = call(&connection, tool, json!({})).await.unwrap();
        for root in ["URI: file:///data\n", "URI: file:///a%20b"] {
            assert!(text(&told).contains(root), "{way:?}: {told:?}");
        }
        close(connection).await;
    }
    lab.finish().await;
}

#[tokio::test]
async fn tools_that_need_a_model_or_tasks_are_not_for_us() {
    let mut lab = RealLab::new();
    for way in WAYS {
        let connection = connect(&mut lab, way).await;
        for (tool, arguments, reason) in [
            (
                "trigger-sampling-request",
                json!({"prompt": "hello"}),
                "not found",
            ),
            (
                "simulate-research-query",
                json!({"topic": "tea"}),
                "requires task augmentation",
            ),
        ] {
            let result = call(&connection, tool, arguments).await.unwrap();
            assert!(result.is_error, "{way:?}: {result:?}");
            assert!(text(&result).contains(reason), "{way:?}: {result:?}");
        }
        close(connection).await;
    }
    lab.finish().await;
}
