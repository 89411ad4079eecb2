//! The numbers in the words of those who collect them.

use std::fmt::Error;
use std::time::Duration;

use openclaw_engine::{CallCounts, LATENCY_BOUNDS, ServerStatistics, ShownState, StatisticsReport};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Unit;

use super::process::Process;

/// How many servers are told apart. Their names are the only words here that are not ours.
const SERVERS: usize = 1_000;

/// The numbers of one moment.
#[derive(Debug)]
pub(super) struct Numbers {
    pub(super) engine: StatisticsReport,
    pub(super) process: Process,
    pub(super) requests: Vec<(&'static str, u16, u64)>,
    pub(super) connections: usize,
    pub(super) websockets: usize,
    pub(super) uptime: Duration,
    pub(super) version: &'static str,
}

impl Collector for Numbers {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), Error> {
        self.calls(&mut encoder)?;
        self.servers(&mut encoder)?;
        self.agents(&mut encoder)?;
        self.http(&mut encoder)?;
        self.machine(&mut encoder)
    }
}

impl Numbers {
    /// The servers, each with its name as it is written in a label.
    fn known(&self) -> impl Iterator<Item = (String, &ServerStatistics)> {
        let servers = self.engine.servers.iter().take(SERVERS);
        servers.map(|server| (escaped(&server.server), server))
    }

    fn calls(&self, encoder: &mut DescriptorEncoder<'_>) -> Result<(), Error> {
        let name = "openclaw_mcp_calls";
        let help = "Calls of tools, by server and by how they ended";
        let mut calls = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
        for (name, server) in self.known() {
            for (outcome, count) in outcomes(&server.calls) {
                let labels = [("server", name.as_str()), ("outcome", outcome)];
                counter(&mut calls.encode_family(&labels)?, count)?;
            }
        }
        let name = "openclaw_mcp_call_duration";
        let help = "How long calls took that reached their server";
        let unit = Unit::Seconds;
        let mut durations =
            encoder.encode_descriptor(name, help, Some(&unit), MetricType::Histogram)?;
        for (name, server) in self.known() {
            let buckets = buckets(&server.latency);
            let count = buckets.iter().map(|(_, count)| count).sum();
            let sum = server.latency_sum_ms / 1_000.0;
            durations
                .encode_family(&[("server", name.as_str())])?
                .encode_histogram::<NoLabelSet>(sum, count, &buckets, None)?;
        }
        Ok(())
    }

    fn servers(&self, encoder: &mut DescriptorEncoder<'_>) -> Result<(), Error> {
        let name = "openclaw_mcp_server_restarts";
        let help = "How often servers were started again";
        let mut restarts = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
        for (name, server) in self.known() {
            let labels = [("server", name.as_str())];
            counter(&mut restarts.encode_family(&labels)?, server.restarts)?;
        }
        let name = "openclaw_mcp_server_state";
        let help = "How servers are: 1 for the state that a server is in, 0 for the others";
        let mut states = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
        for (name, server) in self.known() {
            for state in ShownState::ALL {
                let labels = [("server", name.as_str()), ("state", state.as_str())];
                let is_in = u64::from(server.state == state);
                states.encode_family(&labels)?.encode_gauge(&is_in)?;
            }
        }
        Ok(())
    }

    fn agents(&self, encoder: &mut DescriptorEncoder<'_>) -> Result<(), Error> {
        let engine = &self.engine;
        let ended_otherwise = engine.failed_turns.saturating_add(engine.cancelled_turns);
        let turns = [
            ("ok", engine.turns.saturating_sub(ended_otherwise)),
            ("failed", engine.failed_turns),
            ("cancelled", engine.cancelled_turns),
        ];
        let reloads = [("ok", engine.reloads), ("failed", engine.failed_reloads)];
        for (name, help, counts) in [
            (
                "openclaw_turns",
                "Turns of agents, by how they ended",
                &turns[..],
            ),
            (
                "openclaw_config_reloads",
                "How often the configuration was read anew, and whether it could be used",
                &reloads[..],
            ),
        ] {
            let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
            for (outcome, count) in counts {
                let labels = [("outcome", *outcome)];
                counter(&mut metric.encode_family(&labels)?, *count)?;
            }
        }
        Ok(())
    }

