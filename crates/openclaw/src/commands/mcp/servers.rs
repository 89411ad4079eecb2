//! Servers: how they are, what they wrote, connecting and stopping them.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use openclaw_content::shown_text;
use openclaw_engine::{
    AuthKind, Engine, LogsQuery, LogsReport, OfServer, OneServer, ServerDetails, ServerReport,
    ServersQuery, ServersReport, ShownState,
};
use serde_json::json;

use crate::commands::Session;
use crate::commands::engine::{answered, progress_line, tick, with_engine};
use crate::failure::{Exit, Failure};
use crate::render;

/// How often is looked for new lines of a server's standard error.
const LOG_INTERVAL: Duration = Duration::from_millis(500);

pub(super) fn list(
    session: &mut Session<'_>,
    agent: Option<String>,
    json: bool,
) -> Result<Exit, Failure> {
    with_engine(session, async |engine, session| {
        let report = settled(engine, session, agent.clone()).await?;
        print_list(engine, session, agent, &report, json).await?;
        Ok(Exit::Done)
    })
}

/// Waits until every server is ready or will not be so soon, and says meanwhile which are not.
pub(in crate::commands) async fn settled(
    engine: &dyn Engine,
    session: &mut Session<'_>,
    agent: Option<String>,
) -> Result<ServersReport, Failure> {
    if !session.output.is_watched() {
        let query = ServersQuery {
            agent,
            wait: true,
            ..ServersQuery::default()
        };
        return Ok(engine.servers(query).await?);
    }
    let mut number = 0;
    loop {
        let query = ServersQuery {
            agent: agent.clone(),
            wait: false,
            ..ServersQuery::default()
        };
        let report = engine.servers(query).await?;
        let waiting: Vec<String> = report
            .servers
            .iter()
            .filter(|server| server.state == ShownState::Connecting)
            .map(|server| render::name(&server.name))
            .collect();
        if waiting.is_empty() {
            session.output.progress(None);
            return Ok(report);
        }
        let what = format!("connecting: {}", waiting.join(", "));
        session.output.progress(Some(&progress_line(number, &what)));
        number += 1;
        tick().await;
    }
}

async fn print_list(
    engine: &dyn Engine,
    session: &mut Session<'_>,
    agent: Option<String>,
    report: &ServersReport,
    json: bool,
) -> Result<(), Failure> {
    if json {
        return session.output.print_report(report);
    }
    let expiries = expiries(engine, agent, &report.servers).await;
    let page = session.output.page();
    let text = render::servers(&report.servers, &expiries, SystemTime::now(), page);
    session.output.print(&text)
}

/// When logins end, by the name of the server.
async fn expiries(
    engine: &dyn Engine,
    agent: Option<String>,
    servers: &[ServerReport],
) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for server in servers {
        if server.auth != AuthKind::Oauth || server.state != ShownState::Ready {
            continue;
        }
        let query = OneServer {
            agent: agent.clone(),
            server: server.name.clone(),
        };
        // The list is complete without it.
        if let Ok(details) = engine.server(query).await
            && let Some(moment) = details.token_expires_at
        {
            found.insert(server.name.clone(), moment);
        }
    }
    found
}

pub(super) fn status(
    session: &mut Session<'_>,
    agent: Option<String>,
    name: Option<String>,
    json: bool,
) -> Result<Exit, Failure> {
    with_engine(session, async |engine, session| match name {
        Some(server) => {
            let query = OneServer { agent, server };
            let pending = engine.server(query);
            let details = answered(session.output, "asking the server", pending).await?;
            print_details(session, &details, json)?;
            Ok(Exit::Done)
        }
        None => ask_status_of_all(engine, session, agent, json).await,
    })
}

async fn ask_status_of_all(
    engine: &dyn Engine,
    session: &mut Session<'_>,
    agent: Option<String>,
    json: bool,
) -> Result<Exit, Failure> {
    let report = settled(engine, session, agent.clone()).await?;
    let mut all = Vec::new();
    for server in &report.servers {
        let query = OneServer {
            agent: agent.clone(),
            server: server.name.clone(),
        };
        all.push(engine.server(query).await?);
    }
    if json {
        session.output.print_report(&json!({ "servers": all }))?;
    } else if all.is_empty() {
        print_list(engine, session, agent, &report, false).await?;
    } else {
        let page = session.output.page();
        let now = SystemTime::now();
        let pages: Vec<String> = all
            .iter()
            .map(|details| render::details(details, now, page))
            .collect();
        session.output.print(&pages.join("\n"))?;
    }
    Ok(Exit::Done)
}

fn print_details(
    session: &mut Session<'_>,
    details: &ServerDetails,
    json: bool,
) -> Result<(), Failure> {
    if json {
        session.output.print_report(details)
    } else {
        let page = session.output.page();
        let text = render::details(details, SystemTime::now(), page);
        session.output.print(&text)
    }
}

