//! Services that refuse, in their own ways.

use std::time::{Duration, SystemTime};

use openclaw_models::ModelError;
use serde_json::json;

use crate::house::{House, KEY};
use crate::server::{Answer, Server};
use crate::streams::APIS;

/// The error for an answer of this status and body.
async fn error_of(api: &str, answer: Answer) -> ModelError {
    let server = Server::start([answer]);
    let house = House::with_service(api, &server.origin());
    house.hello().await.unwrap_err()
}

#[tokio::test]
async fn statuses_say_what_can_be_done() {
    for (status, code) in [
        (400, "model-refused"),
        (401, "model-key-refused"),
        (402, "model-refused"),
        (403, "model-refused"),
        (404, "unknown-model"),
        (408, "model-busy"),
        (413, "context-too-long"),
        (422, "model-refused"),
        (429, "model-busy"),
        (500, "model-unavailable"),
        (503, "model-unavailable"),
        (529, "model-unavailable"),
        (302, "model-refused"),
    ] {
        for api in APIS {
            for body in [
                "",
                "{}",
                "<html><h1>Oh</h1></html>",
                "nonsense",
                "[1]",
                "null",
            ] {
                let error = error_of(api, Answer::status(status, body)).await;
                assert_eq!(error.code(), code, "{api} {status} {body:?}: {error}");
                assert!(!error.to_string().contains("html"), "{error}");
            }
        }
    }
}

#[tokio::test]
async fn words_of_services_are_understood() {
    for (status, body, code) in [
        (
            400,
            json!({ "error": { "code": "context_length_exceeded", "message": "This model's maximum context length is 8192 tokens." } }),
            "context-too-long",
        ),
        (
            400,
            json!({ "type": "error", "error": { "type": "invalid_request_error", "message": "prompt is too long: 213000 tokens > 200000 maximum" } }),
            "context-too-long",
        ),
        (
            400,
            json!({ "error": { "code": 400, "status": "INVALID_ARGUMENT", "message": "The input token count (2000000) exceeds the maximum number of tokens allowed (1048576)." } }),
            "context-too-long",
        ),
        (
            400,
            json!({ "error": { "code": 400, "status": "INVALID_ARGUMENT", "message": "API key not valid. Please pass a valid API key." } }),
            "model-key-refused",
        ),
        (
            400,
            json!({ "error": { "message": "foo/bar is not a valid model ID", "code": 400 } }),
            "unknown-model",
        ),
        (
            400,
            json!({ "error": { "type": "invalid_request_error", "message": "messages.1: bad" } }),
            "model-refused",
        ),
        (
            429,
            json!({ "error": { "type": "insufficient_quota", "message": "You exceeded your current quota." } }),
            "model-refused",
        ),
        (
            400,
            json!({ "error": { "type": "invalid_request_error", "message": "Your credit balance is too low to access the API." } }),
            "model-refused",
        ),
        (
            404,
            json!({ "error": "model 'x' not found" }),
            "unknown-model",
        ),
        (429, json!({ "message": "slow down" }), "model-busy"),
    ] {
        let error = error_of(
            "openai-completions",
            Answer::status(status, &body.to_string()),
        )
        .await;
        assert_eq!(error.code(), code, "{body}: {error}");
    }
}

