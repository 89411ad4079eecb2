//! What comes of it when there is no secret.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use openclaw_secret_stores::{SecretError, SecretErrorKind};
use openclaw_testkit::stand_in::Answer;

use super::*;

/// What a person is told when AWS answers this.
async fn told(status: u16, code: &'static str, message: &'static str) -> SecretError {
    let service = service(move |_| refusal(status, code, message));
    let house = machine_with_keys(&service);
    let error = house.get("secret://aws/prod/db#AWSCURRENT").await;
    assert_eq!(service.asked().len(), 1, "{code} is not asked again");
    let error = error.unwrap_err();
    assert!(!format!("{error:?}").contains(SECRET_KEY));
    error
}

#[tokio::test]
async fn every_refusal_is_told_in_words_of_our_own() {
    use SecretErrorKind::{Misconfigured, Missing, Refused, Unavailable, Unusable};
    let deleted = "You can't perform this operation on the secret because it was marked for \
                   deletion.";
    let late = "Signature expired: 20260101T000000Z is now earlier than 20260101T001000Z";
    for (code, message, kind, words, hint) in [
        (
            "ResourceNotFoundException",
            "Secrets Manager can't find the specified secret.",
            Missing,
            "in eu-west-1 has no secret \"prod/db\"",
            "another region",
        ),
        (
            "ResourceNotFoundException",
            "Secrets Manager can't find the specified secret value for staging label: X",
            Missing,
            "\"prod/db\" has no version \"AWSCURRENT\"",
            "list-secret-version-ids --region eu-west-1",
        ),
        (
            "AccessDeniedException",
            "User: arn:aws:iam::123456789012:user/x is not authorized",
            Refused,
            "user/x is not authorized",
            "secretsmanager:GetSecretValue",
        ),
        (
            "UnrecognizedClientException",
            "The security token included in the request is invalid.",
            Refused,
            "does not know the access key of the variable AWS_ACCESS_KEY_ID in eu-west-1",
            "aws sts get-caller-identity",
        ),
        ("InvalidClientTokenId", "", Refused, "access key", "aws sts"),
        (
            "InvalidSignatureException",
            "x",
            Refused,
            "wrong secret key",
            "aws sts",
        ),
        ("InvalidSignatureException", late, Refused, "clock", "clock"),
        (
            "ExpiredTokenException",
            "x",
            Refused,
            "have expired",
            "aws sso login",
        ),
        (
            "InvalidRequestException",
            deleted,
            Missing,
            "marked for deletion",
            "restore-secret",
        ),
        (
            "InvalidRequestException",
            "Other.",
            Unusable,
            "now: Other",
            "",
        ),
        (
            "InvalidParameterException",
            "Bad.",
            Misconfigured,
            "Bad",
            "",
        ),
        (
            "DecryptionFailure",
            "x",
            Refused,
            "decrypt \"prod/db\"",
            "kms:Decrypt",
        ),
        (
            "SomethingNew",
            "Told so.",
            Unavailable,
            "answers \"SomethingNew\" (400): Told so",
            "",
        ),
    ] {
        let error = told(400, code, message).await;
        let shown = error.to_string();
        assert_eq!(error.kind(), kind, "{code}: {shown}");
        assert!(shown.contains(words), "{code}: {shown}");
        let hinted = error.hint_text().unwrap_or_default();
        assert!(hinted.contains(hint), "{code}: {hinted}");
    }
}

