//! What is asked, and what comes of it when there is a secret.

use std::time::{Duration, Instant};

use openclaw_secret_stores::SecretErrorKind;
use openclaw_testkit::stand_in::Answer;
use serde_json::json;

use super::*;

#[tokio::test]
async fn a_secret_is_asked_for_by_name_and_the_question_is_signed() {
    let service = keeper("the-secret-of-aws");
    let house = machine_with_keys(&service);
    let started = Instant::now();
    let secret = house.get("secret://aws/prod/db").await.unwrap();
    println!("one secret from the stand-in: {:?}", started.elapsed());
    assert_eq!(secret, "the-secret-of-aws");
    let asked = service.asked().remove(0);
    assert_eq!(asked.method, "POST");
    assert_eq!(asked.path, "/");
    assert_eq!(
        asked.header("x-amz-target"),
        Some("secretsmanager.GetSecretValue")
    );
    assert_eq!(
        asked.header("content-type"),
        Some("application/x-amz-json-1.1")
    );
    assert_eq!(question(&asked), json!({ "SecretId": "prod/db" }));
    let scope = signer(&asked);
    assert!(scope.starts_with(&format!("{KEY_ID}/")), "{scope}");
    assert!(
        scope.ends_with("/eu-west-1/secretsmanager/aws4_request"),
        "{scope}"
    );
    assert_eq!(asked.header("x-amz-security-token"), None);
    assert_eq!(asked.headers.get_all("host").iter().count(), 1);
    assert_eq!(
        asked.header("host"),
        Some(service.address().to_string().as_str())
    );
}

#[tokio::test]
async fn versions_and_stages_are_asked_for_in_their_own_fields() {
    let service = keeper("the-secret-of-aws");
    let house = machine_with_keys(&service);
    let version = "01234567-89ab-cdef-0123-456789abcdef";
    for reference in [
        format!("secret://aws/db#{version}"),
        "secret://aws/db#AWSPREVIOUS".to_owned(),
    ] {
        house.get(&reference).await.unwrap();
    }
    let asked: Vec<_> = service.asked().iter().map(question).collect();
    assert_eq!(
        asked,
        [
            json!({ "SecretId": "db", "VersionId": version }),
            json!({ "SecretId": "db", "VersionStage": "AWSPREVIOUS" }),
        ]
    );
}

#[tokio::test]
async fn an_arn_decides_the_region_and_needs_no_other() {
    let service = keeper("the-secret-of-aws");
    let house = machine(
        &service,
        &[
            ("AWS_ACCESS_KEY_ID", KEY_ID),
            ("AWS_SECRET_ACCESS_KEY", SECRET_KEY),
            ("AWS_REGION", ""),
        ],
    );
    let arn = "arn:aws:secretsmanager:ap-south-1:123456789012:secret:db-AbCdEf";
    house.get(&format!("secret://aws/{arn}")).await.unwrap();
    let asked = service.asked().remove(0);
    assert!(signer(&asked).contains("/ap-south-1/"));
    assert_eq!(question(&asked), json!({ "SecretId": arn }));
    let error = house.get("secret://aws/db").await.unwrap_err();
    assert_eq!(error.kind(), SecretErrorKind::Misconfigured);
    let shown = error.to_string();
    for word in ["AWS_REGION", "AWS_DEFAULT_REGION", "`region`"] {
        assert!(shown.contains(word), "{shown}");
    }
    assert_eq!(service.asked().len(), 1);
}

