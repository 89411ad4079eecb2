//! Programs that know secrets.

use std::time::Duration;

use openclaw_config::{Definition, SecretProgram, SecretProviderSettings};
use openclaw_secret_stores::SecretErrorKind;
use openclaw_testkit::leaks::{eventually, processes_with_argument};
use serde_json::{Value, json};

use crate::house::{House, program};

/// How long something may take that takes no time, on a busy machine.
const SOON: Duration = Duration::from_secs(30);

fn house(arguments: &[&str], change: impl FnOnce(&mut SecretProgram)) -> House {
    let mut house = House::new(&[("PASSED", "passed-on"), ("HIDDEN", "not-passed-on")]);
    let mut settings = SecretProgram {
        command: program(),
        args: arguments.iter().map(|it| (*it).to_owned()).collect(),
        environment: [("OWN".to_owned(), "declared".to_owned())].into(),
        pass_environment: vec!["PASSED".to_owned()],
        timeout: SOON,
        max_output_bytes: 100_000,
    };
    change(&mut settings);
    let entry = Definition::Sound(SecretProviderSettings::Exec(settings).into());
    house.settings.providers.insert("p".to_owned(), entry);
    house
}

fn plain(arguments: &[&str]) -> House {
    house(arguments, |_| {})
}

#[tokio::test]
async fn a_program_is_asked_once_for_all_its_secrets() {
    let house = plain(&["answer", "of the manager: "]);
    let answers = house
        .resolve(&[
            "secret://exec/p/one",
            "secret://exec/p/missing",
            "secret://exec/p/two",
        ])
        .await;
    let texts: Vec<_> = answers
        .into_iter()
        .map(|it| {
            it.map(|it| it.value.expose().to_owned())
                .map_err(|it| it.to_string())
        })
        .collect();
    assert_eq!(texts[0].as_deref(), Ok("of the manager: one"));
    assert_eq!(texts[2].as_deref(), Ok("of the manager: two"));
    let refused = texts[1].as_ref().unwrap_err();
    assert!(refused.ends_with("answers \"NOT_FOUND\""), "{refused}");
    let error = house.get("secret://exec/p/unknown").await.unwrap_err();
    assert!(error.to_string().ends_with("does not have it"), "{error}");
}

#[tokio::test]
async fn the_question_names_the_version_the_provider_and_the_ids() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("question");
    let script = format!("cat > {}; echo plain-answer", path.display());
    let house = house(&["-c", &script], |settings| {
        settings.command = "/bin/sh".into();
    });
    assert_eq!(
        house.get("secret://exec/p/team/key").await.unwrap(),
        "plain-answer"
    );
    let question: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    assert_eq!(
        question,
        json!({ "protocolVersion": 1, "provider": "p", "ids": ["team/key"] })
    );
}

#[tokio::test]
async fn plain_text_can_only_be_one_secret() {
    let house = plain(&["say", "the-answer"]);
    let answers = house
        .resolve(&["secret://exec/p/a", "secret://exec/p/b"])
        .await;
    for answer in answers {
        let error = answer.unwrap_err();
        assert!(error.to_string().contains("was asked for 2"), "{error}");
        assert!(error.hint_text().is_some());
    }
}

#[tokio::test]
async fn another_version_of_the_protocol_is_refused() {
    let house = plain(&[
        "say",
        r#"{"protocolVersion":2,"values":{"a":"value-of-a"}}"#,
    ]);
    let error = house.get("secret://exec/p/a").await.unwrap_err();
    assert!(error.to_string().contains("another version"), "{error}");
    assert!(!error.to_string().contains("value-of-a"), "{error}");
}

#[tokio::test]
async fn a_program_sees_what_it_is_given_and_nothing_else() {
    for (name, value) in [
        ("OWN", "declared"),
        ("PASSED", "passed-on"),
        ("HIDDEN", "(not set)"),
    ] {
        let house = plain(&["variable", name]);
        assert_eq!(
            house.get("secret://exec/p/x").await.unwrap(),
            value,
            "{name}"
        );
    }
}

