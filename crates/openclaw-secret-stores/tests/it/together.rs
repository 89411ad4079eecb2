//! Several stores at once.

use std::time::{Duration, Instant};

use openclaw_config::{Definition, SecretProgram, SecretProviderSettings};

use crate::house::{House, program};

fn hanging() -> Definition<SecretProviderSettings> {
    let settings = SecretProgram {
        command: program(),
        args: vec!["hang".to_owned()],
        environment: [].into(),
        pass_environment: Vec::new(),
        timeout: Duration::from_secs(1),
        max_output_bytes: 1000,
    };
    Definition::Sound(SecretProviderSettings::Exec(settings).into())
}

#[tokio::test]
async fn stores_are_asked_side_by_side_and_one_that_hangs_costs_only_its_own() {
    let mut house = House::new(&[("TOKEN", "the-token-itself")]);
    for name in ["one", "two", "three"] {
        house.settings.providers.insert(name.to_owned(), hanging());
    }
    let started = Instant::now();
    let answers = house
        .resolve(&[
            "secret://exec/one/a",
            "secret://env/TOKEN",
            "secret://exec/two/a",
            "secret://exec/three/a",
            "secret://env/TOKEN",
        ])
        .await;
    // One after the other would take three seconds.
    assert!(started.elapsed() < Duration::from_millis(2500));
    let found: Vec<_> = answers.iter().map(Result::is_ok).collect();
    assert_eq!(found, [false, true, false, false, true]);
}
