//! Credentials that are kept, and for how long.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use openclaw_secret_stores::SecretErrorKind;
use openclaw_testkit::leaks::eventually;

use super::*;

/// A token service that gives the name of a role in its key, after this many answers of another kind.
fn token_service(before: Vec<Answer>) -> StandIn {
    let count = AtomicUsize::new(0);
    service(move |asked| {
        if let Some(other) = before.get(count.fetch_add(1, Ordering::SeqCst)) {
            return other.clone();
        }
        let role = asked.query.split("role%2F").nth(1).unwrap();
        let role = role.split('&').next().unwrap();
        let body = format!(
            "<AssumeRoleResponse><AssumeRoleResult><Credentials>\
             <AccessKeyId>ASIAIOSFODNNROLE0{role}</AccessKeyId>\
             <SecretAccessKey>the-key-of-the-role</SecretAccessKey>\
             <SessionToken>the-token-of-{role}</SessionToken>\
             <Expiration>2099-01-01T00:00:00Z</Expiration>\
             </Credentials></AssumeRoleResult></AssumeRoleResponse>"
        );
        Answer::bytes(200, "text/xml", body)
    })
}

/// A `~/.aws/config` with this role.
fn config(role: &str) -> String {
    format!(
        "[default]\nrole_arn = arn:aws:iam::123456789012:role/{role}\nsource_profile = base\n\
         [profile base]\naws_access_key_id = {KEY_ID}\naws_secret_access_key = {SECRET_KEY}\n"
    )
}

fn machine_with_role(service: &StandIn, tokens: &StandIn, role: &str) -> House {
    let sts: &'static str = tokens.origin().leak();
    let house = machine(service, &[("AWS_ENDPOINT_URL_STS", sts)]);
    fs::create_dir(house.path().join(".aws")).unwrap();
    fs::write(house.path().join(".aws/config"), config(role)).unwrap();
    house
}

fn key_ids(service: &StandIn) -> Vec<String> {
    service.asked().iter().map(key_id).collect()
}

#[tokio::test]
async fn a_role_that_is_changed_in_a_file_counts_at_once() {
    let (service, tokens) = (keeper("the-secret-of-aws"), token_service(vec![]));
    let house = machine_with_role(&service, &tokens, "ONE");
    house.get("secret://aws/db").await.unwrap();
    house.get("secret://aws/db").await.unwrap();
    fs::write(house.path().join(".aws/config"), config("TWO")).unwrap();
    house.get("secret://aws/db").await.unwrap();
    let [one, two] = ["ASIAIOSFODNNROLE0ONE", "ASIAIOSFODNNROLE0TWO"];
    assert_eq!(key_ids(&service), [one, one, two]);
    assert_eq!(tokens.asked().len(), 2);
}

/// The metadata service of an instance that gives other credentials every time, after this many
/// answers of another kind.
fn instance(before: Vec<Answer>) -> StandIn {
    let (asked_so_far, given) = (AtomicUsize::new(0), AtomicUsize::new(0));
    service(move |asked| {
        if let Some(other) = before.get(asked_so_far.fetch_add(1, Ordering::SeqCst)) {
            return other.clone();
        }
        let credentials = "/latest/meta-data/iam/security-credentials/";
        match asked.path.strip_prefix(credentials) {
            None => Answer::bytes(200, "text/plain", "metadata-token-1234"),
            Some("") => Answer::bytes(200, "text/plain", "the-role"),
            Some(_) => {
                let number = given.fetch_add(1, Ordering::SeqCst);
                let given = json!({
                    "Code": "Success",
                    "AccessKeyId": format!("ASIAROLE{number}"),
                    "SecretAccessKey": format!("the-key-of-the-role-{number}"),
                    "Token": format!("the-token-of-the-role-{number}"),
                    "Expiration": "2099-01-01T00:00:00Z",
                });
                Answer::json(200, &given)
            }
        }
    })
}

