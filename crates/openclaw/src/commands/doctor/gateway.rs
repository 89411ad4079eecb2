//! The gateway: whether one runs, and whether it can be asked.

use openclaw_engine::Engine as _;
use openclaw_render as render;
use tokio::time::timeout;

use super::{Finding, Level};
use crate::commands::engine::awaited;
use crate::commands::{Session, gateway};
use crate::failure::Failure;

/// Looks at a gateway that runs. One that can't be asked is left alone from then on, so that the rest
/// is looked at nevertheless.
pub(super) fn gateway(session: &mut Session<'_>) -> Result<Vec<Finding>, Failure> {
    let unit = gateway::unit_name(session)?;
    let looked = awaited(async {
        let Some(remote) = gateway::found(session).await? else {
            return Ok(Vec::new());
        };
        let greeting = remote.greeting();
        let address = format!(
            "the gateway runs at {} (PID {})",
            greeting.address, greeting.pid
        );
        let mut findings = vec![Finding::new(Level::Fine, "gateway", address)];
        let overview = timeout(gateway::PATIENCE, remote.overview()).await;
        let overview = overview.map_err(|_| {
            let message = format!("the gateway (PID {}) does not answer", greeting.pid);
            Failure::failed("gateway-unreachable", message)
        })??;
        if overview.config_error.is_some() {
            let message = "the gateway can't use the configuration as it is on disk, and goes on with an \
                           earlier one";
            let finding = Finding::new(Level::Problem, "gateway", message);
            findings.push(finding.fix("`openclaw config validate` says what is wrong with it"));
        }
        for place in &overview.awaits_restart {
            let place = render::name(place);
            let message =
                format!("`{place}` has changed since the gateway began, which goes by what it was");
            let finding = Finding::new(Level::Warning, "gateway", message);
            findings.push(finding.fix(format!(
                "`systemctl --user restart {unit}` where systemd runs it, else `openclaw gateway stop` and \
                 `openclaw gateway`"
            )));
        }
        Ok(findings)
    })?;
    match looked {
        Err(Failure::Told(told)) => {
            session.local = true;
            let finding = Finding::new(Level::Problem, "gateway", told.message);
            let fix = "stop it with `openclaw gateway stop`, or by its PID, and start it anew";
            Ok(vec![
                finding.fix(told.hint.unwrap_or_else(|| fix.to_owned())),
            ])
        }
        other => other,
    }
}
