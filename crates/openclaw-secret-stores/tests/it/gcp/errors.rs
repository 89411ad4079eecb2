//! Everything that Secret Manager can answer but a secret.

use std::time::{Duration, Instant};

use openclaw_secret_stores::SecretErrorKind::{self, Missing, Refused, Unavailable, Unusable};
use openclaw_testkit::fake_google::{ACCOUNT, Fault, PROJECT, VersionState};

use super::{Cloud, KEY, VALUE, assert_says};

#[tokio::test]
async fn what_is_missing_is_named() {
    let cloud = Cloud::of_service(&[]);
    let error = cloud.error("secret://gcp/other-key", Missing).await;
    assert_says(&error, &["other-key", PROJECT, "the latest version"]);
    let error = cloud.error("secret://gcp/api-key#7", Missing).await;
    let hint = "gcloud secrets versions list api-key --project=test-project";
    assert_says(&error, &["api-key", PROJECT, "the version 7", hint]);
}

#[tokio::test]
async fn versions_that_are_disabled_or_destroyed_are_said_to_be() {
    let cloud = Cloud::of_service(&[]);
    cloud
        .google
        .add_in(PROJECT, "off", VALUE, VersionState::Disabled);
    cloud
        .google
        .add_in(PROJECT, "gone", VALUE, VersionState::Destroyed);
    let error = cloud.error("secret://gcp/off#1", Unusable).await;
    let hint = "gcloud secrets versions enable 1 --secret=off --project=test-project";
    assert_says(
        &error,
        &["the version 1 of the secret off", "is disabled", hint],
    );
    let error = cloud.error("secret://gcp/gone", Unusable).await;
    assert_says(
        &error,
        &["the latest version of the secret gone", "is destroyed"],
    );
}

#[tokio::test]
async fn answers_that_refuse_say_what_is_missing() {
    let cloud = Cloud::of_service(&[]);
    let member = format!("--member=serviceAccount:{ACCOUNT}");
    let enable = "gcloud services enable secretmanager.googleapis.com --project=test-project";
    let accessor = "roles/secretmanager.secretAccessor";
    for (fault, says) in [
        (
            Fault::Forbidden,
            &[
                "secretmanager.versions.access",
                PROJECT,
                "api-key",
                &member,
                accessor,
            ][..],
        ),
        (
            Fault::ServiceDisabled,
            &["API is not enabled", PROJECT, enable],
        ),
        (
            Fault::ScopeInsufficient,
            &["not for the scope `cloud-platform`", ACCOUNT],
        ),
    ] {
        cloud.google.fail(fault, 1);
        let error = cloud.error(KEY, Refused).await;
        assert_says(&error, says);
    }
    assert_eq!(cloud.google.accesses().len(), 3, "nothing was asked twice");
}

#[tokio::test]
async fn a_service_that_is_throttled_or_down_is_asked_again() {
    for fault in [Fault::Throttled(0), Fault::Down] {
        let cloud = Cloud::of_service(&[]);
        cloud.google.fail(fault, 3);
        assert_eq!(cloud.get(KEY).await.unwrap(), VALUE, "{fault:?}");
        assert_eq!(cloud.google.accesses().len(), 4, "{fault:?}");
    }
}

#[tokio::test]
async fn as_long_is_waited_as_the_service_asks_for() {
    let cloud = Cloud::of_service(&[]);
    cloud.google.fail(Fault::Throttled(2), 1);
    let begin = Instant::now();
    assert_eq!(cloud.get(KEY).await.unwrap(), VALUE);
    assert!(begin.elapsed() >= Duration::from_secs(2));
    // Where there is no time for that, the answer comes at once.
    cloud.google.fail(Fault::Throttled(60), 1);
    let begin = Instant::now();
    let error = cloud.error(KEY, Unavailable).await;
    assert!(begin.elapsed() < Duration::from_secs(2));
    assert_says(&error, &["status 429", "RESOURCE_EXHAUSTED"]);
}

#[tokio::test]
async fn a_service_that_stays_down_is_an_error_in_the_end() {
    let mut cloud = Cloud::of_service(&[]);
    cloud.house.settings.timeout = Duration::from_secs(2);
    cloud.google.fail(Fault::Down, 100);
    let error = cloud.error(KEY, Unavailable).await;
    assert_says(&error, &["status 503", "UNAVAILABLE"]);
}

#[tokio::test]
async fn a_service_that_does_not_answer_is_not_waited_for_for_ever() {
    let mut cloud = Cloud::of_service(&[]);
    cloud.house.settings.timeout = Duration::from_millis(500);
    cloud.google.fail(Fault::Hang, 1);
    let begin = Instant::now();
    let error = cloud.error(KEY, Unavailable).await;
    assert_says(&error, &["did not answer in time"]);
    assert!(begin.elapsed() < Duration::from_secs(2));
}

#[tokio::test]
async fn a_service_that_is_not_there_is_an_error() {
    let mut cloud = Cloud::of_service(&[(super::ENDPOINT, "http://127.0.0.1:1")]);
    cloud.house.settings.timeout = Duration::from_secs(2);
    let error = cloud.error(KEY, Unavailable).await;
    assert_says(&error, &["Google Secret Manager can't be asked", "refused"]);
}

#[tokio::test]
async fn answers_that_are_none_are_refused() {
    let cloud = Cloud::of_service(&[]);
    for (fault, kind, says) in [
        (Fault::Huge, Unusable, "more than 2097152 bytes"),
        (
            Fault::WrongChecksum,
            Unusable,
            "its checksum is another one",
        ),
        (Fault::Html, Unusable, "has no payload"),
        (Fault::OtherJson, Unusable, "has no payload"),
        (Fault::Redirect, Unavailable, "status 307"),
    ] {
        cloud.google.fail(fault, 1);
        let error = cloud.error(KEY, kind).await;
        assert_says(&error, &[says]);
    }
}

#[tokio::test]
async fn what_is_no_text_or_too_large_can_not_be_used() {
    let cloud = Cloud::of_service(&[]);
    cloud.google.add(PROJECT, "binary", vec![0xff, 0xfe, 1, 2]);
    cloud
        .google
        .add(PROJECT, "large", vec![b'x'; 64 * 1024 + 1]);
    cloud.google.add(PROJECT, "empty", "");
    cloud.google.add(PROJECT, "largest", vec![b'x'; 64 * 1024]);
    for (name, says) in [
        ("binary", "it is binary"),
        ("large", "it has 65537 bytes"),
        ("empty", "it is empty"),
    ] {
        let error = cloud.error(&format!("secret://gcp/{name}"), Unusable).await;
        assert_says(&error, &[says]);
    }
    let largest = cloud.get("secret://gcp/largest").await.unwrap();
    assert_eq!(largest.len(), 64 * 1024);
}

#[tokio::test]
async fn what_is_wrong_with_one_secret_does_not_keep_others() {
    let cloud = Cloud::of_service(&[]);
    let references = ["secret://gcp/missing", KEY, "secret://gcp/api-key#9"];
    let answers = cloud.house.resolve(&references).await;
    let kinds: Vec<Option<SecretErrorKind>> = answers
        .iter()
        .map(|answer| {
            answer
                .as_ref()
                .err()
                .map(openclaw_secret_stores::SecretError::kind)
        })
        .collect();
    assert_eq!(kinds, [Some(Missing), None, Some(Missing)]);
}
