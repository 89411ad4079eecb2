//! Which provider is taken where nobody chooses, and how it is looked at.

use std::fs;
use std::sync::Arc;

use openclaw_models::{ModelCredentials, ModelError, ToolSet};
use serde_json::{Value, json};

use crate::house::{House, KEY, asking, resolver, said, service};
use crate::server::{Answer, Server};

/// A house in whose directory is a file with these variables, and in the user's another one.
fn house(config: &Value, here: &str, own: &str, variables: &[(&str, &str)]) -> House {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join(".env"), here).unwrap();
    fs::create_dir(directory.path().join("state")).unwrap();
    fs::write(directory.path().join("state/.env"), own).unwrap();
    House::at(directory, config, variables)
}

async fn chosen(house: &House) -> String {
    house.model().await.unwrap().name().to_owned()
}

#[tokio::test]
async fn a_file_of_the_current_directory_does_not_choose_a_provider() {
    let here = format!("ANTHROPIC_API_KEY={KEY}\nWORK_KEY={KEY}\n");
    let nothing = json!({});
    assert_eq!(
        chosen(&house(&nothing, &here, "", &[])).await,
        "builtin/offline"
    );
    let own = format!("GROQ_API_KEY={KEY}\n");
    let name = chosen(&house(&nothing, &here, &own, &[])).await;
    assert_eq!(name, "groq/llama-3.3-70b-versatile");
    let work = json!({ "models": { "providers": { "work": {
        "baseUrl": "https://models.example.com/v1", "apiKey": "${WORK_KEY}",
        "models": [{ "id": "m" }],
    } } } });
    assert_eq!(
        chosen(&house(&work, &here, "", &[])).await,
        "builtin/offline"
    );
    let own = format!("WORK_KEY={KEY}\n");
    assert_eq!(chosen(&house(&work, "", &own, &[])).await, "work/m");
}

#[tokio::test]
async fn a_key_of_the_current_directory_is_the_last_to_be_taken() {
    for (own, variables, expected) in [
        ("", &[][..], "key-of-this-directory"),
        (
            "GROQ_API_KEY=key-of-the-user-01\n",
            &[],
            "key-of-the-user-01",
        ),
        (
            "",
            &[("GROQ_API_KEY", "key-of-the-process")],
            "key-of-the-process",
        ),
    ] {
        let server = Server::start([Answer::status(503, "")]);
        let config = json!({
            "agents": { "defaults": { "model": "groq/m" } },
            "models": { "providers": { "groq": { "baseUrl": server.origin() } } },
        });
        let here = "GROQ_API_KEY=key-of-this-directory\n";
        house(&config, here, own, variables)
            .hello()
            .await
            .unwrap_err();
        let asked = server.asked().remove(0);
        let expected = format!("Bearer {expected}");
        assert_eq!(asked.header("authorization"), Some(expected.as_str()));
    }
}

#[tokio::test]
async fn an_ollama_that_may_not_be_asked_is_an_error_and_not_silence() {
    let house = House::new(&json!({}), &[("OLLAMA_HOST", "box.example.com")]);
    let error = house.model().await.err().unwrap();
    assert_eq!(error.code(), "model-misconfigured", "{error}");
    let standings = house.models.standing(house.agent(), false).await;
    assert_eq!(standings.len(), 1);
    assert_eq!(standings[0].error, Some(error));
    assert_eq!(standings[0].credentials, ModelCredentials::Missing);
}

#[tokio::test]
async fn models_of_ollama_that_only_make_embeddings_are_passed_over() {
    let model = |name: &str, family: &str| json!({ "name": name, "details": { "family": family, "families": [family] } });
    for (models, expected) in [
        (
            json!([
                model("all-minilm", "bert"),
                model("x", "nomic-bert"),
                model("qwen3", "qwen3")
            ]),
            "ollama/qwen3",
        ),
        (
            json!([{ "name": "mxbai-embed-large" }, { "name": "some" }, model("llama3", "llama")]),
            "ollama/llama3",
        ),
        (json!([{ "name": "some" }]), "ollama/some"),
        (json!([{ "name": "nomic-embed-text" }]), "builtin/offline"),
    ] {
        let body = json!({ "models": models }).to_string();
        let server = Server::start([Answer::status(200, &body)]);
        let origin = server.origin();
        let house = House::new(&json!({}), &[("OLLAMA_HOST", &origin)]);
        assert_eq!(chosen(&house).await, expected, "{body}");
    }
}

#[tokio::test]
async fn a_service_that_nobody_knows_needs_no_key() {
    let config = json!({ "models": { "providers": {
        "far": { "baseUrl": "https://models.example.com/v1", "models": [{ "id": "big" }] },
    } } });
    assert_eq!(chosen(&House::new(&config, &[])).await, "far/big");
}

#[tokio::test]
async fn a_service_without_a_list_is_not_said_to_lack_the_model() {
    for (status, expected) in [(404, None), (405, None), (401, Some("model-key-refused"))] {
        let server = Server::start([Answer::status(status, "")]);
        let house = House::with_service("openai-completions", &server.origin());
        let standings = house.models.standing(house.agent(), true).await;
        let code = standings[0].error.as_ref().map(ModelError::code);
        assert_eq!(code, expected, "{status}");
    }
}

#[tokio::test]
async fn the_last_model_that_can_be_used_is_the_one_that_is_waited_for() {
    let server = Server::start([Answer::status(503, "down").header("retry-after", "0")]);
    let mut config = service("openai-completions", &server.origin(), &json!({}));
    for (fallbacks, expected) in [(json!(["nobody/x"]), 4), (json!(["test/o", "nobody/x"]), 6)] {
        config["agents"]["defaults"]["model"] =
            json!({ "primary": "test/m", "fallbacks": fallbacks });
        let before = server.asked().len();
        let house = House::new(&config, &[]).patient();
        house.hello().await.unwrap_err();
        assert_eq!(server.asked().len() - before, expected);
    }
}

#[tokio::test]
async fn another_configuration_leads_elsewhere_and_models_that_were_chosen_stay() {
    let [first, second] = [0, 1].map(|_| Server::start([Answer::status(400, "no")]));
    let house = House::with_service("openai-completions", &first.origin());
    let chosen = house.model().await.unwrap();
    house.hello().await.unwrap_err();
    let other = House::with_service("openai-completions", &second.origin());
    let renewed = resolver(&other.config);
    house.models.renew(Arc::clone(&other.config), renewed);
    house.hello().await.unwrap_err();
    assert_eq!((first.asked().len(), second.asked().len()), (1, 1));
    let (messages, tools) = ([said("hello")], ToolSet::none());
    let late = chosen.reply(asking(&messages, &tools), &mut |_| {}).await;
    assert!(late.is_err());
    assert_eq!((first.asked().len(), second.asked().len()), (2, 1));
}
