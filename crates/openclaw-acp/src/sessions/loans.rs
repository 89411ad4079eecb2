//! Servers that the editor lends to a session.

use std::sync::Arc;
use std::time::Duration;

use agent_client_protocol::Client;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{EnvVariable, HttpHeader, McpServer};
use openclaw_engine::{
    EngineFailure, LendServers, LentLaunch, LentServer, LentValue, LoanReport, ServersQuery,
    ShownState,
};
use tokio::sync::OwnedMutexGuard;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::commands::announce;
use super::lender::be_there;
use super::session::Session;
use crate::admission::Held;
use crate::notices::warn;
use crate::office::Office;
use crate::problems::{soon, words};

/// How long servers are waited for. Nobody else waits meanwhile.
const STARTING: Duration = Duration::from_mins(5);

/// What a person is told when lost servers are there again.
pub(super) const LENT_AGAIN: &str = "The servers of the editor are lent again";

/// What a person is told when they are not.
pub(super) fn not_lent_again(why: &str) -> String {
    format!("The servers of the editor can't be lent again: {why}")
}

/// What is lent to a session.
#[derive(Debug, Default)]
pub(crate) struct Loan {
    is_lent: bool,
    /// What the editor asked for, for when it has to be lent again.
    servers: Vec<LentServer>,
    /// The room that this takes.
    held: Option<Held>,
    /// Told when the engine has forgotten who lent it; none if it was not lent, or is being lent again.
    ended: Option<CancellationToken>,
    /// Whether it was lost and could not be lent again. It is tried once more with the next prompt.
    is_given_up: bool,
}

impl Loan {
    /// Whether it was lent and is gone. It is to be lent again by whoever asks first, and by nobody else.
    pub(super) fn is_lost(&mut self) -> bool {
        let ended = self.ended.take_if(|ended| ended.is_cancelled());
        ended.is_some() && !self.servers.is_empty()
    }

    /// Notes that it could not be lent again.
    pub(super) fn give_up(&mut self) {
        self.is_given_up = true;
    }

    /// The agent that is asked about a session. What is lent is known only to those who ask by the name of the
    /// session.
    pub(super) fn asked_as(&self, session: &Session) -> Option<String> {
        let key = session.record().key.filter(|_| self.is_lent);
        key.or_else(|| session.agent())
    }
}

/// Lends servers to a session that was opened, says what can be typed in it, and watches how the servers do.
pub(super) async fn settle(
    office: &Arc<Office>,
    session: &Arc<Session>,
    mut loan: OwnedMutexGuard<Loan>,
    (servers, held): (Vec<McpServer>, Held),
    connection: &ConnectionTo<Client>,
) {
    let work = async {
        let names = if servers.is_empty() && !loan.is_lent {
            Vec::new()
        } else {
            loan.held = Some(held);
            lend(office, session, &mut loan, servers, connection).await
        };
        let agent = loan.asked_as(session);
        drop(loan);
        introduce(office, session, agent, &names, connection).await;
    };
    session.gone.run_until_cancelled(work).await;
}

/// Says what can be typed in a session, and watches how the servers do that were lent to it.
pub(super) async fn introduce(
    office: &Office,
    session: &Session,
    agent: Option<String>,
    names: &[String],
    connection: &ConnectionTo<Client>,
) {
    announce(office, session, connection).await;
    if !names.is_empty() {
        watch(office, session, agent.clone(), names, connection).await;
        announce(office, session, connection).await;
    }
    // The others are started as well, since the first prompt will need them, and bring prompts along. How they
    // do is for the agent to say.
    let query = ServersQuery {
        agent,
        wait: true,
        ..ServersQuery::default()
    };
    let _ = timeout(STARTING, office.engine.servers(query)).await;
    announce(office, session, connection).await;
}

/// Says what can be typed in a session, if that is something else now.
pub(crate) async fn announce_news(
    office: &Office,
    session: &Session,
    connection: &ConnectionTo<Client>,
) {
    let work = announce(office, session, connection);
    session.gone.run_until_cancelled(work).await;
}

/// Waits until servers are lent that are being lent. Those that were lost are tried once more.
pub(crate) async fn settled(
    office: &Arc<Office>,
    session: &Session,
    connection: &ConnectionTo<Client>,
) {
    let mut loan = session.loan.lock().await;
    if !loan.is_given_up {
        return;
    }
    let text = match lend_kept(office, session, &mut loan, connection).await {
        Ok(_) => LENT_AGAIN.to_owned(),
        Err(failure) => not_lent_again(&words(&failure)),
    };
    warn(office, session, connection, &text).await;
}

/// Lends servers. Returns the names of those that can be used.
async fn lend(
    office: &Arc<Office>,
    session: &Session,
    loan: &mut Loan,
    servers: Vec<McpServer>,
    connection: &ConnectionTo<Client>,
) -> Vec<String> {
    loan.servers = servers.into_iter().filter_map(lent).collect();
    loan.ended = None;
    loan.is_given_up = false;
    match lend_kept(office, session, loan, connection).await {
        Ok(names) => names,
        Err(failure) => {
            let words = words(&failure);
            let text = format!("The servers of the editor can't be used: {words}");
            warn(office, session, connection, &text).await;
            Vec::new()
        }
    }
}

