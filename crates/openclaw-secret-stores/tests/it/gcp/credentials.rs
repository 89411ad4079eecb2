//! Each kind of credentials, and what becomes of tokens.

use std::fs;
use std::time::{Duration, Instant};

use openclaw_secret_stores::SecretErrorKind;
use openclaw_secrets::REDACTED;
use openclaw_testkit::fake_google::{BORROWED_ACCOUNT, Fault, PROJECT, SUBJECT_TOKEN};

use super::{Cloud, KEY, VALUE, assert_says};

#[tokio::test]
async fn a_service_account_signs_its_tokens_itself() {
    let cloud = Cloud::of_service(&[]);
    assert_eq!(cloud.get(KEY).await.unwrap(), VALUE);
    assert_eq!(
        cloud.google.asked().len(),
        1,
        "nobody was asked for a token"
    );
    let asked = cloud.google.accesses().remove(0);
    let path = "/v1/projects/test-project/secrets/api-key/versions/latest:access";
    assert_eq!(asked.path, path);
    assert_eq!(asked.header("x-goog-user-project"), None);
    // The token is hidden from then on, and so is the key.
    let shown = cloud
        .house
        .redactor
        .redact(asked.header("authorization").unwrap());
    assert_eq!(shown, format!("Bearer {REDACTED}"));
    let key = cloud.google.service_account()["private_key"].to_string();
    let shown = cloud.house.redactor.redact(&key);
    assert!(!shown.contains(key.split("\\n").nth(3).unwrap()), "{shown}");
}

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
async fn many_secrets_need_one_token() {
    let cloud = Cloud::of_user(&[]);
    let names: Vec<String> = (0..40).map(|number| format!("key-{number}")).collect();
    for name in &names {
        cloud.google.add(PROJECT, name, format!("value of {name}"));
    }
    let references: Vec<String> = names
        .iter()
        .map(|it| format!("secret://gcp/{it}"))
        .collect();
    let references: Vec<&str> = references.iter().map(String::as_str).collect();
    let answers = cloud.house.resolve(&references).await;
    for (name, answer) in names.iter().zip(answers) {
        assert_eq!(answer.unwrap().value.expose(), format!("value of {name}"));
    }
    assert_eq!(cloud.google.tokens_given(), 1);
}

#[tokio::test]
async fn the_word_of_another_provider_is_exchanged_for_a_token() {
    let cloud = Cloud::without_credentials(&[("GOOGLE_CLOUD_PROJECT", PROJECT)]);
    let subject = cloud.house.path().join("subject");
    fs::write(&subject, SUBJECT_TOKEN).unwrap();
    cloud.write(&cloud.google.external_account(&subject));
    assert_eq!(cloud.get(KEY).await.unwrap(), VALUE);
    assert_eq!(cloud.google.tokens_given(), 1);
}

#[tokio::test]
async fn a_provider_that_is_not_believed_is_an_error() {
    let cloud = Cloud::without_credentials(&[("GOOGLE_CLOUD_PROJECT", PROJECT)]);
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
async fn an_account_is_borrowed_by_a_user_and_by_a_service_account() {
    let cloud = Cloud::without_credentials(&[("GOOGLE_CLOUD_PROJECT", PROJECT)]);
    for (source, tokens) in [
        (cloud.google.authorized_user(), 2),
        (cloud.google.service_account(), 3),
    ] {
        cloud.write(&cloud.google.impersonated(&source));
        assert_eq!(cloud.get(KEY).await.unwrap(), VALUE);
        assert_eq!(cloud.google.tokens_given(), tokens);
    }
    cloud.google.fail(Fault::Forbidden, 1);
    let error = cloud.error(KEY, SecretErrorKind::Refused).await;
    assert_says(&error, &[BORROWED_ACCOUNT]);
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
async fn a_token_that_is_no_longer_accepted_is_replaced_once() {
    let cloud = Cloud::of_user(&[]);
    assert_eq!(cloud.get(KEY).await.unwrap(), VALUE);
    cloud.google.revoke_tokens();
    assert_eq!(cloud.get(KEY).await.unwrap(), VALUE);
    assert_eq!(cloud.google.tokens_given(), 2);
    assert_eq!(cloud.google.accesses().len(), 3);
}

#[tokio::test]
async fn a_token_that_was_never_accepted_is_an_error() {
    let cloud = Cloud::without_credentials(&[]);
    // The key is of another account than the file says.
    let mut file = cloud.google.service_account();
    file["client_email"] = "somebody@example.com".into();
    cloud.write(&file);
    let error = cloud.error(KEY, SecretErrorKind::Refused).await;
    let login = "gcloud auth application-default login";
    assert_says(&error, &["does not accept", "somebody@example.com", login]);
    assert_eq!(cloud.google.accesses().len(), 2);
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
}

#[tokio::test]
async fn the_place_that_gives_tokens_is_asked_again_while_it_is_down() {
    let cloud = Cloud::of_user(&[]);
    cloud.google.fail(Fault::TokensDown, 2);
    assert_eq!(cloud.get(KEY).await.unwrap(), VALUE);
    cloud.google.revoke_tokens();
    cloud.google.fail(Fault::TokensDown, 100);
    let error = cloud.error(KEY, SecretErrorKind::Unavailable).await;
    assert_says(&error, &["no access token", "status 503"]);
}

#[test]
fn a_place_that_gives_no_token_and_no_answer_is_waited_for_until_the_end_and_no_longer() {
    let mut cloud = Cloud::of_user(&[]);
    cloud.house.settings.timeout = Duration::from_millis(500);
    cloud.google.fail(Fault::TokensHang, 1);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let begin = Instant::now();
    let error = runtime.block_on(cloud.error(KEY, SecretErrorKind::Unavailable));
    assert_says(&error, &["within 500ms"]);
    // This waits for threads that still wait for an answer.
    drop(runtime);
    assert!(
        begin.elapsed() < Duration::from_secs(3),
        "{:?}",
        begin.elapsed()
    );
    assert_eq!(cloud.google.asked().len(), 1);
}

/// The library adds the life of a token to the time of now, and panics.
#[tokio::test]
async fn a_token_for_longer_than_there_is_time_is_an_error_and_no_crash() {
    let cloud = Cloud::of_user(&[]);
    cloud.google.fail(Fault::TokensForEver, 1);
    let error = cloud.error(KEY, SecretErrorKind::Misconfigured).await;
    assert_says(&error, &["no access token can be made"]);
    assert_eq!(cloud.get(KEY).await.unwrap(), VALUE);
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