#[tokio::test]
async fn a_field_is_taken_from_a_secret_that_is_json() {
    let service = keeper(r#"{"user":"admin","pass word":"hunter2-hunter2","port":5432,"x":[1]}"#);
    let house = machine_with_keys(&service);
    let password = house.get("secret://aws/db?key=pass%20word").await.unwrap();
    assert_eq!(password, "hunter2-hunter2");
    assert_eq!(house.get("secret://aws/db?key=port").await.unwrap(), "5432");
    let error = house.get("secret://aws/db?key=x").await.unwrap_err();
    assert_eq!(error.kind(), SecretErrorKind::Unusable);
    let error = house.get("secret://aws/db?key=password").await.unwrap_err();
    assert_eq!(error.kind(), SecretErrorKind::Missing);
    assert_eq!(
        error.to_string(),
        r#"it has no field "password": it has "user", "pass word", "port", "x""#
    );
}

#[tokio::test]
async fn the_names_of_many_fields_are_cut_short() {
    let fields: serde_json::Map<_, _> = (0..5000)
        .map(|number| (format!("{number:03}{}", "n".repeat(200)), json!("v")))
        .collect();
    let text: &'static str = json!(fields).to_string().leak();
    let service = keeper(text);
    let house = machine_with_keys(&service);
    let error = house.get("secret://aws/db?key=k").await.unwrap_err();
    let shown = error.to_string();
    assert!(shown.contains("4990 more"), "{shown}");
    assert!(shown.len() < 800, "{}", shown.len());
}

#[tokio::test]
async fn a_secret_without_fields_says_so_and_is_not_shown() {
    for (text, words) in [
        ("hunter2-hunter2", "it is not JSON"),
        (r#""hunter2-hunter2""#, "not an object"),
        (r#"["hunter2-hunter2"]"#, "not an object"),
        ("{}", "it has none"),
    ] {
        let service = keeper(text);
        let house = machine_with_keys(&service);
        let error = house.get("secret://aws/db?key=k").await.unwrap_err();
        let shown = format!("{error:?}");
        assert!(shown.contains(words), "{shown}");
        assert!(!shown.contains("hunter2"), "{shown}");
    }
}

#[tokio::test]
async fn a_binary_secret_is_taken_if_it_is_text() {
    let service = service(|asked| {
        let binary = match question(asked)["SecretId"].as_str() {
            Some("text") => "dGhlLXNlY3JldC1vZi1hd3MK",
            Some("json") => "eyJhIjoidGhlLWZpZWxkLW9mLWF3cyJ9",
            Some("bytes") => "/wD+",
            _ => "not base64!",
        };
        json_1_1(200, &json!({ "SecretBinary": binary }))
    });
    let house = machine_with_keys(&service);
    let text = house.get("secret://aws/text").await.unwrap();
    assert_eq!(text, "the-secret-of-aws");
    let field = house.get("secret://aws/json?key=a").await.unwrap();
    assert_eq!(field, "the-field-of-aws");
    for name in ["bytes", "broken"] {
        let error = house.get(&format!("secret://aws/{name}")).await;
        assert_eq!(
            error.unwrap_err().kind(),
            SecretErrorKind::Unusable,
            "{name}"
        );
    }
}

#[tokio::test]
async fn what_is_no_answer_of_secrets_manager_is_refused() {
    for body in ["", "{}", "[]", "<html>", r#"{"SecretString":5}"#, "\u{0}"] {
        let service = service(move |_| Answer::bytes(200, "text/html", body));
        let house = machine_with_keys(&service);
        let error = house.get("secret://aws/db").await.unwrap_err();
        assert_eq!(error.kind(), SecretErrorKind::Unusable, "{body}: {error}");
    }
}

#[tokio::test]
async fn an_answer_of_ten_megabytes_is_not_taken() {
    let text: &'static str = "x".repeat(10_000_000).leak();
    let service = keeper(text);
    let house = machine_with_keys(&service);
    let error = house.get("secret://aws/db").await.unwrap_err();
    assert_eq!(error.kind(), SecretErrorKind::Unusable);
    assert!(error.to_string().contains("more than"), "{error}");
    assert_eq!(service.asked().len(), 1, "it would be as large again");
}

#[tokio::test]
async fn a_service_that_hangs_is_given_up_at_the_deadline() {
    let service = service(|_| answer("late").after(Duration::from_mins(1)));
    let mut house = machine_with_keys(&service);
    house.settings.timeout = Duration::from_millis(300);
    let started = Instant::now();
    let error = house.get("secret://aws/db").await.unwrap_err();
    assert_eq!(error.kind(), SecretErrorKind::Unavailable);
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn many_secrets_are_answered_in_their_order_each_by_itself() {
    let service = service(|asked| match question(asked)["SecretId"].as_str() {
        Some(name) if name.starts_with("gone") => {
            refusal(400, "ResourceNotFoundException", "can't find")
        }
        name => answer(&format!("the-secret-called-{}", name.unwrap_or_default())),
    });
    let house = machine_with_keys(&service);
    let references: Vec<String> = (0..40)
        .map(|number| {
            let kind = if number % 5 == 0 { "gone" } else { "here" };
            format!("secret://aws/{kind}-{number}")
        })
        .collect();
    let references: Vec<&str> = references.iter().map(String::as_str).collect();
    let answers = house.resolve(&references).await;
    assert_eq!(answers.len(), 40);
    for (number, answer) in answers.into_iter().enumerate() {
        match answer {
            Ok(resolved) => assert_eq!(
                resolved.value.expose(),
                format!("the-secret-called-here-{number}")
            ),
            Err(error) => {
                assert_eq!(error.kind(), SecretErrorKind::Missing);
                assert_eq!(number % 5, 0);
            }
        }
    }
}
