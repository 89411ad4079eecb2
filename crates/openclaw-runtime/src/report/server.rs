//! Servers as plain data.

use std::ffi::OsString;

use openclaw_config::{Authorization, ConfigValue, Launch, RemoteTransport};
use openclaw_engine::{AuthKind, ServerDetails, ServerReport, ShownState, TransportKind};
use openclaw_mcp::{
    AgentTools, PlannedServer, ServerState, ServerView, Standing, Status, written_moment,
};
use openclaw_mcp_client::Transport;
use openclaw_oauth::LoginState;
use openclaw_process::find_program;
use openclaw_secrets::Redactor;

use crate::answers::logins::moment;
use crate::runtime::Runtime;

/// How a server of an agent is.
pub(crate) fn report(view: &ServerView, tools: &AgentTools, redactor: &Redactor) -> ServerReport {
    let server = &view.server;
    let launch = server.server().map(|server| &server.launch);
    let connection = view.state.as_ref().and_then(|it| it.connection.as_ref());
    let diagnostics = connection.map(|connection| connection.diagnostics());
    let (state, error) = shown(view);
    let offered = tools
        .offered()
        .filter(|tool| tool.server.name() == server.name());
    let catalog = view.state.as_ref().map(|state| state.catalog.clone());
    let catalog = catalog.unwrap_or_default();
    ServerReport {
        name: server.name().to_owned(),
        transport: match diagnostics.as_ref().map(|it| it.transport) {
            Some(Transport::Stdio) => Some(TransportKind::Stdio),
            Some(Transport::StreamableHttp) => Some(TransportKind::Http),
            Some(Transport::HttpEvents) => Some(TransportKind::Sse),
            None => launch.map(declared),
        },
        target: launch
            .map(|launch| target(launch, redactor))
            .unwrap_or_default(),
        enabled: server.configured.enabled,
        state,
        auth: launch.map_or(AuthKind::None, |launch| auth(launch, state, view.has_login)),
        tools: offered.count(),
        resources: catalog.resources.len(),
        prompts: catalog.prompts.len(),
        pid: diagnostics.as_ref().and_then(|it| it.pid),
        protocol_version: diagnostics.map(|it| it.version.to_owned()),
        restarts: view.state.as_ref().map_or(0, |state| state.restarts),
        error: error.map(|error| redactor.redact(&error).into_owned()),
    }
}

/// A server in detail.
pub(crate) fn details(
    runtime: &Runtime,
    view: &ServerView,
    tools: &AgentTools,
    login: Option<LoginState>,
) -> ServerDetails {
    let connection = view.state.as_ref().and_then(|it| it.connection.as_ref());
    let diagnostics = connection.map(|connection| connection.diagnostics());
    let stderr = view.state.as_ref().map(ServerState::stderr);
    let stderr = stderr.unwrap_or_default().into_iter();
    // A server may put what it was trusted with wherever it has the word.
    let hidden = |text: &str| runtime.redactor.redact(text).into_owned();
    ServerDetails {
        report: report(view, tools, &runtime.redactor),
        server_info: connection.map(|connection| {
            let info = connection.server();
            hidden(format!("{} {}", info.name, info.version).trim())
        }),
        session_id: diagnostics
            .as_ref()
            .and_then(|it| it.session.as_deref())
            .map(hidden),
        token_expires_at: login
            .as_ref()
            .and_then(|login| Some(written_moment(moment(login.expires_at?)))),
        token_renewable: login.as_ref().map(|login| login.is_renewable),
        scopes: login.as_ref().map(|login| login.scopes.clone()),
        issuer: login.map(|login| login.issuer),
        last_heartbeat: view
            .state
            .as_ref()
            .and_then(|state| Some(written_moment(state.alive_at?))),
        stderr: stderr.map(|line| hidden(&line.text)).collect(),
        resolved_command: resolved(runtime, &view.server),
        passed_over: diagnostics.map_or(0, |it| it.passed_over),
    }
}

/// How a server is, and what there is to say about it.
pub(crate) fn shown(view: &ServerView) -> (ShownState, Option<String>) {
    let stopped = |reason: &str| (ShownState::Stopped, Some(reason.to_owned()));
    match &view.standing {
        Standing::Disabled => return (ShownState::Disabled, None),
        Standing::Broken(reason) => return (ShownState::Failed, Some(reason.clone())),
        Standing::Denied => return stopped("the policy allows none of its tools"),
        Standing::Held => return stopped("it was disconnected"),
        Standing::OverLimit(limit) => {
            let reason = format!("{limit} servers run, which is as many as may");
            return (ShownState::Stopped, Some(reason));
        }
        Standing::Usable => {}
    }
    let Some(state) = &view.state else {
        return (ShownState::Stopped, None);
    };
    (
        shown_status(state.status),
        state.reason.as_deref().map(str::to_owned),
    )
}

/// How a server is that may run.
pub(crate) fn shown_status(status: Status) -> ShownState {
    match status {
        Status::Connecting => ShownState::Connecting,
        Status::Ready => ShownState::Ready,
        Status::Restarting => ShownState::Restarting,
        Status::NeedsAuth => ShownState::NeedsAuth,
        Status::Failed => ShownState::Failed,
        Status::Stopped => ShownState::Stopped,
    }
}

fn declared(launch: &Launch) -> TransportKind {
    match launch {
        Launch::Stdio(_) => TransportKind::Stdio,
        Launch::Remote(remote) => match remote.transport {
            RemoteTransport::Http => TransportKind::Http,
            RemoteTransport::Sse => TransportKind::Sse,
        },
    }
}

/// The program with its arguments, or the address.
fn target(launch: &Launch, redactor: &Redactor) -> String {
    let text = match launch {
        Launch::Stdio(launch) => {
            let words = std::iter::once(&launch.command).chain(&launch.args);
            words.cloned().collect::<Vec<_>>().join(" ")
        }
        Launch::Remote(launch) => {
            let mut url = launch.url.clone();
            // What stands there is a credential more often than not.
            let _ = url.set_username("");
            let _ = url.set_password(None);
            url.to_string()
        }
    };
    redactor.redact(&text).into_owned()
}

fn auth(launch: &Launch, state: ShownState, has_login: bool) -> AuthKind {
    let Launch::Remote(remote) = launch else {
        return AuthKind::None;
    };
    match &remote.authorization {
        Authorization::Header(ConfigValue::Plain { .. } | ConfigValue::Reference { .. })
        | Authorization::ApiKey(_) => AuthKind::ApiKey,
        Authorization::OAuth(settings) if settings.required || has_login => AuthKind::Oauth,
        Authorization::OAuth(_) if state == ShownState::NeedsAuth => AuthKind::Oauth,
        Authorization::OAuth(_) => AuthKind::None,
    }
}

/// The program that the command stands for on this machine.
fn resolved(runtime: &Runtime, server: &PlannedServer) -> Option<String> {
    let Launch::Stdio(launch) = &server.server()?.launch else {
        return None;
    };
    let directory = launch.directory.as_ref().unwrap_or(&runtime.directory);
    let found = find_program(
        &launch.command,
        runtime.variable("PATH").map(OsString::as_os_str),
        runtime.variable("PATHEXT").map(OsString::as_os_str),
        directory,
    );
    Some(found.ok()?.display().to_string())
}
