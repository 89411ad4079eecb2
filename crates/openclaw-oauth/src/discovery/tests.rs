use std::sync::{Arc, Mutex};

use openclaw_testkit::stand_in::{Answer, Asked, StandIn};
use serde_json::{Value as Json, json};

use super::*;
use crate::error::Remedy;
use crate::resource::Grant;
use crate::testing::{not_found, resource, url};

mod good;
mod hostile;

type Answers = dyn Fn(&Asked) -> Option<Answer> + Send + Sync;

/// A server and an authorization server, each with the answers that a test gives it, and with
/// nothing anywhere else.
struct World {
    server: StandIn,
    authorization: StandIn,
    at_server: Arc<Mutex<Box<Answers>>>,
    at_authorization: Arc<Mutex<Box<Answers>>>,
}

impl World {
    fn new() -> Self {
        let (at_server, server) = stand_in();
        let (at_authorization, authorization) = stand_in();
        Self {
            server,
            authorization,
            at_server,
            at_authorization,
        }
    }

    fn server_answers(&self, answers: impl Fn(&Asked) -> Option<Answer> + Send + Sync + 'static) {
        *self.at_server.lock().unwrap() = Box::new(answers);
    }

    fn authorization_answers(
        &self,
        answers: impl Fn(&Asked) -> Option<Answer> + Send + Sync + 'static,
    ) {
        *self.at_authorization.lock().unwrap() = Box::new(answers);
    }

    /// The server describes itself at a path.
    fn describes(&self, path: &'static str, description: Json) {
        self.server_answers(move |asked| answer_at(asked, path, &description));
    }

    /// The authorization server has metadata at a path.
    fn offers(&self, path: &'static str, metadata: Json) {
        self.authorization_answers(move |asked| answer_at(asked, path, &metadata));
    }

    fn address(&self) -> String {
        format!("{}/v1/mcp", self.server.origin())
    }

    fn description(&self) -> Json {
        json!({
            "resource": self.address(),
            "authorization_servers": [self.authorization.origin()],
        })
    }

    fn metadata(&self) -> Json {
        metadata(&self.authorization.origin())
    }

    fn resource(&self) -> Resource {
        resource(&self.address())
    }

    async fn discover(&self) -> Result<Discovered, OAuthError> {
        self.discover_for(&self.resource(), &Challenge::default())
            .await
    }

    async fn discover_for(
        &self,
        resource: &Resource,
        challenge: &Challenge,
    ) -> Result<Discovered, OAuthError> {
        let asking = Asking::new(resource).unwrap();
        discover(&asking, resource, challenge).await
    }

    fn asked_server(&self) -> Vec<String> {
        paths(&self.server)
    }

    fn asked_authorization(&self) -> Vec<String> {
        paths(&self.authorization)
    }
}

fn stand_in() -> (Arc<Mutex<Box<Answers>>>, StandIn) {
    let answers: Arc<Mutex<Box<Answers>>> = Arc::new(Mutex::new(Box::new(|_| None)));
    let own = Arc::clone(&answers);
    let server = StandIn::start(move |asked| {
        let answer = own.lock().unwrap()(asked);
        answer.unwrap_or_else(not_found)
    });
    (answers, server.unwrap())
}

fn answer_at(asked: &Asked, path: &str, document: &Json) -> Option<Answer> {
    (asked.path == path).then(|| Answer::json(200, document))
}

fn paths(server: &StandIn) -> Vec<String> {
    let asked = server.asked().into_iter();
    asked.map(|asked| asked.path).collect()
}

fn metadata(issuer: &str) -> Json {
    json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{issuer}/authorize"),
        "token_endpoint": format!("{issuer}/token"),
        "code_challenge_methods_supported": ["plain", "S256"],
    })
}

/// The same document with other fields.
fn with(mut document: Json, fields: &Json) -> Json {
    let fields = fields.as_object().unwrap().clone();
    document.as_object_mut().unwrap().extend(fields);
    document
}

fn named(place: &str) -> Challenge {
    Challenge {
        resource_metadata: Some(url(place)),
        ..Challenge::default()
    }
}

const BY_PATH: &str = "/.well-known/oauth-protected-resource/v1/mcp";
const BY_ROOT: &str = "/.well-known/oauth-protected-resource";
const OAUTH: &str = "/.well-known/oauth-authorization-server";
const OPENID: &str = "/.well-known/openid-configuration";
