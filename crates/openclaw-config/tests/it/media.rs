//! Files that come with messages.

use std::time::Duration;

use openclaw_config::{Config, Definition, Transcriber, TranscriptionSettings, ValueOwner};
use openclaw_secrets::Redactor;

use crate::fixture::{Fixture, config};

fn transcription(config: &Config) -> &TranscriptionSettings {
    let media = config.media.sound().unwrap();
    media.transcription.as_ref().unwrap()
}

#[test]
fn nobody_transcribes_unless_the_file_says_so() {
    for text in ["{}", "{ media: {} }"] {
        let config = config(text);
        assert!(config.media.sound().unwrap().transcription.is_none());
        let shown = config.show(&config.agents[&config.default_agent], &Redactor::new());
        assert!(shown.get("media").is_none(), "{shown}");
    }
}

#[test]
fn each_provider_is_read_with_its_defaults() {
    let file = "{ media: { transcription: { provider: 'openai', baseUrl: 'http://127.0.0.1:8080/v1', \
                apiKey: 'secret://env/KEY', language: 'de' } } }";
    let read = config(file);
    let settings = transcription(&read);
    let Transcriber::OpenAi(service) = &settings.by else {
        panic!("{settings:?}");
    };
    assert_eq!(
        service.base_url.as_ref().unwrap().as_str(),
        "http://127.0.0.1:8080/v1"
    );
    assert_eq!(settings.language.as_deref(), Some("de"));
    assert_eq!(settings.timeout, Duration::from_mins(2));
    let references = read.references();
    assert_eq!(references[0].owner, ValueOwner::Media);
    assert_eq!(references[0].field, "transcription.apiKey");

    let read = config("{ media: { transcription: { provider: 'command', command: 'whisper' } } }");
    let Transcriber::Program(program) = &transcription(&read).by else {
        panic!("a program");
    };
    assert_eq!(program.args, ["{file}"]);
}

#[test]
fn a_mistake_costs_only_media() {
    for (text, problem) in [
        (
            "{ media: { transcription: {} } }",
            "media.transcription: `provider` is missing: `openai`, `deepgram` or `command`",
        ),
        (
            "{ media: { transcription: { provider: 'command' } } }",
            "media.transcription: the provider `command` needs `command`",
        ),
        (
            "{ media: { transcription: { provider: 'openai', baseUrl: 'http://10.0.0.1/v1' } } }",
            "media.transcription.baseUrl: this must be an `https://` address, or `http://` on this machine",
        ),
        (
            "{ media: { transcription: { provider: 'openai', baseUrl: 'https://me:hunter2@x.example/v1' } } }",
            "media.transcription.baseUrl: this address must not have a user or a password in it",
        ),
        (
            "{ media: { transcription: { provider: 'command', command: 'x', args: ['{file}', 'secret://env/X'] } } }",
            "media.transcription.args[1]: secrets are not put into arguments, because every process of the machine can read them",
        ),
        (
            "{ media: { transcription: { provider: 'command', command: 'x', args: ['{file}\\u0000'] } } }",
            "media.transcription.args[0]: an argument must not contain a NUL character",
        ),
        (
            "{ media: { transcription: { provider: 'openai', apiKey: '${NOT_SET}' } } }",
            "media.transcription.apiKey: the environment variable NOT_SET is not set",
        ),
    ] {
        let fixture = Fixture::new(text);
        assert_eq!(fixture.problems(), [problem], "{text}");
        let rendered = fixture.rendered(&fixture.load());
        assert!(!rendered.contains("hunter2"), "{rendered}");
        assert!(
            matches!(fixture.config().media, Definition::Broken(_)),
            "{text}"
        );
    }
}

