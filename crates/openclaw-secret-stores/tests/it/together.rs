//! Several stores at once.

use std::time::Duration;

use openclaw_config::{Definition, SecretProgram, SecretProviderSettings};
use openclaw_testkit::leaks::{eventually, processes_with_argument};

use crate::house::{House, program};

/// How long a program may take: enough for a busy machine to start three.
const PATIENCE: Duration = Duration::from_secs(5);

fn hanging(marker: &str) -> Definition<SecretProviderSettings> {
    let settings = SecretProgram {
        command: program(),
        args: vec!["hang".to_owned(), marker.to_owned()],
        environment: [].into(),
        pass_environment: Vec::new(),
        timeout: PATIENCE,
        max_output_bytes: 1000,
    };
    Definition::Sound(SecretProviderSettings::Exec(settings).into())
}

#[tokio::test]
async fn stores_are_asked_side_by_side_and_one_that_hangs_costs_only_its_own() {
    let mut house = House::new(&[("TOKEN", "the-token-itself")]);
    let marker = format!("together-{}", std::process::id());
    for name in ["one", "two", "three"] {
        let entry = hanging(&format!("{marker}-{name}"));
        house.settings.providers.insert(name.to_owned(), entry);
    }
    // One after the other, there would never be more than one.
    let all_run = || {
        let runs = |name| !processes_with_argument(&format!("{marker}-{name}")).is_empty();
        ["one", "two", "three"].into_iter().all(runs)
    };
    let (answers, were_together) = tokio::join!(
        house.resolve(&[
            "secret://exec/one/a",
            "secret://env/TOKEN",
            "secret://exec/two/a",
            "secret://exec/three/a",
            "secret://env/TOKEN",
        ]),
        eventually(PATIENCE, all_run),
    );
    assert!(were_together);
    let found: Vec<_> = answers.iter().map(Result::is_ok).collect();
    assert_eq!(found, [false, true, false, false, true]);
}
