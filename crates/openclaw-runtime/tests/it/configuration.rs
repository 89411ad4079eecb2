//! The configuration that is in force, and what is wrong with its files.

use openclaw_engine::{ConfigurationQuery, ConfigurationReport, Engine, ProblemSeverity};
use openclaw_runtime::Life;
use serde_json::json;

use crate::house::{House, servers};

const TOKEN: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

async fn configuration(house: &House, agent: Option<&str>) -> ConfigurationReport {
    let agent = agent.map(str::to_owned);
    let query = ConfigurationQuery { agent };
    house.engine.configuration(query).await.unwrap()
}

#[tokio::test]
async fn what_is_in_force_is_shown_and_what_is_wrong_in_the_file_now() {
    let mut config = servers(&json!({
        "mine": { "command": "never-started", "env": { "API_TOKEN": TOKEN }, "enabled": false },
    }));
    config["agents"]["entries"] = json!({ "other": { "mcp": { "servers": {
        "more": { "command": "never-started" },
    } } } });
    let house = House::new(&config);
    let report = configuration(&house, None).await;
    assert_eq!(report.file, house.file().display().to_string());
    assert!(report.exists);
    assert_eq!((report.error, report.omitted), (None, 0));
    let shown = &report.configuration["mcp"]["servers"];
    assert_eq!(shown["mine"]["command"], "never-started");
    assert_eq!(shown["more"], json!(null));
    let plaintext = &report.problems[0];
    assert_eq!(plaintext.severity, ProblemSeverity::Warning);
    assert!(plaintext.message.contains("plaintext"), "{plaintext:?}");
    let other = configuration(&house, Some("other")).await.configuration;
    let more = &other["mcp"]["servers"]["more"];
    assert_eq!(more["command"], "never-started");

    // What is written now is judged, and does not come into force by that.
    let before = configuration(&house, None).await.configuration;
    house.write(&format!("{{\n  mcp: {{ servers: {{ mine: {{ command: 7, env: {{ API_TOKEN: '{TOKEN}' }} }}, new: {{ command: 'x' }} }} }},\n}}"));
    let report = configuration(&house, None).await;
    assert_eq!(report.configuration, before);
    assert_eq!(report.error, None, "nobody has tried");
    let errors = report.problems.iter();
    let mut errors = errors.filter(|it| it.severity == ProblemSeverity::Error);
    let error = errors.next().unwrap();
    assert_eq!(error.path, "mcp.servers.mine.command");
    assert_eq!((error.line, error.column), (Some(2), Some(38)));
    let source = error.source.as_deref().unwrap();
    assert!(
        source.contains("command: 7, env: { API_TOKEN: '*"),
        "{source}"
    );
    let all = serde_json::to_string(&report).unwrap();
    assert!(!all.contains("ghp_"), "{all}");

    // Why a reload was refused stays until one is not.
    house.write("{ mcp: ");
    house.engine.reload().await.unwrap_err();
    let report = configuration(&house, None).await;
    assert!(report.error.unwrap().contains("openclaw.json:1:"));
    assert_eq!(report.problems[0].line, Some(1));
    assert_eq!(report.configuration, before);
    house.write("{}");
    house.engine.reload().await.unwrap();
    let report = configuration(&house, None).await;
    assert_eq!((report.error, report.problems), (None, Vec::new()));
    assert_eq!(report.configuration["mcp"]["servers"], json!({}));
    house.finish(&[]).await;
}

#[tokio::test]
async fn without_a_file_defaults_are_in_force() {
    let house = House::without_file(Life::Gateway);
    let report = configuration(&house, None).await;
    assert!(!report.exists);
    assert_eq!(report.problems, Vec::new());
    assert_eq!(report.configuration["agent"], "main");
    let unknown = ConfigurationQuery {
        agent: Some("nobody".to_owned()),
    };
    let failure = house.engine.configuration(unknown).await.unwrap_err();
    assert_eq!(failure.code, "unknown-agent");
    house.finish(&[]).await;
}

#[tokio::test]
async fn a_file_full_of_mistakes_is_told_in_part() {
    let house = House::new(&servers(&json!({})));
    let many: String = (0..3_000)
        .map(|number| format!("s{number}: {{ command: 7 }},\n"))
        .collect();
    house.write(&format!("{{ mcp: {{ servers: {{\n{many}}} }} }}"));
    let report = configuration(&house, None).await;
    assert_eq!(report.problems.len(), 1_000);
    assert_eq!(report.omitted, 2_000);
    house.finish(&[]).await;
}
