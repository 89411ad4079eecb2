//! Where traces go.

use openclaw_config::Config;
use openclaw_content::shown_line;
use openclaw_runtime::traces_reading;

use crate::commands::doctor::{Finding, Level};

/// How much of an address is shown.
const SHOWN: usize = 200;

/// Whether traces are exported, and where to; nothing where nobody wants them.
pub(super) fn traces(config: &Config) -> Vec<Finding> {
    let reading = traces_reading(config);
    let warning = |message: String| {
        let fix = "docs/guides/observability.md lists the variables and settings";
        Finding::new(Level::Warning, "traces", message).fix(fix)
    };
    let mut findings: Vec<Finding> = reading.remarks.into_iter().map(warning).collect();
    if let Some(settings) = reading.settings {
        let place = settings.endpoint.origin().ascii_serialization();
        let place = shown_line(&place, SHOWN);
        findings.push(if cfg!(feature = "otel") {
            Finding::new(
                Level::Fine,
                "traces",
                format!("traces are exported to {place}"),
            )
        } else {
            warning(format!(
                "traces are not exported to {place}: this program was built without OpenTelemetry"
            ))
        });
    }
    findings
}

#[cfg(test)]
mod tests {
    use openclaw_config::{Environment, Location, load};

    use super::*;

    fn found(text: &str, environment: &Environment) -> Vec<(Level, String)> {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("openclaw.json");
        std::fs::write(&file, text).unwrap();
        let location = Location {
            config: file,
            state: directory.path().join("state"),
            profile: None,
            named: true,
        };
        let config = load(&location, environment).config.unwrap();
        let findings = traces(&config).into_iter();
        findings.map(|it| (it.level, it.message)).collect()
    }

    #[test]
    fn it_is_said_where_traces_go() {
        let here = std::path::Path::new("/");
        let nothing = Environment::new([], None, here);
        assert!(found("{}", &nothing).is_empty());
        let enabled = "{ diagnostics: { otel: { enabled: true } } }";
        let [(level, message)] = &found(enabled, &nothing)[..] else {
            panic!("one finding");
        };
        assert_eq!(*level, Level::Fine);
        assert_eq!(message, "traces are exported to http://localhost:4318");
        let variables = [("OTEL_EXPORTER_OTLP_ENDPOINT", "http://far.example")];
        let readable = Environment::new(variables, None, here);
        let levels: Vec<Level> = found("{}", &readable).into_iter().map(|it| it.0).collect();
        assert_eq!(levels, [Level::Warning, Level::Fine]);
    }
}
