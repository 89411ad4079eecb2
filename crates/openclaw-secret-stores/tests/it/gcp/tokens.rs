//! What becomes of tokens: how long they are kept, and how they are asked for.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use openclaw_secret_stores::SecretErrorKind;
use openclaw_testkit::fake_google::{Fault, PROJECT};
use serde_json::json;

use super::{Cloud, KEY, VALUE, assert_says};

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
async fn however_many_want_a_token_one_asks_for_it() {
    let cloud = Cloud::of_user(&[]);
    let all = join_all((0..50).map(|_| cloud.get(KEY))).await;
    assert!(all.into_iter().all(|it| it.unwrap() == VALUE));
    assert_eq!(cloud.google.tokens_given(), 1);
    // All are refused with the same token, and it is replaced once.
    cloud.google.revoke_tokens();
    let all = join_all((0..50).map(|_| cloud.get(KEY))).await;
    assert!(all.into_iter().all(|it| it.unwrap() == VALUE));
    assert_eq!(cloud.google.tokens_given(), 2);
}

#[tokio::test]
async fn those_who_waited_for_a_token_get_the_same_error() {
    let cloud = Cloud::of_user(&[]);
    cloud.google.fail(Fault::InvalidGrant, 1);
    let all = join_all((0..50).map(|_| cloud.get(KEY))).await;
    for error in all {
        assert_says(&error.unwrap_err(), &["invalid_grant"]);
    }
    assert_eq!(cloud.token_requests(), 1);
    assert_eq!(cloud.get(KEY).await.unwrap(), VALUE);
}

#[tokio::test]
async fn who_gives_up_leaves_the_turn_to_the_next() {
    let cloud = Cloud::of_user(&[]);
    cloud.google.fail(Fault::TokensHang, 1);
    let given_up = tokio::time::timeout(Duration::from_millis(300), cloud.get(KEY)).await;
    assert!(given_up.is_err());
    assert_eq!(cloud.get(KEY).await.unwrap(), VALUE);
}

#[tokio::test]
async fn a_token_is_renewed_a_minute_before_it_ends() {
    let cloud = Cloud::of_user(&[]);
    let later = async |seconds: u64| {
        tokio::time::pause();
        tokio::time::advance(Duration::from_secs(seconds)).await;
        tokio::time::resume();
        assert_eq!(cloud.get(KEY).await.unwrap(), VALUE);
        cloud.google.tokens_given()
    };
    assert_eq!(later(0).await, 1);
    assert_eq!(later(58 * 60).await, 1);
    assert_eq!(later(61).await, 2);
    assert_eq!(later(58 * 60).await, 2);
    assert_eq!(later(2 * 60 * 60).await, 3);
    // Nobody renews it who is not asked.
    assert_eq!(cloud.token_requests(), 3);
}

#[tokio::test]
async fn a_token_that_ends_soon_is_used_only_once() {
    let cloud = Cloud::of_user(&[]);
    for life in [json!(59), json!("59"), json!(0), json!(-1), json!(i64::MIN)] {
        cloud.google.revoke_tokens();
        cloud.google.token_life(life.clone());
        let before = cloud.google.tokens_given();
        for more in 1..3 {
            assert_eq!(cloud.get(KEY).await.unwrap(), VALUE, "{life}");
            assert_eq!(cloud.google.tokens_given(), before + more, "{life}");
        }
    }
}

#[tokio::test]
async fn a_token_without_an_end_or_with_one_too_far_away_is_kept_for_an_hour() {
    for life in [json!(null), json!(u64::MAX), json!(1e300), json!("soon")] {
        let cloud = Cloud::of_user(&[]);
        cloud.google.token_life(life.clone());
        for (seconds, given) in [(0, 1), (58 * 60, 1), (61, 2)] {
            tokio::time::pause();
            tokio::time::advance(Duration::from_secs(seconds)).await;
            tokio::time::resume();
            assert_eq!(cloud.get(KEY).await.unwrap(), VALUE, "{life}");
            assert_eq!(cloud.google.tokens_given(), given, "{life}");
        }
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
async fn the_place_that_gives_tokens_is_asked_again_while_it_is_down() {
    let cloud = Cloud::of_user(&[]);
    cloud.google.fail(Fault::TokensDown, 2);
    assert_eq!(cloud.get(KEY).await.unwrap(), VALUE);
    cloud.google.revoke_tokens();
    cloud.google.fail(Fault::TokensDown, 100);
    let error = cloud.error(KEY, SecretErrorKind::Unavailable).await;
    assert_says(&error, &["no access token", "status 503"]);
}

#[tokio::test]
async fn as_long_is_waited_as_the_place_that_gives_tokens_asks_for() {
    let cloud = Cloud::of_user(&[]);
    cloud.google.fail(Fault::TokensThrottled(1), 1);
    let begin = Instant::now();
    assert_eq!(cloud.get(KEY).await.unwrap(), VALUE);
    assert!(begin.elapsed() >= Duration::from_secs(1));
    assert_eq!(cloud.token_requests(), 2);
    cloud.google.revoke_tokens();
    cloud.google.fail(Fault::TokensThrottled(60), 1);
    let begin = Instant::now();
    let error = cloud.error(KEY, SecretErrorKind::Unavailable).await;
    assert!(begin.elapsed() < Duration::from_secs(2));
    assert_says(&error, &["no access token", "status 429"]);
}

#[tokio::test]
async fn answers_without_a_token_are_errors() {
    let cloud = Cloud::of_user(&[]);
    for (fault, kind, says) in [
        (
            Fault::NoToken,
            SecretErrorKind::Unusable,
            "there is none in the answer",
        ),
        (
            Fault::TokensHuge,
            SecretErrorKind::Unusable,
            "more than 2097152 bytes",
        ),
        (
            Fault::TokensRedirect,
            SecretErrorKind::Refused,
            "status 307",
        ),
    ] {
        cloud.google.fail(fault, 1);
        let error = cloud.error(KEY, kind).await;
        assert_says(&error, &[says]);
    }
    let asked = cloud.google.asked();
    assert!(asked.iter().all(|asked| asked.path != "/elsewhere"));
    assert_eq!(cloud.get(KEY).await.unwrap(), VALUE);
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
    assert_says(&error, &["did not answer in time"]);
    // This waits for threads that still wait for an answer.
    drop(runtime);
    assert!(
        begin.elapsed() < Duration::from_secs(3),
        "{:?}",
        begin.elapsed()
    );
    assert_eq!(cloud.google.asked().len(), 1);
}
