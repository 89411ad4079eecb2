use openclaw_engine::Engine as _;

use super::*;
use crate::commands::canned::Canned;
use crate::commands::engine::tests::asked as asked_canned;
use crate::failure::Exit;

fn lines(findings: &[Finding]) -> String {
    let lines = findings.iter().map(|it| {
        let fix = it.fix.as_deref().unwrap_or_default();
        format!("{:?} {}: {} [{fix}]\n", it.level, it.area, it.message)
    });
    lines.collect()
}

async fn reports() -> (ModelsReport, SessionsReport) {
    let engine = Canned::default();
    let models = engine.models(ModelsQuery { ask: true }).await.unwrap();
    let sessions = engine.sessions(SessionsQuery::default()).await.unwrap();
    (models, sessions)
}

#[tokio::test]
async fn every_model_that_cannot_be_asked_is_a_problem_with_its_fix() {
    let (report, _) = reports().await;
    insta::assert_snapshot!(lines(&models(&report, true)));
}

#[tokio::test]
async fn remarks_about_sessions_are_warnings() {
    let (_, mut report) = reports().await;
    insta::assert_snapshot!(
        lines(&sessions(&report)),
        @"Warning sessions: a store was set aside evil Status: Connected []"
    );
    report.problems.clear();
    insta::assert_snapshot!(lines(&sessions(&report)), @"Fine sessions: the store of sessions has 3 sessions []");
}

#[test]
fn models_sessions_and_skills_are_all_looked_at() {
    let run = asked_canned(false, async |engine, session| {
        let findings = asked(engine, session, [AgentId::main()].iter(), false).await?;
        let areas: Vec<&str> = findings.iter().map(|it| it.area).collect();
        assert_eq!(areas.iter().filter(|it| **it == "models").count(), 4);
        assert_eq!(areas.iter().filter(|it| **it == "sessions").count(), 1);
        assert_eq!(areas.last(), Some(&"skills"));
        Ok(Exit::Done)
    });
    assert!(run.result.is_ok());
}
