//! Logging in to servers and out.

use std::future::pending;
use std::io::{IsTerminal as _, stdin};
use std::time::SystemTime;

use openclaw_content::shown_line;
use openclaw_engine::{
    ClientMetadataQuery, Engine, LoginAnswer, LoginOffer, LoginReport, LoginRequest, OneLogin,
    OneServer,
};
use url::Url;

use crate::browser::{Browser, NotOpened};
use crate::cli::AuthOptions;
use crate::commands::Session;
use crate::commands::engine::{answered, with_engine};
use crate::commands::mcp::words;
use crate::commands::turn::{show_address, yes_or_no};
use crate::commands::typed::Typed;
use crate::failure::{Exit, Failure};
use crate::render;

/// How much of a name or a reason is shown.
const SHOWN: usize = 1_000;

pub(super) fn auth(
    session: &mut Session<'_>,
    agent: Option<String>,
    options: AuthOptions,
) -> Result<Exit, Failure> {
    let json = options.json.wanted;
    // Read before anything is asked: it may take as long as its writer likes.
    let brought = options.code.as_deref().map(words::text).transpose()?;
    with_engine(session, async |engine, session| {
        let report = match brought {
            Some(answer) => {
                let answer = LoginAnswer {
                    agent,
                    server: options.name,
                    answer,
                };
                let finishing = engine.finish_login(answer);
                answered(session.output, "ending the login", finishing).await?
            }
            None => {
                let login = Login {
                    agent,
                    server: options.name,
                    browser: if options.no_browser {
                        None
                    } else {
                        Some(Browser::of(|name| std::env::var_os(name)))
                    },
                };
                login.run(engine, session).await?
            }
        };
        print_report(session, &report, json)?;
        Ok(Exit::Done)
    })
}

/// Whether somebody can be asked, and can log in.
pub(super) fn somebody_sits_here(session: &Session<'_>) -> bool {
    stdin().is_terminal() && session.output.is_watched() && !session.output.is_json()
}

/// Asks whoever sits in front of the terminal whether to log in now, and does so. Nobody is asked where
/// nobody sits.
pub(super) async fn offered(
    engine: &dyn Engine,
    session: &mut Session<'_>,
    agent: Option<String>,
    server: &str,
    why: &str,
) -> Result<bool, Failure> {
    if !somebody_sits_here(session) {
        return Ok(false);
    }
    let why = shown_line(why, SHOWN);
    let question = format!("{why}\nLog in to {} now? [Y/n] ", render::name(server));
    session.output.explain(&question)?;
    // Whoever closes the input has said no.
    let answer = Typed::here().next().await;
    let is_yes =
        answer.is_some_and(|line| line.trim().is_empty() || yes_or_no(&line) == Some(true));
    if is_yes {
        let login = Login {
            agent,
            server: server.to_owned(),
            browser: Some(Browser::of(|name| std::env::var_os(name))),
        };
        let report = login.run(engine, session).await?;
        let text = render::login(&report, SystemTime::now(), session.output.messages_page());
        session.output.explain(&text)?;
    }
    Ok(is_yes)
}

/// A login by the person in front of this terminal.
struct Login {
    agent: Option<String>,
    server: String,
    /// The browser to open; none, if the person opens one.
    browser: Option<Browser>,
}

impl Login {
    /// Logs in, and says meanwhile what is to be done.
    async fn run(
        &self,
        engine: &dyn Engine,
        session: &mut Session<'_>,
    ) -> Result<LoginReport, Failure> {
        let opens = !matches!(self.browser, None | Some(Browser::Absent(_)));
        let request = LoginRequest {
            agent: self.agent.clone(),
            server: self.server.clone(),
            by_hand: !opens,
        };
        let asking = engine.begin_login(request);
        let offer = answered(session.output, "asking how to log in", asking).await?;
        session.output.warn(&offer.remarks)?;
        session.output.explain(&introduction(&offer))?;
        let opened = self.open(&offer).await;
        show_address(&offer.url, &opened, session.output)?;
        self.wait(engine, session, &offer).await
    }

    async fn open(&self, offer: &LoginOffer) -> Result<(), Option<NotOpened>> {
        let browser = self.browser.as_ref().ok_or(None)?;
        let url = Url::parse(&offer.url).map_err(|_| Some(NotOpened::NotWeb))?;
        browser.open(&url).await.map_err(Some)
    }

