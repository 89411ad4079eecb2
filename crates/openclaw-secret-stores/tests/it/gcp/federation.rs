//! The word of other providers of identities, AWS among them.

use std::fs;

use openclaw_config::{Environment, Location, Overrides, load};
use openclaw_secret_stores::SecretErrorKind;
use openclaw_secrets::REDACTED;
use openclaw_testkit::fake_google::{AWS_KEY, FakeGoogle, PROJECT, SUBJECT_TOKEN};
use serde_json::json;

use super::{Cloud, ENDPOINT, KEY, VALUE, assert_says};
use crate::house::House;

/// A machine that is known to AWS.
fn of_aws(variables: &[(&str, &str)]) -> Cloud {
    let mut all = vec![
        ("GOOGLE_CLOUD_PROJECT", PROJECT),
        ("AWS_ACCESS_KEY_ID", AWS_KEY.0),
        ("AWS_SECRET_ACCESS_KEY", AWS_KEY.1),
        ("AWS_REGION", "eu-west-1"),
        ("AWS_EC2_METADATA_DISABLED", "true"),
    ];
    all.extend_from_slice(variables);
    let cloud = Cloud::without_credentials(&all);
    cloud.write(&cloud.google.external_account_of_aws());
    cloud
}

fn cloud() -> Cloud {
    Cloud::without_credentials(&[("GOOGLE_CLOUD_PROJECT", PROJECT)])
}

#[tokio::test]
async fn the_word_of_another_provider_is_exchanged_for_a_token() {
    let cloud = cloud();
    let subject = cloud.house.path().join("subject");
    fs::write(&subject, SUBJECT_TOKEN).unwrap();
    cloud.write(&cloud.google.external_account(&subject));
    assert_eq!(cloud.get(KEY).await.unwrap(), VALUE);
    assert_eq!(cloud.google.tokens_given(), 1);
}

#[tokio::test]
async fn a_provider_that_is_not_believed_is_an_error() {
    let cloud = cloud();
    let subject = cloud.house.path().join("subject");
    fs::write(&subject, "another one").unwrap();
    cloud.write(&cloud.google.external_account(&subject));
    let error = cloud.error(KEY, SecretErrorKind::Refused).await;
    assert_says(
        &error,
        &["application_default_credentials.json", "invalid_grant"],
    );
}

#[tokio::test]
async fn a_file_is_read_anew_for_each_token_and_may_be_json() {
    let cloud = cloud();
    let subject = cloud.house.path().join("subject");
    let mut file = cloud.google.external_account(&subject);
    let format = json!({ "type": "json", "subject_token_field_name": "id_token" });
    file["credential_source"]["format"] = format;
    cloud.write(&file);
    let error = cloud.error(KEY, SecretErrorKind::Misconfigured).await;
    assert_says(&error, &["subject", "can't be read"]);
    for (text, says) in [
        (
            SUBJECT_TOKEN.to_owned(),
            "no token in the field \"id_token\"",
        ),
        (
            json!({ "other": SUBJECT_TOKEN }).to_string(),
            "no token in the field",
        ),
        (
            json!({ "id_token": "" }).to_string(),
            "no token in the field",
        ),
        (
            json!({ "id_token": 7 }).to_string(),
            "no token in the field",
        ),
        (json!([SUBJECT_TOKEN]).to_string(), "no token in the field"),
    ] {
        fs::write(&subject, text).unwrap();
        let error = cloud.error(KEY, SecretErrorKind::Misconfigured).await;
        assert_says(&error, &[says]);
    }
    fs::write(&subject, json!({ "id_token": SUBJECT_TOKEN }).to_string()).unwrap();
    assert_eq!(cloud.get(KEY).await.unwrap(), VALUE);
    assert_eq!(cloud.house.redactor.redact_learned(SUBJECT_TOKEN), REDACTED);
}

#[tokio::test]
async fn an_address_says_who_we_are_as_a_text_or_in_json() {
    let cloud = cloud();
    let mut file = cloud.google.external_account_at_address();
    cloud.write(&file);
    assert_eq!(cloud.get(KEY).await.unwrap(), VALUE);
    let address = format!("{}/subject/json", cloud.google.origin());
    file["credential_source"]["url"] = json!(address);
    let format = json!({ "type": "json", "subject_token_field_name": "id_token" });
    file["credential_source"]["format"] = format;
    cloud.write(&file);
    assert_eq!(cloud.get(KEY).await.unwrap(), VALUE);
    assert_eq!(cloud.google.tokens_given(), 2);
    // It wants to see the header.
    file["credential_source"]["headers"] = json!(null);
    cloud.write(&file);
    let error = cloud.error(KEY, SecretErrorKind::Refused).await;
    assert_says(&error, &["`credential_source`", "status 400"]);
}

#[tokio::test]
async fn a_client_and_the_project_to_charge_are_told() {
    let cloud = cloud();
    let mut file = cloud.google.external_account_at_address();
    file["workforce_pool_user_project"] = json!("charged");
    cloud.write(&file);
    assert_eq!(cloud.get(KEY).await.unwrap(), VALUE);
    file["client_id"] = json!("me");
    file["client_secret"] = json!("hunter2-of-the-test");
    cloud.write(&file);
    assert_eq!(cloud.get(KEY).await.unwrap(), VALUE);
    let asked = cloud.google.asked().into_iter();
    let asked: Vec<_> = asked.filter(|it| it.path == "/v1/token").collect();
    let form = |index: usize| String::from_utf8(asked[index].body.to_vec()).unwrap();
    let options = "options=%7B%22userProject%22%3A%22charged%22%7D";
    assert!(form(0).contains(options), "{}", form(0));
    assert_eq!(asked[0].header("authorization"), None);
    assert!(!form(1).contains("options"), "{}", form(1));
    let basic = "Basic bWU6aHVudGVyMi1vZi10aGUtdGVzdA==";
    assert_eq!(asked[1].header("authorization"), Some(basic));
}