#[tokio::test]
async fn a_code_is_found_however_it_is_written() {
    let bodies = [
        (
            r#"{"__type":"com.amazonaws.secretsmanager#DecryptionFailure"}"#,
            "",
        ),
        (r#"{"__type":"DecryptionFailure","message":"m"}"#, ""),
        (
            r#"{"message":"m"}"#,
            "DecryptionFailure:http://internal.amazon.com/",
        ),
        ("not JSON", "DecryptionFailure"),
    ];
    for (body, header) in bodies {
        let service = service(move |_| {
            Answer::bytes(400, "text/plain", body).header("x-amzn-errortype", header)
        });
        let house = machine_with_keys(&service);
        let error = house.get("secret://aws/db").await.unwrap_err();
        assert!(error.to_string().contains("decrypt"), "{body}: {error}");
    }
}

#[tokio::test]
async fn what_aws_says_is_cleaned_and_short_and_without_credentials() {
    let said: &'static str =
        format!("\u{1b}[31mno\u{202e}\n{SECRET_KEY} {}", "x".repeat(5000)).leak();
    let error = told(400, "Weird\u{1b}[0mCode", said).await;
    let shown = error.to_string();
    assert!(!shown.contains(['\u{1b}', '\u{202e}', '\n']), "{shown:?}");
    assert!(shown.len() < 600, "{}", shown.len());
    for (status, body) in [(403, "<html>"), (404, ""), (301, "moved"), (400, "[]")] {
        let service = service(move |_| Answer::bytes(status, "text/html", body));
        let house = machine_with_keys(&service);
        let error = house.get("secret://aws/db").await.unwrap_err();
        let shown = error.to_string();
        assert!(shown.contains(&format!("status {status}")), "{shown}");
    }
}

#[tokio::test]
async fn one_that_is_throttled_twice_is_answered_the_third_time() {
    for (status, code) in [
        (400, "ThrottlingException"),
        (429, "Whatever"),
        (500, "InternalServiceError"),
        (503, "ServiceUnavailable"),
    ] {
        let count = AtomicUsize::new(0);
        let service = service(move |_| match count.fetch_add(1, Ordering::SeqCst) {
            0 | 1 => refusal(status, code, "Rate exceeded"),
            _ => answer("the-secret-of-aws"),
        });
        let house = machine_with_keys(&service);
        assert_eq!(
            house.get("secret://aws/db").await.unwrap(),
            "the-secret-of-aws",
            "{code}"
        );
        assert_eq!(service.asked().len(), 3, "{code}");
    }
}

#[tokio::test]
async fn it_is_waited_as_long_as_the_service_asks_for_or_not_at_all() {
    let count = AtomicUsize::new(0);
    let service = service(move |_| match count.fetch_add(1, Ordering::SeqCst) {
        0 => refusal(429, "ThrottlingException", "").header("retry-after", "1"),
        1 => answer("the-secret-of-aws"),
        _ => refusal(429, "ThrottlingException", "").header("retry-after", "3600"),
    });
    let house = machine_with_keys(&service);
    let started = Instant::now();
    house.get("secret://aws/db").await.unwrap();
    assert!(started.elapsed() >= Duration::from_secs(1));
    let started = Instant::now();
    let error = house.get("secret://aws/db").await.unwrap_err();
    assert_eq!(error.kind(), SecretErrorKind::Unavailable);
    assert!(error.to_string().contains("asked too often"), "{error}");
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn an_address_that_nobody_listens_at_is_named() {
    let service = keeper("x");
    let address = service.address();
    let mut house = machine_with_keys(&service);
    drop(service);
    house.settings.timeout = Duration::from_secs(1);
    let error = house.get("secret://aws/db").await.unwrap_err();
    assert_eq!(error.kind(), SecretErrorKind::Unavailable);
    assert!(error.to_string().contains(&address.to_string()), "{error}");
    let hint = error.hint_text().unwrap();
    assert!(hint.contains("AWS_ENDPOINT_URL_SECRETS_MANAGER"), "{hint}");
}

#[tokio::test]
async fn addresses_that_cannot_be_used_name_the_variable() {
    for address in [
        "http://192.0.2.1:4566",
        "localhost:4566",
        "ftp://x",
        "/",
        "http://",
        "http://user:pass@localhost",
        "http://localhost/?a=b",
    ] {
        let house = House::new(&[
            ("AWS_ENDPOINT_URL", address),
            ("AWS_DEFAULT_REGION", REGION),
            ("AWS_ACCESS_KEY_ID", KEY_ID),
            ("AWS_SECRET_ACCESS_KEY", SECRET_KEY),
        ]);
        let error = house.get("secret://aws/db").await.unwrap_err();
        assert_eq!(error.kind(), SecretErrorKind::Misconfigured, "{address}");
        assert!(error.to_string().contains("AWS_ENDPOINT_URL"), "{error}");
    }
}
