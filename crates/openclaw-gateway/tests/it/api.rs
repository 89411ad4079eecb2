//! What can be asked, and how it is answered.

use std::sync::atomic::Ordering;
use std::time::Duration;

use openclaw_engine::ShownState;
use serde_json::json;
use tokio::time::{Instant, timeout};

use crate::harness::{BEARER, JSON, Running, SOON, Wanted, call, until};
use crate::schema;

const CHAT: &str = r#"{"model":"openclaw","messages":[{"role":"user","content":"hello"}]}"#;

#[tokio::test]
async fn everything_is_answered_as_it_is_described() {
    let gateway = Running::with(Wanted {
        public_url: Some("https://claw.example/base"),
        ..Wanted::default()
    })
    .await;
    for (asked, path, status) in [
        ("/", "/", 200),
        ("/page/page.css", "/page/{file}", 200),
        ("/page/views/chat.js", "/page/{file}", 200),
        ("/page/views/../chat.js", "/page/{file}", 404),
        ("/page/jsconfig.json", "/page/{file}", 404),
        ("/health", "/health", 200),
        ("/metrics", "/metrics", 200),
        ("/openapi.json", "/openapi.json", 200),
        (
            "/oauth/client-metadata.json",
            "/oauth/client-metadata.json",
            200,
        ),
        ("/api/status", "/api/status", 200),
        ("/api/sessions", "/api/sessions", 200),
        ("/api/mcp/servers", "/api/mcp/servers", 200),
        ("/api/mcp/servers?agent=main", "/api/mcp/servers", 200),
        ("/api/mcp/servers?agent=nobody", "/api/mcp/servers", 404),
        ("/api/mcp/servers?agnet=main", "/api/mcp/servers", 400),
        ("/api/mcp/servers/fake", "/api/mcp/servers/{name}", 200),
        ("/api/mcp/servers/other", "/api/mcp/servers/{name}", 404),
        ("/api/mcp/servers/%ff", "/api/mcp/servers/{name}", 400),
        ("/api/mcp/tools?server=fake", "/api/mcp/tools", 200),
        ("/api/mcp/tools?server=down", "/api/mcp/tools", 502),
        ("/api/ws", "/api/ws", 426),
        ("/v1/models", "/v1/models", 200),
        ("/v1/models/openclaw/main", "/v1/models/{id}", 200),
        ("/v1/models/openclaw%2Fmain", "/v1/models/{id}", 200),
        ("/v1/models/other", "/v1/models/{id}", 404),
        ("/v1/models/%ff", "/v1/models/{id}", 400),
    ] {
        let answer = gateway.get(asked).await;
        assert_eq!(answer.status, status, "{asked}: {answer:?}");
        schema::check("get", path, &answer);
    }
    for (path, body, status) in [
        (
            "/api/mcp/call",
            r#"{"tool":"echo","arguments":{"a":1}}"#,
            200,
        ),
        ("/api/mcp/call", r#"{"tool":"echo","framed":true}"#, 200),
        ("/api/mcp/call", r#"{"tool":"denied"}"#, 200),
        ("/api/mcp/call", r#"{"tool":"failed"}"#, 200),
        ("/api/mcp/call", r#"{"tool":"fake/lost"}"#, 200),
        ("/api/mcp/call", r#"{"tool":"none"}"#, 404),
        ("/api/mcp/call", r#"{"tool":"ambiguous"}"#, 400),
        ("/api/mcp/call", r#"{"tool":"invalid"}"#, 400),
        ("/api/mcp/call", r#"{"tool":"echo","args":{}}"#, 400),
        ("/api/mcp/call", r#"{"tool":"echo","arguments":[]}"#, 400),
        ("/api/mcp/call", "{", 400),
        ("/api/mcp/call", "", 400),
        ("/api/mcp/call", r#"{"tool":"panic"}"#, 500),
        ("/api/mcp/refresh", "", 200),
        ("/api/mcp/refresh", r#"{"server":"fake"}"#, 200),
        ("/api/mcp/refresh", r#"{"agent":"nobody"}"#, 404),
        ("/api/mcp/reload", "{}", 200),
        ("/v1/chat/completions", CHAT, 200),
        ("/v1/chat/completions", "{}", 400),
        ("/v1/chat/completions", "{", 400),
    ] {
        let answer = gateway.post(path, body).await;
        assert_eq!(answer.status, status, "{path} {body}: {answer:?}");
        schema::check("post", path, &answer);
    }
    *gateway.engine.reload_fails.lock().unwrap() = true;
    let answer = gateway.post("/api/mcp/reload", "").await;
    assert_eq!(answer.status, 422);
    schema::check("post", "/api/mcp/reload", &answer);
    gateway.stop().await;
}

#[tokio::test]
async fn a_call_arrives_as_it_was_sent_and_without_the_consent_of_a_person() {
    let gateway = Running::start().await;
    let body = r#"{"tool":"echo","arguments":{"text":"ä","n":[1]},"agent":"main"}"#;
    let head = [BEARER, JSON, "X-Request-Id: my-request_1"];
    let answer = gateway.ask("POST", "/api/mcp/call", &head, body).await;
    assert_eq!(
        answer.json()["structuredContent"],
        json!({ "text": "ä", "n": [1] })
    );
    assert_eq!(answer.json().get("framed"), None);
    assert_eq!(answer.header("x-request-id"), Some("my-request_1"));
    let calls = gateway.engine.calls.lock().unwrap();
    let [call] = calls.as_slice() else {
        panic!("not one call: {calls:?}");
    };
    assert_eq!(call.agent.as_deref(), Some("main"));
    assert!(!call.approved && !call.framed && call.arguments.words.is_empty());
    assert_eq!(call.correlation, "my-request_1");
}

#[tokio::test]
async fn a_name_of_a_request_that_is_not_fit_for_a_log_is_replaced() {
    let gateway = Running::start().await;
    let long = format!("X-Request-Id: {}", "a".repeat(65));
    for line in [
        "X-Request-Id: a b",
        "X-Request-Id:",
        long.as_str(),
        "X-Request-Id: é",
    ] {
        let answer = gateway.ask("GET", "/health", &[line], "").await;
        let id = answer.header("x-request-id").unwrap();
        assert!(id.starts_with("http-") && id.len() == 21, "{id}");
        assert_eq!(answer.headers("x-request-id"), 1);
    }
}

#[tokio::test]
async fn what_was_decided_about_a_call_is_a_result_and_says_why() {
    let gateway = Running::start().await;
    let denied = gateway
        .post("/api/mcp/call", r#"{"tool":"denied"}"#)
        .await
        .json();
    assert_eq!(denied["isError"], true);
    assert_eq!(denied["server"], "fake");
    assert_eq!(
        denied["content"],
        json!([{ "type": "text", "text": "not allowed" }])
    );
    assert_eq!(denied["error"]["code"], "denied");
    let failed = gateway
        .post("/api/mcp/call", r#"{"tool":"failed"}"#)
        .await
        .json();
    assert_eq!(failed["error"]["hint"], "mend it");
    let lost = gateway
        .post("/api/mcp/call", r#"{"tool":"fake/lost"}"#)
        .await
        .json();
    assert_eq!(lost["server"], "fake");
    assert_eq!(lost["error"]["code"], "outcome-unknown");
}

#[tokio::test]
async fn whoever_goes_away_takes_the_call_along() {
    let gateway = Running::start().await;
    let mut client = gateway.client().await;
    client.send(call("hang")).await;
    let engine = &gateway.engine;
    until("the call", || engine.hanging.load(Ordering::SeqCst) == 1).await;
    drop(client);
    until("the end of it", || {
        engine.withdrawn.load(Ordering::SeqCst) == 1
    })
    .await;
}

#[tokio::test]
async fn health_tells_degraded_from_well_and_names_only_to_those_who_may_know() {
    let gateway = Running::start().await;
    let open = |gateway: &Running| {
        let address = gateway.address;
        async move {
            let mut client = crate::client::Client::connect(address).await;
            let answer = client.ask("GET", "/health", &["Host: localhost"], "").await;
            schema::check("get", "/health", &answer);
            assert_eq!(answer.status, 200);
            answer.json()
        }
    };
    let health = open(&gateway).await;
    assert_eq!(health["status"], "ok");
    assert_eq!(health["name"], "openclaw");
    assert_eq!(health["version"], "1.2.3");
    assert_eq!(
        health["servers"],
        json!({ "total": 2, "ready": 2, "troubled": 0 })
    );

    *gateway.engine.state.lock().unwrap() = ShownState::Failed;
    let health = healthy_until(&gateway, "degraded").await;
    assert_eq!(health["problemCount"], 1);
    let known = gateway.get("/health").await;
    schema::check("get", "/health", &known);
    assert_eq!(
        known.json()["problems"],
        json!([{ "server": "fake", "state": "failed", "message": "it does not run <b>" }])
    );
    let open_health = open(&gateway).await;
    assert_eq!(open_health.get("problems"), None);
    assert!(!open_health.to_string().contains("does not run"));
    *gateway.engine.state.lock().unwrap() = ShownState::Ready;
    healthy_until(&gateway, "ok").await;
    *gateway.engine.config_error.lock().unwrap() = Some("line 3".to_owned());
    let health = healthy_until(&gateway, "degraded").await;
    assert_eq!(health["problemCount"], 1);
    assert_eq!(
        gateway.get("/health").await.json()["problems"][0]["message"],
        "line 3"
    );
    let status = gateway.get("/api/status").await;
    schema::check("get", "/api/status", &status);
    assert_eq!(status.json()["configError"], "line 3");
}

/// Asks until the gateway is as it should be by now: it looks once a second.
async fn healthy_until(gateway: &Running, status: &str) -> serde_json::Value {
    let asking = async {
        loop {
            let health = gateway.ask("GET", "/health", &[], "").await.json();
            if health["status"] == status {
                return health;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(SOON, asking).await.expect("another status")
}

#[tokio::test]
async fn anybody_may_ask_how_it_is_and_it_is_found_out_once_a_second() {
    let gateway = Running::start().await;
    let began = Instant::now();
    let asking = (0..100).map(|_| gateway.ask("GET", "/health", &[], ""));
    for answer in futures_util::future::join_all(asking).await {
        assert_eq!(answer.status, 200);
    }
    let found_out = gateway.engine.looks.load(Ordering::SeqCst);
    let seconds = usize::try_from(began.elapsed().as_secs()).unwrap();
    assert!((1..=seconds + 1).contains(&found_out), "{found_out}");
}

#[tokio::test]
async fn one_question_that_is_not_answered_does_not_cost_the_other() {
    let gateway = Running::start().await;
    *gateway.engine.state.lock().unwrap() = ShownState::Failed;
    *gateway.engine.overview_hangs.lock().unwrap() = true;
    let health = gateway.get("/health").await;
    schema::check("get", "/health", &health);
    let health = health.json();
    assert_eq!(
        health["servers"],
        json!({ "total": 2, "ready": 1, "troubled": 1 })
    );
    assert_eq!(
        health["problems"][0]["message"],
        "the engine does not answer"
    );
    assert_eq!(health["problems"][1]["server"], "fake");
}

#[tokio::test]
async fn metrics_have_what_servers_did_and_what_came_in() {
    let gateway = Running::start().await;
    gateway.get("/api/status").await;
    gateway.get("/nothing/here").await;
    gateway.ask("GET", "/api/status", &[], "").await;
    let answer = gateway.get("/metrics").await;
    assert!(
        answer
            .header("content-type")
            .unwrap()
            .starts_with("application/openmetrics-text")
    );
    let lines: Vec<&str> = answer.body.lines().collect();
    for line in [
        "openclaw_mcp_calls_total{server=\"fake\",outcome=\"ok\"} 3",
        "openclaw_mcp_calls_total{server=\"na\\\"me\",outcome=\"ok\"} 3",
        "openclaw_mcp_call_duration_seconds_count{server=\"fake\"} 3",
        "openclaw_mcp_call_duration_seconds_sum{server=\"fake\"} 0.0035",
        "openclaw_mcp_call_duration_seconds_bucket{le=\"0.001\",server=\"fake\"} 2",
        "openclaw_mcp_call_duration_seconds_bucket{le=\"0.002\",server=\"fake\"} 3",
        "openclaw_mcp_call_duration_seconds_bucket{le=\"+Inf\",server=\"fake\"} 3",
        "openclaw_mcp_server_restarts_total{server=\"fake\"} 4",
        "openclaw_mcp_server_state{server=\"fake\",state=\"ready\"} 1",
        "openclaw_mcp_server_state{server=\"fake\",state=\"failed\"} 0",
        "openclaw_turns_total{outcome=\"ok\"} 4",
        "openclaw_turns_total{outcome=\"failed\"} 1",
        "openclaw_turns_total{outcome=\"cancelled\"} 2",
        "openclaw_config_reloads_total{outcome=\"ok\"} 2",
        "openclaw_http_requests_total{route=\"/api/status\",status=\"200\"} 1",
        "openclaw_http_requests_total{route=\"/api/status\",status=\"401\"} 1",
        "openclaw_http_requests_total{route=\"other\",status=\"404\"} 1",
        "openclaw_http_connections 1",
        "openclaw_websocket_clients 0",
        "openclaw_build_info{version=\"1.2.3\"} 1",
        "# EOF",
    ] {
        assert!(lines.contains(&line), "no `{line}` in\n{}", answer.body);
    }
    for name in [
        "openclaw_uptime_seconds ",
        "process_resident_memory_bytes ",
        "process_open_fds ",
    ] {
        assert!(lines.iter().any(|line| line.starts_with(name)), "no {name}");
    }
}

#[tokio::test]
async fn the_document_about_us_is_there_only_with_a_public_address_that_is_safe() {
    for (public_url, expected) in [
        (None, None),
        (Some("http://claw.example"), None),
        (
            Some("https://claw.example/base/"),
            Some("https://claw.example/base/oauth/client-metadata.json"),
        ),
    ] {
        let gateway = Running::with(Wanted {
            public_url,
            ..Wanted::default()
        })
        .await;
        let path = "/oauth/client-metadata.json";
        let answer = gateway.ask("GET", path, &[], "").await;
        schema::check("get", path, &answer);
        match expected {
            Some(url) => assert_eq!(answer.json()["client_id"], url),
            None => assert_eq!(answer.status, 404),
        }
    }
}

#[tokio::test]
async fn the_page_needs_no_token_and_has_nothing_of_its_own_that_runs() {
    let gateway = Running::start().await;
    let page = gateway.ask("GET", "/", &[], "").await;
    assert_eq!(page.status, 200);
    let policy = page.header("content-security-policy").unwrap();
    assert!(
        policy.contains("script-src 'self'") && !policy.contains("unsafe"),
        "{policy}"
    );
    assert!(policy.contains("frame-ancestors 'none'"));
    for forbidden in ["<script>", "style=", "<style", "onclick"] {
        assert!(!page.body.contains(forbidden), "{forbidden}");
    }
    // What it runs is a file of the gateway.
    assert_eq!(page.body.matches("<script").count(), 1);
    assert!(page.body.contains(" src=\"/page/start.js\""));
}

#[tokio::test]
async fn every_answer_tells_browsers_to_keep_out() {
    let gateway = Running::start().await;
    for answer in [
        gateway.get("/api/status").await,
        gateway.get("/nothing").await,
        gateway.ask("GET", "/api/status", &[], "").await,
        gateway.ask("GET", "/", &[], "").await,
        gateway.ask("GET", "/health", &["Origin: null"], "").await,
        gateway.post("/api/mcp/call", "{").await,
        gateway.ask("DELETE", "/api/status", &[BEARER], "").await,
    ] {
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("cross-origin-resource-policy", "same-origin"),
            ("x-frame-options", "DENY"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{answer:?}");
        }
        assert!(
            answer
                .header("content-security-policy")
                .unwrap()
                .contains("default-src 'none'")
        );
        assert!(answer.header("cache-control").unwrap().starts_with("no-"));
        assert_eq!(answer.header("access-control-allow-origin"), None);
    }
}

#[tokio::test]
async fn what_is_not_there_or_asked_in_a_wrong_way_is_told_in_json() {
    let gateway = Running::start().await;
    let nothing = gateway.get("/%3Cscript%3E").await;
    assert_eq!(
        (nothing.status, nothing.code().as_str()),
        (404, "not-found")
    );
    let wrong = gateway.ask("GET", "/api/mcp/call", &[BEARER], "").await;
    assert_eq!(
        (wrong.status, wrong.code().as_str()),
        (405, "method-not-allowed")
    );
    assert_eq!(wrong.header("allow"), Some("POST"));
    assert!(
        wrong.json()["error"]["message"]
            .as_str()
            .unwrap()
            .contains("POST")
    );
    let wrong = gateway.ask("POST", "/health", &[BEARER, JSON], "{}").await;
    assert_eq!(
        (wrong.status, wrong.header("allow")),
        (405, Some("GET,HEAD"))
    );
    let head = gateway.ask("OPTIONS", "/api/status", &[BEARER], "").await;
    assert_eq!(head.status, 405);
}

#[tokio::test]
async fn what_comes_with_a_request_to_nowhere_makes_no_difference() {
    let gateway = Running::start().await;
    let large = "x".repeat(2 << 20);
    for (path, status, code) in [
        ("/nothing", 404, "not-found"),
        ("/api/mcp/call/", 404, "not-found"),
        ("/v1/chat/completions/", 404, "not-found"),
        ("/api/status", 405, "method-not-allowed"),
        ("/v1/models", 405, "method-not-allowed"),
    ] {
        for body in ["", "{}", &large] {
            let answer = gateway.post(path, body).await;
            let length = body.len();
            assert_eq!(answer.status, status, "{path} with {length} bytes");
            assert_eq!(answer.code(), code);
        }
    }
}

#[tokio::test]
async fn an_agent_is_asked_in_parts_and_only_with_the_token() {
    let gateway = Running::start().await;
    let answer = gateway
        .ask("POST", "/v1/chat/completions", &[JSON], CHAT)
        .await;
    assert_eq!(answer.status, 401);
    schema::check("post", "/v1/chat/completions", &answer);
    let head = [BEARER, JSON, "X-Request-Id: my-request_1"];
    let answer = gateway
        .ask("POST", "/v1/chat/completions", &head, CHAT)
        .await;
    assert_eq!(answer.header("x-request-id"), Some("my-request_1"));
    assert_eq!(answer.headers("x-request-id"), 1);
    let body = CHAT.replacen('{', r#"{"stream":true,"#, 1);
    let mut client = gateway.client().await;
    let request = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n{BEARER}\r\n{JSON}\r\n\
         Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    client.send(request).await;
    let text = client.text().await;
    assert!(text.contains("text/event-stream"), "{text}");
    let events = text.lines().filter_map(|line| line.strip_prefix("data: "));
    let events: Vec<&str> = events.collect();
    assert_eq!(events.last(), Some(&"[DONE]"), "{text}");
    for event in &events[..events.len() - 1] {
        schema::check_value("ChatChunk", &serde_json::from_str(event).unwrap());
    }
}
