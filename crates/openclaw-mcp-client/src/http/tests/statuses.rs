//! Answers that are no success.

use super::server::{Server, answer};
use super::*;
use crate::http::HttpFailure;

async fn failure(answer: impl Into<String>) -> HttpFailure {
    let server = Server::answering(answer).await;
    match post(&endpoint(&server.url("/")), "{}").await {
        Err(HttpError::Status(failure)) => *failure,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_wait_is_read_in_both_forms() {
    let busy = answer("429 Too Many Requests", "Retry-After: 7\r\n", "");
    assert_eq!(
        failure(busy).await.retry_after,
        Some(Duration::from_secs(7))
    );
    let later = std::time::SystemTime::now() + Duration::from_hours(1);
    let date = httpdate::fmt_http_date(later);
    let down = answer(
        "503 Service Unavailable",
        &format!("Retry-After: {date}\r\n"),
        "",
    );
    let wait = failure(down).await.retry_after.unwrap();
    let expected = Duration::from_secs(3500)..=Duration::from_hours(1);
    assert!(expected.contains(&wait), "{wait:?}");
    assert_eq!(failure(answer("500 Oh", "", "")).await.retry_after, None);
}

#[tokio::test]
async fn every_challenge_is_kept() {
    let challenges = "WWW-Authenticate: Bearer resource_metadata=\"https://a.example/x\"\r\n\
                      WWW-Authenticate: Basic realm=\"a\"\r\n";
    let failure = failure(answer("401 Unauthorized", challenges, "")).await;
    assert_eq!(failure.status.as_u16(), 401);
    assert_eq!(
        failure.challenges,
        [
            "Bearer resource_metadata=\"https://a.example/x\"",
            "Basic realm=\"a\""
        ]
    );
    assert_eq!(failure.to_string(), "HTTP status 401 (Unauthorized)");
}

#[tokio::test]
async fn a_json_body_is_for_the_caller_and_a_page_is_shown() {
    let body = "{\"jsonrpc\":\"2.0\",\"error\":{}}";
    let json = failure(answer(
        "400 Bad",
        "Content-Type: application/json\r\n",
        body,
    ))
    .await;
    assert_eq!(json.body, body);
    assert_eq!(json.content_type.as_deref(), Some("application/json"));
    assert_eq!(json.to_string(), "HTTP status 400 (Bad Request)");
    let page = "<html><h1>502 Bad Gateway</h1>\n<hr>nginx\u{1b}[0m</html>";
    let page = failure(answer("502 Bad", "Content-Type: text/html\r\n", page)).await;
    assert_eq!(
        page.to_string(),
        "HTTP status 502 (Bad Gateway): 502 Bad Gateway nginx[0m"
    );
    assert_eq!(
        failure(answer("599 Odd", "", "")).await.to_string(),
        "HTTP status 599"
    );
}

#[tokio::test]
async fn a_long_body_is_cut() {
    let long = "x".repeat(1_000_000);
    let failure = failure(answer("500 Oh", "Content-Type: text/plain\r\n", &long)).await;
    assert_eq!(failure.body.len(), 64 * 1024);
    assert!(failure.to_string().chars().count() < 250);
}

#[tokio::test]
async fn a_short_body_keeps_the_connection() {
    let server = Server::answering(answer("404 Not Found", "", "no such session")).await;
    let endpoint = endpoint(&server.url("/"));
    for _ in 0..2 {
        post(&endpoint, "{}").await.unwrap_err();
    }
    assert_eq!(server.accepted(), 1);
}
