//! What single services and models want to have otherwise.

use std::sync::Arc;

use openclaw_content::note;
use openclaw_conversation::{
    AnswerPart, AssistantMessage, AssistantPart, Blob, CallArguments, Media, Message, ToolAnswer,
    ToolCall,
};
use openclaw_models::{ModelEvent, ToolSet, ToolSpec};
use serde_json::{Value, json};

use crate::house::{House, asking, said, service};
use crate::server::{Answer, Server};
use crate::streams::{Say, stream};

/// What a model would be sent.
fn written(config: &Value, model: &str, messages: &[Message], tools: &ToolSet) -> Value {
    let house = House::new(config, &[]);
    let request = asking(messages, tools);
    let bytes = house.models.written(model, &request).unwrap();
    serde_json::from_slice(&bytes).unwrap()
}

fn hello(config: &Value, model: &str) -> Value {
    written(config, model, &[said("hello")], &ToolSet::none())
}

/// A conversation in which a tool was called, answered, and a person goes on.
fn called(name: &str, parts: Vec<AnswerPart>, is_error: bool) -> Vec<Message> {
    vec![
        said("hello"),
        Message::Assistant(AssistantMessage {
            parts: vec![AssistantPart::ToolCall(ToolCall {
                id: "call_one".to_owned(),
                name: name.to_owned(),
                arguments: CallArguments::parse("{}"),
                opaque: None,
            })],
            ..AssistantMessage::default()
        }),
        Message::Tool(ToolAnswer {
            call: "call_one".to_owned(),
            name: name.to_owned(),
            server: None,
            parts,
            is_error,
            duration_ms: 1,
            called: None,
            found: Vec::new(),
        }),
    ]
}

fn many_tools(count: usize) -> ToolSet {
    let tools = (0..count).map(|number| ToolSpec {
        name: format!("mcp_{number:03}"),
        description: note("what a tool does", &[]),
        parameters: json!({ "type": "object" }).as_object().unwrap().clone(),
    });
    ToolSet::new(tools.collect(), |schema, _| Ok(schema.clone()))
}

#[test]
fn only_models_that_think_are_asked_for_what_they_thought() {
    for (model, expected) in [
        ("openai/gpt-5", json!(["reasoning.encrypted_content"])),
        ("openai/o3-mini", json!(["reasoning.encrypted_content"])),
        (
            "openai/codex-mini-latest",
            json!(["reasoning.encrypted_content"]),
        ),
        ("openai/gpt-4.1", Value::Null),
        ("openai/gpt-4o", Value::Null),
    ] {
        assert_eq!(hello(&json!({}), model)["include"], expected, "{model}");
    }
}

#[test]
fn mistral_is_not_asked_what_an_answer_costs() {
    let body = hello(&json!({}), "mistral/mistral-large-latest");
    assert_eq!(body.get("stream_options"), None);
    let body = hello(&json!({}), "groq/llama-3.3-70b-versatile");
    assert_eq!(body["stream_options"]["include_usage"], true);
}

#[test]
fn with_mistral_no_person_speaks_right_after_a_tool() {
    let mut messages = called("mcp_one", vec![], false);
    messages.push(said("go on"));
    let roles = |model: &str| -> Vec<String> {
        let body = written(&json!({}), model, &messages, &ToolSet::none());
        let messages = body["messages"].as_array().unwrap();
        let roles = messages.iter().map(|it| it["role"].as_str().unwrap());
        roles.map(str::to_owned).collect()
    };
    let expected = ["system", "user", "assistant", "tool", "assistant", "user"];
    assert_eq!(roles("mistral/mistral-large-latest"), expected);
    let expected = ["system", "user", "assistant", "tool", "user"];
    assert_eq!(roles("groq/llama-3.3-70b-versatile"), expected);
}

#[test]
fn the_limit_on_tokens_has_the_name_that_host_and_model_know() {
    let config = |base: &str, model: &str| {
        let models = json!([{ "id": model, "maxTokens": 100 }]);
        let api = "openai-completions";
        json!({ "models": { "providers": { "it": { "baseUrl": base, "api": api, "models": models } } } })
    };
    for (base, model, name) in [
        (
            "https://api.openai.com/v1",
            "gpt-4o",
            "max_completion_tokens",
        ),
        (
            "https://x.openai.azure.com/openai/v1",
            "mine",
            "max_completion_tokens",
        ),
        (
            "https://proxy.example.com/v1",
            "openai/gpt-5-mini",
            "max_completion_tokens",
        ),
        (
            "https://proxy.example.com/v1",
            "o4-mini",
            "max_completion_tokens",
        ),
        ("https://proxy.example.com/v1", "llama", "max_tokens"),
    ] {
        let body = hello(&config(base, model), &format!("it/{model}"));
        assert_eq!(body[name], 100, "{base} {model}: {body}");
    }
}

