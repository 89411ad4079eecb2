//! Credentials that the machine gives to what runs on it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use openclaw_secret_stores::SecretErrorKind;
use openclaw_testkit::stand_in::Answer;
use serde_json::json;

use super::*;

const LATER: &str = "2099-01-01T00:00:00Z";

/// What an instance or a container gives.
fn given(number: usize) -> Value {
    json!({
        "Code": "Success",
        "AccessKeyId": format!("ASIAROLE{number}"),
        "SecretAccessKey": format!("the-key-of-the-role-{number}"),
        "Token": format!("the-token-of-the-role-{number}"),
        "Expiration": LATER,
    })
}

/// The metadata service of an instance in a region.
fn instance() -> StandIn {
    let count = AtomicUsize::new(0);
    service(
        move |asked| match (asked.method.as_str(), asked.path.as_str()) {
            ("PUT", "/latest/api/token") => Answer::bytes(200, "text/plain", "metadata-token-1234"),
            _ if asked.header("x-aws-ec2-metadata-token") != Some("metadata-token-1234") => {
                Answer::bytes(401, "text/plain", "no token")
            }
            (_, "/latest/meta-data/iam/security-credentials/") => {
                Answer::bytes(200, "text/plain", "the-role")
            }
            (_, "/latest/meta-data/iam/security-credentials/the-role") => {
                Answer::json(200, &given(count.fetch_add(1, Ordering::SeqCst)))
            }
            (_, "/latest/meta-data/placement/region") => {
                Answer::bytes(200, "text/plain", "sa-east-1")
            }
            _ => Answer::bytes(404, "text/plain", "not found"),
        },
    )
}

/// A machine that is an instance.
fn on_instance(service: &StandIn, metadata: &StandIn) -> House {
    let origin: &'static str = format!("{}/", metadata.origin()).leak();
    machine(
        service,
        &[
            ("AWS_REGION", ""),
            ("AWS_EC2_METADATA_DISABLED", "false"),
            ("AWS_EC2_METADATA_SERVICE_ENDPOINT", origin),
        ],
    )
}

#[tokio::test]
async fn an_instance_gives_credentials_and_its_region() {
    let (service, metadata) = (keeper("the-secret-of-aws"), instance());
    let house = on_instance(&service, &metadata);
    let answers = house.resolve(&["secret://aws/a", "secret://aws/b", "secret://aws/c"]);
    assert!(answers.await.iter().all(Result::is_ok));
    let of_region = metadata.asked().into_iter();
    let of_region = of_region.filter(|asked| asked.path.ends_with("/region"));
    assert_eq!(of_region.count(), 1, "it is the same for all");
    let asked = service.asked().remove(0);
    assert!(signer(&asked).starts_with("ASIAROLE0/"));
    assert!(signer(&asked).contains("/sa-east-1/"));
    assert_eq!(
        asked.header("x-amz-security-token"),
        Some("the-token-of-the-role-0")
    );
    for secret in [
        "the-key-of-the-role-0",
        "the-token-of-the-role-0",
        "metadata-token-1234",
    ] {
        assert!(!house.redactor.redact(secret).contains(secret), "{secret}");
    }
}

#[tokio::test]
async fn credentials_of_an_instance_are_kept_until_aws_refuses_them() {
    let service = service(|asked| match key_id(asked).as_str() {
        "ASIAROLE0" if question(asked)["SecretId"] == "late" => {
            refusal(400, "ExpiredTokenException", "expired")
        }
        _ => answer("the-secret-of-aws"),
    });
    let metadata = instance();
    let house = on_instance(&service, &metadata);
    house.get("secret://aws/one").await.unwrap();
    house.get("secret://aws/two").await.unwrap();
    house.get("secret://aws/late").await.unwrap();
    let ids: Vec<_> = service.asked().iter().map(key_id).collect();
    assert_eq!(ids, ["ASIAROLE0", "ASIAROLE0", "ASIAROLE0", "ASIAROLE1"]);
}

#[tokio::test]
async fn credentials_that_are_refused_when_new_are_not_asked_for_again_and_again() {
    let service = service(|_| refusal(400, "ExpiredTokenException", "expired"));
    let metadata = instance();
    let house = on_instance(&service, &metadata);
    let error = house.get("secret://aws/db").await.unwrap_err();
    assert_eq!(error.kind(), SecretErrorKind::Refused);
    assert!(
        error.to_string().contains("the role of the instance"),
        "{error}"
    );
    assert_eq!(service.asked().len(), 1);
}

