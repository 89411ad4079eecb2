//! Which sessions there are.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use agent_client_protocol::Error;
use agent_client_protocol::v1::Responder;
use agent_client_protocol::v1::schema::{ListSessionsRequest, ListSessionsResponse, SessionInfo};
use openclaw_engine::{SessionReport, SessionsQuery};

use super::record::{Record, with_files};
use crate::identifier::Identifier;
use crate::office::Office;
use crate::problems::{no_disk, of_failure, soon, unfit};

/// How many are told at once.
const PAGE: usize = 50;
/// What stands before the name of an editor's session.
const EDITOR: &str = ":acp:";

/// Lists sessions, the one that was last used first.
pub(crate) fn list(
    office: &Arc<Office>,
    request: ListSessionsRequest,
    responder: Responder<ListSessionsResponse>,
) {
    office.answer(
        responder,
        |office| async move { listed(&office, request).await },
    );
}

async fn listed(
    office: &Office,
    request: ListSessionsRequest,
) -> Result<ListSessionsResponse, Error> {
    let after = request.cursor.as_deref().map(Place::read).transpose()?;
    let query = SessionsQuery { agent: None };
    let report = soon(office.engine.sessions(query)).await;
    let report = report.map_err(|failure| of_failure(&failure))?;
    let state = office.state_path().to_owned();
    let page = with_files(move || {
        let kept: BTreeSet<Identifier> = report.sessions.iter().filter_map(identified).collect();
        // What could not be read may be among what is not listed.
        if report.problems.is_empty() && report.set_aside.is_empty() {
            Record::prune(&state, |id| kept.contains(id));
        }
        page(
            &state,
            &report.sessions,
            request.cwd.as_deref(),
            after.as_ref(),
        )
    })
    .await;
    let (sessions, next) = page.ok_or_else(no_disk)?;
    Ok(ListSessionsResponse::new(sessions).next_cursor(next))
}

/// Where a session stands among all: those that were used later come first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    /// When it was last used, as RFC 3339 in UTC, of which later is larger.
    time: Reverse<String>,
    id: Identifier,
}

/// What an editor knows a session by, if it is one of theirs.
fn identified(report: &SessionReport) -> Option<Identifier> {
    let (_, id) = report.key.rsplit_once(EDITOR)?;
    Identifier::parse(id)
}

impl Place {
    fn of(report: &SessionReport) -> Option<Self> {
        Some(Self {
            time: Reverse(report.updated_at.clone()),
            id: identified(report)?,
        })
    }

    /// The place that this text names, which we wrote.
    fn read(cursor: &str) -> Result<Self, Error> {
        let place = cursor.split_once(' ').and_then(|(id, time)| {
            Some(Self {
                time: Reverse(time.to_owned()),
                id: Identifier::parse(id)?,
            })
        });
        place.ok_or_else(|| unfit("there is no such `cursor`"))
    }

    fn write(&self) -> String {
        format!("{} {}", self.id, self.time.0)
    }
}

/// The sessions behind a place, and where the next page begins.
fn page(
    state: &Path,
    reports: &[SessionReport],
    directory: Option<&Path>,
    after: Option<&Place>,
) -> (Vec<SessionInfo>, Option<String>) {
    let mut places: Vec<Place> = reports.iter().filter_map(Place::of).collect();
    places.sort();
    let behind = |place: &Place| after.is_none_or(|after| place > after);
    let mut shown: Vec<SessionInfo> = Vec::new();
    let mut last = None;
    for place in places.into_iter().filter(behind) {
        let Some(record) = Record::read(state, &place.id) else {
            continue;
        };
        if directory.is_some_and(|directory| directory != Path::new(&record.directory)) {
            continue;
        }
        if shown.len() == PAGE {
            return (shown, last);
        }
        last = Some(place.write());
        shown.push(info(&place, record));
    }
    (shown, None)
}

fn info(place: &Place, record: Record) -> SessionInfo {
    SessionInfo::new(place.id.as_str().to_owned(), record.directory)
        .title(record.title)
        .updated_at(place.time.0.clone())
}
