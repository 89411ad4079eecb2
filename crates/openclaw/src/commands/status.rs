//! `openclaw status`

use openclaw_engine::{GatewayReport, Overview};

use crate::commands::Session;
use crate::commands::engine::{answered, with_engine};
use crate::failure::{Exit, Failure};
use crate::render;

/// Shows everything on one screen; a configuration that can't be used is a part of it.
pub(super) fn run(session: &mut Session<'_>, json: bool) -> Result<Exit, Failure> {
    let looked = with_engine(session, async |engine, session| {
        let overview = answered(session.output, "looking", engine.overview()).await?;
        print(session, &overview, json)?;
        Ok(Exit::Done)
    });
    match looked {
        Err(Failure::Told(told)) if told.exit == Exit::Usage && told.code == "config" => {
            print(session, &nothing_but(told.message), json)?;
            Ok(Exit::Usage)
        }
        other => other,
    }
}

/// What can be said without a configuration.
fn nothing_but(error: String) -> Overview {
    Overview {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        gateway: GatewayReport::default(),
        servers: Vec::new(),
        agents: Vec::new(),
        sessions: 0,
        sessions_error: None,
        config_error: Some(error),
        awaits_restart: Vec::new(),
    }
}

fn print(session: &mut Session<'_>, overview: &Overview, json: bool) -> Result<(), Failure> {
    if json {
        return session.output.print_report(overview);
    }
    let config = session.location()?.config.display().to_string();
    let text = render::overview(overview, &config, session.output.page());
    session.output.print(&text)
}