fn on_instance(service: &StandIn, metadata: &StandIn) -> House {
    let origin: &'static str = metadata.origin().leak();
    machine(
        service,
        &[
            ("AWS_EC2_METADATA_DISABLED", "false"),
            ("AWS_EC2_METADATA_SERVICE_ENDPOINT", origin),
        ],
    )
}

#[tokio::test]
async fn who_is_denied_with_kept_credentials_tries_once_more_with_new_ones() {
    let service = service(
        |asked| match question(asked)["SecretId"].as_str().unwrap() {
            "new-right" if key_id(asked) == "ASIAROLE0" => {
                refusal(400, "AccessDeniedException", "not authorized")
            }
            "never" => refusal(400, "AccessDeniedException", "not authorized"),
            _ => answer("the-secret-of-aws"),
        },
    );
    let metadata = instance(vec![]);
    let house = on_instance(&service, &metadata);
    house.get("secret://aws/one").await.unwrap();
    house.get("secret://aws/new-right").await.unwrap();
    assert_eq!(key_ids(&service), ["ASIAROLE0", "ASIAROLE0", "ASIAROLE1"]);
    let error = house.get("secret://aws/never").await.unwrap_err();
    assert_eq!(error.kind(), SecretErrorKind::Refused);
    assert_eq!(key_ids(&service)[3..], ["ASIAROLE1", "ASIAROLE2"]);
    // New ones are what there is.
    let house = on_instance(&service, &metadata);
    house.get("secret://aws/never").await.unwrap_err();
    assert_eq!(key_ids(&service)[5..], ["ASIAROLE3"]);
}

#[tokio::test]
async fn nobody_is_asked_twice_with_the_same_credentials() {
    let service = service(
        |asked| match question(asked)["SecretId"].as_str().unwrap() {
            "never" => refusal(400, "AccessDeniedException", "not authorized"),
            _ => answer("the-secret-of-aws"),
        },
    );
    let house = machine_with_keys(&service);
    house.get("secret://aws/one").await.unwrap();
    house.get("secret://aws/never").await.unwrap_err();
    assert_eq!(service.asked().len(), 2);
}

#[tokio::test]
async fn who_was_refused_with_credentials_that_another_has_replaced_takes_the_new_ones() {
    // Those of the batch are refused first, and the batch ends when somebody else has found others.
    let service = service(|asked| {
        let name = question(asked)["SecretId"].as_str().unwrap().to_owned();
        match (name.as_str(), key_id(asked).as_str()) {
            ("slow", _) => answer("the-secret-of-aws").after(Duration::from_secs(1)),
            ("of-batch" | "of-other", "ASIAROLE0") => {
                refusal(400, "ExpiredTokenException", "expired")
            }
            _ => answer("the-secret-of-aws"),
        }
    });
    let metadata = instance(vec![]);
    let house = on_instance(&service, &metadata);
    house.get("secret://aws/one").await.unwrap();
    let other = async {
        let has_begun = || service.asked().len() >= 3;
        assert!(eventually(Duration::from_secs(30), has_begun).await);
        house.get("secret://aws/of-other").await
    };
    let batch = house.resolve(&["secret://aws/of-batch", "secret://aws/slow"]);
    let (batch, other) = tokio::join!(batch, other);
    other.unwrap();
    for found in batch {
        found.unwrap();
    }
    // Nobody has forgotten the new ones.
    let given = metadata.asked().into_iter();
    let given = given.filter(|asked| asked.path.ends_with("/the-role"));
    assert_eq!(given.count(), 2);
}

fn busy() -> Vec<Answer> {
    let throttled = "<ErrorResponse><Error><Code>Throttling</Code></Error></ErrorResponse>";
    vec![
        Answer::bytes(503, "text/plain", "busy"),
        Answer::bytes(400, "text/xml", throttled),
        Answer::bytes(429, "text/plain", "busy"),
    ]
}

