//! Whether a tool may run.

use agent_client_protocol::Client;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    PermissionOption, PermissionOptionKind, RequestPermissionOutcome, RequestPermissionRequest,
    SessionId, ToolCallUpdate,
};
use openclaw_engine::ToolConsent;

const ONCE: &str = "allow-once";
const ALWAYS: &str = "allow-always";
const NO: &str = "reject-once";

/// Asks a person whether a call may be made. The question is withdrawn when this is dropped.
pub(crate) async fn consent(
    connection: &ConnectionTo<Client>,
    session: &SessionId,
    call: ToolCallUpdate,
) -> ToolConsent {
    let options = vec![
        PermissionOption::new(ONCE, "Allow", PermissionOptionKind::AllowOnce),
        PermissionOption::new(ALWAYS, "Always allow", PermissionOptionKind::AllowAlways),
        PermissionOption::new(NO, "Reject", PermissionOptionKind::RejectOnce),
    ];
    let request = RequestPermissionRequest::new(session.clone(), call, options);
    match connection.send_request(request).block_task().await {
        Ok(response) => meant(&response.outcome),
        Err(error) => {
            tracing::debug!(%error, "nobody says whether a tool may run");
            ToolConsent::No
        }
    }
}

/// What a person meant. Whatever is not a clear yes is a no.
fn meant(outcome: &RequestPermissionOutcome) -> ToolConsent {
    match outcome {
        RequestPermissionOutcome::Selected(selected) => match &*selected.option_id.0 {
            ONCE => ToolConsent::Once,
            ALWAYS => ToolConsent::Always,
            _ => ToolConsent::No,
        },
        _ => ToolConsent::No,
    }
}

#[cfg(test)]
mod tests {
    use agent_client_protocol::v1::schema::SelectedPermissionOutcome;

    use super::*;

    #[test]
    fn only_a_clear_yes_is_a_yes() {
        let selected = |option: &'static str| {
            let option = SelectedPermissionOutcome::new(option);
            meant(&RequestPermissionOutcome::Selected(option))
        };
        assert_eq!(selected(ONCE), ToolConsent::Once);
        assert_eq!(selected(ALWAYS), ToolConsent::Always);
        assert_eq!(selected(NO), ToolConsent::No);
        assert_eq!(selected("yes"), ToolConsent::No);
        assert_eq!(meant(&RequestPermissionOutcome::Cancelled), ToolConsent::No);
    }
}
