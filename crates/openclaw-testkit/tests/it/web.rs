//! Requests of a client that does nothing by itself: one connection each, no redirects.

use serde_json::{Value, json};
use url::Url;

use crate::http_client::Connection;

/// An answer that was read to its end.
#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) status: u16,
    headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answered {
    pub(crate) fn json(&self) -> Value {
        let text = String::from_utf8_lossy(&self.body);
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("no JSON: {text}"))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// A parameter of the address that a browser is sent to.
    pub(crate) fn brought(&self, name: &str) -> Option<String> {
        let address = Url::parse(self.header("location")?).unwrap();
        let mut pairs = address.query_pairs();
        let found = pairs.find(|(known, _)| known == name);
        found.map(|(_, value)| value.into_owned())
    }

    /// The error of an endpoint for programs.
    pub(crate) fn error(&self) -> String {
        format!(
            "{}: {}",
            self.status,
            self.json()["error"].as_str().unwrap()
        )
    }
}

pub(crate) fn send(method: &str, address: &str, headers: &[(&str, &str)], body: &str) -> Answered {
    let address = Url::parse(address).unwrap();
    let host = format!(
        "{}:{}",
        address.host_str().unwrap(),
        address.port().unwrap()
    );
    let target = &address[url::Position::BeforePath..url::Position::AfterQuery];
    let mut connection = Connection::to_host(&host);
    let mut reply = connection.send(method, target, headers, body).unwrap();
    let names = [
        "location",
        "www-authenticate",
        "content-type",
        "retry-after",
    ];
    let headers = names.into_iter();
    let headers = headers.filter_map(|name| Some((name, reply.header(name)?.to_owned())));
    Answered {
        status: reply.status,
        headers: headers.collect(),
        body: reply.bytes().unwrap(),
    }
}

pub(crate) fn get(address: &str) -> Answered {
    send("GET", address, &[], "")
}

pub(crate) fn encoded(pairs: &[(&str, &str)]) -> String {
    url::form_urlencoded::Serializer::new(String::new())
        .extend_pairs(pairs)
        .finish()
}

pub(crate) fn post_form(
    address: &str,
    headers: &[(&str, &str)],
    form: &[(&str, &str)],
) -> Answered {
    let mut all = vec![("content-type", "application/x-www-form-urlencoded")];
    all.extend(headers);
    send("POST", address, &all, &encoded(form))
}

pub(crate) fn post_json(address: &str, body: &Value) -> Answered {
    let headers = [("content-type", "application/json")];
    send("POST", address, &headers, &body.to_string())
}

/// Calls a method of the MCP server.
pub(crate) fn ask(address: &str, token: Option<&str>, method: &str, params: &Value) -> Answered {
    let bearer = token.map(|token| format!("Bearer {token}"));
    let mut headers = vec![
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", "2025-11-25"),
    ];
    headers.extend(bearer.as_ref().map(|it| ("authorization", it.as_str())));
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    send("POST", address, &headers, &message.to_string())
}
