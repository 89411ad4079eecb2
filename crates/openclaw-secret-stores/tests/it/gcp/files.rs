//! Where credentials are looked for, and what is wrong with files.

use std::fs;
use std::time::{Duration, Instant};

use openclaw_secret_stores::SecretErrorKind;
use openclaw_testkit::fake_google::{FakeGoogle, PROJECT};
use serde_json::json;

use super::{Cloud, ENDPOINT, KEY, VALUE, assert_says};
use crate::house::House;

#[tokio::test]
async fn without_credentials_the_answer_comes_at_once() {
    let cloud = Cloud::without_credentials(&[]);
    let begin = Instant::now();
    let error = cloud.error(KEY, SecretErrorKind::Refused).await;
    let taken = begin.elapsed();
    assert!(taken < Duration::from_secs(3), "{taken:?}");
    println!("no credentials at all: {taken:?}");
    assert_says(
        &error,
        &[
            "no credentials for Google Cloud",
            "gcloud auth application-default login",
            "GOOGLE_APPLICATION_CREDENTIALS",
        ],
    );
    assert_eq!(cloud.google.asked().len(), 0);
}

#[tokio::test]
async fn a_metadata_service_that_is_not_there_is_not_waited_for() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let host = free.local_addr().unwrap().to_string();
    drop(free);
    let house = House::new(&[("GCE_METADATA_HOST", &host)]);
    let begin = Instant::now();
    let error = house.get(KEY).await.unwrap_err();
    assert!(begin.elapsed() < Duration::from_secs(3));
    assert_eq!(error.kind(), SecretErrorKind::Unavailable);
    assert_says(&error, &["metadata service", "refused"]);
}

#[tokio::test]
async fn what_is_no_metadata_service_gives_no_token() {
    // It answers, and not as the service does.
    let other = openclaw_testkit::stand_in::StandIn::start(|_| {
        let body = json!({ "access_token": "captive", "expires_in": 3600 });
        openclaw_testkit::stand_in::Answer::json(200, &body)
    })
    .unwrap();
    let host = other.address().to_string();
    let house = House::new(&[("GCE_METADATA_HOST", &host), (ENDPOINT, &other.origin())]);
    let error = house.get(KEY).await.unwrap_err();
    assert_says(&error, &["something else answers there"]);
    assert_eq!(other.asked().len(), 1);
}

#[tokio::test]
async fn a_file_that_a_variable_names_counts_before_the_usual_one() {
    let home = tempfile::tempdir().unwrap();
    let google = FakeGoogle::start().unwrap();
    google.add(PROJECT, "api-key", VALUE);
    let named = home.path().join("key.json");
    fs::write(&named, google.service_account().to_string()).unwrap();
    let usual = home.path().join(".config/gcloud");
    fs::create_dir_all(&usual).unwrap();
    let usual = usual.join("application_default_credentials.json");
    fs::write(usual, google.authorized_user().to_string()).unwrap();
    let origin = google.origin();
    let variables = [
        (ENDPOINT, origin.as_str()),
        // It is found from where we were started.
        ("GOOGLE_APPLICATION_CREDENTIALS", "key.json"),
    ];
    let house = House::at(home, &variables);
    assert_eq!(house.get(KEY).await.unwrap(), VALUE);
    assert_eq!(google.tokens_given(), 0, "the user was asked for");
}

#[cfg(not(windows))]
#[tokio::test]
async fn the_usual_file_is_where_google_s_programs_have_it() {
    for (variable, directory, file) in [
        ("CLOUDSDK_CONFIG", "elsewhere", "elsewhere"),
        ("HOME", "other-home", "other-home/.config/gcloud"),
    ] {
        let home = tempfile::tempdir().unwrap();
        let google = FakeGoogle::start().unwrap();
        google.add(PROJECT, "api-key", VALUE);
        let file = home.path().join(file);
        fs::create_dir_all(&file).unwrap();
        let file = file.join("application_default_credentials.json");
        fs::write(file, google.service_account().to_string()).unwrap();
        let directory = home.path().join(directory);
        let variables = [
            (ENDPOINT, google.origin()),
            (variable, directory.to_str().unwrap().to_owned()),
        ];
        let variables: Vec<(&str, &str)> = variables
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        let house = House::at(home, &variables);
        assert_eq!(house.get(KEY).await.unwrap(), VALUE, "{variable}");
    }
}