#[tokio::test]
async fn a_program_that_fails_is_quoted_without_what_it_wrote() {
    let house = plain(&["fail", "hunter2-hunter2"]);
    let error = house.get("secret://exec/p/x").await.unwrap_err();
    assert_eq!(error.kind(), SecretErrorKind::Unavailable);
    let text = error.to_string();
    assert!(text.contains("exit status: 3"), "{text}");
    assert!(text.contains("the vault is closed: [REDACTED]"), "{text}");
    assert!(!text.contains("hunter2"), "{text}");
}

#[tokio::test]
async fn what_a_program_wrote_before_it_failed_is_hidden_in_its_last_words_and_nowhere_else() {
    let script = "echo 'usage: manager --vault NAME'; echo 'bad: usage: manager --vault NAME' >&2";
    let script = format!("{script}; exit 2");
    let house = house(&["-c", &script], |settings| {
        settings.command = "/bin/sh".into();
    });
    let error = house.get("secret://exec/p/x").await.unwrap_err();
    assert!(error.to_string().ends_with("bad: [REDACTED]"), "{error}");
    let later = "the usage: manager --vault NAME";
    assert_eq!(house.redactor.redact(later), later);
}

#[tokio::test]
async fn credentials_of_a_program_are_hidden_before_it_runs() {
    let script = "echo \"no: $P_TOKEN $OWN_KEY $OWN\" >&2; exit 1";
    let mut house = House::new(&[("P_TOKEN", "passed-value-1")]);
    let settings = SecretProgram {
        command: "/bin/sh".into(),
        args: vec!["-c".to_owned(), script.to_owned()],
        environment: [("OWN_KEY", "declared-value-1"), ("OWN", "declared-word")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
        pass_environment: vec!["P_TOKEN".to_owned()],
        timeout: SOON,
        max_output_bytes: 1000,
    };
    let entry = Definition::Sound(SecretProviderSettings::Exec(settings).into());
    house.settings.providers.insert("p".to_owned(), entry);
    let error = house.get("secret://exec/p/x").await.unwrap_err();
    let text = error.to_string();
    assert!(
        text.ends_with("no: [REDACTED] [REDACTED] declared-word"),
        "{text}"
    );
}

#[tokio::test]
async fn a_flood_a_missing_program_and_an_empty_answer_have_their_own_words() {
    let house = plain(&["flood", "200000"]);
    let error = house.get("secret://exec/p/x").await.unwrap_err();
    assert!(
        error.to_string().contains("more than 100000 bytes"),
        "{error}"
    );
    let house = plain(&["flood", "0"]);
    let error = house.get("secret://exec/p/x").await.unwrap_err();
    assert_eq!(error.to_string(), "it is empty");
    let house = self::house(&[], |settings| {
        settings.command = "/nonexistent/program".into();
    });
    let error = house.get("secret://exec/p/x").await.unwrap_err();
    assert!(
        error.to_string().contains("/nonexistent/program"),
        "{error}"
    );
}

#[tokio::test]
async fn a_program_that_hangs_ends_at_its_own_deadline_with_everything_it_started() {
    let marker = format!("hang-{}", std::process::id());
    let below = format!("{marker}-below");
    let script = "sh -c 'sleep 600; :' \"$0-below\" & exec sleep 601";
    // Long enough for a busy machine to start it.
    let house = house(&["-c", script, &marker], |settings| {
        settings.command = "/bin/sh".into();
        settings.timeout = Duration::from_secs(3);
    });
    let (answer, was_there) = tokio::join!(
        house.get("secret://exec/p/x"),
        eventually(SOON, || !processes_with_argument(&below).is_empty()),
    );
    assert!(was_there, "what it starts never ran");
    let error = answer.unwrap_err();
    assert_eq!(error.kind(), SecretErrorKind::Unavailable);
    assert_eq!(error.to_string(), "its store did not answer within 3s");
    let is_gone = eventually(SOON, || processes_with_argument(&marker).is_empty());
    assert!(is_gone.await, "something is left");
}