#[tokio::test]
async fn where_nobody_answers_no_credentials_are_found_soon() {
    let service = keeper("x");
    let silent = super::service(|_| Answer::json(200, &json!({})).after(Duration::from_mins(1)));
    let house = on_instance(&service, &silent);
    let started = Instant::now();
    let error = house.get("secret://aws/db").await.unwrap_err();
    let taken = started.elapsed();
    println!("no credentials at all: {taken:?}");
    assert!(taken < Duration::from_secs(3), "{taken:?}");
    assert_eq!(error.kind(), SecretErrorKind::Misconfigured);
    assert!(
        error
            .to_string()
            .starts_with("no AWS credentials were found"),
        "{error}"
    );
    assert!(error.hint_text().unwrap().contains("aws sso login"));
    assert!(service.asked().is_empty());
}

#[tokio::test]
async fn a_metadata_service_of_another_cloud_is_not_asked_twice() {
    let service = keeper("x");
    let other = super::service(|_| Answer::bytes(404, "text/html", "<html>\u{1b}[0m</html>"));
    let house = on_instance(&service, &other);
    let error = house.get("secret://aws/db").await.unwrap_err();
    assert_eq!(error.kind(), SecretErrorKind::Misconfigured);
    assert!(
        error
            .to_string()
            .starts_with("no AWS credentials were found"),
        "{error}"
    );
    assert_eq!(other.asked().len(), 1);
}

#[tokio::test]
async fn a_metadata_service_that_is_switched_off_is_not_asked() {
    let (service, metadata) = (keeper("x"), instance());
    let origin: &'static str = metadata.origin().leak();
    for word in ["true", "TRUE"] {
        let variables = [
            ("AWS_EC2_METADATA_DISABLED", word),
            ("AWS_EC2_METADATA_SERVICE_ENDPOINT", origin),
        ];
        let house = machine(&service, &variables);
        let started = Instant::now();
        let error = house.get("secret://aws/db").await.unwrap_err();
        println!("no credentials and no metadata: {:?}", started.elapsed());
        assert!(
            error.to_string().contains("AWS_EC2_METADATA_DISABLED"),
            "{error}"
        );
    }
    assert!(metadata.asked().is_empty());
}

#[tokio::test]
async fn a_container_gives_credentials() {
    let service = keeper("the-secret-of-aws");
    let container = super::service(|asked| match asked.header("authorization") {
        Some("token-of-the-container") => Answer::json(200, &given(7)),
        _ => Answer::bytes(403, "text/plain", "who are you"),
    });
    let address: &'static str = format!("{}/creds", container.origin()).leak();
    let house = machine(&service, &[]);
    let file = house.path().join("token");
    std::fs::write(&file, "token-of-the-container\n").unwrap();
    let file: &'static str = file.to_str().unwrap().to_owned().leak();
    let variables = [
        ("AWS_CONTAINER_CREDENTIALS_FULL_URI", address),
        ("AWS_CONTAINER_AUTHORIZATION_TOKEN", "an-older-token"),
        ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", file),
    ];
    let house = House::at(house.home, &with_service(&service, &variables));
    house.get("secret://aws/db").await.unwrap();
    assert_eq!(key_id(&service.asked()[0]), "ASIAROLE7");
    let token = "token-of-the-container";
    assert!(!house.redactor.redact(token).contains(token));

    let house = machine(&service, &variables[..2]);
    let error = house.get("secret://aws/db").await.unwrap_err();
    assert_eq!(error.kind(), SecretErrorKind::Refused);
    assert!(
        error.to_string().contains("the role of the container"),
        "{error}"
    );
    assert_eq!(service.asked().len(), 1);
}

#[tokio::test]
async fn a_container_s_address_elsewhere_has_to_be_https() {
    let service = keeper("x");
    let address = "http://192.0.2.1/creds";
    let house = machine(&service, &[("AWS_CONTAINER_CREDENTIALS_FULL_URI", address)]);
    let error = house.get("secret://aws/db").await.unwrap_err();
    assert!(
        error.to_string().contains("only for this machine"),
        "{error}"
    );
}