/// Connects a configured server again.
pub(super) fn reconnect(
    session: &mut Session<'_>,
    agent: Option<String>,
    server: String,
    json: bool,
) -> Result<Exit, Failure> {
    let query = OneServer { agent, server };
    with_engine(session, async |engine, session| {
        ask_reconnect(engine, session, query, json).await
    })
}

async fn ask_reconnect(
    engine: &dyn Engine,
    session: &mut Session<'_>,
    query: OneServer,
    json: bool,
) -> Result<Exit, Failure> {
    let what = format!("connecting: {}", render::name(&query.server));
    let details = answered(session.output, &what, engine.connect(query)).await?;
    print_details(session, &details, json)?;
    Ok(match details.report.state {
        ShownState::Ready => Exit::Done,
        _ => Exit::Failed,
    })
}

pub(super) fn probe(
    session: &mut Session<'_>,
    agent: Option<String>,
    name: Option<String>,
    json: bool,
) -> Result<Exit, Failure> {
    if let Some(name) = name {
        return reconnect(session, agent, name, json);
    }
    with_engine(session, async |engine, session| {
        let report = settled(engine, session, agent.clone()).await?;
        print_list(engine, session, agent, &report, json).await?;
        Ok(verdict(&report))
    })
}

/// Whether all servers that should be ready are so.
fn verdict(report: &ServersReport) -> Exit {
    let is_bad = |server: &ServerReport| match server.state {
        ShownState::Ready | ShownState::Stopped | ShownState::Disabled => false,
        ShownState::Connecting
        | ShownState::Restarting
        | ShownState::NeedsAuth
        | ShownState::Failed => true,
    };
    if report.servers.iter().any(is_bad) {
        Exit::Failed
    } else {
        Exit::Done
    }
}

pub(super) fn disconnect(
    session: &mut Session<'_>,
    agent: Option<String>,
    server: String,
    json: bool,
) -> Result<Exit, Failure> {
    let query = OneServer { agent, server };
    with_engine(session, async |engine, session| {
        ask_disconnect(engine, session, query, json).await
    })
}

async fn ask_disconnect(
    engine: &dyn Engine,
    session: &mut Session<'_>,
    query: OneServer,
    json: bool,
) -> Result<Exit, Failure> {
    let pending = engine.disconnect(query);
    let details = answered(session.output, "stopping", pending).await?;
    if json {
        session.output.print_report(&details)?;
    } else {
        let (words, _) = render::status_words(&details.report);
        let name = render::name(&details.report.name);
        session.output.print(&format!("{name}: {words}\n"))?;
    }
    Ok(Exit::Done)
}

pub(super) fn refresh(
    session: &mut Session<'_>,
    agent: Option<String>,
    server: Option<String>,
    json: bool,
) -> Result<Exit, Failure> {
    with_engine(session, async |engine, session| {
        let query = OfServer {
            agent: agent.clone(),
            server,
        };
        let report = answered(session.output, "listing again", engine.refresh(query)).await?;
        print_list(engine, session, agent, &report, json).await?;
        if report.warnings.is_empty() {
            return Ok(verdict(&report));
        }
        // A gateway goes on with the configuration that it has; that the file is wrong is said all the same.
        if !json {
            session.output.warn(&report.warnings)?;
        }
        Ok(Exit::Usage)
    })
}

pub(super) fn logs(
    session: &mut Session<'_>,
    agent: Option<String>,
    server: String,
    follow: bool,
    json: bool,
) -> Result<Exit, Failure> {
    let query = LogsQuery {
        agent,
        server,
        after: 0,
    };
    with_engine(session, async |engine, session| {
        ask_logs(engine, session, query, follow, json).await
    })
}

async fn ask_logs(
    engine: &dyn Engine,
    session: &mut Session<'_>,
    mut query: LogsQuery,
    follow: bool,
    json: bool,
) -> Result<Exit, Failure> {
    let pending = engine.logs(query.clone());
    let report = answered(session.output, "asking the server", pending).await?;
    if json {
        session.output.print_report(&report)?;
        return Ok(Exit::Done);
    }
    if report.lines.is_empty() && !follow {
        let name = render::name(&report.server);
        let text = format!("{name} wrote nothing to its standard error\n");
        session.output.explain(&text)?;
    }
    print_lines(session, &report)?;
    query.after = report.last;
    if !follow {
        return Ok(Exit::Done);
    }
    // Until somebody stops us, or the engine can't say more.
    loop {
        tokio::time::sleep(LOG_INTERVAL).await;
        let report = engine.logs(query.clone()).await?;
        print_lines(session, &report)?;
        // Should the clock of another gateway be behind that of the last one, it goes on from here.
        query.after = report.last;
    }
}

fn print_lines(session: &mut Session<'_>, report: &LogsReport) -> Result<(), Failure> {
    let text: String = report
        .lines
        .iter()
        // The white space at the beginning of a line says where it belongs.
        .map(|line| format!("{}\n", shown_text(line).replace('\n', " ")))
        .collect();
    if text.is_empty() {
        return Ok(());
    }
    session.output.print(&text)
}

#[cfg(test)]
mod tests;