#[tokio::test]
async fn a_page_about_billing_does_not_make_a_limit_on_requests_a_lack_of_money() {
    let groq = json!({ "error": { "type": "tokens", "code": "rate_limit_exceeded", "message":
        "Rate limit reached for model x on tokens per minute (TPM): Limit 6000. Please try again in \
         7.66s. Need more tokens? Upgrade to Dev Tier today at https://example.com/settings/billing" } });
    let answer = Answer::status(429, &groq.to_string()).header("retry-after", "8");
    let error = error_of("openai-completions", answer).await;
    assert_eq!(error.code(), "model-busy", "{error}");
    assert_eq!(error.retry_after(), Some(Duration::from_secs(8)));
    let google = |details: serde_json::Value| {
        json!({ "error": { "code": 429, "status": "RESOURCE_EXHAUSTED", "details": details, "message":
            "You exceeded your current quota, please check your plan and billing details. Please \
             retry in 20s." } })
    };
    let delay =
        json!([{ "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "20s" }]);
    for details in [delay, json!([])] {
        let answer = Answer::status(429, &google(details).to_string());
        let error = error_of("google-generative-ai", answer).await;
        assert_eq!(error.code(), "model-busy", "{error}");
    }
    for code in ["insufficient_quota", "billing_not_active"] {
        let body = json!({ "error": { "code": code, "message": "no" } }).to_string();
        let error = error_of("openai-responses", Answer::status(429, &body)).await;
        assert_eq!(error.code(), "model-refused", "{error}");
    }
}

#[tokio::test]
async fn errors_that_are_no_texts_are_shown_as_what_they_are() {
    let finding = json!([{ "type": "missing", "loc": ["body", "messages", 0], "msg": "Field required" },
        { "msg": KEY }]);
    for (body, expected) in [
        (
            json!({ "detail": finding }),
            "body.messages.0: Field required",
        ),
        (
            json!({ "object": "error", "message": { "detail": finding } }),
            "body.messages.0: Field required",
        ),
        (
            json!({ "error": { "message": { "why": [1, 2] } } }),
            r#"{"why":[1,2]}"#,
        ),
    ] {
        let error = error_of("openai-completions", Answer::status(422, &body.to_string())).await;
        let error = error.to_string();
        assert!(error.contains(expected), "{error}");
        assert!(!error.contains(KEY), "{error}");
    }
    let long = json!({ "error": { "message": { "a": "b".repeat(10_000) } } }).to_string();
    let error = error_of("openai-completions", Answer::status(400, &long)).await;
    assert!(error.to_string().chars().count() < 400, "{error}");
}

#[tokio::test]
async fn a_403_is_about_the_key_only_where_it_says_so() {
    for (body, code) in [
        (
            json!({ "error": { "code": "unsupported_country_region_territory", "message": "Country, region, or territory not supported" } }),
            "model-refused",
        ),
        (
            json!({ "error": { "type": "permission_error", "message": "no" } }),
            "model-key-refused",
        ),
        (
            json!({ "error": { "status": "PERMISSION_DENIED", "message": "no" } }),
            "model-key-refused",
        ),
        (
            json!({ "message": "your API key may not use this" }),
            "model-key-refused",
        ),
    ] {
        let error = error_of("openai-completions", Answer::status(403, &body.to_string())).await;
        assert_eq!(error.code(), code, "{body}: {error}");
    }
}

#[tokio::test]
async fn a_page_for_browsers_is_a_wrong_address() {
    let page = "<!doctype html>\n<html>Welcome</html>\n\n";
    for api in APIS {
        let answer = Answer::stream(&[page]).header("content-type", "text/html; charset=utf-8");
        let error = error_of(api, answer).await;
        assert_eq!(error.code(), "model-misconfigured", "{api}: {error}");
        assert!(error.hint().unwrap().contains("baseUrl"));
        assert!(!error.is_passing());
        let error = error_of(api, Answer::stream(&[page])).await;
        assert!(!error.is_passing(), "{api}: {error}");
    }
    let error = error_of("openai-completions", Answer::stream(&["hello"])).await;
    assert_eq!(error.code(), "model-misconfigured", "{error}");
    let answer = Answer::stream(&[": soon\n\n"]).header("content-type", "text/event-stream");
    let error = error_of("openai-completions", answer).await;
    assert_eq!(error.code(), "model-truncated", "{error}");
}

#[tokio::test]
async fn who_asks_for_more_than_a_minute_is_quoted() {
    let answer = Answer::status(429, "slow down").header("retry-after", "3601");
    let error = error_of("ollama", answer).await.to_string();
    let expected = "test/m is asked too often: slow down; it asks to come back in 61 minutes";
    assert_eq!(error, expected);
}

#[tokio::test]
async fn services_say_when_to_come_back() {
    let in_a_minute = httpdate::fmt_http_date(SystemTime::now() + Duration::from_mins(1));
    let seconds = Duration::from_secs;
    for (answer, expected) in [
        (
            Answer::status(429, "").header("retry-after", "7"),
            seconds(7),
        ),
        (
            Answer::status(503, "").header("retry-after", "0.5"),
            Duration::from_millis(500),
        ),
        (
            Answer::status(429, "").header("retry-after-ms", "1500"),
            Duration::from_millis(1500),
        ),
        (
            Answer::status(429, "").header("retry-after", "Thu, 01 Jan 1970 00:00:00 GMT"),
            seconds(0),
        ),
        (
            Answer::status(
                429,
                r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"x",
                "details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"37s"}]}}"#,
            ),
            seconds(37),
        ),
    ] {
        let error = error_of("google-generative-ai", answer).await;
        assert_eq!(error.retry_after(), Some(expected), "{error}");
    }
    let error = error_of(
        "openai-completions",
        Answer::status(429, "").header("retry-after", in_a_minute),
    )
    .await;
    let wait = error.retry_after().unwrap();
    assert!((seconds(50)..=seconds(60)).contains(&wait), "{wait:?}");
    for nonsense in ["soon", "-1", "NaN", "1e400"] {
        let answer = Answer::status(429, "").header("retry-after", nonsense);
        assert_eq!(
            error_of("ollama", answer).await.retry_after(),
            None,
            "{nonsense}"
        );
    }
}

#[tokio::test]
async fn words_of_services_are_short_clean_and_without_the_key() {
    let message = format!(
        "no \u{1b}[31m{KEY}\nwith a second line {}",
        "long ".repeat(200)
    );
    let body = json!({ "error": { "message": message } }).to_string();
    for api in APIS {
        let error = error_of(api, Answer::status(401, &body)).await.to_string();
        assert!(!error.contains(KEY), "{error}");
        assert!(!error.contains(['\n', '\u{1b}']), "{error}");
        assert!(error.chars().count() < 400, "{error}");
        assert!(error.contains("with a second line"), "{error}");
    }
}

#[tokio::test]
async fn an_error_in_the_middle_of_a_stream_is_none_of_an_answer() {
    let cases = [
        (
            "anthropic-messages",
            json!({ "type": "error", "error": { "type": "overloaded_error", "message": "Overloaded" } }),
            "model-unavailable",
        ),
        (
            "anthropic-messages",
            json!({ "type": "error", "error": { "type": "rate_limit_error", "message": "slow" } }),
            "model-busy",
        ),
        (
            "openai-completions",
            json!({ "error": { "code": 502, "message": "Provider returned error" }, "choices": [] }),
            "model-unavailable",
        ),
        (
            "openai-completions",
            json!({ "error": { "code": "context_length_exceeded", "message": "too long" } }),
            "context-too-long",
        ),
        (
            "openai-responses",
            json!({ "type": "response.failed", "response": { "error": { "code": "server_error", "message": "oh" } } }),
            "model-unavailable",
        ),
        (
            "openai-responses",
            json!({ "type": "error", "code": "rate_limit_exceeded", "message": "slow" }),
            "model-busy",
        ),
        (
            "google-generative-ai",
            json!({ "error": { "code": 503, "status": "UNAVAILABLE", "message": "overloaded" } }),
            "model-unavailable",
        ),
    ];
    for (api, event, code) in cases {
        let error = error_of(api, Answer::stream(&[format!("data: {event}\n\n")])).await;
        assert_eq!(error.code(), code, "{api} {event}: {error}");
    }
    let error = error_of(
        "ollama",
        Answer::stream(&["{\"error\":\"out of memory\"}\n"]),
    )
    .await;
    assert_eq!(error.code(), "model-unavailable", "{error}");
    assert!(error.to_string().contains("out of memory"));
}

#[tokio::test]
async fn an_error_that_comes_with_a_status_of_success_is_one() {
    let body = json!({ "error": { "code": 401, "message": "who are you?" } }).to_string();
    let answer = Answer::stream(&[body]).header("content-type", "application/json");
    let error = error_of("openai-completions", answer).await;
    assert_eq!(error.code(), "model-key-refused", "{error}");
    let answer = Answer::stream(&["{}"]).header("content-type", "application/json; charset=utf-8");
    let error = error_of("anthropic-messages", answer).await;
    assert_eq!(error.code(), "model-unreadable", "{error}");
}

#[tokio::test]
async fn a_service_that_is_not_there_is_unavailable() {
    let origin = Server::start([Answer::status(200, "")]).origin();
    for api in APIS {
        let house = House::with_service(api, &origin);
        let error = house.hello().await.unwrap_err();
        assert_eq!(error.code(), "model-unavailable", "{api}: {error}");
    }
}

#[tokio::test]
async fn what_is_no_secret_is_not_hidden() {
    let message = "the version 2023-06-01 is too old for team-blue";
    let server = Server::start([Answer::status(400, message)]);
    let more = json!({ "headers": { "x-team": "team-blue" } });
    let config = crate::house::service("anthropic-messages", &server.origin(), &more);
    let error = House::new(&config, &[]).hello().await.unwrap_err();
    assert!(error.to_string().contains(message), "{error}");
    assert_eq!(server.asked()[0].header("x-team"), Some("team-blue"));
}
