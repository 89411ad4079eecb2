//! Credentials that are given for others: roles and logins.

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};

use openclaw_secret_stores::SecretErrorKind;
use openclaw_testkit::stand_in::Answer;
use serde_json::json;

use super::*;

const ROLE: &str = "arn:aws:iam::123456789012:role/reader";
const WEB_TOKEN: &str = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJvcGVuY2xhdyJ9.c2lnbmF0dXJl";

/// A token service that gives the credentials of a role.
fn token_service() -> StandIn {
    service(|asked| {
        let said = format!("{}{}", asked.query, String::from_utf8_lossy(&asked.body));
        let Some(action) = ["AssumeRoleWithWebIdentity", "AssumeRole"]
            .into_iter()
            .find(|action| said.contains(action))
        else {
            return Answer::bytes(400, "text/xml", "<ErrorResponse/>");
        };
        if said.contains("forbidden") {
            let body = "<ErrorResponse><Error><Code>AccessDenied</Code>\
                        <Message>not authorized to perform: sts:AssumeRole</Message>\
                        </Error></ErrorResponse>";
            return Answer::bytes(403, "text/xml", body);
        }
        let body = format!(
            "<{action}Response><{action}Result><Credentials>\
             <AccessKeyId>ASIAIOSFODNNROLE0001</AccessKeyId>\
             <SecretAccessKey>the-key-of-the-role</SecretAccessKey>\
             <SessionToken>the-token-of-the-role</SessionToken>\
             <Expiration>2099-01-01T00:00:00Z</Expiration>\
             </Credentials></{action}Result></{action}Response>"
        );
        Answer::bytes(200, "text/xml", body)
    })
}

/// A machine with this `~/.aws/config`.
fn machine_with_config(config: &str, variables: &[(&str, &str)]) -> House {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join(".aws")).unwrap();
    fs::write(home.path().join(".aws/config"), config).unwrap();
    House::at(home, variables)
}

#[tokio::test]
async fn a_web_identity_is_exchanged_for_a_role() {
    let (service, tokens) = (keeper("the-secret-of-aws"), token_service());
    let house = machine(&service, &[]);
    let file = house.path().join("token");
    fs::write(&file, format!("{WEB_TOKEN}\n")).unwrap();
    let sts: &'static str = tokens.origin().leak();
    let file: &'static str = file.to_str().unwrap().to_owned().leak();
    let variables = [
        ("AWS_ENDPOINT_URL_STS", sts),
        ("AWS_ROLE_ARN", ROLE),
        ("AWS_WEB_IDENTITY_TOKEN_FILE", file),
    ];
    let house = House::at(house.home, &with_service(&service, &variables));
    house.get("secret://aws/db").await.unwrap();
    assert_eq!(key_id(&service.asked()[0]), "ASIAIOSFODNNROLE0001");
    let asked = tokens.asked().remove(0);
    let body = String::from_utf8(asked.body.to_vec()).unwrap();
    assert!(body.contains(WEB_TOKEN), "{body}");
    assert!(body.contains("RoleSessionName=openclaw"), "{body}");
    for secret in [WEB_TOKEN, "the-key-of-the-role", "the-token-of-the-role"] {
        assert!(!house.redactor.redact(secret).contains(secret), "{secret}");
    }
}

#[tokio::test]
async fn a_role_of_a_profile_is_taken_with_the_keys_of_another() {
    let (service, tokens) = (keeper("the-secret-of-aws"), token_service());
    let config = format!(
        "[profile work]\nrole_arn = {ROLE}\nsource_profile = base\nexternal_id = ext-1\n\
         region = eu-central-1\n\
         [profile base]\naws_access_key_id = {KEY_ID}\naws_secret_access_key = {SECRET_KEY}\n"
    );
    let sts: &'static str = tokens.origin().leak();
    let variables = [("AWS_PROFILE", "work"), ("AWS_ENDPOINT_URL_STS", sts)];
    let house = machine_with_config(&config, &with_service(&service, &variables));
    house.get("secret://aws/db").await.unwrap();
    house.get("secret://aws/db").await.unwrap();
    assert_eq!(tokens.asked().len(), 1, "they are good for long");
    let asked = tokens.asked().remove(0);
    assert!(signer(&asked).starts_with(KEY_ID));
    assert!(signer(&asked).ends_with("/eu-central-1/sts/aws4_request"));
    assert!(asked.query.contains("ExternalId=ext-1"), "{}", asked.query);
    assert_eq!(key_id(&service.asked()[0]), "ASIAIOSFODNNROLE0001");
}

#[tokio::test]
async fn a_role_that_may_not_be_taken_is_an_error_and_not_another_identity() {
    let (service, tokens) = (keeper("x"), token_service());
    let config = format!(
        "[default]\nrole_arn = {ROLE}\nsource_profile = default\nexternal_id = forbidden\n\
         aws_access_key_id = {KEY_ID}\naws_secret_access_key = {SECRET_KEY}\n"
    );
    let sts: &'static str = tokens.origin().leak();
    let variables = with_service(&service, &[("AWS_ENDPOINT_URL_STS", sts)]);
    let house = machine_with_config(&config, &variables);
    let error = house.get("secret://aws/db").await.unwrap_err();
    assert_eq!(error.kind(), SecretErrorKind::Refused);
    let shown = error.to_string();
    assert!(shown.contains("the AWS profile \"default\""), "{shown}");
    assert!(shown.contains("sts:AssumeRole"), "{shown}");
    assert!(service.asked().is_empty());
}

