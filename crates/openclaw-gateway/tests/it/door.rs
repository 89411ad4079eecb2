//! Who comes in.

use openclaw_gateway::Credential;
use openclaw_secrets::Secret;

use crate::harness::{BEARER, JSON, Running, TOKEN, Wanted};
use crate::schema;

fn basic(text: &str) -> String {
    use base64::Engine as _;
    let encoded = base64::engine::general_purpose::STANDARD.encode(text);
    format!("Authorization: Basic {encoded}")
}

#[tokio::test]
async fn only_the_token_opens_what_is_closed() {
    let gateway = Running::start().await;
    let user = basic(&format!("me:{TOKEN}"));
    let longer = format!("{BEARER}x");
    let shorter = BEARER
        .strip_suffix('s')
        .unwrap_or(&BEARER[..BEARER.len() - 1]);
    for (lines, status) in [
        (&[BEARER][..], 200),
        (
            &["authorization: bearer a-token-that-nobody-at-all-can-guess"],
            200,
        ),
        (&[], 401),
        (&["Authorization: Bearer"], 401),
        (&["Authorization: Bearer  "], 401),
        (
            &["Authorization: a-token-that-nobody-at-all-can-guess"],
            401,
        ),
        (&[longer.as_str()], 401),
        (&[shorter], 401),
        (&[user.as_str()], 401),
        (&[BEARER, BEARER], 401),
        (&["Authorization: Bearer \u{e4}\u{f6}"], 401),
    ] {
        let answer = gateway.ask("GET", "/api/status", lines, "").await;
        assert_eq!(answer.status, status, "{lines:?}");
        schema::check("get", "/api/status", &answer);
        if status == 401 {
            let challenge = answer.header("www-authenticate").unwrap();
            assert!(challenge.starts_with("Bearer"), "{challenge}");
            assert_eq!(answer.code(), "unauthorized");
        }
    }
}

