//! Servers in every state.

use openclaw_engine::{AuthKind, ServerDetails, ServerReport, ShownState, TransportKind};

use crate::render::tests::HOSTILE;

/// A server that is fine.
pub(crate) fn server(name: &str) -> ServerReport {
    ServerReport {
        name: name.to_owned(),
        transport: Some(TransportKind::Http),
        target: format!("https://mcp.{name}.example/mcp"),
        enabled: true,
        state: ShownState::Ready,
        auth: AuthKind::None,
        tools: 2,
        resources: 0,
        prompts: 0,
        pid: None,
        protocol_version: Some("2025-11-25".to_owned()),
        restarts: 0,
        error: None,
    }
}

/// Servers in every state.
pub(crate) fn servers() -> Vec<ServerReport> {
    let tavily = ServerReport {
        auth: AuthKind::ApiKey,
        ..server("tavily")
    };
    let github = ServerReport {
        auth: AuthKind::Oauth,
        tools: 14,
        resources: 3,
        prompts: 1,
        ..server("github-mcp")
    };
    let local = ServerReport {
        transport: Some(TransportKind::Stdio),
        target: "npx @mcp/server-filesystem".to_owned(),
        pid: Some(48291),
        tools: 6,
        ..server("local-fs")
    };
    let login = ServerReport {
        state: ShownState::NeedsAuth,
        auth: AuthKind::Oauth,
        tools: 0,
        ..server("notes")
    };
    let broken = ServerReport {
        transport: None,
        target: String::new(),
        state: ShownState::Failed,
        tools: 0,
        error: Some("the environment variable TOKEN\u{1b}[2J is not set".to_owned()),
        ..server("broken")
    };
    let off = ServerReport {
        enabled: false,
        state: ShownState::Disabled,
        tools: 0,
        ..server("off")
    };
    let hostile = ServerReport {
        name: HOSTILE.to_owned(),
        target: format!("https://evil.example/{}", "x".repeat(300)),
        ..server("hostile")
    };
    let long = server(&"n".repeat(300));
    vec![broken, github, local, login, off, tavily, hostile, long]
}

pub(super) fn details(report: ServerReport) -> ServerDetails {
    let oauth = report.auth == AuthKind::Oauth && report.state == ShownState::Ready;
    ServerDetails {
        server_info: Some(format!("{HOSTILE} 1.0")),
        session_id: Some("5f3a…".to_owned()),
        token_expires_at: oauth.then(|| "2000-01-01T00:00:00Z".to_owned()),
        token_renewable: oauth.then_some(true),
        scopes: oauth.then(|| vec!["read".to_owned(), "write".to_owned()]),
        issuer: oauth.then(|| "https://login.example".to_owned()),
        last_heartbeat: None,
        stderr: vec!["starting".to_owned(), format!("  at {HOSTILE}")],
        resolved_command: report.pid.map(|_| "/usr/bin/npx".to_owned()),
        passed_over: 0,
        report,
    }
}
