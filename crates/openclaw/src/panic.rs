//! What is said when the program itself fails.

use std::io::{self, Write};
use std::panic::PanicHookInfo;

use openclaw_secrets::Redactor;

use crate::operation::OperationId;

/// Makes panics speak through the redactor: their messages may hold anything.
pub(crate) fn install(redactor: &Redactor, operation: OperationId) {
    let redactor = redactor.clone();
    std::panic::set_hook(Box::new(move |info| {
        let text = describe(info, &redactor, operation);
        // Whatever was being typed: what is said now has to be readable.
        crate::terminal::restore();
        // Not through the output module: the panic may have come from there.
        let _ = io::stderr().write_all(text.as_bytes());
        tracing::error!(target: crate::logging::FILE_ONLY, "{text}");
    }));
}

fn describe(info: &PanicHookInfo<'_>, redactor: &Redactor, operation: OperationId) -> String {
    let message = info.payload_as_str().unwrap_or("no message");
    let place = info.location().map(ToString::to_string).unwrap_or_default();
    let mut text = words(message, &place, operation);
    let backtrace = std::backtrace::Backtrace::capture();
    if backtrace.status() == std::backtrace::BacktraceStatus::Captured {
        text.push_str(&backtrace.to_string());
    }
    redactor.redact(&text).into_owned()
}

fn words(message: &str, place: &str, operation: OperationId) -> String {
    format!(
        "error: internal error in openclaw (operation {operation}): {message}\n  at {place}\n\
         hint: this is a mistake of ours, please report it\n"
    )
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use openclaw_secrets::Secret;

    use super::*;

    #[test]
    fn a_panic_does_not_tell_secrets() {
        use base64::Engine as _;
        let redactor = Redactor::new();
        let value = "correct horse \"battery\"";
        let learned = redactor.learn(&Secret::new(value));
        assert_eq!(learned, openclaw_secrets::Learned::Added);
        let told = Arc::new(Mutex::new(String::new()));
        let heard = Arc::clone(&told);
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            *heard.lock().unwrap() = describe(info, &redactor, OperationId::new());
        }));
        let words = [
            value.to_owned(),
            format!("{value:?}"),
            base64::engine::general_purpose::STANDARD.encode(value),
            value.bytes().map(|byte| format!("{byte:02x}")).collect(),
            format!("{:?}", Err::<(), _>(format!("{value:?}"))),
        ];
        let results = words.map(|words| {
            let result = std::panic::catch_unwind(|| panic!("got {words} here"));
            (result.is_err(), words, told.lock().unwrap().clone())
        });
        std::panic::set_hook(before);
        for (panicked, words, told) in results {
            assert!(panicked);
            assert!(told.contains("[REDACTED]"), "{words}: {told}");
            assert!(
                !told.contains(&words) && !told.contains("horse"),
                "{words}: {told}"
            );
            assert!(told.contains("panic.rs"), "{told}");
        }
    }

    const MARK: &str = "OPENCLAW_TEST_PANICS";
    const SECRETS: usize = 50;

    /// The other side of the test below, in a process of its own.
    #[test]
    #[ignore = "started by the test below"]
    fn a_process_that_panics_with_its_secrets() {
        use base64::Engine as _;
        use openclaw_secret_stores::{SecretResolver, Surroundings};
        if std::env::var_os(MARK).is_none() {
            return;
        }
        let redactor = Redactor::new();
        install(&redactor, OperationId::new());
        let guardian = openclaw_process::GuardianProgram::this_program();
        let resolver = SecretResolver::new(Surroundings {
            environment: Arc::new(openclaw_config::Environment::of_process()),
            launcher: Arc::new(openclaw_process::Launcher::new(guardian)),
            redactor,
        });
        let settings = openclaw_config::SecretSettings {
            providers: [].into(),
            timeout: std::time::Duration::from_secs(10),
        };
        let references = (0..SECRETS).map(|it| format!("secret://env/CANARY_{it}"));
        let references: Vec<_> = references.map(|it| it.parse().unwrap()).collect();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        for secret in runtime.block_on(resolver.resolve(&settings, &references)) {
            let value = secret.unwrap().value.expose().to_owned();
            let encoded = base64::engine::general_purpose::STANDARD.encode(&value);
            for words in [format!("{value:?}"), value, encoded] {
                // As a task of ours would: the process goes on.
                let panicked = std::thread::spawn(move || panic!("got {words} here")).join();
                assert!(panicked.is_err());
            }
        }
    }

    #[test]
    fn a_process_that_panics_shows_no_secret_that_it_has_got() {
        use base64::Engine as _;
        use ring::rand::SecureRandom as _;
        let secrets: Vec<String> = (0..SECRETS)
            .map(|_| {
                let mut bytes = [0; 12];
                ring::rand::SystemRandom::new().fill(&mut bytes).unwrap();
                let letter = |byte: &u8| char::from(b'!' + byte % 94);
                format!("k{}z", bytes.iter().map(letter).collect::<String>())
            })
            .collect();
        let names = (0..SECRETS).map(|it| format!("CANARY_{it}"));
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--nocapture", "--exact"])
            .arg("panic::tests::a_process_that_panics_with_its_secrets")
            .env(MARK, "1")
            .envs(names.zip(&secrets))
            .output()
            .unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{told}");
        assert_eq!(
            told.matches("internal error in openclaw").count(),
            3 * SECRETS
        );
        for secret in &secrets {
            let encoded = base64::engine::general_purpose::STANDARD.encode(secret);
            assert!(!told.contains(&encoded[..12]), "{secret}: {told}");
            for window in secret.as_bytes().windows(8) {
                let window = str::from_utf8(window).unwrap();
                assert!(!told.contains(window), "{secret}: {told}");
            }
        }
    }

    #[test]
    fn a_panic_is_called_an_internal_error_of_its_operation() {
        let operation = OperationId::new();
        assert_eq!(
            words("index out of bounds", "src/x.rs:1:2", operation),
            format!(
                "error: internal error in openclaw (operation {operation}): index out of bounds\n  \
                 at src/x.rs:1:2\nhint: this is a mistake of ours, please report it\n"
            )
        );
    }
}