#[tokio::test]
async fn without_the_token_nothing_is_told_and_nothing_is_done() {
    let gateway = Running::start().await;
    for (method, path) in [
        ("GET", "/api/status"),
        ("GET", "/api/sessions"),
        ("GET", "/api/mcp/servers"),
        ("GET", "/api/mcp/servers/fake"),
        ("GET", "/api/mcp/tools"),
        ("POST", "/api/mcp/call"),
        ("POST", "/api/mcp/refresh"),
        ("POST", "/api/mcp/reload"),
        ("GET", "/metrics"),
        ("GET", "/nothing"),
        ("GET", "/api/nothing"),
    ] {
        let answer = gateway.ask(method, path, &[JSON], "").await;
        assert_eq!(answer.status, 401, "{path}");
    }
    for path in ["/", "/page/page.css", "/health", "/openapi.json"] {
        assert_eq!(
            gateway.ask("GET", path, &[], "").await.status,
            200,
            "{path}"
        );
    }
    assert!(gateway.engine.calls.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_password_may_come_in_both_ways() {
    let gateway = Running::with(Wanted {
        credential: Credential::Password(Secret::new("open: sesame")),
        ..Wanted::default()
    })
    .await;
    let right = basic("anybody:open: sesame");
    let wrong = basic("anybody:open sesame");
    for (line, status) in [
        ("Authorization: Bearer open: sesame", 200),
        (right.as_str(), 200),
        (wrong.as_str(), 401),
        ("Authorization: Basic !!!", 401),
    ] {
        let answer = gateway.ask("GET", "/api/status", &[line], "").await;
        assert_eq!(answer.status, status, "{line}");
    }
    // What a browser may send by itself is no proof that nobody else's page is behind it.
    let answer = gateway.ask("POST", "/api/mcp/reload", &[&right], "").await;
    assert_eq!(answer.code(), "not-json");
    let answer = gateway
        .ask("POST", "/api/mcp/reload", &[&right, JSON], "")
        .await;
    assert_eq!(answer.status, 200);
}

#[tokio::test]
async fn an_empty_password_lets_in_nobody() {
    let gateway = Running::with(Wanted {
        credential: Credential::Password(Secret::new("")),
        ..Wanted::default()
    })
    .await;
    for line in ["Authorization: Bearer ", &basic("me:"), "Accept: */*"] {
        let answer = gateway.ask("GET", "/api/status", &[line], "").await;
        assert_eq!(answer.status, 401, "{line}");
    }
}

#[tokio::test]
async fn many_wrong_tokens_are_slowed_down_and_the_right_one_still_comes_in() {
    let gateway = Running::start().await;
    let wrong = "Authorization: Bearer wrong";
    let mut statuses = Vec::new();
    for _ in 0..12 {
        let answer = gateway.ask("GET", "/api/status", &[wrong], "").await;
        schema::check("get", "/api/status", &answer);
        if answer.status == 429 {
            let seconds: u64 = answer.header("retry-after").unwrap().parse().unwrap();
            assert!((1..=7).contains(&seconds), "{seconds}");
            assert_eq!(answer.code(), "too-many-attempts");
        }
        statuses.push(answer.status);
    }
    assert_eq!(statuses[..10], [401; 10]);
    assert_eq!(statuses[10..], [429; 2]);
    // Where more is told to those who have it is no better place to try.
    assert_eq!(
        gateway.ask("GET", "/health", &[wrong], "").await.status,
        429
    );
    assert_eq!(gateway.ask("GET", "/health", &[], "").await.status, 200);
    assert_eq!(gateway.get("/api/status").await.status, 200);
}

#[tokio::test]
async fn beyond_the_limit_a_password_is_not_even_looked_at() {
    let gateway = Running::with(Wanted {
        credential: Credential::Password(Secret::new("sesame")),
        ..Wanted::default()
    })
    .await;
    let right = "Authorization: Bearer sesame";
    for _ in 0..20 {
        assert_eq!(
            gateway.ask("GET", "/api/status", &[right], "").await.status,
            200
        );
    }
    for _ in 0..10 {
        let wrong = "Authorization: Bearer open";
        assert_eq!(
            gateway.ask("GET", "/api/status", &[wrong], "").await.status,
            401
        );
    }
    assert_eq!(
        gateway.ask("GET", "/api/status", &[right], "").await.status,
        429
    );
}

#[tokio::test]
async fn a_token_that_is_short_enough_to_be_guessed_is_limited_as_a_password_is() {
    for (length, status) in [(31, 429), (32, 200)] {
        let token = "t".repeat(length);
        let gateway = Running::with(Wanted {
            credential: Credential::Token(Secret::new(token.clone())),
            ..Wanted::default()
        })
        .await;
        let right = format!("Authorization: Bearer {token}");
        for _ in 0..10 {
            let wrong = "Authorization: Bearer open";
            let answer = gateway.ask("GET", "/api/status", &[wrong], "").await;
            assert_eq!(answer.status, 401);
        }
        let answer = gateway.ask("GET", "/api/status", &[&right], "").await;
        assert_eq!(answer.status, status, "{length} characters");
    }
}

#[tokio::test]
async fn behind_a_proxy_everybody_has_their_own_count() {
    let right = "Authorization: Bearer sesame";
    for (public_url, status_of_another) in [(Some("https://claw.example"), 200), (None, 429)] {
        let gateway = Running::with(Wanted {
            credential: Credential::Password(Secret::new("sesame")),
            public_url,
            ..Wanted::default()
        })
        .await;
        for number in 0..10 {
            // What somebody says about themselves stands before what the proxy says.
            let whence = format!("X-Forwarded-For: 198.51.100.{number}, 192.0.2.1");
            let head = ["Authorization: Bearer open", &whence];
            let answer = gateway.ask("GET", "/api/status", &head, "").await;
            assert_eq!(answer.status, 401);
        }
        for (whence, status) in [
            ("X-Forwarded-For: 192.0.2.1", 429),
            ("X-Forwarded-For: 192.0.2.2, 192.0.2.1", 429),
            ("X-Forwarded-For: 192.0.2.2", status_of_another),
        ] {
            let answer = gateway
                .ask("GET", "/api/status", &[right, whence], "")
                .await;
            assert_eq!(answer.status, status, "{whence} {public_url:?}");
        }
    }
}

#[tokio::test]
async fn a_credential_may_have_blanks_and_letters_of_any_language() {
    let gateway = Running::with(Wanted {
        credential: Credential::Password(Secret::new(" sésame öffne dich ")),
        ..Wanted::default()
    })
    .await;
    let whole = basic("me: sésame öffne dich ");
    let trimmed = basic("me:sésame öffne dich");
    for (line, status) in [(whole.as_str(), 200), (trimmed.as_str(), 401)] {
        let answer = gateway.ask("GET", "/api/status", &[line], "").await;
        assert_eq!(answer.status, status, "{line}");
    }
    let gateway = Running::with(Wanted {
        credential: Credential::Token(Secret::new(" schönes Zeichen")),
        ..Wanted::default()
    })
    .await;
    for (line, status) in [
        ("Authorization: Bearer  schönes Zeichen", 200),
        ("Authorization: Bearer schönes Zeichen", 401),
        ("Authorization: Bearer   schönes Zeichen", 401),
    ] {
        let answer = gateway.ask("GET", "/api/status", &[line], "").await;
        assert_eq!(answer.status, status, "{line}");
    }
}

#[tokio::test]
async fn only_names_of_this_gateway_are_answered() {
    let gateway = Running::with(Wanted {
        allowed_hosts: ["box.lan", "Other.Example:8080", "not a host"]
            .map(str::to_owned)
            .to_vec(),
        public_url: Some("https://claw.example:8443/base"),
        ..Wanted::default()
    })
    .await;
    for (host, status) in [
        (&["Host: localhost"][..], 200),
        (&["Host: LocalHost.:18789"], 200),
        (&["Host: 127.0.0.1"], 200),
        (&["Host: 10.1.2.3:80"], 200),
        (&["Host: [::1]:18789"], 200),
        (&["Host: [fe80::1]"], 200),
        (&["Host: box.lan"], 200),
        (&["Host: BOX.LAN:1234"], 200),
        (&["Host: other.example:8080"], 200),
        (&["Host: claw.example"], 200),
        (&["Host: claw.example:8443"], 200),
        (&["Host: other.example"], 421),
        (&["Host: other.example:80"], 421),
        (&["Host: evil.example"], 421),
        (&["Host: localhost.evil.example"], 421),
        (&["Host: 127.0.0.1.evil.example"], 421),
        (&["Host: 127.1"], 421),
        (&["Host: 2130706433"], 421),
        (&["Host: 0x7f.0.0.1"], 421),
        (&["Host: [::1"], 421),
        (&["Host: [evil.example]"], 421),
        (&["Host: me@localhost"], 421),
        (&["Host: localhost:port"], 421),
        (&["Host:"], 421),
        (&[], 421),
        (&["Host: localhost", "Host: evil.example"], 421),
    ] {
        for path in ["/health", "/api/status", "/", "/nothing"] {
            let head: Vec<&str> = host.iter().copied().chain([BEARER]).collect();
            let answer = gateway.client().await.ask("GET", path, &head, "").await;
            let expected = if path == "/nothing" && status == 200 {
                404
            } else {
                status
            };
            assert_eq!(answer.status, expected, "{host:?} {path}");
            if status == 421 {
                assert_eq!(answer.code(), "wrong-host");
            }
        }
    }
    let head = ["Host: evil.example"];
    let answer = gateway
        .client()
        .await
        .ask("GET", "/health", &head, "")
        .await;
    assert!(
        answer.body.contains("gateway.allowedHosts"),
        "{}",
        answer.body
    );
    schema::check("get", "/health", &answer);
}

#[tokio::test]
async fn an_address_in_the_request_line_counts_as_much_as_the_host() {
    let gateway = Running::start().await;
    for (target, host, status) in [
        ("http://localhost/health", "Host: localhost", 200),
        ("http://evil.example/health", "Host: localhost", 421),
        ("http://evil.example/health", "Host: evil.example", 421),
        ("http://localhost/health", "Host: evil.example", 421),
    ] {
        let answer = gateway.client().await.ask("GET", target, &[host], "").await;
        assert_eq!(answer.status, status, "{target} {host}");
    }
}

#[tokio::test]
async fn pages_of_others_are_refused() {
    let gateway = Running::with(Wanted {
        public_url: Some("https://claw.example/base"),
        ..Wanted::default()
    })
    .await;
    for (host, origin, status) in [
        ("localhost:18789", "http://localhost:18789", 200),
        ("localhost", "http://localhost", 200),
        ("localhost", "http://localhost:80", 200),
        ("127.0.0.1:18789", "http://127.0.0.1:18789", 200),
        ("[::1]:18789", "http://[::1]:18789", 200),
        ("claw.example", "https://claw.example", 200),
        ("localhost:18789", "https://claw.example", 200),
        ("localhost:18789", "http://claw.example", 403),
        ("localhost:18789", "http://127.0.0.1:18789", 403),
        ("127.0.0.1:18789", "http://localhost:18789", 403),
        ("localhost:18789", "http://localhost:3000", 403),
        ("localhost:18789", "http://localhost", 403),
        ("localhost:18789", "http://evil.example", 403),
        ("localhost:18789", "null", 403),
        ("localhost:18789", "", 403),
        ("localhost:18789", "file://localhost:18789", 403),
        ("localhost:18789", "chrome-extension://localhost:18789", 403),
        ("localhost:18789", "localhost:18789", 403),
    ] {
        let host_line = format!("Host: {host}");
        let origin_line = format!("Origin: {origin}");
        for path in ["/health", "/api/status", "/"] {
            let head = [host_line.as_str(), origin_line.as_str(), BEARER];
            let answer = gateway.client().await.ask("GET", path, &head, "").await;
            assert_eq!(answer.status, status, "{host} {origin} {path}");
        }
    }
    let two = ["Origin: http://localhost", "Origin: http://evil.example"];
    let head = ["Host: localhost", two[0], two[1]];
    let answer = gateway
        .client()
        .await
        .ask("GET", "/health", &head, "")
        .await;
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (403, "wrong-origin")
    );
    schema::check("get", "/health", &answer);
}

#[tokio::test]
async fn what_a_browser_says_about_the_page_counts() {
    let gateway = Running::start().await;
    for (site, status, of_the_page) in [
        ("same-origin", 200, 200),
        ("none", 200, 200),
        ("same-site", 403, 200),
        ("cross-site", 403, 403),
        ("whatever", 403, 403),
    ] {
        let line = format!("Sec-Fetch-Site: {site}");
        let answer = gateway
            .ask("GET", "/api/status", &[BEARER, &line], "")
            .await;
        assert_eq!(answer.status, status, "{site}");
        let answer = gateway.ask("GET", "/", &[&line], "").await;
        assert_eq!(answer.status, of_the_page, "{site}");
    }
}

#[tokio::test]
async fn without_a_credential_a_request_with_effects_has_to_be_one_that_no_page_can_send() {
    let gateway = Running::with(Wanted {
        credential: Credential::Nothing,
        ..Wanted::default()
    })
    .await;
    assert_eq!(gateway.ask("GET", "/api/status", &[], "").await.status, 200);
    let body = r#"{"tool":"echo"}"#;
    for (kind, status) in [
        ("Content-Type: application/json", 200),
        ("Content-Type: Application/JSON; charset=utf-8", 200),
        ("Content-Type: text/plain", 415),
        ("Content-Type: application/x-www-form-urlencoded", 415),
        (
            "Content-Type: multipart/form-data; boundary=application/json",
            415,
        ),
        ("Accept: */*", 415),
        // Whoever brings a credential that nobody asked for has proved nothing.
        (BEARER, 415),
    ] {
        let answer = gateway.ask("POST", "/api/mcp/call", &[kind], body).await;
        assert_eq!(answer.status, status, "{kind}");
        schema::check("post", "/api/mcp/call", &answer);
        let answer = gateway.ask("POST", "/api/mcp/reload", &[kind], "").await;
        assert_eq!(answer.status, status, "{kind}");
    }
    assert_eq!(gateway.engine.calls.lock().unwrap().len(), 2);
    // With a token in a header that no page can set, the type does not matter.
    let closed = Running::start().await;
    let answer = closed.ask("POST", "/api/mcp/call", &[BEARER], body).await;
    assert_eq!(answer.status, 200);
}
