//! Recordings, transcribed by services that stand in and by programs.

use std::sync::Arc;
use std::time::Duration;

use openclaw_media::{Recording, TranscriptionError};
use openclaw_state::StateDirectory;
use openclaw_testkit::leaks::{eventually, processes_with_argument};
use openclaw_testkit::stand_in::{Answer, StandIn};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::house::{House, SOON, seats};

const SOUND: &[u8] = b"OggS\0\r\n--not-a-boundary\r\n\xff\xfe";

async fn transcript(house: &House) -> Result<String, TranscriptionError> {
    let recording = Recording {
        media_type: "audio/ogg",
        bytes: SOUND.to_vec(),
    };
    house.media.transcript(recording).await
}

/// A house whose recordings are heard by a script of the shell, which carries a mark.
fn script(text: &str, mark: &str, more: &Value) -> House {
    let mut settings = json!({
        "provider": "command",
        "command": "sh",
        "args": ["-c", text, mark, "{file}", "{directory}"],
    });
    for (name, value) in more.as_object().into_iter().flatten() {
        settings[name] = value.clone();
    }
    House::new(&settings, &[])
}

fn mark(test: &str) -> String {
    format!("openclaw-media-{test}-{}", std::process::id())
}

#[tokio::test]
async fn nobody_is_asked_unless_the_configuration_says_so() {
    let house = House::new(&Value::Null, &[("OPENAI_API_KEY", "sk-usual-0123456789")]);
    assert!(!house.media.transcribes());
    let error = transcript(&house).await.unwrap_err();
    assert!(matches!(error, TranscriptionError::NotSet), "{error}");
}

#[tokio::test]
async fn a_service_like_openai_gets_a_form_with_the_file() {
    let service = StandIn::start(|_| Answer::json(200, &json!({ "text": "hello there" }))).unwrap();
    let house = House::new(
        &json!({
            "provider": "openai",
            "baseUrl": format!("{}/v1", service.origin()),
            "apiKey": "secret://env/STT_KEY",
            "language": "en",
        }),
        &[("STT_KEY", "key-0123456789abcdef")],
    );
    assert_eq!(transcript(&house).await.unwrap(), "hello there");
    let asked = service.asked().remove(0);
    assert_eq!(asked.method, "POST");
    assert_eq!(asked.path, "/v1/audio/transcriptions");
    assert_eq!(
        asked.header("authorization"),
        Some("Bearer key-0123456789abcdef")
    );
    let kind = asked.header("content-type").unwrap();
    let boundary = kind.strip_prefix("multipart/form-data; boundary=").unwrap();
    let field = |head: &str, value: &[u8]| {
        let head = format!("--{boundary}\r\nContent-Disposition: form-data; {head}\r\n\r\n");
        [head.as_bytes(), value, b"\r\n"].concat()
    };
    let file = "name=\"file\"; filename=\"recording.ogg\"\r\nContent-Type: audio/ogg";
    let expected = [
        field("name=\"model\"", b"whisper-1"),
        field("name=\"response_format\"", b"json"),
        field("name=\"language\"", b"en"),
        field(file, SOUND),
        format!("--{boundary}--\r\n").into_bytes(),
    ];
    assert_eq!(asked.body, expected.concat());
    assert!(
        !house
            .redactor
            .redact("key-0123456789abcdef")
            .contains("0123")
    );
}

#[tokio::test]
async fn the_usual_key_does_not_go_to_another_address() {
    let service = StandIn::start(|_| Answer::json(200, &json!({ "text": "hi" }))).unwrap();
    let house = House::new(
        &json!({ "provider": "openai", "baseUrl": service.origin() }),
        &[("OPENAI_API_KEY", "sk-usual-0123456789")],
    );
    assert_eq!(transcript(&house).await.unwrap(), "hi");
    assert_eq!(service.asked()[0].header("authorization"), None);
}

#[tokio::test]
async fn a_key_that_is_missing_is_named() {
    let house = House::new(&json!({ "provider": "deepgram" }), &[]);
    let error = transcript(&house).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "its key can't be had: neither `media.transcription.apiKey` nor `DEEPGRAM_API_KEY` is set"
    );
}

#[tokio::test]
async fn deepgram_gets_the_bytes_themselves() {
    let answer =
        json!({ "results": { "channels": [{ "alternatives": [{ "transcript": "so it is" }] }] } });
    let service = StandIn::start(move |_| Answer::json(200, &answer)).unwrap();
    let house = House::new(
        &json!({ "provider": "deepgram", "baseUrl": service.origin(), "apiKey": "dg-key-0123456789", "language": "de" }),
        &[],
    );
    assert_eq!(transcript(&house).await.unwrap(), "so it is");
    let asked = service.asked().remove(0);
    assert_eq!(
        (asked.path.as_str(), asked.query.as_str()),
        ("/v1/listen", "model=nova-3&smart_format=true&language=de")
    );
    assert_eq!(
        asked.header("authorization"),
        Some("Token dg-key-0123456789")
    );
    assert_eq!(asked.header("content-type"), Some("audio/ogg"));
    assert_eq!(asked.body, SOUND);
}

