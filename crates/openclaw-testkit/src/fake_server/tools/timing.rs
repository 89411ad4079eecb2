//! Tools that take their time; the one who answers the request ends them when it is cancelled.

use std::time::Duration;

use serde_json::json;

use super::{number, text};
use crate::fake_server::call::Call;
use crate::fake_server::message::Outcome;

pub(super) async fn call(call: &Call, name: &str) -> Outcome {
    let milliseconds = number(call, "ms", 0);
    if name == "sleep" {
        tokio::time::sleep(Duration::from_millis(milliseconds)).await;
        return Ok(text(format!("slept {milliseconds} ms")));
    }
    let steps = number(call, "steps", 1).max(1);
    let token = call.meta("progressToken").cloned();
    for step in 1..=steps {
        tokio::time::sleep(Duration::from_millis(milliseconds / steps)).await;
        if let Some(token) = &token {
            let params = json!({
                "progressToken": token,
                "progress": step,
                "total": steps,
                "message": format!("step {step} of {steps}"),
            });
            call.notify("notifications/progress", &params).await;
        }
    }
    Ok(text(format!("took {steps} steps")))
}
