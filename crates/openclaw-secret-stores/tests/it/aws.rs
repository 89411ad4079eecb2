//! AWS Secrets Manager, played by a stand-in.

mod answers;
mod credentials;
mod crowd;
mod kept;
mod metadata;
mod refusals;
mod roles;

use openclaw_testkit::stand_in::{Answer, Asked, StandIn};
use serde_json::{Value, json};

use crate::house::House;

/// What the example keys of AWS's documentation look like.
const KEY_ID: &str = "AKIAIOSFODNN7EXAMPLE";
const SECRET_KEY: &str = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
const REGION: &str = "eu-west-1";

/// A Secrets Manager that has one secret, whatever its name.
fn keeper(secret: &'static str) -> StandIn {
    service(move |_| answer(secret))
}

fn service(respond: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> StandIn {
    StandIn::start(respond).unwrap()
}

fn answer(secret: &str) -> Answer {
    json_1_1(200, &json!({ "Name": "x", "SecretString": secret }))
}

fn refusal(status: u16, code: &str, message: &str) -> Answer {
    json_1_1(status, &json!({ "__type": code, "Message": message }))
}

fn json_1_1(status: u16, body: &Value) -> Answer {
    Answer::bytes(status, "application/x-amz-json-1.1", body.to_string())
}

/// A machine that asks this service, with a region and without an instance around it.
fn machine(service: &StandIn, variables: &[(&str, &str)]) -> House {
    House::new(&with_service(service, variables))
}

fn with_service<'v>(
    service: &StandIn,
    variables: &[(&'v str, &'v str)],
) -> Vec<(&'v str, &'v str)> {
    let origin: &'static str = service.origin().leak();
    let mut all = vec![
        ("AWS_ENDPOINT_URL_SECRETS_MANAGER", origin),
        ("AWS_REGION", REGION),
        ("AWS_EC2_METADATA_DISABLED", "true"),
    ];
    all.extend(variables);
    all
}

/// The same, with keys in variables.
fn machine_with_keys(service: &StandIn) -> House {
    machine(
        service,
        &[
            ("AWS_ACCESS_KEY_ID", KEY_ID),
            ("AWS_SECRET_ACCESS_KEY", SECRET_KEY),
        ],
    )
}

/// The key that a request is signed with, and the scope of the signature.
fn signer(asked: &Asked) -> String {
    let authorization = asked.header("authorization").unwrap();
    let (_, rest) = authorization.split_once("Credential=").unwrap();
    rest.split_once(',').unwrap().0.to_owned()
}

/// The key alone.
fn key_id(asked: &Asked) -> String {
    signer(asked).split('/').next().unwrap().to_owned()
}

fn question(asked: &Asked) -> Value {
    serde_json::from_slice(&asked.body).unwrap()
}