#[tokio::test]
async fn what_a_service_says_of_a_refusal_is_repeated_without_the_key() {
    let service = StandIn::start(|asked| {
        let key = asked.header("authorization").unwrap_or_default().to_owned();
        let words = format!("bad\u{1b}[31m key {key}");
        Answer::json(401, &json!({ "error": { "message": words } }))
    })
    .unwrap();
    let house = House::new(
        &json!({ "provider": "openai", "baseUrl": service.origin(), "apiKey": "key-0123456789abcdef" }),
        &[],
    );
    let error = transcript(&house).await.unwrap_err().to_string();
    assert_eq!(
        error,
        "127.0.0.1 did not do it: it answers 401 Unauthorized: bad key Bearer [REDACTED]"
    );
}

#[tokio::test]
async fn redirects_are_not_followed_and_answers_without_words_are_told_apart() {
    let elsewhere = StandIn::start(|_| Answer::json(200, &json!({ "text": "stolen" }))).unwrap();
    let target = elsewhere.origin();
    let service = StandIn::start(move |asked| match asked.path.as_str() {
        "/away/audio/transcriptions" => {
            Answer::bytes(307, "text/plain", "").header("location", target.clone())
        }
        "/silent/audio/transcriptions" => Answer::json(200, &json!({ "text": " \n" })),
        _ => Answer::json(200, &json!({ "words": [] })),
    })
    .unwrap();
    let error = async |path: &str| {
        let base = format!("{}{path}", service.origin());
        let house = House::new(&json!({ "provider": "openai", "baseUrl": base }), &[]);
        transcript(&house).await.unwrap_err().to_string()
    };
    assert_eq!(
        error("/away").await,
        "127.0.0.1 did not do it: it answers 307 Temporary Redirect"
    );
    assert!(elsewhere.asked().is_empty());
    assert_eq!(error("/silent").await, "no words were found in it");
    assert_eq!(
        error("/other").await,
        "127.0.0.1 did not do it: its answer has no transcript"
    );
}

#[tokio::test]
async fn a_service_that_is_slow_is_not_waited_for() {
    let late = || Answer::json(200, &json!({ "text": "late" })).after(Duration::from_mins(1));
    let service = StandIn::start(move |_| late()).unwrap();
    let house = House::new(
        &json!({ "provider": "openai", "baseUrl": service.origin(), "timeoutMs": 200 }),
        &[],
    );
    let error = transcript(&house).await.unwrap_err();
    assert_eq!(error.to_string(), "it took more than 0.2 s");
}

#[tokio::test]
async fn a_program_that_prints_is_heard() {
    let expected = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(expected.path(), SOUND).unwrap();
    let test = "cmp \"$1\" \"$EXPECTED\" || exit 9; echo \"$1\" | sed 's/.*[.]//'; echo \"[$OPENAI_API_KEY]\"";
    let house = script(
        test,
        &mark("prints"),
        &json!({ "env": { "EXPECTED": expected.path() } }),
    );
    let heard = transcript(&house).await.unwrap();
    assert_eq!(heard, "ogg\n[]");
    assert!(house.scratches().is_empty());
}

#[tokio::test]
async fn secrets_do_not_come_back_in_a_transcript() {
    let settings = json!({
        "provider": "command",
        "command": "sh",
        "args": ["-c", "echo \"hear $WORD and $API_TOKEN\"", "{file}"],
        "env": { "WORD": "secret://env/WORD", "API_TOKEN": "token-0123456789abcdef" },
    });
    let house = House::new(&settings, &[("WORD", "sesame-9876543210")]);
    let heard = transcript(&house).await.unwrap();
    assert_eq!(heard, "hear [REDACTED] and [REDACTED]");
}

#[tokio::test]
async fn recordings_that_were_left_are_removed_whoever_transcribes_now() {
    let directory = tempfile::tempdir().unwrap();
    StateDirectory::open(&directory.path().join("state")).unwrap();
    let left = directory.path().join("state/transcription/recording-left");
    std::fs::create_dir_all(&left).unwrap();
    std::fs::write(left.join("held"), "").unwrap();
    std::fs::write(left.join("recording.ogg"), SOUND).unwrap();
    let house = House::at(directory, &Value::Null, &[]);
    let is_gone = || house.scratches().is_empty();
    assert!(eventually(SOON, is_gone).await, "{:?}", house.scratches());
}