/// Puts a login of the AWS CLI where it keeps it.
fn log_in(house: &House, digest: &str, expires: &str) {
    let cache = house.path().join(".aws/sso/cache");
    fs::create_dir_all(&cache).unwrap();
    let login = json!({
        "accessToken": "the-access-token-of-a-login",
        "refreshToken": "the-refresh-token-of-a-login",
        "expiresAt": expires,
    });
    fs::write(cache.join(format!("{digest}.json")), login.to_string()).unwrap();
}

/// The portal of logins.
fn portal() -> StandIn {
    service(|asked| {
        if asked.header("x-amz-sso_bearer_token") != Some("the-access-token-of-a-login") {
            return Answer::json(
                401,
                &json!({ "message": "Session token not found or invalid" }),
            );
        }
        login_credentials()
    })
}

/// What a portal gives.
fn login_credentials() -> Answer {
    let credentials = json!({
        "accessKeyId": "ASIALOGIN",
        "secretAccessKey": "the-key-of-the-login",
        "sessionToken": "the-token-of-the-login",
        "expiration": 4_070_908_800_000_u64,
    });
    Answer::json(200, &json!({ "roleCredentials": credentials }))
}

#[tokio::test]
async fn a_login_gives_credentials_with_and_without_a_named_session() {
    let role = "sso_account_id = 123456789012\nsso_role_name = reader\n";
    let place = "sso_region = eu-west-1\nsso_start_url = https://example.awsapps.com/start\n";
    // SHA-1 of `work`, and of the address.
    for (config, digest) in [
        (
            format!("[default]\nsso_session = work\n{role}[sso-session work]\n{place}"),
            "e274eeff768c6396088ec6eb091f4bf4d47ab1e0",
        ),
        (
            format!("[default]\n{role}{place}"),
            "e8be5486177c5b5392bd9aa76563515b29358e6e",
        ),
    ] {
        let (service, portal) = (keeper("the-secret-of-aws"), portal());
        let sso: &'static str = portal.origin().leak();
        let variables = with_service(&service, &[("AWS_ENDPOINT_URL_SSO", sso)]);
        let house = machine_with_config(&config, &variables);
        log_in(&house, digest, "2099-01-01T00:00:00Z");
        house.get("secret://aws/db").await.unwrap();
        let asked = portal.asked().remove(0);
        assert_eq!(asked.path, "/federation/credentials");
        assert_eq!(asked.query, "role_name=reader&account_id=123456789012");
        assert_eq!(key_id(&service.asked()[0]), "ASIALOGIN");
        let hidden = [
            "the-access-token-of-a-login",
            "the-refresh-token-of-a-login",
            "the-key-of-the-login",
        ];
        for secret in hidden {
            assert!(!house.redactor.redact(secret).contains(secret), "{secret}");
        }
    }
}

#[tokio::test]
async fn a_portal_that_is_busy_is_asked_again() {
    let config = "[default]\nsso_account_id = 123456789012\nsso_role_name = reader\n\
                  sso_session = work\n[sso-session work]\nsso_region = eu-west-1\n";
    let count = AtomicUsize::new(0);
    let portal = service(move |_| match count.fetch_add(1, Ordering::SeqCst) {
        0 => Answer::bytes(429, "text/plain", "busy"),
        1 => Answer::bytes(502, "text/plain", "busy"),
        _ => login_credentials(),
    });
    let service = keeper("the-secret-of-aws");
    let sso: &'static str = portal.origin().leak();
    let variables = with_service(&service, &[("AWS_ENDPOINT_URL_SSO", sso)]);
    let house = machine_with_config(config, &variables);
    let later = "2099-01-01T00:00:00Z";
    log_in(&house, "e274eeff768c6396088ec6eb091f4bf4d47ab1e0", later);
    house.get("secret://aws/db").await.unwrap();
    assert_eq!(portal.asked().len(), 3);
}

#[tokio::test]
async fn a_login_that_is_over_says_how_to_log_in() {
    let config = "[profile dev]\nsso_account_id = 123456789012\nsso_role_name = reader\n\
                  sso_session = work\n[sso-session work]\nsso_region = eu-west-1\n";
    let (service, portal) = (keeper("x"), portal());
    let sso: &'static str = portal.origin().leak();
    let variables = [("AWS_PROFILE", "dev"), ("AWS_ENDPOINT_URL_SSO", sso)];
    let house = machine_with_config(config, &with_service(&service, &variables));
    for expires in [None, Some("2020-01-01T00:00:00Z")] {
        if let Some(expires) = expires {
            log_in(&house, "e274eeff768c6396088ec6eb091f4bf4d47ab1e0", expires);
        }
        let error = house.get("secret://aws/db").await.unwrap_err();
        assert_eq!(error.kind(), SecretErrorKind::Refused);
        assert_eq!(
            error.hint_text(),
            Some("log in with `aws sso login --profile dev`")
        );
    }
    assert!(portal.asked().is_empty() && service.asked().is_empty());
}