    fn http(&self, encoder: &mut DescriptorEncoder<'_>) -> Result<(), Error> {
        let name = "openclaw_http_requests";
        let help = "Requests over HTTP, by route and status";
        let mut requests = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
        for (route, status, count) in &self.requests {
            let status = status.to_string();
            let labels = [("route", *route), ("status", status.as_str())];
            counter(&mut requests.encode_family(&labels)?, *count)?;
        }
        let name = "openclaw_http_connections";
        let help = "Connections over HTTP that are open";
        gauge(encoder, name, help, None, self.connections as u64)?;
        let name = "openclaw_websocket_clients";
        let help = "WebSockets that are open";
        gauge(encoder, name, help, None, self.websockets as u64)
    }

    fn machine(&self, encoder: &mut DescriptorEncoder<'_>) -> Result<(), Error> {
        encoder
            .encode_descriptor(
                "openclaw_uptime",
                "For how long the gateway has been running",
                Some(&Unit::Seconds),
                MetricType::Gauge,
            )?
            .encode_gauge(&self.uptime.as_secs_f64())?;
        if let Some(resident) = self.process.resident {
            let name = "process_resident_memory";
            let help = "Memory that this process has";
            gauge(encoder, name, help, Some(&Unit::Bytes), resident)?;
        }
        if let Some(descriptors) = self.process.descriptors {
            let name = "process_open_fds";
            let help = "Descriptors that this process has open";
            gauge(encoder, name, help, None, descriptors)?;
        }
        encoder
            .encode_descriptor(
                "openclaw_build",
                "The version of the program",
                None,
                MetricType::Info,
            )?
            .encode_info(&[("version", self.version)])
    }
}

/// A text as a value of a label; the encoder writes it as it is.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' => escaped.push_str("\\\\"),
            '"' => escaped.push_str("\\\""),
            '\n' => escaped.push_str("\\n"),
            other => escaped.push(other),
        }
    }
    escaped
}

fn counter(encoder: &mut MetricEncoder<'_>, count: u64) -> Result<(), Error> {
    encoder.encode_counter::<NoLabelSet, u64, u64>(&count, None)
}

fn gauge(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    unit: Option<&Unit>,
    value: u64,
) -> Result<(), Error> {
    encoder
        .encode_descriptor(name, help, unit, MetricType::Gauge)?
        .encode_gauge(&value)
}

fn outcomes(calls: &CallCounts) -> [(&'static str, u64); 8] {
    [
        ("ok", calls.ok),
        ("tool-error", calls.tool_error),
        ("not-done", calls.not_done),
        ("unknown", calls.unknown),
        ("denied", calls.denied),
        ("rejected", calls.rejected),
        ("invalid-arguments", calls.invalid_arguments),
        ("cancelled", calls.cancelled),
    ]
}

/// The classes of durations, each with its upper bound in seconds.
#[expect(
    clippy::cast_precision_loss,
    reason = "bounds are at most a minute of milliseconds"
)]
fn buckets(latency: &[u64]) -> Vec<(f64, u64)> {
    let bounds = LATENCY_BOUNDS.iter().map(|bound| *bound as f64 / 1_000.0);
    let counts = latency.iter().copied().chain(std::iter::repeat(0));
    bounds.chain([f64::MAX]).zip(counts).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_can_not_leave_its_label() {
        assert_eq!(escaped("plain"), "plain");
        assert_eq!(escaped("a\"} 1\nb\\"), "a\\\"} 1\\nb\\\\");
    }

    #[test]
    fn each_duration_has_its_class_and_the_last_has_no_end() {
        let buckets = buckets(&[1; 15]);
        assert_eq!(buckets.len(), LATENCY_BOUNDS.len() + 1);
        assert_eq!(buckets.first(), Some(&(0.001, 1)));
        assert_eq!(buckets.last(), Some(&(f64::MAX, 1)));
        // What is short of counts does not make the classes fewer.
        assert_eq!(super::buckets(&[]).len(), LATENCY_BOUNDS.len() + 1);
    }
}