#[test]
fn openai_gets_no_more_tools_than_it_takes_and_those_that_were_used() {
    let tools = many_tools(130);
    let chat = json!({ "models": { "providers": {
        "azure": { "baseUrl": "https://x.openai.azure.com/openai/v1", "api": "openai-completions" },
    } } });
    for (config, model, pointer) in [
        (json!({}), "openai/gpt-5", "/name"),
        (chat, "azure/mine", "/function/name"),
    ] {
        let names = |messages: &[Message]| -> Vec<String> {
            let body = written(&config, model, messages, &tools);
            let tools = body["tools"].as_array().unwrap().iter();
            let names = tools.map(|tool| tool.pointer(pointer).unwrap().as_str().unwrap());
            names.map(str::to_owned).collect()
        };
        let first = names(&[said("hello")]);
        assert_eq!(first.len(), 128);
        assert_eq!(first.last().unwrap(), "mcp_127");
        let used = names(&called("mcp_129", vec![], false));
        assert_eq!(used.len(), 128);
        assert_eq!(used[..127], first[..127]);
        assert_eq!(used[127], "mcp_129");
    }
    let body = written(&json!({}), "anthropic/claude", &[said("hello")], &tools);
    assert_eq!(body["tools"].as_array().unwrap().len(), 130);
}

#[tokio::test]
async fn people_hear_once_that_tools_are_left_out() {
    // Without a key nothing is sent; what is heard comes before.
    let config = json!({
        "agents": { "defaults": { "model": "openai/gpt-4o" } },
        "models": { "providers": { "openai": { "apiKey": "secret://env/NOT_THERE" } } },
    });
    let house = House::new(&config, &[]);
    let model = house.model().await.unwrap();
    assert_eq!(
        model.facts().most_tools,
        Some(128),
        "so that agents know it"
    );
    let mut heard = Vec::new();
    let (messages, tools) = ([said("hello")], many_tools(130));
    for _ in 0..2 {
        let mut hear = |event| heard.push(event);
        let reply = model.reply(asking(&messages, &tools), &mut hear).await;
        assert_eq!(reply.unwrap_err().code(), "no-model-key");
    }
    let text = "openai/gpt-4o does not take so many tools: 2 of 130 are left out".to_owned();
    assert_eq!(heard, [ModelEvent::Notice { text }]);
}

#[test]
fn the_answer_of_a_failed_tool_is_text_for_anthropic_and_images_follow() {
    let image = AnswerPart::Media(Media {
        mime_type: "image/png".to_owned(),
        name: None,
        bytes: 4,
        blob: Blob::Here(Arc::from("aW1n")),
        text: None,
    });
    let body = |parts: Vec<AnswerPart>, is_error: bool| {
        let messages = called("mcp_one", parts, is_error);
        let body = written(&json!({}), "anthropic/claude", &messages, &ToolSet::none());
        body["messages"][2]["content"].clone()
    };
    let content = body(vec![image.clone()], true);
    assert_eq!(content[0]["is_error"], true);
    assert_eq!(content[0]["content"].as_array().unwrap().len(), 1);
    assert_eq!(content[0]["content"][0]["type"], "text");
    assert_eq!(content[1]["type"], "text");
    assert_eq!(content[2]["type"], "image");
    let content = body(vec![], true);
    assert_eq!(content[0]["content"][0]["type"], "text");
    let content = body(vec![image], false);
    assert_eq!(content[0]["content"][0]["type"], "image");
    assert_eq!(content.as_array().unwrap().len(), 1);
}

