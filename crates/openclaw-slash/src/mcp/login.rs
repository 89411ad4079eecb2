//! `/mcp auth`

use std::time::SystemTime;

use openclaw_content::shown_line;
use openclaw_engine::{EngineFailure, LoginAnswer, LoginOffer, LoginRequest, OneLogin, ReplyEvent};
use openclaw_render as render;

use super::options::Hidden;
use super::{McpAsked, PAGE, SENTENCE, remarks};
use crate::words::quoted;

impl McpAsked<'_> {
    /// Logs in: waits for the browser where somebody sits, else says how it goes on.
    pub(super) async fn login(
        &self,
        server: String,
        code: Option<Hidden>,
    ) -> Result<String, EngineFailure> {
        if let Some(Hidden(answer)) = code {
            let agent = self.agent.clone();
            let answer = LoginAnswer {
                agent,
                server,
                answer,
            };
            let report = self.engine.finish_login(answer).await?;
            return Ok(render::login(&report, SystemTime::now(), PAGE));
        }
        let waits = self.audience.can_answer();
        let request = LoginRequest {
            agent: self.agent.clone(),
            server,
            // Whoever can't be reached by the browser brings what it shows.
            by_hand: true,
        };
        let offer = self.engine.begin_login(request).await?;
        if !waits {
            return Ok(by_hand(&offer));
        }
        for remark in &offer.remarks {
            let text = shown_line(remark, SENTENCE);
            self.audience.hear(ReplyEvent::Notice { text });
        }
        self.audience.hear(ReplyEvent::Visit {
            url: offer.url.clone(),
            why: format!("log in to {}", render::name(&offer.server)),
        });
        let text = format!(
            "waiting for the browser; if it can't reach this machine, stop this and send the address \
             that it shows in the end: {} ADDRESS",
            code_command(&offer.server)
        );
        self.audience.hear(ReplyEvent::Notice { text });
        let login = offer.login.clone();
        let report = self.engine.await_login(OneLogin { login }).await?;
        Ok(render::login(&report, SystemTime::now(), PAGE))
    }
}

/// How somebody logs in who is not here.
fn by_hand(offer: &LoginOffer) -> String {
    let server = render::name(&offer.server);
    let issuer = shown_line(&offer.issuer, SENTENCE);
    let mut text = format!("{server}: logins are granted by {issuer}.\n");
    if !offer.scopes.is_empty() {
        let scopes = shown_line(&offer.scopes.join(" "), SENTENCE);
        text.push_str(&format!("Scopes: {scopes}.\n"));
    }
    let command = code_command(&offer.server);
    text.push_str(&format!(
        "Open this address in a browser, on any machine:\n{}\nThen send the address that the browser \
         shows in the end, or the code:\n{command} CODE_OR_ADDRESS\n",
        shown_line(&offer.url, usize::MAX)
    ));
    text + &remarks(&offer.remarks)
}

/// The command that ends a login with what the browser shows.
fn code_command(server: &str) -> String {
    format!("/mcp auth {} --code", quoted(server))
}
