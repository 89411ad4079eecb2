//! Service accounts that are borrowed.

use std::fs;

use openclaw_secret_stores::SecretErrorKind;
use openclaw_testkit::fake_google::{BORROWED_ACCOUNT, Fault, PROJECT, SUBJECT_TOKEN};
use serde_json::{Value as Json, json};

use super::{Cloud, KEY, VALUE, assert_says};

fn cloud() -> Cloud {
    Cloud::without_credentials(&[("GOOGLE_CLOUD_PROJECT", PROJECT)])
}

/// What the place was asked where accounts are borrowed.
fn question(cloud: &Cloud) -> Json {
    let asked = cloud.google.asked().into_iter();
    let mut asked = asked.filter(|asked| asked.path.ends_with(":generateAccessToken"));
    serde_json::from_slice(&asked.next_back().unwrap().body).unwrap()
}

#[tokio::test]
async fn an_account_is_borrowed_by_a_user_and_by_a_service_account() {
    let cloud = cloud();
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
async fn an_account_is_borrowed_with_the_word_of_another_provider() {
    let cloud = cloud();
    let subject = cloud.house.path().join("subject");
    fs::write(&subject, SUBJECT_TOKEN).unwrap();
    let external = cloud.google.external_account(&subject);
    cloud.write(&cloud.google.impersonated(&external));
    assert_eq!(cloud.get(KEY).await.unwrap(), VALUE);
    assert_eq!(cloud.google.tokens_given(), 2);
    assert_eq!(question(&cloud)["lifetime"], "3600s");
    // The usual way: the address stands beside the rest.
    let mut direct = external;
    direct["service_account_impersonation_url"] = json!(cloud.google.lending_address());
    direct["service_account_impersonation"] = json!({ "token_lifetime_seconds": 1200 });
    cloud.write(&direct);
    assert_eq!(cloud.get(KEY).await.unwrap(), VALUE);
    assert_eq!(cloud.google.tokens_given(), 4);
    assert_eq!(question(&cloud)["lifetime"], "1200s");
    cloud.google.fail(Fault::Forbidden, 1);
    let error = cloud.error(KEY, SecretErrorKind::Refused).await;
    assert_says(&error, &[BORROWED_ACCOUNT]);
}

#[tokio::test]
async fn accounts_between_are_named() {
    let cloud = cloud();
    let mut file = cloud.google.impersonated(&cloud.google.authorized_user());
    cloud.write(&file);
    assert_eq!(cloud.get(KEY).await.unwrap(), VALUE);
    assert_eq!(question(&cloud).get("delegates"), None);
    let delegates = json!(["projects/-/serviceAccounts/between@example.com"]);
    file["delegates"] = delegates.clone();
    cloud.write(&file);
    assert_eq!(cloud.get(KEY).await.unwrap(), VALUE);
    assert_eq!(question(&cloud)["delegates"], delegates);
    file["delegates"] = json!("between@example.com");
    cloud.write(&file);
    let error = cloud.error(KEY, SecretErrorKind::Misconfigured).await;
    assert_says(&error, &["`delegates` is not a list of accounts"]);
}

#[tokio::test]
async fn what_is_borrowed_lends_nothing() {
    let cloud = cloud();
    let inner = cloud.google.impersonated(&cloud.google.authorized_user());
    cloud.write(&cloud.google.impersonated(&inner));
    let error = cloud.error(KEY, SecretErrorKind::Misconfigured).await;
    assert_says(
        &error,
        &["can't be used here", "\"impersonated_service_account\""],
    );
    cloud.write(&cloud.google.impersonated(&json!(null)));
    let error = cloud.error(KEY, SecretErrorKind::Misconfigured).await;
    assert_says(&error, &["no `type`"]);
    assert_eq!(cloud.google.asked().len(), 0);
}

#[tokio::test]
async fn who_may_not_borrow_is_told_what_is_missing() {
    let cloud = cloud();
    cloud.write(&cloud.google.impersonated(&cloud.google.authorized_user()));
    cloud.google.fail(Fault::MayNotBorrow, 1);
    let error = cloud.error(KEY, SecretErrorKind::Refused).await;
    let hint = format!("gcloud iam service-accounts add-iam-policy-binding {BORROWED_ACCOUNT}");
    let permission = "iam.serviceAccounts.getAccessToken";
    assert_says(&error, &[permission, "IAM_PERMISSION_DENIED", &hint]);
    assert_eq!(cloud.google.accesses().len(), 0);
    cloud.google.fail(Fault::InvalidGrant, 1);
    let error = cloud.error(KEY, SecretErrorKind::Refused).await;
    assert_says(
        &error,
        &["invalid_grant", "gcloud auth application-default login"],
    );
}

#[tokio::test]
async fn who_is_not_known_where_accounts_are_borrowed_asks_for_a_token_first() {
    let cloud = cloud();
    cloud.google.take_only_given_tokens();
    cloud.write(&cloud.google.impersonated(&cloud.google.service_account()));
    assert_eq!(cloud.get(KEY).await.unwrap(), VALUE);
    // One of its own, and the one that is borrowed.
    assert_eq!(cloud.google.tokens_given(), 2);
}

#[tokio::test]
async fn a_borrowed_token_is_kept_until_it_ends() {
    let cloud = cloud();
    cloud.write(&cloud.google.impersonated(&cloud.google.service_account()));
    for (until, given) in [
        ("2000-01-01T00:00:00Z", [1, 2]),
        ("9999-12-31T23:59:59Z", [3, 3]),
        ("not a time", [4, 4]),
    ] {
        cloud.google.revoke_tokens();
        cloud.google.borrowed_until(until);
        for given in given {
            assert_eq!(cloud.get(KEY).await.unwrap(), VALUE, "{until}");
            assert_eq!(cloud.google.tokens_given(), given, "{until}");
        }
    }
}