#[tokio::test]
async fn a_token_service_that_is_busy_is_asked_again() {
    let (service, tokens) = (keeper("the-secret-of-aws"), token_service(busy()));
    let house = machine_with_role(&service, &tokens, "ONE");
    house.get("secret://aws/db").await.unwrap();
    assert_eq!(tokens.asked().len(), 4);
    // But not when it has decided.
    let denied = "<ErrorResponse><Error><Code>AccessDenied</Code></Error></ErrorResponse>";
    let tokens = token_service(vec![Answer::bytes(403, "text/xml", denied)]);
    let house = machine_with_role(&service, &tokens, "ONE");
    let error = house.get("secret://aws/db").await.unwrap_err();
    assert_eq!(error.kind(), SecretErrorKind::Refused);
    assert_eq!(tokens.asked().len(), 1);
}

#[tokio::test]
async fn a_metadata_service_that_is_busy_is_asked_again_for_a_moment() {
    let service = keeper("the-secret-of-aws");
    let unwell = || Answer::bytes(503, "text/plain", "busy");
    let metadata = instance(vec![unwell()]);
    let house = on_instance(&service, &metadata);
    house.get("secret://aws/db").await.unwrap();
    assert_eq!(metadata.asked().len(), 4);
    // Long before time is up.
    let metadata = instance(vec![unwell(); 100]);
    let mut house = on_instance(&service, &metadata);
    house.settings.timeout = Duration::from_mins(1);
    let error = house.get("secret://aws/db").await.unwrap_err();
    assert_eq!(error.kind(), SecretErrorKind::Misconfigured);
    assert!(metadata.asked().len() < 6, "{}", metadata.asked().len());
}

fn of_container() -> Value {
    json!({
        "AccessKeyId": "ASIACONTAINER",
        "SecretAccessKey": "the-key-of-the-container",
        "Token": "the-token-of-the-container",
        "Expiration": "2099-01-01T00:00:00Z",
    })
}

#[tokio::test]
async fn who_hangs_up_is_asked_again() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/creds", listener.local_addr().unwrap());
    let body = of_container().to_string();
    let answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let container = std::thread::spawn(move || {
        for answer in ["", &answer] {
            let (mut stream, _) = listener.accept().unwrap();
            assert!(stream.read(&mut [0; 4096]).unwrap() > 0);
            stream.write_all(answer.as_bytes()).unwrap();
        }
    });
    let service = keeper("the-secret-of-aws");
    let house = machine(
        &service,
        &[("AWS_CONTAINER_CREDENTIALS_FULL_URI", address.leak())],
    );
    house.get("secret://aws/db").await.unwrap();
    container.join().unwrap();
}

#[tokio::test]
async fn a_container_that_is_busy_is_asked_again() {
    let service = keeper("the-secret-of-aws");
    let count = AtomicUsize::new(0);
    let container = super::service(move |_| match count.fetch_add(1, Ordering::SeqCst) {
        0 => Answer::bytes(500, "text/plain", "busy"),
        _ => Answer::json(200, &of_container()),
    });
    let address: &'static str = format!("{}/creds", container.origin()).leak();
    let house = machine(&service, &[("AWS_CONTAINER_CREDENTIALS_FULL_URI", address)]);
    house.get("secret://aws/db").await.unwrap();
    assert_eq!(key_ids(&service), ["ASIACONTAINER"]);
}

#[tokio::test]
async fn a_service_that_says_nothing_is_named() {
    let service = service(|_| answer("x").after(Duration::from_hours(1)));
    let mut house = machine_with_keys(&service);
    house.settings.timeout = Duration::from_millis(500);
    let error = house.get("secret://aws/db").await.unwrap_err();
    assert_eq!(error.kind(), SecretErrorKind::Unavailable);
    let expected = format!(
        "AWS Secrets Manager at {} did not answer in time",
        service.address()
    );
    assert_eq!(error.to_string(), expected);
}