/// Lends the servers that the editor asked for. Returns the names of those that can be used.
pub(super) async fn lend_kept(
    office: &Arc<Office>,
    session: &Session,
    loan: &mut Loan,
    connection: &ConnectionTo<Client>,
) -> Result<Vec<String>, EngineFailure> {
    let ended = be_there(office, connection).await;
    // Whatever becomes of it, there may be something to take back.
    loan.is_lent = true;
    let report = ask(office, session, loan.servers.clone()).await?;
    loan.is_lent = !loan.servers.is_empty();
    loan.ended = Some(ended);
    loan.is_given_up = false;
    if session.learn_key(&report.session_key) {
        office.keep_record(session).await;
    }
    let mut names = Vec::new();
    for server in report.servers {
        if let Some(problem) = server.problem {
            let text = format!(
                "The server {} of the editor can't be used: {problem}",
                server.asked
            );
            warn(office, session, connection, &text).await;
        }
        if !server.left_out.is_empty() {
            let text = format!(
                "The server {} of the editor starts without these variables, which decide what it loads: {}",
                server.asked,
                server.left_out.join(", ")
            );
            warn(office, session, connection, &text).await;
        }
        names.extend(server.name);
    }
    Ok(names)
}

/// Takes back what is lent to a session, unless another one has taken its place, which has the loan now.
pub(super) async fn end(office: &Office, session: &Session) -> Result<(), EngineFailure> {
    let mut loan = session.loan.lock().await;
    if loan.is_lent && office.has(session) {
        loan.servers = Vec::new();
        loan.held = None;
        ask(office, session, Vec::new()).await?;
        loan.is_lent = false;
    }
    Ok(())
}

async fn ask(
    office: &Office,
    session: &Session,
    servers: Vec<LentServer>,
) -> Result<LoanReport, EngineFailure> {
    let request = LendServers {
        lender: office.lender.clone(),
        agent: session.agent(),
        session: session.choice(),
        directory: Some(session.record().directory),
        servers,
    };
    soon(office.engine.lend(request)).await
}

/// Waits until servers can be used, and warns of those that can't.
async fn watch(
    office: &Office,
    session: &Session,
    agent: Option<String>,
    names: &[String],
    connection: &ConnectionTo<Client>,
) {
    let query = ServersQuery {
        agent,
        wait: true,
        servers: Some(names.to_vec()),
    };
    let report = match timeout(STARTING, office.engine.servers(query)).await {
        Ok(Ok(report)) => report,
        Ok(Err(failure)) => {
            let (names, words) = (names.join(", "), words(&failure));
            let text =
                format!("It can't be seen whether these servers are ready: {names}: {words}");
            return warn(office, session, connection, &text).await;
        }
        Err(_) => {
            let (names, minutes) = (names.join(", "), STARTING.as_secs() / 60);
            let text = format!("These servers are not ready after {minutes} minutes: {names}");
            return warn(office, session, connection, &text).await;
        }
    };
    let lent = report.servers.iter();
    let lent = lent.filter(|server| names.contains(&server.name));
    for server in lent.filter(|server| server.state != ShownState::Ready) {
        let state = server.state.as_str();
        let why = server.error.as_deref().unwrap_or(state);
        let text = format!("The server {} can't be used: {why}", server.name);
        warn(office, session, connection, &text).await;
    }
}

/// A server as the engine takes it; none if the protocol has a way that we don't know.
fn lent(server: McpServer) -> Option<LentServer> {
    let header = |header: HttpHeader| LentValue {
        name: header.name,
        value: header.value,
    };
    let variable = |variable: EnvVariable| LentValue {
        name: variable.name,
        value: variable.value,
    };
    let (name, launch) = match server {
        McpServer::Stdio(server) => {
            let launch = LentLaunch::Stdio {
                command: server.command.to_string_lossy().into_owned(),
                args: server.args,
                env: server.env.into_iter().map(variable).collect(),
            };
            (server.name, launch)
        }
        McpServer::Http(server) => {
            let headers = server.headers.into_iter().map(header).collect();
            let url = server.url;
            (server.name, LentLaunch::Http { url, headers })
        }
        McpServer::Sse(server) => {
            let headers = server.headers.into_iter().map(header).collect();
            let url = server.url;
            (server.name, LentLaunch::Sse { url, headers })
        }
        _ => return None,
    };
    Some(LentServer { name, launch })
}

#[cfg(test)]
mod tests {
    use agent_client_protocol::v1::schema::{McpServerHttp, McpServerSse, McpServerStdio};

    use super::*;

    #[test]
    fn servers_are_lent_as_they_are() {
        let stdio = McpServerStdio::new("clock", "/bin/clock")
            .args(vec!["--utc".to_owned()])
            .env(vec![EnvVariable::new("TOKEN", "secret")]);
        let value = |name: &str, value: &str| LentValue {
            name: name.to_owned(),
            value: value.to_owned(),
        };
        let server = lent(McpServer::Stdio(stdio)).unwrap();
        assert_eq!(server.name, "clock");
        assert_eq!(
            server.launch,
            LentLaunch::Stdio {
                command: "/bin/clock".to_owned(),
                args: vec!["--utc".to_owned()],
                env: vec![value("TOKEN", "secret")],
            }
        );
        let (url, headers) = ("https://mcp.example".to_owned(), vec![value("A", "b")]);
        let header = vec![HttpHeader::new("A", "b")];
        let http = McpServerHttp::new("web", url.clone()).headers(header.clone());
        let sse = McpServerSse::new("web", url.clone()).headers(header);
        assert_eq!(
            lent(McpServer::Http(http)).unwrap().launch,
            LentLaunch::Http {
                url: url.clone(),
                headers: headers.clone()
            }
        );
        assert_eq!(
            lent(McpServer::Sse(sse)).unwrap().launch,
            LentLaunch::Sse { url, headers }
        );
    }
}