#[tokio::test]
async fn a_file_that_changes_is_read_anew() {
    let cloud = Cloud::of_user(&[]);
    assert_eq!(cloud.get(KEY).await.unwrap(), VALUE);
    cloud.write(&cloud.google.service_account());
    assert_eq!(cloud.get(KEY).await.unwrap(), VALUE);
    let bearer = |index: usize| {
        let asked = cloud.google.accesses().remove(index);
        asked.header("authorization").unwrap().to_owned()
    };
    assert!(bearer(0).starts_with("Bearer ya29."));
    assert!(bearer(1).starts_with("Bearer ey"), "{}", bearer(1));
    // The same length at the same time: still another file.
    let text = cloud.google.authorized_user().to_string();
    cloud.write_text(&text);
    assert_eq!(cloud.get(KEY).await.unwrap(), VALUE);
    cloud.write_text(&text.replace("refresh-token-of", "refresh-token-xx"));
    let error = cloud.error(KEY, SecretErrorKind::Refused).await;
    assert_says(&error, &["invalid_grant"]);
    fs::remove_file(cloud.usual_path()).unwrap();
    let error = cloud.error(KEY, SecretErrorKind::Refused).await;
    assert_says(&error, &["no credentials"]);
}

#[tokio::test]
async fn what_is_wrong_with_a_file_is_said_without_what_is_in_it() {
    let cloud = Cloud::without_credentials(&[]);
    let file = "application_default_credentials.json";
    let key = cloud.google.service_account();
    let with = |name: &str, value: serde_json::Value| {
        let mut json = key.clone();
        json[name] = value;
        json.to_string()
    };
    let plain = "http://oauth2.example.com/token";
    for (text, says) in [
        (
            "{ \"private_key\": PRIVATE KEY".to_owned(),
            "is not JSON at line 1, column 18",
        ),
        (String::new(), "is not JSON at line 1, column 0"),
        ("[]".to_owned(), "no `type`"),
        ("null".to_owned(), "no `type`"),
        ("x".repeat(65 * 1024), "more than 65536 bytes"),
        (
            with("type", json!("gdch_service_account")),
            "\"gdch_service_account\"",
        ),
        (with("type", json!(7)), "no `type`"),
        (
            with("private_key", json!("PRIVATE KEY of-the-test")),
            "no access token can be made",
        ),
        (with("private_key", json!(7)), "no access token can be made"),
        (with("project_id", json!("a/../b")), "`project_id` in"),
        (
            with("token_uri", json!(plain)),
            "everybody between could read",
        ),
        (
            json!({ "type": "external_account", "credential_source": { "executable": {} } })
                .to_string(),
            "a program gives",
        ),
    ] {
        cloud.write_text(&text);
        let error = cloud.error(KEY, SecretErrorKind::Misconfigured).await;
        assert_says(&error, &[says, file]);
    }
    fs::remove_file(cloud.usual_path()).unwrap();
    fs::create_dir(cloud.usual_path()).unwrap();
    let error = cloud.error(KEY, SecretErrorKind::Misconfigured).await;
    assert_says(&error, &["it is not a file", file]);
    assert_eq!(cloud.google.asked().len(), 0);
}

#[tokio::test]
async fn a_file_that_is_named_and_missing_is_an_error() {
    let variables = [("GOOGLE_APPLICATION_CREDENTIALS", "/nowhere/key.json")];
    let cloud = Cloud::of_user(&variables);
    let error = cloud.error(KEY, SecretErrorKind::Misconfigured).await;
    assert_says(
        &error,
        &["GOOGLE_APPLICATION_CREDENTIALS names /nowhere/key.json"],
    );
    assert_eq!(cloud.google.asked().len(), 0);
}
