//! What tests may ask and change while the program runs.

use hyper::Method;
use serde_json::{Value as Json, json};

use super::options::Options;
use super::world::World;
use crate::stand_in::{Answer, Asked};

/// What stands before all of it.
pub(super) const BELOW: &str = "/control/";

impl World {
    /// Answers a test.
    pub(super) fn control(&mut self, what: &str, asked: &Asked) -> Answer {
        let done = json!({});
        match (&asked.method, what) {
            (&Method::GET, "counters") => Answer::json(200, &self.counters().to_json()),
            (&Method::GET, "requests") => {
                let requests = self.asked.iter().map(described);
                Answer::json(200, &requests.collect())
            }
            (&Method::POST, "revoke-access") => {
                self.grants.revoke_all_access();
                Answer::json(200, &done)
            }
            (&Method::POST, "revoke-all") => {
                self.grants.revoke_all();
                Answer::json(200, &done)
            }
            (&Method::POST, "forget-clients") => {
                self.forget_clients();
                Answer::json(200, &done)
            }
            (&Method::POST, "flags") => {
                let body: Json = serde_json::from_slice(&asked.body).unwrap_or_default();
                let flags = body["flags"].as_str();
                let options = flags.map(Options::read);
                let changed = match options {
                    None => Err("the body is not {\"flags\": \"…\"}".to_owned()),
                    Some(Err(error)) => Err(error.to_string()),
                    Some(Ok(options)) => self.change(options).map_err(|error| error.to_string()),
                };
                match changed {
                    Ok(()) => Answer::json(200, &done),
                    Err(words) => Answer::json(400, &json!({ "error": words })),
                }
            }
            _ => Answer::json(404, &json!({ "error": "there is nothing here" })),
        }
    }
}

fn described(asked: &Asked) -> Json {
    let mut headers = json!({});
    for (name, value) in &asked.headers {
        headers[name.as_str()] = json!(String::from_utf8_lossy(value.as_bytes()));
    }
    json!({
        "method": asked.method.as_str(),
        "path": asked.path,
        "query": asked.query,
        "headers": headers,
        "body": String::from_utf8_lossy(&asked.body),
    })
}
