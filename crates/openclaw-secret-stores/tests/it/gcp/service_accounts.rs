//! Keys of service accounts.

use openclaw_secret_stores::SecretErrorKind;
use openclaw_secrets::REDACTED;
use openclaw_testkit::fake_google::ACCOUNT;
use serde_json::json;

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
async fn where_such_a_token_is_not_accepted_one_is_asked_for() {
    let cloud = Cloud::of_service(&[]);
    cloud.google.take_only_given_tokens();
    for _ in 0..3 {
        assert_eq!(cloud.get(KEY).await.unwrap(), VALUE);
    }
    // It is known from then on that it is of no use to sign one.
    assert_eq!(cloud.google.tokens_given(), 1);
    assert_eq!(cloud.google.accesses().len(), 4);
    cloud.google.revoke_tokens();
    assert_eq!(cloud.get(KEY).await.unwrap(), VALUE);
    assert_eq!(cloud.google.tokens_given(), 2);
    assert_eq!(cloud.google.accesses().len(), 6);
    // What was signed for that is hidden, too.
    let asked = cloud.google.asked().into_iter();
    let mut asked = asked.filter(|asked| asked.path == "/token");
    let form = String::from_utf8(asked.next().unwrap().body.to_vec()).unwrap();
    let (_, assertion) = form.split_once("assertion=").unwrap();
    assert_eq!(cloud.house.redactor.redact_learned(assertion), REDACTED);
}

#[tokio::test]
async fn a_token_that_was_never_accepted_is_an_error() {
    let cloud = Cloud::without_credentials(&[]);
    // The key is of another account than the file says.
    let mut file = cloud.google.service_account();
    file["client_email"] = "somebody@example.com".into();
    cloud.write(&file);
    let error = cloud.error(KEY, SecretErrorKind::Refused).await;
    let hint = "gcloud iam service-accounts keys create FILE --iam-account=somebody@example.com";
    assert_says(&error, &["does not accept", "invalid_grant", hint]);
    assert_eq!(cloud.google.accesses().len(), 1);
}

#[tokio::test]
async fn a_key_that_was_deleted_is_said_not_to_be_accepted() {
    let cloud = Cloud::without_credentials(&[]);
    let mut file = cloud.google.service_account();
    file["private_key_id"] = json!("deleted");
    cloud.write(&file);
    let error = cloud.error(KEY, SecretErrorKind::Refused).await;
    assert_says(&error, &["invalid_grant", ACCOUNT, "keys create"]);
    // A new one is found without a new start.
    cloud.write(&cloud.google.service_account());
    assert_eq!(cloud.get(KEY).await.unwrap(), VALUE);
}

#[tokio::test]
async fn a_clock_that_is_wrong_is_said_to_be() {
    // Ours is ten minutes ahead, or two hours behind.
    for ahead in [-600, 7200] {
        let cloud = Cloud::of_service(&[]);
        cloud.google.set_clock(ahead);
        let error = cloud.error(KEY, SecretErrorKind::Refused).await;
        assert_says(
            &error,
            &["clock of this machine is wrong", "set the clock", ACCOUNT],
        );
        // When it is right again, all is well.
        cloud.google.set_clock(0);
        assert_eq!(cloud.get(KEY).await.unwrap(), VALUE);
    }
    // A few seconds are no trouble, and with what is good for an hour neither are minutes.
    for ahead in [-30, 30, 600] {
        let cloud = Cloud::of_service(&[]);
        cloud.google.set_clock(ahead);
        assert_eq!(cloud.get(KEY).await.unwrap(), VALUE, "{ahead}");
        cloud.google.take_only_given_tokens();
        assert_eq!(cloud.get(KEY).await.unwrap(), VALUE, "{ahead}");
    }
}

#[tokio::test]
async fn a_key_may_be_written_with_line_breaks_of_any_kind() {
    let cloud = Cloud::without_credentials(&[]);
    let mut file = cloud.google.service_account();
    let key = file["private_key"].as_str().unwrap();
    file["private_key"] = json!(format!("\r\n{}", key.replace('\n', "\r\n")));
    cloud.write(&file);
    assert_eq!(cloud.get(KEY).await.unwrap(), VALUE);
}
