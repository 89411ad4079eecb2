//! Which model is meant, and where its key is.

use openclaw_models::{ModelCredentials, ModelError};
use serde_json::{Value, json};

use crate::house::{House, KEY, service};
use crate::server::{Answer, Server};
use crate::streams::{Say, stream};

async fn wanted(house: &House, name: &str) -> Result<String, ModelError> {
    let model = house.models.chosen(house.agent(), Some(name)).await?;
    Ok(model.name().to_owned())
}

fn shown(error: &ModelError) -> String {
    format!(
        "{}: {error} ({})",
        error.code(),
        error.hint().unwrap_or_default()
    )
}

#[tokio::test]
async fn names_that_mean_nothing_are_answered_with_what_may_be_meant() {
    let config = json!({ "models": { "providers": {
        "lab": { "baseUrl": "http://127.0.0.1:1/v1", "models": [{ "id": "small" }] },
        "nowhere": { "apiKey": "a-key-that-is-long-enough" },
        "odd": { "baseUrl": "http://127.0.0.1:1", "api": "soap" },
        "open": { "baseUrl": "http://192.0.2.1:1/v1", "apiKey": "a-key-that-is-long-enough" },
    } } });
    let house = House::new(&config, &[]);
    let mut lines = Vec::new();
    for name in [
        "claude-sonnet-4-5",
        "small",
        "offline",
        "",
        "/x",
        "anthropic/",
        "antropic/claude",
        "zzz/model",
        "nowhere/m",
        "odd/m",
        "open/m",
        "anthropic/claude",
        "builtin/nothing",
    ] {
        let error = wanted(&house, name).await.unwrap_err();
        lines.push(format!("{name:?} → {}", shown(&error)));
    }
    insta::assert_snapshot!(lines.join("\n"));
}

#[tokio::test]
async fn a_broken_provider_says_why() {
    let config = json!({ "models": { "providers": {
        "lab": { "baseUrl": "http://127.0.0.1:1/v1", "apiKey": "${NOT_SET_ANYWHERE}" },
    } } });
    let house = House::new(&config, &[]);
    let error = wanted(&house, "lab/m").await.unwrap_err();
    assert_eq!(error.code(), "model-misconfigured");
    assert!(error.to_string().contains("NOT_SET_ANYWHERE"), "{error}");
}

#[tokio::test]
async fn models_of_services_may_have_slashes() {
    let house = House::new(&json!({}), &[("OPENROUTER_API_KEY", KEY)]);
    let name = "openrouter/meta-llama/llama-3.3-70b";
    assert_eq!(wanted(&house, name).await.unwrap(), name);
}

#[tokio::test]
async fn without_a_choice_the_first_that_can_be_used_is_taken() {
    let lab = json!({ "models": { "providers": {
        "groq": { "models": [{ "id": "big" }] },
        "lab": { "baseUrl": "http://127.0.0.1:1/v1", "models": [{ "id": "small" }, { "id": "other" }] },
    } } });
    let nothing = json!({});
    for (config, variables, expected) in [
        (&lab, &[("ANTHROPIC_API_KEY", KEY)][..], "lab/small"),
        (
            &nothing,
            &[("GROQ_API_KEY", KEY), ("GOOGLE_API_KEY", KEY)],
            "google/gemini-2.5-flash",
        ),
        (
            &nothing,
            &[("OPENAI_API_KEY", KEY), ("ANTHROPIC_API_KEY", " ")],
            "openai/gpt-5",
        ),
    ] {
        let house = House::new(config, variables);
        let model = house.model().await.unwrap();
        assert_eq!(model.name(), expected);
    }
}

#[tokio::test]
async fn ollama_is_found_where_it_runs() {
    let tags = json!({ "models": [{ "name": "qwen3:8b" }, { "name": "other" }] }).to_string();
    let server = Server::start([Answer::status(200, &tags)]);
    let origin = server.origin();
    let host = origin.trim_start_matches("http://");
    let house = House::new(&json!({}), &[("OLLAMA_HOST", host)]);
    assert_eq!(house.model().await.unwrap().name(), "ollama/qwen3:8b");
    assert_eq!(house.model().await.unwrap().name(), "ollama/qwen3:8b");
    let asked = server.asked();
    assert_eq!(asked.len(), 1, "what it said holds for a while");
    assert_eq!(asked[0].line, "GET /api/tags");
}

#[tokio::test]
async fn people_write_addresses_with_and_without_their_versions() {
    for (api, path, expected) in [
        ("ollama", "/v1", "POST /api/chat"),
        ("ollama", "/", "POST /api/chat"),
        ("anthropic-messages", "/v1/", "POST /v1/messages"),
        ("anthropic-messages", "/proxy", "POST /proxy/v1/messages"),
        (
            "google-generative-ai",
            "",
            "POST /v1beta/models/m:streamGenerateContent?alt=sse",
        ),
        ("openai-completions", "/v1/", "POST /v1/chat/completions"),
    ] {
        let server = Server::start([Answer::stream(&stream(api, &[]))]);
        let base = format!("{}{path}", server.origin());
        let config = service(api, "", &json!({ "baseUrl": base }));
        House::new(&config, &[]).hello().await.unwrap();
        assert_eq!(server.asked()[0].line, expected);
    }
}

