//! What services are asked, byte by byte.

use std::sync::Arc;

use openclaw_content::note;
use openclaw_conversation::{
    AnswerPart, AssistantMessage, AssistantPart, Blob, BlobId, CallArguments, Media, Message,
    Opaque, ToolAnswer, ToolCall, UserPart,
};
use openclaw_models::{ToolSet, ToolSpec};
use serde_json::{Value, json};

use crate::house::{House, KEY, said};
use crate::server::{Answer, Server};
use crate::streams::{APIS, Say, stream};

fn tools() -> ToolSet {
    let tool = |name: &str, parameters: Value| ToolSpec {
        name: name.to_owned(),
        description: note("what a tool does", &[]),
        parameters: parameters.as_object().unwrap().clone(),
    };
    let schema = json!({ "type": "object", "properties": { "path": { "type": "string" } } });
    let bad = json!({ "bad": true });
    ToolSet::new(
        vec![
            tool("mcp_bad", bad),
            tool("mcp_one", schema.clone()),
            tool("mcp_two", schema),
        ],
        |schema, dialect| {
            if schema.contains_key("bad") {
                return Err("bad".to_owned());
            }
            let mut schema = schema.clone();
            schema.insert("x-for".to_owned(), json!(format!("{dialect:?}")));
            Ok(schema)
        },
    )
}

fn image(mime_type: &str) -> Media {
    Media {
        mime_type: mime_type.to_owned(),
        name: None,
        bytes: 4,
        blob: Blob::Here(Arc::from("aW1n")),
        text: None,
    }
}

fn call(id: &str, name: &str, arguments: &str, opaque: Option<Opaque>) -> AssistantPart {
    AssistantPart::ToolCall(ToolCall {
        id: id.to_owned(),
        name: name.to_owned(),
        arguments: CallArguments::parse(arguments),
        opaque,
    })
}

fn answer(call: &str, name: &str, parts: Vec<AnswerPart>, is_error: bool) -> Message {
    Message::Tool(ToolAnswer {
        call: call.to_owned(),
        name: name.to_owned(),
        server: None,
        parts,
        is_error,
        duration_ms: 1,
        called: None,
        found: Vec::new(),
    })
}

fn text(text: &'static str) -> AnswerPart {
    AnswerPart::Text {
        text: note(text, &[]),
    }
}