#[test]
fn keys_in_plain_text_and_forgotten_files_are_pointed_out() {
    let fixture = Fixture::new(
        "{ media: { transcription: { provider: 'command', command: 'x', args: ['-v'], \
         env: { API_TOKEN: 'hunter2hunter2' } } } }",
    );
    let mut problems = fixture.problems();
    problems.sort();
    assert_eq!(
        problems,
        [
            "media.transcription.args: no argument has `{file}`: the program is not told which recording it is",
            "media.transcription.env.API_TOKEN: this is a credential in plain text — consider using a secret:// reference",
        ]
    );
    let config = fixture.config();
    assert!(
        config
            .credentials()
            .iter()
            .any(|it| it.expose() == "hunter2hunter2")
    );
    let shown = config.show(&config.agents[&config.default_agent], &Redactor::new());
    assert_eq!(
        shown["media"]["transcription"]["env"]["API_TOKEN"],
        "[REDACTED]"
    );
    assert_eq!(shown["media"]["transcription"]["provider"], "command");
}

#[test]
fn settings_of_somebody_else_and_misspelt_ones_are_pointed_out() {
    for (text, expected) in [
        (
            "{ media: { transcriptions: { provider: 'openai' }, other: 1 } }",
            vec!["media.transcriptions: unknown key `transcriptions`"],
        ),
        (
            "{ media: { transcription: { provider: 'openai', comand: 'x', args: ['{file}'], env: {} } } }",
            vec![
                "media.transcription.comand: unknown key `comand`",
                "media.transcription.args: this has no effect with the provider `openai`",
                "media.transcription.env: this has no effect with the provider `openai`",
            ],
        ),
        (
            "{ media: { transcription: { provider: 'command', command: 'x', model: 'm', language: 'de', \
             baseUrl: 'https://x.example' } } }",
            vec![
                "media.transcription.model: this has no effect with the provider `command`",
                "media.transcription.language: no argument has `{language}`: the program is not told the language",
                "media.transcription.baseUrl: this has no effect with the provider `command`",
            ],
        ),
        (
            "{ media: { transcription: { provider: 'command', command: 'x', \
             args: ['--api-key', 'hunter2hunter2', '{file}'] } } }",
            vec![
                "media.transcription.args: an argument is a credential in plain text, and every process of the machine can read it",
            ],
        ),
    ] {
        let fixture = Fixture::new(text);
        assert_eq!(fixture.problems(), expected, "{text}");
        assert!(fixture.config().media.sound().is_some(), "{text}");
    }
}

#[test]
fn what_is_switched_off_is_kept_and_asks_for_nothing() {
    let bare = config("{ media: { transcription: { enabled: false } } }");
    assert!(bare.media.sound().unwrap().transcription.is_none());
    let off = "{ media: { transcription: { enabled: false, provider: 'openai', apiKey: 'secret://env/KEY' } } }";
    let fixture = Fixture::new(off);
    assert_eq!(fixture.problems(), [""; 0]);
    let off = fixture.config();
    assert!(!transcription(&off).enabled);
    assert!(off.references().is_empty());
    let on = "{ media: { transcription: { provider: 'openai' } } }";
    assert!(transcription(&config(on)).enabled);
}

#[test]
fn paths_of_programs_are_relative_to_the_file_or_to_the_home() {
    let program = |command: &str| {
        let text = format!(
            "{{ media: {{ transcription: {{ provider: 'command', command: '{command}' }} }} }}"
        );
        let fixture = Fixture::new(&text);
        let config = fixture.config();
        let Transcriber::Program(program) = &transcription(&config).by else {
            panic!("a program");
        };
        let real = std::fs::canonicalize(fixture.path()).unwrap();
        let found = program.directory.join(&program.command);
        let below =
            |directory: &std::path::Path| found.strip_prefix(directory).ok().map(Into::into);
        below(fixture.path())
            .or_else(|| below(&real))
            .unwrap_or(found.clone())
    };
    assert_eq!(program("./bin/hear"), std::path::PathBuf::from("bin/hear"));
    assert_eq!(program("~/hear"), std::path::PathBuf::from("home/hear"));
    assert_eq!(program("/opt/hear"), std::path::PathBuf::from("/opt/hear"));
}
