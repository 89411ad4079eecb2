//! The routes with an engine, and what is asked of them without a connection in between.

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::response::Response;
use http::{HeaderMap, Request, StatusCode};
use http_body_util::BodyExt as _;
use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;
use openclaw_engine::Engine;
use serde_json::{Value, json};

use super::engine::Scripted;
use crate::chat::routes;
use crate::peer::Peer;

/// An answer, taken in.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: String,
}

impl Answer {
    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {}", self.body))
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|it| it.to_str().unwrap())
    }

    /// What stands in the events of a stream; comments are shown as such.
    pub(super) fn events(&self) -> Vec<Value> {
        assert_eq!(self.header("content-type"), Some("text/event-stream"));
        let events = self.body.split("\n\n").filter(|it| !it.is_empty());
        events
            .map(|event| match event.strip_prefix("data: ") {
                Some("[DONE]") => json!("[DONE]"),
                Some(data) => serde_json::from_str(data).unwrap(),
                None => panic!("no event: {event}"),
            })
            .collect()
    }

    /// The text of a stream.
    pub(super) fn streamed(&self) -> String {
        let events = self.events();
        let texts = events
            .iter()
            .filter_map(|it| it["choices"][0]["delta"]["content"].as_str());
        texts.collect()
    }
}

impl Scripted {
    pub(super) async fn send(&self, request: Request<Body>) -> Response {
        let engine: Arc<dyn Engine> = Arc::new(self.clone());
        let routes = routes().layer(Extension(Arc::new(Peer::alone())));
        let service = TowerToHyperService::new(routes.with_state(engine));
        service.call(request).await.unwrap()
    }

    pub(super) async fn answer(&self, request: Request<Body>) -> Answer {
        let (head, body) = self.send(request).await.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Answer {
            status: head.status,
            headers: head.headers,
            body: String::from_utf8(body.to_vec()).unwrap(),
        }
    }

    pub(super) async fn get(&self, path: &str) -> Answer {
        let request = Request::get(path).body(Body::empty()).unwrap();
        self.answer(request).await
    }

    pub(super) async fn post(&self, body: &Value) -> Answer {
        self.post_with(&[], body).await
    }

    pub(super) async fn post_with(&self, headers: &[(&str, &str)], body: &Value) -> Answer {
        self.answer(request(headers, body)).await
    }

    /// Says something, and wants the answer at once or as it comes.
    pub(super) async fn say(&self, message: &str, stream: bool) -> Answer {
        self.post(&saying(message, stream)).await
    }
}

pub(super) fn saying(message: &str, stream: bool) -> Value {
    let messages = json!([{ "role": "user", "content": message }]);
    json!({ "model": "openclaw", "messages": messages, "stream": stream })
}

pub(super) fn request(headers: &[(&str, &str)], body: &Value) -> Request<Body> {
    let mut request = Request::post("/v1/chat/completions");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(Body::from(body.to_string())).unwrap()
}
