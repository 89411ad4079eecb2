//! The credentials of people and of machines.

use std::fs;

use openclaw_secret_stores::SecretErrorKind;
use openclaw_secrets::REDACTED;
use openclaw_testkit::fake_google::{Fault, PROJECT};

use super::{Cloud, KEY, VALUE, assert_says};

#[tokio::test]
async fn the_token_of_a_user_is_used_again_and_kept_nowhere() {
    let cloud = Cloud::of_user(&[]);
    for _ in 0..3 {
        assert_eq!(cloud.get(KEY).await.unwrap(), VALUE);
    }
    assert_eq!(cloud.google.tokens_given(), 1);
    let asked = cloud.google.accesses().remove(2);
    assert_eq!(asked.header("x-goog-user-project"), Some(PROJECT));
    let token = cloud.google.tokens().remove(0);
    let shown = cloud.house.redactor.redact_learned(&token);
    assert_eq!(shown, REDACTED);
    for hidden in ["refresh-token-of-the-test", "client-secret-of-the-test"] {
        assert_eq!(cloud.house.redactor.redact_learned(hidden), REDACTED);
    }
    let files = walk(cloud.house.path());
    assert_eq!(files.len(), 1, "{files:?}");
}

#[tokio::test]
async fn a_machine_of_google_has_an_account_and_a_project() {
    let google = openclaw_testkit::fake_google::FakeGoogle::start().unwrap();
    google.add(PROJECT, "api-key", VALUE);
    let (origin, host) = (google.origin(), google.metadata_host());
    let variables = [
        (super::ENDPOINT, origin.as_str()),
        ("GCE_METADATA_HOST", &host),
    ];
    let house = crate::house::House::new(&variables);
    for _ in 0..2 {
        assert_eq!(house.get(KEY).await.unwrap(), VALUE);
    }
    assert_eq!(google.tokens_given(), 1);
    let projects = google.asked().into_iter();
    let projects = projects.filter(|asked| asked.path.ends_with("/project-id"));
    assert_eq!(projects.count(), 1);
    // A token that is about to end is not used a second time.
    google.revoke_tokens();
    google.token_life(10);
    for given in [2, 3] {
        assert_eq!(house.get(KEY).await.unwrap(), VALUE);
        assert_eq!(google.tokens_given(), given);
    }
}

#[tokio::test]
async fn credentials_that_were_withdrawn_are_said_to_be() {
    let cloud = Cloud::of_user(&[]);
    cloud.google.fail(Fault::InvalidGrant, 1);
    let error = cloud.error(KEY, SecretErrorKind::Refused).await;
    let login = "gcloud auth application-default login";
    assert_says(&error, &["invalid_grant", ".config/gcloud", login]);
    // After logging in again all is well, without a new start.
    assert_eq!(cloud.get(KEY).await.unwrap(), VALUE);
    // The client is not known.
    let mut file = cloud.google.authorized_user();
    file["client_secret"] = "another one".into();
    cloud.write(&file);
    let error = cloud.error(KEY, SecretErrorKind::Refused).await;
    assert_says(&error, &["invalid_client", login]);
}

fn walk(directory: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(walk(&path));
        } else {
            files.push(path);
        }
    }
    files
}
