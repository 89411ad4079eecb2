//! Addresses for the person to open: of logins, and of servers that ask for a visit.

use openclaw_content::{shown_line, shown_text};
use openclaw_engine::{Asks, ServerAnswer, ServerQuestion};
use serde_json::Map;
use url::Url;

use crate::browser::{Browser, NotOpened};
use crate::commands::turn::answers::yes_or_no;
use crate::commands::turn::audience::Asked;
use crate::failure::Failure;
use crate::output::Output;
use crate::render::{name, qr_code};

/// How often somebody is asked who answers with something else.
const TRIES: u32 = 5;
/// How much of a reason is shown.
const SHOWN: usize = 1_000;
/// How many lines of a server's words are shown, and how long they may be.
const LINES: usize = 12;
const LINE: usize = 500;
/// What the line that is typed stands behind.
pub(super) const PROMPT: &str = "Open it? [y]es, [n]o: ";

/// The question of a server whether the person visits an address.
pub(super) struct VisitQuestion {
    asked: Asked<ServerQuestion, ServerAnswer>,
    url: Url,
    tries: u32,
}

impl VisitQuestion {
    /// Puts a question. What is no address for a browser is declined without one.
    pub(super) fn put(
        asked: Asked<ServerQuestion, ServerAnswer>,
        output: &mut Output,
    ) -> Result<Option<Self>, Failure> {
        let Some(url) = address(&asked.question) else {
            let server = name(&asked.question.server);
            let words = format!("(the server {server} asks for a visit to no address: declined)\n");
            output.explain(&words)?;
            let _ = asked.answer.send(ServerAnswer::Decline);
            return Ok(None);
        };
        output.explain(&words(&asked.question, &url))?;
        output.show_address(url.as_str())?;
        Ok(Some(Self {
            asked,
            url,
            tries: 0,
        }))
    }

    /// Waits until nobody wants to know any more.
    pub(super) async fn withdrawn(&mut self) {
        self.asked.answer.closed().await;
    }

    /// Takes a line, none if no more will come; gives the question back if it still stands.
    pub(super) async fn settle(
        mut self,
        line: Option<&str>,
        browser: &Browser,
        output: &mut Output,
    ) -> Result<Option<Self>, Failure> {
        self.tries += 1;
        let line = line.map(|line| line.trim().to_lowercase());
        let line = line.as_deref();
        let answer = match (line, line.and_then(yes_or_no)) {
            (_, Some(true)) => {
                open(&self.url, browser, output).await?;
                ServerAnswer::Accept(Map::new())
            }
            (_, Some(false)) | (Some("/decline"), None) => ServerAnswer::Decline,
            (Some("/cancel"), None) => ServerAnswer::Cancel,
            (Some(_), None) if self.tries < TRIES => return Ok(Some(self)),
            // Whoever closes the input, or never answers, has said neither.
            (_, None) => {
                output.explain("\nnot opened\n")?;
                ServerAnswer::Cancel
            }
        };
        // It may have been withdrawn meanwhile.
        let _ = self.asked.answer.send(answer);
        Ok(None)
    }
}

fn address(question: &ServerQuestion) -> Option<Url> {
    let Asks::Visit { url } = &question.asks else {
        return None;
    };
    let url = Url::parse(url).ok()?;
    let is_web = matches!(url.scheme(), "http" | "https");
    (is_web && url.has_host()).then_some(url)
}

/// The question. The server wrote parts of it.
fn words(question: &ServerQuestion, url: &Url) -> String {
    let server = name(&question.server);
    let mut text = format!("The server {server} asks you to visit an address.");
    let says = quoted(&question.message);
    text.push_str(if says.is_empty() { "\n" } else { " It says:\n" });
    text.push_str(&says);
    // The host as it is asked for: what only looks like another one does not here.
    let host = shown_line(url.host_str().unwrap_or_default(), SHOWN);
    text.push_str(&format!(
        "The address belongs to:\n\n  {host}\n\nAll of it:\n"
    ));
    text
}

/// The words of a server, so that nobody takes them for ours.
pub(super) fn quoted(text: &str) -> String {
    let shown = shown_text(text);
    let mut lines = shown.lines().filter(|line| !line.trim().is_empty());
    let mut quoted: String = lines
        .by_ref()
        .take(LINES)
        .map(|line| format!("  │ {}\n", shown_line(line, LINE)))
        .collect();
    if lines.next().is_some() {
        quoted.push_str("  │ …\n");
    }
    quoted
}

/// Says why an address is to be opened, opens it where there is a browser, and shows it.
pub(super) async fn show_visit(
    url: &str,
    why: &str,
    browser: &Browser,
    output: &mut Output,
) -> Result<(), Failure> {
    output.explain(&format!("{}\n", shown_line(why, SHOWN)))?;
    let opened = match Url::parse(url) {
        Ok(url) => browser.open(&url).await,
        Err(_) => Err(NotOpened::NotWeb),
    };
    show_address(url, &opened.map_err(Some), output)
}

/// Shows an address that was opened, or else is for the person to open: as a code, too, since the browser
/// may be on a phone. Whoever wanted no browser needs no reason.
pub(in crate::commands) fn show_address(
    url: &str,
    opened: &Result<(), Option<NotOpened>>,
    output: &mut Output,
) -> Result<(), Failure> {
    if let Err(Some(reason)) = opened {
        output.explain(&format!("{}\n", said(reason)))?;
    }
    output.explain(match opened {
        Ok(()) => "A browser was opened. If it does not show the page, open this address:\n",
        Err(_) => "Open this address in a browser, on any machine:\n",
    })?;
    output.show_address(url)?;
    match opened {
        Ok(()) => Ok(()),
        Err(_) => draw_code(url, output),
    }
}

/// Opens an address that stands there already; where there is no browser, it is drawn for a phone.
async fn open(url: &Url, browser: &Browser, output: &mut Output) -> Result<(), Failure> {
    match browser.open(url).await {
        Ok(()) => output.explain("A browser was opened.\n"),
        Err(reason) => {
            let reason = said(&reason);
            output.explain(&format!(
                "{reason}\nOpen the address in a browser, on any machine.\n"
            ))?;
            draw_code(url.as_str(), output)
        }
    }
}

fn said(reason: &NotOpened) -> String {
    shown_line(&reason.to_string(), SHOWN)
}

fn draw_code(url: &str, output: &mut Output) -> Result<(), Failure> {
    if !output.is_watched() {
        return Ok(());
    }
    let lines = terminal_size::terminal_size_of(std::io::stderr());
    let lines = lines.map(|(_, height)| usize::from(height.0));
    match qr_code(url, output.messages_page(), lines) {
        Ok(code) => output.show_drawing(&code),
        Err(reason) => {
            tracing::debug!("no QR code: {reason}");
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests;
