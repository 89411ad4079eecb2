//! AWS: against moto's server, and our signature against botocore's.

use std::io::Write as _;
use std::process::Stdio;

use openclaw_secret_stores::{SecretError, SecretErrorKind};
use openclaw_testkit::stand_in::{Answer, Asked, StandIn};
use serde_json::{Map, Value, json};

use super::partners::{Server, python, script};
use crate::house::House;

const KEY_ID: &str = "AKIAIOSFODNN7EXAMPLE";
const SECRET_KEY: &str = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
const TOKEN: &str = "FwoGZXIvYXdzEXAMPLE+TOKEN/of/a/session==";

/// Runs a script, gives it this, and returns what it says.
fn run(name: &str, argument: Option<&str>, input: &str) -> String {
    let mut child = python()
        .arg(script(name))
        .args(argument)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{name} failed: {}", output.status);
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// A Secrets Manager that others wrote, with secrets in it that others put there.
struct Moto {
    _server: Server,
    known: Value,
    house: House,
}

impl Moto {
    fn start() -> Self {
        let server = Server::start("moto_server.py");
        let known = run("aws_secrets.py", Some(&server.origin), "");
        let house = House::new(&[
            ("AWS_ENDPOINT_URL", &server.origin),
            ("AWS_REGION", "eu-west-1"),
            ("AWS_ACCESS_KEY_ID", KEY_ID),
            ("AWS_SECRET_ACCESS_KEY", SECRET_KEY),
        ]);
        Self {
            _server: server,
            known: serde_json::from_str(&known).unwrap(),
            house,
        }
    }

    fn known(&self, name: &str) -> &str {
        self.known[name].as_str().unwrap()
    }

    async fn get(&self, rest: &str) -> Result<String, SecretError> {
        self.house.get(&format!("secret://aws/{rest}")).await
    }
}

#[tokio::test]
async fn secrets_versions_stages_and_fields_are_had_from_moto() {
    let moto = Moto::start();
    let first = format!("prod/text#{}", moto.known("first"));
    let newer = format!("prod/text#{}", moto.known("newer"));
    for (rest, secret) in [
        ("prod/text", "the-newer-text-of-moto"),
        (moto.known("arn"), "the-newer-text-of-moto"),
        ("prod/text#AWSCURRENT", "the-newer-text-of-moto"),
        ("prod/text#AWSPREVIOUS", "the-first-text-of-moto"),
        ("prod/text#blue", "the-blue-text-of-moto"),
        (&first, "the-first-text-of-moto"),
        (&newer, "the-newer-text-of-moto"),
        ("prod/json?key=password", "the-password-of-moto"),
        ("prod/json#AWSCURRENT?key=user", "admin"),
        ("prod/binary", "the-binary-text-of-moto"),
        (moto.known("elsewhere"), "the-text-elsewhere"),
    ] {
        assert_eq!(moto.get(rest).await.as_deref(), Ok(secret), "{rest}");
    }
}

#[tokio::test]
async fn what_is_not_there_is_told_with_its_reason_by_moto() {
    use SecretErrorKind::{Missing, Unusable};
    let moto = Moto::start();
    let unknown = "prod/text#01234567-89ab-cdef-0123-456789abcdef";
    for (rest, kind, words) in [
        (
            "prod/gone",
            Missing,
            "in eu-west-1 has no secret \"prod/gone\"",
        ),
        // It is in another region, which is the usual cause.
        ("prod/elsewhere", Missing, "in eu-west-1 has no secret"),
        // Unlike AWS, moto does not say here that the secret itself is there.
        (
            "prod/text#green",
            Missing,
            "no secret \"prod/text\" with a version \"green\"",
        ),
        (unknown, Missing, "\"prod/text\" has no version"),
        ("prod/deleted", Missing, "is marked for deletion"),
        (
            "prod/json?key=port",
            Missing,
            "it has \"user\", \"password\"",
        ),
        ("prod/text?key=port", Unusable, "it is not JSON"),
        ("prod/bytes", Unusable, "it is binary"),
    ] {
        let error = moto.get(rest).await.unwrap_err();
        let shown = error.to_string();
        assert_eq!(error.kind(), kind, "{rest}: {shown}");
        assert!(shown.contains(words), "{rest}: {shown}");
        assert!(!shown.contains("of-moto"), "{rest}: {shown}");
    }
}

#[tokio::test]
async fn a_role_of_a_profile_is_taken_from_moto() {
    let server = Server::start("moto_server.py");
    run("aws_secrets.py", Some(&server.origin), "");
    let home = tempfile::tempdir().unwrap();
    let config = format!(
        "[profile work]\nrole_arn = arn:aws:iam::123456789012:role/reader\n\
         source_profile = base\nregion = eu-west-1\n\
         [profile base]\naws_access_key_id = {KEY_ID}\naws_secret_access_key = {SECRET_KEY}\n"
    );
    std::fs::create_dir(home.path().join(".aws")).unwrap();
    std::fs::write(home.path().join(".aws/config"), config).unwrap();
    let variables = [
        ("AWS_PROFILE", "work"),
        ("AWS_ENDPOINT_URL", &server.origin),
    ];
    let house = House::at(home, &variables);
    let secret = house.get("secret://aws/prod/text").await;
    assert_eq!(secret.as_deref(), Ok("the-newer-text-of-moto"));
}

/// What we send for a reference.
async fn sent(reference: &str, endpoint_path: &str, token: Option<&str>) -> (Asked, String) {
    let body = json!({ "SecretString": "the-secret-of-aws" }).to_string();
    let service = StandIn::start(move |_| Answer::bytes(200, "application/json", body.clone()));
    let service = service.unwrap();
    let endpoint = format!("{}{endpoint_path}", service.origin());
    let mut variables = vec![
        ("AWS_ENDPOINT_URL", endpoint.as_str()),
        ("AWS_REGION", "eu-west-1"),
        ("AWS_ACCESS_KEY_ID", KEY_ID),
        ("AWS_SECRET_ACCESS_KEY", SECRET_KEY),
    ];
    variables.extend(token.map(|token| ("AWS_SESSION_TOKEN", token)));
    House::new(&variables).get(reference).await.unwrap();
    let asked = service.asked().remove(0);
    let host = asked.header("host").unwrap();
    assert_eq!(host, service.address().to_string(), "it has its port");
    let url = format!("http://{host}{}", asked.path);
    (asked, url)
}

/// What botocore signs the same request with.
fn signature_of_botocore(asked: &Asked, url: &str, region: &str, token: Option<&str>) -> String {
    let authorization = asked.header("authorization").unwrap();
    let (_, signed) = authorization.split_once("SignedHeaders=").unwrap();
    let (signed, _) = signed.split_once(',').unwrap();
    // These botocore makes by itself, from the address, the time and the credentials.
    let own = ["host", "x-amz-date", "x-amz-security-token"];
    let headers: Map<String, Value> = signed
        .split(';')
        .filter(|name| !own.contains(name))
        .map(|name| (name.to_owned(), json!(asked.header(name).unwrap())))
        .collect();
    let question = json!({
        "method": asked.method.as_str(),
        "url": url,
        "headers": headers,
        "body": String::from_utf8(asked.body.to_vec()).unwrap(),
        "date": asked.header("x-amz-date").unwrap(),
        "region": region,
        "service": "secretsmanager",
        "key_id": KEY_ID,
        "secret_key": SECRET_KEY,
        "token": token,
    });
    run("aws_signature.py", None, &question.to_string())
}

#[tokio::test]
async fn our_signature_is_that_of_botocore() {
    let arn = "secret://aws/arn:aws:secretsmanager:ap-south-1:123456789012:secret:a/b-AbCdEf";
    for (reference, path, region, token) in [
        ("secret://aws/prod/db", "", "eu-west-1", None),
        (
            "secret://aws/prod/db#AWSPREVIOUS",
            "",
            "eu-west-1",
            Some(TOKEN),
        ),
        ("secret://aws/naïve \"name\"", "", "eu-west-1", None),
        (arn, "", "ap-south-1", Some(TOKEN)),
        ("secret://aws/prod/db", "/below/a%20path", "eu-west-1", None),
    ] {
        let (asked, url) = sent(reference, path, token).await;
        let ours = asked.header("authorization").unwrap();
        assert_eq!(asked.header("x-amz-security-token"), token);
        let theirs = signature_of_botocore(&asked, &url, region, token);
        assert_eq!(ours, theirs, "{reference} at {url}");
        assert!(
            ours.contains("host;x-amz-content-sha256;x-amz-date"),
            "{ours}"
        );
    }
}

#[tokio::test]
async fn a_signature_for_another_region_or_action_is_not_the_same() {
    let (mut asked, url) = sent("secret://aws/prod/db", "", None).await;
    let ours = asked.header("authorization").unwrap().to_owned();
    assert_eq!(signature_of_botocore(&asked, &url, "eu-west-1", None), ours);
    assert_ne!(signature_of_botocore(&asked, &url, "eu-west-2", None), ours);
    asked.headers.insert(
        "x-amz-target",
        "secretsmanager.DeleteSecret".parse().unwrap(),
    );
    assert_ne!(signature_of_botocore(&asked, &url, "eu-west-1", None), ours);
}
