use openclaw_engine::{AuthKind, CallCounts, GatewayReport, ServerReport, ServerStatistics};

use super::*;

fn statistics(servers: &[(&str, ShownState)]) -> StatisticsReport {
    let servers = servers.iter().map(|(name, state)| ServerStatistics {
        server: (*name).to_owned(),
        state: *state,
        calls: CallCounts::default(),
        latency: Vec::new(),
        latency_sum_ms: 0.0,
        restarts: 0,
    });
    StatisticsReport {
        servers: servers.collect(),
        turns: 0,
        failed_turns: 0,
        cancelled_turns: 0,
        reloads: 0,
        failed_reloads: 0,
    }
}

fn overview(servers: &[(&str, ShownState, &str)]) -> Overview {
    let servers = servers.iter().map(|(name, state, error)| ServerReport {
        name: (*name).to_owned(),
        transport: None,
        target: String::new(),
        enabled: true,
        state: *state,
        auth: AuthKind::None,
        tools: 0,
        resources: 0,
        prompts: 0,
        pid: None,
        protocol_version: None,
        restarts: 0,
        error: (!error.is_empty()).then(|| (*error).to_owned()),
    });
    Overview {
        version: String::new(),
        gateway: GatewayReport::default(),
        servers: servers.collect(),
        agents: Vec::new(),
        sessions: 0,
        sessions_error: None,
        config_error: None,
        awaits_restart: Vec::new(),
    }
}

fn both(statistics: StatisticsReport, overview: Overview) -> Judgement {
    Judgement::of(Ok(statistics), Ok(overview))
}

fn told(judgement: &Judgement) -> Vec<(&str, &str)> {
    let problems = judgement.problems.iter();
    problems
        .map(|it| {
            (
                it.server.as_deref().unwrap_or_default(),
                it.message.as_str(),
            )
        })
        .collect()
}

#[test]
fn what_can_not_be_used_and_should_be_is_a_trouble() {
    for (state, is_trouble) in [
        (ShownState::Failed, true),
        (ShownState::Restarting, true),
        (ShownState::NeedsAuth, true),
        (ShownState::Ready, false),
        (ShownState::Connecting, false),
        (ShownState::Stopped, false),
        (ShownState::Disabled, false),
    ] {
        let judgement = both(statistics(&[("a", state)]), overview(&[]));
        assert_eq!(
            judgement.problems.len(),
            usize::from(is_trouble),
            "{state:?}"
        );
        assert_eq!(judgement.servers.total, 1);
        assert_eq!(
            judgement.servers.ready,
            usize::from(state == ShownState::Ready)
        );
    }
}

#[test]
fn a_server_of_another_agent_that_failed_is_not_hidden_by_one_of_the_same_name() {
    let well = overview(&[("a", ShownState::Ready, "")]);
    let judgement = both(statistics(&[("a", ShownState::Failed)]), well);
    assert_eq!(told(&judgement), [("a", "the server can't be used")]);
    assert_eq!(judgement.servers.ready, 0);
}

#[test]
fn a_reason_is_told_only_of_the_server_that_has_it() {
    let failed = || overview(&[("a", ShownState::Failed, "no such program")]);
    let judgement = both(statistics(&[("a", ShownState::Failed)]), failed());
    assert_eq!(told(&judgement), [("a", "no such program")]);
    let needs = overview(&[("a", ShownState::NeedsAuth, "log in")]);
    let judgement = both(statistics(&[("a", ShownState::Failed)]), needs);
    assert_eq!(told(&judgement), [("a", "the server can't be used")]);
}

#[test]
fn each_answer_may_be_missing_by_itself() {
    let down = statistics(&[("a", ShownState::Failed)]);
    let judgement = Judgement::of(Ok(down), Err(silence()));
    let silent = ("", "the engine does not answer");
    assert_eq!(
        told(&judgement),
        [silent, ("a", "the server can't be used")]
    );
    let judgement = Judgement::of(
        Err(silence()),
        Ok(overview(&[("a", ShownState::Ready, "")])),
    );
    assert_eq!(told(&judgement), [silent]);
    assert_eq!(judgement.servers.ready, 1);
    let judgement = Judgement::of(Err(silence()), Err(silence()));
    assert_eq!(judgement, Judgement::of_silence());
}

#[test]
fn sessions_and_a_configuration_that_can_not_be_read_are_troubles_of_our_own() {
    let overview = Overview {
        sessions_error: Some("no sessions".to_owned()),
        config_error: Some("no configuration".to_owned()),
        ..overview(&[])
    };
    let judgement = both(statistics(&[]), overview);
    let told = told(&judgement);
    assert_eq!(told, [("", "no configuration"), ("", "no sessions")]);
}
