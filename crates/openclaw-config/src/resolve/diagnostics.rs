//! What is told to those who watch over many programs.

use crate::config::{Definition, OtelSettings};
use crate::raw::{RawOtel, RawRoot};
use crate::report::{Kind, Problem};
use crate::resolve::Resolver;
use crate::server::{Reach, is_plaintext, parse_address};

impl Resolver<'_> {
    pub(super) fn otel(&mut self, root: &RawRoot) -> Definition<OtelSettings> {
        let diagnostics = root.diagnostics.value().cloned().unwrap_or_default();
        let raw = diagnostics.otel.value().cloned().unwrap_or_default();
        let problems = self.report.problems().iter();
        let mut reasons: Vec<Problem> = problems
            .filter(|problem| problem.is_in_otel() && problem.blocks())
            .cloned()
            .collect();
        if let Some(field) = diagnostics.otel.located()
            && self.report.omitted() > 0
        {
            let message = "may have mistakes beyond those that are listed";
            reasons.push(Problem::error(Kind::Rule, &field.path, message).at(field.span));
        }
        self.report.extend(advice(&raw));
        let headers = raw.headers.value().cloned().unwrap_or_default();
        let settings = OtelSettings {
            enabled: diagnostics.enabled.or(true) && raw.enabled.or(false),
            traces: raw.traces.or(true),
            endpoint: raw.endpoint.value().and_then(|address| address.0.clone()),
            headers: headers
                .0
                .into_iter()
                .map(|entry| (entry.name.to_ascii_lowercase(), entry.value.value))
                .collect(),
            service_name: raw.service_name.value().map(|name| name.0.value.clone()),
            sample_rate: raw.sample_rate.value().map(|share| share.0),
            flush_interval: raw.flush_interval.value().map(|interval| interval.0),
        };
        Definition::new(Some(settings), reasons)
    }
}

/// What works and is probably not meant.
fn advice(raw: &RawOtel) -> Vec<Problem> {
    let mut advice = Vec::new();
    if let Some(headers) = raw.headers.located() {
        for entry in &headers.value.0 {
            if is_plaintext(&entry.name, &entry.value.value) {
                let message =
                    "this is a credential in plain text — consider using a secret:// reference";
                let help =
                    "write `\"secret://keyring/SERVICE/ACCOUNT\"`, or `\"${NAME}\"` for a variable";
                let path = headers.path.child(&entry.name);
                let problem = Problem::warning(Kind::PlaintextCredential, &path, message);
                advice.push(problem.at(entry.span).help(help));
            }
        }
    }
    if let Some(field) = raw.endpoint.located()
        && let Some(url) = &field.value.0
        && let Ok((_, Reach::Readable)) = parse_address(url.as_str())
    {
        let host = url.host_str().unwrap_or_default();
        let message = format!("everybody between here and {host} can read along");
        let problem = Problem::warning(Kind::Advice, &field.path, message).at(field.span);
        advice.push(problem.help("write `https://` if the collector speaks it"));
    }
    let without_effect = [
        (
            &raw.metrics,
            "metrics are not exported; the gateway serves them at `/metrics`",
        ),
        (
            &raw.logs,
            "logs are not exported; they are files of the state directory",
        ),
    ];
    for (field, message) in without_effect {
        if let Some(field) = field.located()
            && field.value
        {
            let problem = Problem::warning(Kind::Advice, &field.path, message);
            advice.push(problem.at(field.span));
        }
    }
    advice
}
