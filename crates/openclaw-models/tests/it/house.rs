//! Models on a machine that a test makes up.

use std::path::Path;
use std::sync::Arc;

use openclaw_config::{Agent, Config, Environment, Location, load};
use openclaw_conversation::{Message, UserPart};
use openclaw_models::{
    Model, ModelError, ModelEvent, ModelReply, ModelRequest, Models, ModelsSetup, SystemPrompt,
    ToolSet,
};
use openclaw_process::{GuardianProgram, Launcher};
use openclaw_secret_stores::{SecretResolver, Surroundings};
use openclaw_secrets::Redactor;
use serde_json::{Value, json};

/// The key of the service in tests.
pub(crate) const KEY: &str = "key-of-the-tests-0123456789abcdef";

pub(crate) struct House {
    _directory: tempfile::TempDir,
    pub(crate) config: Arc<Config>,
    pub(crate) models: Models,
}

impl House {
    pub(crate) fn new(text: &Value, variables: &[(&str, &str)]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        Self::at(directory, text, variables)
    }

    pub(crate) fn at(
        directory: tempfile::TempDir,
        text: &Value,
        variables: &[(&str, &str)],
    ) -> Self {
        let path: &Path = directory.path();
        let location = Location {
            config: path.join("openclaw.json"),
            state: path.join("state"),
            profile: None,
            named: true,
        };
        std::fs::write(&location.config, text.to_string()).unwrap();
        let mut environment = Environment::new([("OLLAMA_HOST", "off")], Some(path), path);
        for (name, value) in variables {
            environment = environment.with(name, value);
        }
        let loaded = load(&location, &environment);
        let report = loaded.report.render(false);
        let config = loaded.config.unwrap_or_else(|| panic!("{report}"));
        let config = Arc::new(config);
        let models = models(&config).asked_once();
        Self {
            _directory: directory,
            config,
            models,
        }
    }

    /// The same house, whose models are asked again.
    pub(crate) fn patient(mut self) -> Self {
        self.models = models(&self.config);
        self
    }

    /// A house with one service of this protocol.
    pub(crate) fn with_service(api: &str, origin: &str) -> Self {
        Self::new(&service(api, origin, &json!({})), &[])
    }

    pub(crate) fn agent(&self) -> &Agent {
        &self.config.agents[&self.config.default_agent]
    }

    pub(crate) async fn model(&self) -> Result<Arc<dyn Model>, ModelError> {
        self.models.chosen(self.agent(), None).await
    }

    /// Says hello to the model.
    pub(crate) async fn hello(&self) -> Result<ModelReply, ModelError> {
        let model = self.model().await?;
        let messages = [said("hello")];
        let tools = ToolSet::none();
        model.reply(asking(&messages, &tools), &mut |_| {}).await
    }

    /// Asks the model, and says what was heard.
    pub(crate) async fn ask(
        &self,
        messages: &[Message],
        tools: &ToolSet,
    ) -> (Result<ModelReply, ModelError>, Vec<ModelEvent>) {
        let model = self.model().await.unwrap();
        let mut heard = Vec::new();
        let reply = model
            .reply(asking(messages, tools), &mut |event| heard.push(event))
            .await;
        (reply, heard)
    }
}

fn models(config: &Arc<Config>) -> Models {
    Models::new(ModelsSetup {
        config: Arc::clone(config),
        resolver: resolver(config),
        redactor: Redactor::new(),
    })
}

/// What gets secrets with the variables of a configuration.
pub(crate) fn resolver(config: &Config) -> Arc<SecretResolver> {
    Arc::new(SecretResolver::new(Surroundings {
        environment: Arc::clone(&config.environment),
        launcher: Arc::new(Launcher::new(GuardianProgram::at(Path::new("/nowhere")))),
        redactor: Redactor::new(),
    }))
}

/// A configuration with one service, whose model is chosen.
pub(crate) fn service(api: &str, origin: &str, more: &Value) -> Value {
    let base = match api {
        "anthropic-messages" | "ollama" => origin.to_owned(),
        "google-generative-ai" => format!("{origin}/v1beta"),
        _ => format!("{origin}/v1"),
    };
    let mut provider = json!({
        "baseUrl": base,
        "api": api,
        "apiKey": KEY,
        "models": [{ "id": "m", "contextWindow": 50_000, "maxTokens": 1000, "input": ["text", "image"] }],
    });
    for (name, value) in more.as_object().unwrap() {
        provider[name] = value.clone();
    }
    json!({
        "agents": { "defaults": { "model": "test/m" } },
        "models": { "providers": { "test": provider } },
    })
}

pub(crate) fn said(text: &str) -> Message {
    Message::User {
        parts: vec![UserPart::Text {
            text: text.to_owned(),
        }],
    }
}

pub(crate) fn asking<'a>(messages: &'a [Message], tools: &'a ToolSet) -> ModelRequest<'a> {
    ModelRequest {
        system: SystemPrompt {
            stable: "You are a test.",
            current: "It is noon.",
        },
        messages,
        tools,
        max_tokens: None,
    }
}