#[tokio::test]
async fn only_so_many_programs_listen_at_once_and_the_time_of_others_does_not_begin() {
    let log = tempfile::NamedTempFile::new().unwrap();
    let test = "echo + >> \"$LOG\"; sleep 1; echo - >> \"$LOG\"; echo heard";
    let more = json!({ "env": { "LOG": log.path() }, "timeoutMs": 3500 });
    let house = Arc::new(script(test, &mark("seats"), &more));
    let mut listening = JoinSet::new();
    // The last ones wait for longer than they may take.
    for _ in 0..seats() * 5 {
        let house = Arc::clone(&house);
        listening.spawn(async move { transcript(&house).await.unwrap() });
    }
    while let Some(heard) = listening.join_next().await {
        assert_eq!(heard.unwrap(), "heard");
    }
    let (mut now, mut most) = (0, 0);
    for line in std::fs::read_to_string(log.path()).unwrap().lines() {
        if line == "+" {
            now += 1;
        } else {
            now -= 1;
        }
        most = most.max(now);
    }
    assert_eq!(most, seats());
}

#[tokio::test]
async fn a_program_that_writes_a_file_is_read() {
    let test = "echo '[00:00] progress'; echo ' from the file ' > \"$2\"/recording.txt; echo {} > \"$2\"/recording.json";
    let house = script(test, &mark("writes"), &json!({}));
    assert_eq!(transcript(&house).await.unwrap(), "from the file");
    assert!(house.scratches().is_empty());
}

#[tokio::test]
async fn a_program_that_fails_says_why_and_leaves_nothing() {
    let house = script("echo 'no model' >&2; exit 3", &mark("fails"), &json!({}));
    let error = transcript(&house).await.unwrap_err().to_string();
    assert_eq!(error, "`sh` did not do it: exit status: 3: no model");
    let house = script("yes", &mark("chatters"), &json!({}));
    let error = transcript(&house).await.unwrap_err().to_string();
    assert_eq!(
        error,
        "`sh` did not do it: it answers with more than 1048576 bytes"
    );
    let house = House::new(
        &json!({ "provider": "command", "command": "no-such-program-here" }),
        &[],
    );
    let error = transcript(&house).await.unwrap_err().to_string();
    assert!(error.contains("cannot find the program"), "{error}");
    assert!(house.scratches().is_empty());
}

#[tokio::test]
async fn a_program_that_hangs_ends_with_everything_that_it_started() {
    let mark = mark("hangs");
    let test = "(setsid sh -c 'sleep 1000' \"$0\" &) ; sleep 1000";
    let house = script(test, &mark, &json!({ "timeoutMs": 500 }));
    let error = transcript(&house).await.unwrap_err();
    assert!(matches!(error, TranscriptionError::TooLong(_)), "{error}");
    let is_gone = || processes_with_argument(&mark).is_empty();
    assert!(eventually(SOON, is_gone).await, "a process is left");
    assert!(house.scratches().is_empty());
}

#[tokio::test]
async fn whoever_is_no_longer_waited_for_ends_and_leaves_nothing() {
    let mark = mark("cancelled");
    let house = script("while :; do date > \"$2\"/x.txt; done", &mark, &json!({}));
    {
        let listening = transcript(&house);
        tokio::pin!(listening);
        let is_there = eventually(SOON, || !processes_with_argument(&mark).is_empty());
        tokio::select! {
            is_there = is_there => assert!(is_there),
            heard = &mut listening => panic!("{heard:?}"),
        }
    }
    let is_gone = || processes_with_argument(&mark).is_empty() && house.scratches().is_empty();
    assert!(
        eventually(SOON, is_gone).await,
        "something is left: {:?}",
        house.scratches()
    );
}

#[tokio::test]
async fn another_configuration_counts_from_the_next_recording_on() {
    let house = script("echo first", &mark("first"), &json!({}));
    assert_eq!(transcript(&house).await.unwrap(), "first");
    house.renew(&json!({ "provider": "command", "command": "echo", "args": ["second"] }));
    assert_eq!(transcript(&house).await.unwrap(), "second");
    house.renew(&json!({ "provider": "command", "command": "echo", "enabled": false }));
    assert!(!house.media.transcribes());
    let error = transcript(&house).await.unwrap_err();
    assert!(matches!(error, TranscriptionError::NotSet), "{error}");
    house.renew(&json!({ "provider": "command" }));
    let error = transcript(&house).await.unwrap_err().to_string();
    assert_eq!(
        error,
        "`media.transcription` can't be used: the provider `command` needs `command`"
    );
}
