//! Completions, manual pages and pages of the documentation.

use std::fs;
use std::path::Path;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli::{Cli, ReferencePage};
use crate::commands::Session;
use crate::failure::{Exit, Failure};

pub(super) fn completions(session: &mut Session<'_>, shell: Shell) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "openclaw", &mut script);
    session.output.print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}

pub(super) fn manual(session: &mut Session<'_>, directory: Option<&Path>) -> Result<Exit, Failure> {
    let failed = |error: std::io::Error| {
        Failure::failed("manual", format!("cannot write the manual pages: {error}"))
    };
    match directory {
        Some(directory) => {
            fs::create_dir_all(directory)
                .and_then(|()| clap_mangen::generate_to(Cli::command(), directory))
                .map_err(failed)?;
        }
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(Cli::command())
                .render(&mut page)
                .map_err(failed)?;
            session.output.print(&String::from_utf8_lossy(&page))?;
        }
    }
    Ok(Exit::Done)
}

pub(super) fn reference(session: &mut Session<'_>, page: ReferencePage) -> Result<Exit, Failure> {
    let text = match page {
        ReferencePage::Configuration => openclaw_config::reference(),
        ReferencePage::StateDirectory => openclaw_state::layout::reference(),
    };
    session.output.print(&text)?;
    Ok(Exit::Done)
}
