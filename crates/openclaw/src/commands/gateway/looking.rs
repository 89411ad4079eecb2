//! Whether a gateway runs, and how it is.

use std::time::Duration;

use openclaw_content::shown_line;
use openclaw_engine::{Engine as _, GatewayReport, Overview, ShownState, StatisticsReport};
use openclaw_link::{Greeting, NoGateway, Remote};
use serde_json::{Value as Json, json};
use tokio::time::timeout;

use super::found::{VERSION, is_between, not_reached};
use crate::commands::Session;
use crate::commands::engine::awaited;
use crate::failure::{Exit, Failure};
use crate::render;

/// How long it may take to say how it is.
const PATIENCE: Duration = Duration::from_secs(5);
/// How much of a line is shown.
const LINE: usize = 200;

pub(super) fn run(session: &mut Session<'_>, json: bool) -> Result<Exit, Failure> {
    let state = session.location()?.state;
    let found = awaited(async {
        let remote = match Remote::connect(&state, VERSION).await {
            Ok(remote) => remote,
            Err(NoGateway::Absent) => return Ok(None),
            Err(error) => return Err(not_reached(&error)),
        };
        let asking = async { tokio::try_join!(remote.overview(), remote.statistics()) };
        let answered = timeout(PATIENCE, asking).await;
        let (overview, statistics) = answered.map_err(|_| {
            let pid = remote.greeting().pid;
            let message = format!("the gateway (PID {pid}) does not answer");
            Failure::failed("gateway-unreachable", message)
        })??;
        Ok(Some(Seen {
            greeting: remote.greeting().clone(),
            overview,
            statistics,
        }))
    })??;
    match found {
        None if is_between(&state) => {
            let message = "a gateway is starting or stopping, and can't be asked";
            Err(Failure::failed("gateway-unreachable", message))
        }
        None => {
            if json {
                session.output.print_report(&GatewayReport::default())?;
            } else {
                session.output.print("no gateway runs\n")?;
                session
                    .output
                    .explain("hint: `openclaw gateway` runs one\n")?;
            }
            Ok(Exit::Failed)
        }
        Some(seen) => {
            if json {
                session.output.print_report(&seen.report())?;
            } else {
                session.output.print(&seen.told())?;
            }
            Ok(Exit::Done)
        }
    }
}

/// What a gateway says about itself.
struct Seen {
    greeting: Greeting,
    overview: Overview,
    /// The servers of all agents.
    statistics: StatisticsReport,
}

impl Seen {
    /// Servers that a person would want to know about.
    fn troubled(&self) -> impl Iterator<Item = (&str, ShownState)> {
        let servers = self.statistics.servers.iter();
        servers
            .filter(|server| server.state.is_trouble())
            .map(|server| (server.server.as_str(), server.state))
    }

    fn health(&self) -> &'static str {
        let is_well = self.overview.errors().next().is_none() && self.troubled().next().is_none();
        if is_well { "ok" } else { "degraded" }
    }

    fn report(&self) -> Json {
        json!({
            "running": true,
            "pid": self.greeting.pid,
            "uptimeMs": self.overview.gateway.uptime_ms,
            "address": self.greeting.address,
            "version": self.greeting.version,
            "health": self.health(),
            "config": self.greeting.config,
            "configError": self.overview.config_error,
            "sessionsError": self.overview.sessions_error,
            "awaitsRestart": self.overview.awaits_restart,
        })
    }

    fn told(&self) -> String {
        let greeting = &self.greeting;
        let uptime = self.overview.gateway.uptime_ms.map(Duration::from_millis);
        let uptime = uptime.map_or_else(String::new, |it| format!(", up {}", period(it)));
        let mut text = format!(
            "gateway {} at {} (PID {}, version {}{uptime})\n  config: {}\n",
            self.health(),
            greeting.address,
            greeting.pid,
            greeting.version,
            render::name(&greeting.config),
        );
        let servers = &self.statistics.servers;
        let is_ready = |state: ShownState| state == ShownState::Ready;
        let ready = servers.iter().filter(|it| is_ready(it.state)).count();
        text.push_str(&format!("  servers: {ready} of {} ready\n", servers.len()));
        for (name, state) in self.troubled() {
            let name = render::name(name);
            let (words, _) = render::state_words(state);
            text.push_str(&format!("    {name}: {words}\n"));
        }
        if let Some(error) = &self.overview.config_error {
            text.push_str(
                "  the configuration on disk can't be used, an earlier one is in force:\n",
            );
            for line in error.lines() {
                text.push_str(&format!("    {}\n", shown_line(line, LINE)));
            }
        }
        if let Some(error) = &self.overview.sessions_error {
            let error = shown_line(error, LINE);
            text.push_str(&format!("  the sessions can't be read: {error}\n"));
        }
        for place in &self.overview.awaits_restart {
            let place = render::name(place);
            text.push_str(&format!(
                "  `{place}` has changed, and counts once the gateway is started anew\n"
            ));
        }
        text
    }
}

/// A period of time in its two largest units.
fn period(time: Duration) -> String {
    let seconds = time.as_secs();
    let (minutes, hours, days) = (seconds / 60, seconds / 3_600, seconds / 86_400);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, _) => format!("{minutes} min {} s", seconds % 60),
        (0, _, _) => format!("{hours} h {} min", minutes % 60),
        (_, _, _) => format!("{days} d {} h", hours % 24),
    }
}

#[cfg(test)]
mod tests {
    use openclaw_engine::GatewayReport;

    use super::*;

    #[test]
    fn what_is_wrong_besides_servers_is_told() {
        let seen = |config_error: Option<&str>, sessions_error: Option<&str>| Seen {
            greeting: Greeting {
                protocol: 1,
                version: "1.2.3".to_owned(),
                pid: 7,
                config: "/config".to_owned(),
                address: "http://127.0.0.1:1".to_owned(),
            },
            overview: Overview {
                version: "1.2.3".to_owned(),
                gateway: GatewayReport::default(),
                servers: Vec::new(),
                agents: Vec::new(),
                sessions: 0,
                sessions_error: sessions_error.map(str::to_owned),
                config_error: config_error.map(str::to_owned),
                awaits_restart: Vec::new(),
            },
            statistics: StatisticsReport::default(),
        };
        let well = seen(None, None);
        assert!(well.told().starts_with("gateway ok "), "{}", well.told());
        assert_eq!(well.report()["health"], "ok");
        for ill in [
            seen(Some("it is broken"), None),
            seen(None, Some("it is broken")),
        ] {
            let told = ill.told();
            assert!(told.starts_with("gateway degraded "), "{told}");
            assert!(told.contains("it is broken"), "{told}");
            assert_eq!(ill.report()["health"], "degraded");
        }
        assert_eq!(
            seen(None, Some("it is broken")).report()["sessionsError"],
            "it is broken"
        );
    }

    #[test]
    fn periods_are_told_in_two_units() {
        for (seconds, told) in [
            (0, "0 s"),
            (59, "59 s"),
            (61, "1 min 1 s"),
            (3_600, "1 h 0 min"),
            (90_061, "1 d 1 h"),
        ] {
            assert_eq!(period(Duration::from_secs(seconds)), told);
        }
    }
}