/// A conversation in which everything occurs, also what should not.
fn conversation(api: &str) -> Vec<Message> {
    let own = |data: Value| {
        Some(Opaque {
            owner: format!("{api}:test@127.0.0.1:m"),
            data,
        })
    };
    let data = match api {
        "anthropic-messages" => json!({ "signature": "c2ln" }),
        "openai-completions" => json!({ "field": "reasoning_content" }),
        "openai-responses" => {
            json!({ "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2ln" })
        }
        _ => json!({ "thoughtSignature": "c2ln" }),
    };
    vec![
        Message::Summary {
            text: note("What was said before.", &[]),
            tools: Vec::new(),
        },
        Message::User {
            parts: vec![
                UserPart::Text {
                    text: "Look at this".to_owned(),
                },
                UserPart::Text {
                    text: "  \n".to_owned(),
                },
                UserPart::Media(image("image/png")),
                UserPart::Media(image("application/pdf")),
                UserPart::Media(Media {
                    blob: Blob::Kept(BlobId(Arc::from("abc"))),
                    text: None,
                    name: Some("a.png".to_owned()),
                    ..image("image/png")
                }),
            ],
        },
        Message::Assistant(AssistantMessage {
            parts: vec![
                AssistantPart::Reasoning {
                    text: "another model's thought".to_owned(),
                    opaque: Some(Opaque {
                        owner: "other:m".to_owned(),
                        data: json!({}),
                    }),
                },
                AssistantPart::Text {
                    text: "I see.".to_owned(),
                },
            ],
            model: "other/m".to_owned(),
            usage: None,
        }),
        // Nobody asked for it.
        answer("call_none", "mcp_none", vec![text("an orphan")], false),
        said("Go on"),
        Message::Assistant(AssistantMessage {
            parts: vec![
                AssistantPart::Reasoning {
                    text: "my thought".to_owned(),
                    opaque: own(data.clone()),
                },
                AssistantPart::Text {
                    text: String::new(),
                },
                call("call 1/a", "mcp_one", r#"{"path":"/tmp"}"#, own(data)),
                call("call_2", "foo bar!", r#"{"path":"#, None),
                call("call_3", "mcp_two", "{}", None),
            ],
            model: "test/m".to_owned(),
            usage: None,
        }),
        answer(
            "call_2",
            "foo bar!",
            vec![text("there is no such tool")],
            true,
        ),
        answer(
            "call 1/a",
            "mcp_one",
            vec![
                text("an image follows"),
                AnswerPart::Media(image("image/jpg")),
            ],
            false,
        ),
    ]
}

#[tokio::test]
async fn a_whole_conversation_is_written_as_each_service_wants_it() {
    for api in APIS {
        let server = Server::start([Answer::stream(&stream(api, &[Say::Text("x")]))]);
        let house = House::with_service(api, &server.origin());
        let (reply, _) = house.ask(&conversation(api), &tools()).await;
        reply.unwrap();
        let asked = server.asked().remove(0);
        let body = serde_json::to_string_pretty(&asked.body).unwrap();
        insta::assert_snapshot!(api, format!("{}\n{body}", asked.line));
    }
}

#[tokio::test]
async fn the_key_is_in_the_header_of_the_service_and_nowhere_else() {
    for (api, header, value) in [
        ("anthropic-messages", "x-api-key", KEY.to_owned()),
        (
            "openai-completions",
            "authorization",
            format!("Bearer {KEY}"),
        ),
        ("openai-responses", "authorization", format!("Bearer {KEY}")),
        ("google-generative-ai", "x-goog-api-key", KEY.to_owned()),
        ("ollama", "authorization", format!("Bearer {KEY}")),
    ] {
        let server = Server::start([Answer::stream(&stream(api, &[]))]);
        let house = House::with_service(api, &server.origin());
        house.hello().await.unwrap();
        let asked = server.asked().remove(0);
        assert_eq!(asked.header(header), Some(value.as_str()), "{api}");
        assert!(!asked.line.contains(KEY));
        let others = asked.headers.iter().filter(|(name, _)| name != header);
        assert!(others.into_iter().all(|(_, value)| !value.contains(KEY)));
        assert_eq!(asked.header("content-type"), Some("application/json"));
    }
}

#[tokio::test]
async fn what_a_service_wants_to_have_back_it_gets_back() {
    for api in [
        "anthropic-messages",
        "openai-completions",
        "openai-responses",
        "google-generative-ai",
    ] {
        let says = [Say::Thought("hm"), Say::Call("call_a", "mcp_one", "{}")];
        let server = Server::start([Answer::stream(&stream(api, &says))]);
        let house = House::with_service(api, &server.origin());
        let first = house.hello().await.unwrap();
        let messages = [said("hello"), Message::Assistant(first.message)];
        let (second, _) = house.ask(&messages, &ToolSet::none()).await;
        second.unwrap();
        let body = server.asked()[1].body.to_string();
        let sign = if api == "openai-completions" {
            "\"reasoning_content\":\"hm\""
        } else {
            "c2ln"
        };
        assert!(body.contains(sign), "{api}: {body}");
        assert!(body.contains("was not answered"), "{api}: {body}");
    }
}

#[tokio::test]
async fn a_model_that_takes_no_images_is_told_what_there_was() {
    for api in APIS {
        let server = Server::start([Answer::stream(&stream(api, &[]))]);
        let models = json!([{ "id": "m", "input": ["text"] }]);
        let config = crate::house::service(api, &server.origin(), &json!({ "models": models }));
        let house = House::new(&config, &[]);
        let (reply, _) = house.ask(&conversation(api), &ToolSet::none()).await;
        reply.unwrap();
        let body = server.asked()[0].body.to_string();
        assert!(!body.contains("aW1n"), "{api}: {body}");
        assert!(
            body.contains("type image/png with 4 bytes"),
            "{api}: {body}"
        );
    }
}

#[tokio::test]
async fn calls_of_the_past_are_taken_where_there_are_no_tools_any_longer() {
    let server = Server::start([Answer::stream(&stream("anthropic-messages", &[]))]);
    let house = House::with_service("anthropic-messages", &server.origin());
    let conversation = conversation("anthropic-messages");
    let (reply, _) = house.ask(&conversation, &ToolSet::none()).await;
    reply.unwrap();
    let body = &server.asked()[0].body;
    assert_eq!(body["tools"][0]["name"], "none");
    assert_eq!(body["tool_choice"]["type"], "none");
    let (reply, _) = house.ask(&[said("hello")], &ToolSet::none()).await;
    reply.unwrap();
    assert!(server.asked()[1].body.get("tools").is_none());
}