    /// Waits for the browser, and takes what the person pastes meanwhile.
    async fn wait(
        &self,
        engine: &dyn Engine,
        session: &mut Session<'_>,
        offer: &LoginOffer,
    ) -> Result<LoginReport, Failure> {
        let mut waiting = engine.await_login(OneLogin {
            login: offer.login.clone(),
        });
        let reads = stdin().is_terminal() && session.output.is_watched();
        session.output.explain(&waiting_words(offer, reads))?;
        if !reads {
            return answered(session.output, "waiting for the login", waiting).await;
        }
        loop {
            let line = tokio::select! {
                biased;
                report = &mut waiting => return Ok(report?),
                line = pasted() => line,
            };
            if line.trim().is_empty() {
                continue;
            }
            let answer = LoginAnswer {
                agent: self.agent.clone(),
                server: self.server.clone(),
                answer: line,
            };
            match engine.finish_login(answer).await {
                Ok(report) => return Ok(report),
                // It may have been the wrong one: the browser can still arrive.
                Err(failure) => {
                    let words = shown_line(&failure.message, SHOWN);
                    session.output.explain(&format!("{words}\n"))?;
                    if let Some(hint) = &failure.hint {
                        let hint = shown_line(hint, SHOWN);
                        session.output.explain(&format!("hint: {hint}\n"))?;
                    }
                }
            }
        }
    }
}

/// The next line that a person pastes; none ever, once there are no more.
async fn pasted() -> String {
    match Typed::here().next().await {
        Some(line) => line,
        None => pending().await,
    }
}

/// Who is asked, and as whom.
fn introduction(offer: &LoginOffer) -> String {
    let shown = |text: &str| shown_line(text, SHOWN);
    let server = render::name(&offer.server);
    let mut text = format!(
        "{server}: logins are granted by {}, the authorization server {}.\n",
        shown(&offer.issuer),
        shown(&offer.found)
    );
    text += &format!("Client: {}.\n", shown(&offer.why));
    if !offer.scopes.is_empty() {
        text += &format!("Scopes: {}.\n", shown(&offer.scopes.join(" ")));
    }
    text
}

/// What is waited for, and what can be done meanwhile.
fn waiting_words(offer: &LoginOffer, reads: bool) -> String {
    let server = render::word(&offer.server);
    let command = format!("openclaw mcp auth {server} --code -");
    let minutes = "up to 10 minutes";
    match (offer.listening, reads) {
        (true, true) => format!(
            "Waiting for the browser, {minutes}. If it can't reach this machine, paste the address \
             that it shows in the end here:\n"
        ),
        (true, false) => format!(
            "Waiting for the browser, {minutes}. If it can't reach this machine, give the address \
             that it shows in the end to `{command}`.\n"
        ),
        (false, true) => {
            "Then paste the address that the browser shows in the end, or the code:\n".to_owned()
        }
        (false, false) => format!(
            "Then give the address that the browser shows in the end, or the code, to \
             `{command}`. Waiting for that, {minutes}.\n"
        ),
    }
}

fn print_report(
    session: &mut Session<'_>,
    report: &LoginReport,
    json: bool,
) -> Result<(), Failure> {
    if json {
        return session.output.print_report(report);
    }
    let text = render::login(report, SystemTime::now(), session.output.page());
    session.output.print(&text)
}

pub(super) fn logout(
    session: &mut Session<'_>,
    agent: Option<String>,
    server: String,
    json: bool,
) -> Result<Exit, Failure> {
    with_engine(session, async |engine, session| {
        let query = OneServer { agent, server };
        let pending = engine.logout(query);
        let report = answered(session.output, "giving up the login", pending).await?;
        if json {
            session.output.print_report(&report)?;
        } else {
            session.output.print(&render::logged_out(&report))?;
        }
        Ok(Exit::Done)
    })
}

pub(super) fn client_metadata(
    session: &mut Session<'_>,
    agent: Option<String>,
    server: Option<String>,
    url: Option<String>,
) -> Result<Exit, Failure> {
    with_engine(session, async |engine, session| {
        let query = ClientMetadataQuery { agent, server, url };
        let metadata = engine.client_metadata(query).await?;
        session.output.print_json(&metadata.document)?;
        Ok(Exit::Done)
    })
}

#[cfg(test)]
mod tests;
