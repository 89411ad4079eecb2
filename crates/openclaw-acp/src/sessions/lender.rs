//! That somebody is there who lends servers, and what is done when the engine no longer knows it.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use agent_client_protocol::Client;
use agent_client_protocol::v1::ConnectionTo;
use openclaw_engine::EngineFailure;
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::loans::{LENT_AGAIN, introduce, lend_kept, not_lent_again};
use super::session::Session;
use crate::notices::warn;
use crate::office::Office;
use crate::problems::words;

/// How long is waited before each attempt to lend servers again.
const PAUSES: [Duration; 5] = [
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(4),
    Duration::from_secs(8),
    Duration::from_secs(16),
];
/// How long all attempts may take.
const ATTEMPTS: Duration = Duration::from_mins(1);

/// Says to the engine that whoever lends servers is there until this process ends, unless it knows. The
/// engine was asked when this returns, so that it knows the lender before the first loan. Returns what is told
/// when it has forgotten.
pub(super) async fn be_there(
    office: &Arc<Office>,
    connection: &ConnectionTo<Client>,
) -> CancellationToken {
    let mut known = office.lending.lock().await;
    if let Some(ended) = known.as_ref().filter(|ended| !ended.is_cancelled()) {
        return ended.clone();
    }
    let ended = CancellationToken::new();
    *known = Some(ended.clone());
    let told = ended.clone().drop_guard();
    let (begun, is_begun) = oneshot::channel();
    let (desk, connection) = (Arc::clone(office), connection.clone());
    office.crew.spawn(async move {
        if let Err(failure) = lending(&desk, begun).await {
            tracing::warn!(%failure, "servers of the editor are no longer lent");
        }
        // Whoever lends next asks anew.
        drop(told);
        for session in desk.sessions() {
            desk.crew
                .spawn(lent_again(Arc::clone(&desk), session, connection.clone()));
        }
    });
    let _ = is_begun.await;
    ended
}

async fn lending(office: &Office, begun: oneshot::Sender<()>) -> Result<(), EngineFailure> {
    let mut lending = office.engine.lending(office.lender.clone());
    tokio::select! {
        biased;
        ended = &mut lending => ended,
        () = std::future::ready(()) => {
            // Whoever waits for it may be gone.
            let _ = begun.send(());
            lending.await
        }
    }
}

/// Tells a person that the servers of a session are gone, and lends them again.
fn lent_again(
    office: Arc<Office>,
    session: Arc<Session>,
    connection: ConnectionTo<Client>,
) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async move {
        let work = lend_again(&office, &session, &connection);
        session.gone.run_until_cancelled(work).await;
    })
}

async fn lend_again(office: &Arc<Office>, session: &Session, connection: &ConnectionTo<Client>) {
    if !session.loan.lock().await.is_lost() {
        return;
    }
    let text = "The servers of the editor are gone, because the gateway no longer knows of them; they are \
                lent again";
    warn(office, session, connection, text).await;
    let mut why = None;
    let attempts = async {
        for pause in PAUSES {
            sleep(pause).await;
            let mut loan = session.loan.lock().await;
            match lend_kept(office, session, &mut loan, connection).await {
                Ok(names) => return Some((loan.asked_as(session), names)),
                Err(failure) => why = Some(failure),
            }
        }
        None
    };
    let lent = timeout(ATTEMPTS, attempts).await.ok().flatten();
    if let Some((agent, names)) = lent {
        warn(office, session, connection, LENT_AGAIN).await;
        introduce(office, session, agent, &names, connection).await;
        return;
    }
    let why = why.as_ref().map(words);
    let why = why.unwrap_or_else(|| "it takes too long".to_owned());
    session.loan.lock().await.give_up();
    warn(office, session, connection, &not_lent_again(&why)).await;
}