#[tokio::test]
async fn aws_says_who_we_are() {
    let cloud = of_aws(&[]);
    assert_eq!(cloud.get(KEY).await.unwrap(), VALUE);
    assert_eq!(cloud.google.tokens_given(), 1);
    let cloud = of_aws(&[("AWS_SESSION_TOKEN", "session-token-of-the-test")]);
    assert_eq!(cloud.get(KEY).await.unwrap(), VALUE);
}

#[tokio::test]
async fn what_aws_would_not_believe_is_an_error() {
    let cloud = of_aws(&[("AWS_SECRET_ACCESS_KEY", "another-secret-of-the-test")]);
    let error = cloud.error(KEY, SecretErrorKind::Refused).await;
    assert_says(&error, &["invalid_grant", "workload-identity-pools"]);
    let cloud = of_aws(&[("AWS_REGION", "")]);
    let error = cloud.error(KEY, SecretErrorKind::Misconfigured).await;
    assert_says(&error, &["the AWS region is not known"]);
    let cloud = of_aws(&[("AWS_ACCESS_KEY_ID", ""), ("AWS_SECRET_ACCESS_KEY", "")]);
    let error = cloud.error(KEY, SecretErrorKind::Misconfigured).await;
    assert_says(&error, &["no AWS credentials were found"]);
    // What it was signed for is too long ago.
    let cloud = of_aws(&[]);
    cloud.google.set_clock(3600);
    let error = cloud.error(KEY, SecretErrorKind::Refused).await;
    assert_says(&error, &["invalid_grant"]);
}

#[tokio::test]
async fn what_is_wrong_with_where_it_is_said_is_named() {
    let cloud = cloud();
    let file = cloud.google.external_account_at_address();
    for (source, says) in [
        (json!({}), "has neither `file` nor `url`"),
        (json!("file"), "has neither `file` nor `url`"),
        (
            json!({ "url": "not an address" }),
            "`url` is not an address",
        ),
        (
            json!({ "url": "http://example.com/" }),
            "everybody between could read",
        ),
        (
            json!({ "executable": { "command": "/bin/true" } }),
            "that a program gives",
        ),
        (json!({ "certificate": {} }), "that a certificate gives"),
        (json!({ "environment_id": "aws2" }), "`aws1`"),
        (
            json!({ "file": "/x", "format": { "type": "xml" } }),
            "`format` is neither `text` nor `json`",
        ),
        (
            json!({ "file": "/x", "format": { "type": "json" } }),
            "`subject_token_field_name` is missing",
        ),
        (
            json!({ "url": "https://example.com/", "headers": { "a b": "c" } }),
            "can't be a header",
        ),
        (
            json!({ "environment_id": "aws1", "regional_cred_verification_url": "sts" }),
            "`regional_cred_verification_url` is not an address",
        ),
    ] {
        let mut file = file.clone();
        file["credential_source"] = source;
        cloud.write(&file);
        let error = cloud.error(KEY, SecretErrorKind::Misconfigured).await;
        assert_says(&error, &[says, "application_default_credentials.json"]);
    }
    for name in ["audience", "subject_token_type"] {
        let mut file = file.clone();
        file[name] = json!(null);
        cloud.write(&file);
        let error = cloud.error(KEY, SecretErrorKind::Misconfigured).await;
        assert_says(&error, &[&format!("`{name}` is missing")]);
    }
    assert_eq!(cloud.google.asked().len(), 0);
}

/// A machine where only a `.env` file in this directory says how all is reached.
fn with_dotenv(google: &FakeGoogle, directory: &str) -> House {
    let home = tempfile::tempdir().unwrap();
    let key = home.path().join("key.json");
    fs::write(key, google.external_account_of_aws().to_string()).unwrap();
    let lines = [
        (ENDPOINT, google.origin()),
        ("GOOGLE_APPLICATION_CREDENTIALS", "key.json".to_owned()),
        ("GOOGLE_CLOUD_PROJECT", PROJECT.to_owned()),
        ("AWS_ACCESS_KEY_ID", AWS_KEY.0.to_owned()),
        ("AWS_SECRET_ACCESS_KEY", AWS_KEY.1.to_owned()),
        ("AWS_REGION", "eu-west-1".to_owned()),
    ];
    let text = lines.map(|(name, value)| format!("{name}={value}\n"));
    let directory = home.path().join(directory);
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join(".env"), text.concat()).unwrap();
    let process = [("NO_GCE_CHECK", "true")];
    let environment = Environment::new(process, Some(home.path()), home.path());
    let location = Location::find(&Overrides::default(), &environment).unwrap();
    let config = load(&location, &environment).config.unwrap();
    House::of(home, Environment::clone(&config.environment))
}

#[tokio::test]
async fn variables_of_the_user_s_own_dotenv_file_are_enough() {
    let google = FakeGoogle::start().unwrap();
    google.add(PROJECT, "api-key", VALUE);
    let house = with_dotenv(&google, ".openclaw");
    assert_eq!(house.get(KEY).await.unwrap(), VALUE);
    assert_eq!(google.tokens_given(), 1);
}

#[tokio::test]
async fn variables_of_a_foreign_dotenv_file_lead_nowhere() {
    let google = FakeGoogle::start().unwrap();
    google.add(PROJECT, "api-key", VALUE);
    let house = with_dotenv(&google, ".");
    let error = house.get(KEY).await.unwrap_err();
    assert_says(&error, &["no credentials for Google Cloud"]);
    assert_eq!(google.asked().len(), 0);
}
