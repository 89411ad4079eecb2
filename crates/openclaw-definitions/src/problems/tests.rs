use std::fs;

use super::*;
use crate::testing::definitions;

const TOKEN: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

#[tokio::test]
async fn problems_have_their_place_and_their_line_without_credentials() {
    let home = tempfile::tempdir().unwrap();
    let definitions = definitions(home.path());
    let found = definitions.problems(100).await.unwrap();
    assert!(!found.exists);
    assert_eq!(found.problems.len(), 1, "{found:?}");
    let missing = &found.problems[0];
    assert_eq!((missing.line, &missing.source), (None, &None));
    let file = home.path().join("openclaw.json");
    let text = format!(
        "{{ mcp: {{ servers: {{\n  github: {{ comand: 'npx',\n    env: {{ TOKEN: '{TOKEN}', }}, \
         comand2: 1 }},\n}} }} }}\n"
    );
    fs::write(&file, text).unwrap();
    let found = definitions.problems(100).await.unwrap();
    assert!(found.exists);
    assert_eq!(found.omitted, 0);
    assert!(!format!("{found:?}").contains("ghp_"), "{found:?}");
    let problem = |message: &str| {
        let mut problems = found.problems.iter();
        let found = problems.find(|it| it.message.contains(message));
        found.unwrap().clone()
    };
    let needs = problem("a server needs `command`");
    assert_eq!(needs.severity, ProblemSeverity::Error);
    assert_eq!(needs.path, "mcp.servers.github");
    assert_eq!((needs.line, needs.column), (Some(2), Some(3)));
    let path = needs.file.as_deref().unwrap();
    assert!(path.ends_with("openclaw.json"), "{path}");
    let misspelt = problem("unknown key `comand`");
    assert_eq!(misspelt.severity, ProblemSeverity::Warning);
    assert_eq!(misspelt.suggestion.as_deref(), Some("command"));
    assert_eq!(misspelt.help.as_deref(), Some("did you mean `command`?"));
    assert_eq!(
        misspelt.source.as_deref(),
        Some("  github: { comand: 'npx',")
    );
    let beside = problem("comand2").source.unwrap();
    assert!(beside.contains("TOKEN: '****"), "{beside}");
}

#[tokio::test]
async fn what_cannot_be_parsed_is_a_problem_with_its_line() {
    let home = tempfile::tempdir().unwrap();
    let definitions = definitions(home.path());
    let file = home.path().join("openclaw.json");
    fs::write(&file, format!("{{ mcp: {{\n  apiKey: {TOKEN} }}")).unwrap();
    let found = definitions.problems(100).await.unwrap();
    assert_eq!(found.problems[0].severity, ProblemSeverity::Error);
    assert_eq!(found.problems[0].line, Some(2));
    let source = found.problems[0].source.as_deref().unwrap();
    assert!(source.starts_with("  apiKey: *"), "{source}");
    assert!(!format!("{found:?}").contains("ghp_"), "{found:?}");
}

#[tokio::test]
async fn lines_of_files_with_variables_are_not_shown() {
    let home = tempfile::tempdir().unwrap();
    let definitions = definitions(home.path());
    fs::write(home.path().join("openclaw.json"), "{}").unwrap();
    fs::write(home.path().join(".env"), "one=1\nhunter2hunter2\n").unwrap();
    let found = definitions.problems(100).await.unwrap();
    let problem = &found.problems[0];
    assert_eq!((problem.line, &problem.source), (Some(2), &None));
    assert!(!format!("{found:?}").contains("hunter2"), "{found:?}");
}

#[tokio::test]
async fn errors_find_room_before_warnings_and_the_rest_is_counted() {
    let home = tempfile::tempdir().unwrap();
    let definitions = definitions(home.path());
    let servers: String = (0..4)
        .map(|number| format!("s{number}: {{ comand: 'x' }},\n"))
        .collect();
    let text = format!("{{ mcp: {{ servers: {{\n{servers}}} }} }}");
    fs::write(home.path().join("openclaw.json"), text).unwrap();
    let of = |found: &FoundProblems, severity| {
        let problems = found.problems.iter();
        problems.filter(|it| it.severity == severity).count()
    };
    for (most, errors, warnings) in [(100, 4, 4), (5, 4, 1), (4, 4, 0), (3, 3, 0), (0, 0, 0)] {
        let found = definitions.problems(most).await.unwrap();
        assert_eq!(of(&found, ProblemSeverity::Error), errors, "{most}");
        assert_eq!(of(&found, ProblemSeverity::Warning), warnings, "{most}");
        assert_eq!(found.omitted, 8 - errors - warnings, "{most}");
    }
}