#[tokio::test]
async fn openai_elsewhere_speaks_what_is_compatible() {
    let server = Server::start([Answer::stream(&stream("openai-completions", &[]))]);
    let base = format!("{}/v1", server.origin());
    let config = json!({
        "agents": { "defaults": { "model": "openai/m" } },
        "models": { "providers": { "openai": { "baseUrl": base } } },
    });
    let house = House::new(&config, &[("OPENAI_API_KEY", KEY)]);
    house.hello().await.unwrap();
    let asked = server.asked().remove(0);
    assert_eq!(asked.line, "POST /v1/chat/completions");
    assert_eq!(
        asked.header("authorization"),
        Some(&*format!("Bearer {KEY}"))
    );
}

#[tokio::test]
async fn keys_and_headers_come_from_where_they_are_kept_and_are_fetched_anew_when_refused() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("key");
    std::fs::write(&file, "old-key-0123456789").unwrap();
    let answers = [
        Answer::stream(&stream("openai-completions", &[])),
        Answer::status(401, "no"),
        Answer::stream(&stream("openai-completions", &[Say::Text("yes")])),
        Answer::status(401, "no"),
    ];
    let server = Server::start(answers);
    let reference = format!("secret://file/{}", file.display());
    let more = json!({ "apiKey": reference, "headers": { "X-Team": "secret://env/TEAM" } });
    let config = service("openai-completions", &server.origin(), &more);
    let house = House::at(directory, &config, &[("TEAM", "team-0123456789")]);
    house.hello().await.unwrap();
    std::fs::write(&file, "new-key-0123456789").unwrap();
    assert_eq!(house.hello().await.unwrap().message.text(), "yes");
    let error = house.hello().await.unwrap_err();
    assert_eq!(error.code(), "model-key-refused");
    let keys: Vec<String> = server
        .asked()
        .iter()
        .map(|asked| {
            assert_eq!(asked.header("x-team"), Some("team-0123456789"));
            asked
                .header("authorization")
                .unwrap()
                .replace("-0123456789", "")
        })
        .collect();
    let expected = ["old-key", "old-key", "new-key", "new-key"];
    assert_eq!(keys, expected.map(|key| format!("Bearer {key}")));
}

#[tokio::test]
async fn a_key_that_its_store_does_not_have_is_said_to_be_missing() {
    let server = Server::start([Answer::status(200, "")]);
    let more = json!({ "apiKey": "secret://env/NOT_THERE" });
    let house = House::new(&service("ollama", &server.origin(), &more), &[]);
    let error = house.hello().await.unwrap_err();
    assert_eq!(error.code(), "no-model-key", "{error}");
    assert!(server.asked().is_empty());
}

fn with_fallbacks(server: &Server, fallbacks: &Value) -> Value {
    let mut config = service("openai-completions", &server.origin(), &json!({}));
    config["agents"]["defaults"]["model"] = json!({ "primary": "test/m", "fallbacks": fallbacks });
    config
}

#[tokio::test]
async fn another_model_answers_when_the_first_can_not() {
    let answers = [
        Answer::status(503, "down"),
        Answer::stream(&stream("openai-completions", &[Say::Text("second")])),
    ];
    let server = Server::start(answers);
    let fallbacks = json!(["nobody/x", "test/other"]);
    let house = House::new(&with_fallbacks(&server, &fallbacks), &[]);
    let reply = house.hello().await.unwrap();
    assert_eq!(reply.message.text(), "second");
    assert_eq!(reply.message.model, "test/other");
    assert_eq!(house.model().await.unwrap().name(), "test/m");
}

#[tokio::test]
async fn how_models_are_is_told_without_and_with_asking() {
    let list = json!({ "data": [{ "id": "m" }] }).to_string();
    let server = Server::start([Answer::status(200, &list)]);
    let fallbacks = json!(["anthropic/claude", "nobody/x"]);
    let house = House::new(&with_fallbacks(&server, &fallbacks), &[]);
    let standings = house.models.standing(house.agent(), false).await;
    let shown: Vec<(&str, bool, ModelCredentials, Option<&str>)> = standings
        .iter()
        .map(|it| {
            (
                it.name.as_str(),
                it.is_fallback,
                it.credentials,
                it.error.as_ref().map(ModelError::code),
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            ("test/m", false, ModelCredentials::Present, None),
            (
                "anthropic/claude",
                true,
                ModelCredentials::Missing,
                Some("no-model-key")
            ),
            (
                "nobody/x",
                true,
                ModelCredentials::Missing,
                Some("unknown-model")
            ),
        ]
    );
    assert!(server.asked().is_empty());
    let standings = house.models.standing(house.agent(), true).await;
    assert_eq!(standings[0].error, None);
    assert_eq!(server.asked()[0].line, "GET /v1/models");
    server.answer(Answer::status(401, "no"));
    let standings = house.models.standing(house.agent(), true).await;
    let code = standings[0].error.as_ref().map(ModelError::code);
    assert_eq!(code, Some("model-key-refused"));
}
