//! What can be typed behind a slash in a session.

use std::hash::{DefaultHasher, Hash, Hasher};

use agent_client_protocol::Client;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    AvailableCommand, AvailableCommandInput, AvailableCommandsUpdate, SessionUpdate,
    UnstructuredCommandInput,
};
use openclaw_engine::{CommandReport, CommandsQuery};

use super::session::Session;
use crate::notices::BESIDE;
use crate::office::Office;
use crate::problems::soon;

/// Tells an editor what can be typed, unless that is what it was told last.
pub(super) async fn announce(
    office: &Office,
    session: &Session,
    connection: &ConnectionTo<Client>,
) {
    // By the name of the session, which may have servers of its own.
    let agent = session.record().key.or_else(|| session.agent());
    let query = CommandsQuery { agent };
    let report = match soon(office.engine.commands(query)).await {
        Ok(report) => report,
        Err(failure) => {
            tracing::warn!(%failure, "it can't be said which commands there are");
            return;
        }
    };
    let mut hasher = DefaultHasher::new();
    for command in &report.commands {
        (&command.name, &command.description, &command.usage).hash(&mut hasher);
    }
    if !session.announces(hasher.finish()) {
        return;
    }
    let bytes = report.commands.iter().map(|command| {
        BESIDE + command.description.len() + command.usage.as_ref().map_or(0, String::len)
    });
    let bytes = bytes.sum::<usize>() + BESIDE;
    let commands = report.commands.into_iter().map(command).collect();
    let update = SessionUpdate::AvailableCommandsUpdate(AvailableCommandsUpdate::new(commands));
    // Whoever is gone types nothing.
    let _ = office
        .flow
        .send(connection, &session.name, update, bytes)
        .await;
}

fn command(report: CommandReport) -> AvailableCommand {
    let input = report.usage.filter(|usage| !usage.trim().is_empty());
    let input = input
        .map(|usage| AvailableCommandInput::Unstructured(UnstructuredCommandInput::new(usage)));
    AvailableCommand::new(report.name, report.description).input(input)
}