#[test]
fn calls_without_signatures_are_marked_for_all_but_the_older_models_of_google() {
    let messages = called("mcp_one", vec![], false);
    for (model, expected) in [
        ("gemini-2.5-flash", false),
        ("gemini-1.5-pro", false),
        ("models/gemini-2.0-flash", false),
        ("gemini-3-pro-preview", true),
        ("gemini-flash-latest", true),
    ] {
        let model = format!("google/{model}");
        let body = written(&json!({}), &model, &messages, &ToolSet::none());
        let signature = &body["contents"][1]["parts"][0]["thoughtSignature"];
        assert_eq!(signature.is_string(), expected, "{model}: {body}");
    }
}

#[tokio::test]
async fn names_of_google_may_have_their_list_before_them() {
    let api = "google-generative-ai";
    let server = Server::start([Answer::stream(&stream(api, &[]))]);
    let mut config = service(api, &server.origin(), &json!({}));
    config["agents"]["defaults"]["model"] = json!("test/models/m");
    House::new(&config, &[]).hello().await.unwrap();
    let expected = "POST /v1beta/models/m:streamGenerateContent?alt=sse";
    assert_eq!(server.asked()[0].line, expected);
}

#[tokio::test]
async fn a_service_that_refuses_stream_options_is_asked_without_them_from_then_on() {
    let detail = json!([{ "type": "extra_forbidden", "loc": ["body", "stream_options"],
        "msg": "Extra inputs are not permitted", "input": {} }]);
    let refusal = json!({ "object": "error", "message": { "detail": detail } });
    let server = Server::start([
        Answer::status(422, &refusal.to_string()),
        Answer::stream(&stream("openai-completions", &[Say::Text("yes")])),
    ]);
    let house = House::with_service("openai-completions", &server.origin());
    assert_eq!(house.hello().await.unwrap().message.text(), "yes");
    house.hello().await.unwrap();
    let asked = server.asked();
    let has_options = asked
        .iter()
        .map(|it| it.body.get("stream_options").is_some());
    assert_eq!(has_options.collect::<Vec<_>>(), [true, false, false]);
    let server = Server::start([Answer::status(400, "stream_options are not for you")]);
    let house = House::with_service("openai-completions", &server.origin());
    let error = house.hello().await.unwrap_err();
    assert_eq!(error.code(), "model-refused");
    assert_eq!(server.asked().len(), 2, "once more, not for ever");
}

/// A conversation in which a model of this provider thought.
async fn thought(house: &House) -> Vec<Message> {
    let first = house.hello().await.unwrap();
    vec![said("hello"), Message::Assistant(first.message), said("on")]
}

#[tokio::test]
async fn what_cannot_be_opened_is_left_out_the_second_time() {
    let refusal = json!({ "error": { "type": "invalid_request_error",
        "code": "invalid_encrypted_content", "message": "it could not be verified" } });
    let says = [Say::Thought("hm"), Say::Text("yes")];
    let server = Server::start([
        Answer::stream(&stream("openai-responses", &says)),
        Answer::status(400, &refusal.to_string()),
        Answer::stream(&stream("openai-responses", &says)),
    ]);
    let house = House::with_service("openai-responses", &server.origin());
    let messages = thought(&house).await;
    let (reply, _) = house.ask(&messages, &ToolSet::none()).await;
    assert_eq!(reply.unwrap().message.text(), "yes");
    let asked = server.asked();
    assert!(asked[1].body.to_string().contains("c2ln"));
    assert!(!asked[2].body.to_string().contains("c2ln"));
}

#[tokio::test]
async fn what_one_account_has_sealed_another_never_gets() {
    for api in [
        "openai-responses",
        "anthropic-messages",
        "google-generative-ai",
    ] {
        let says = [Say::Thought("hm"), Say::Text("yes")];
        let server = Server::start([Answer::stream(&stream(api, &says))]);
        let mut config = service(api, &server.origin(), &json!({}));
        let provider = config["models"]["providers"]["test"].clone();
        config["models"]["providers"]["other"] = provider;
        let house = House::new(&config, &[]);
        let messages = thought(&house).await;
        let other = house.models.chosen(house.agent(), Some("other/m")).await;
        let tools = ToolSet::none();
        let request = asking(&messages, &tools);
        other.unwrap().reply(request, &mut |_| {}).await.unwrap();
        house.ask(&messages, &tools).await.0.unwrap();
        let asked = server.asked();
        assert!(!asked[1].body.to_string().contains("c2ln"), "{api}");
        assert!(asked[2].body.to_string().contains("c2ln"), "{api}");
    }
}
