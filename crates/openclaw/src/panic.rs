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
