use std::fs;
use std::path::Path;

use openclaw_config::Environment;

use super::*;
use crate::commands::canned;
use crate::commands::engine::tests::in_session;

fn examine(home: &Path, scope: &Scope, json: bool) -> (Result<Exit, Failure>, String) {
    let environment = Environment::new([], Some(home), home);
    let options = DoctorOptions {
        probe: false,
        json: crate::cli::Json { wanted: json },
    };
    let (result, stdout, _) = in_session(json, environment, |session| {
        run(session, scope, None, options)
    });
    let real = fs::canonicalize(home).unwrap();
    let stdout = stdout
        .replace(&real.display().to_string(), "HOME")
        .replace(&home.display().to_string(), "HOME");
    (result, stdout)
}

fn home(config: Option<&str>) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    if let Some(text) = config {
        let state = home.path().join(".openclaw");
        fs::create_dir(&state).unwrap();
        fs::write(state.join("openclaw.json"), text).unwrap();
        mode(&state, 0o700);
    }
    home
}

#[cfg(unix)]
fn mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[cfg(not(unix))]
fn mode(_path: &Path, _mode: u32) {}

const TROUBLE: &str = "{ mcp: { servers: {
    gone: { command: 'openclaw-no-such-program' },
    lost: { command: 'sh', cwd: '/nonexistent/place' },
    misspelt: { comand: 'x' },
    needy: { command: 'sh', env: { K: '${NOT_SET_ANYWHERE}' } },
    own: { command: 'tool', env: { PATH: '/nonexistent/bin' } },
    off: { command: 'x', enabled: false },
    far: { url: 'https://x.example/mcp' },
} } }";

#[test]
fn nothing_is_wrong_with_a_new_machine() {
    let home = home(None);
    let (result, text) = examine(home.path(), &Scope::Everything, false);
    assert_eq!(result.unwrap(), Exit::Done);
    insta::assert_snapshot!(text);
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0, "only looked");
}

#[cfg(unix)]
#[test]
fn every_problem_comes_with_its_fix() {
    let home = home(Some(TROUBLE));
    let state = home.path().join(".openclaw");
    fs::create_dir(state.join("credentials")).unwrap();
    fs::write(state.join("credentials/oauth.json"), "{}").unwrap();
    mode(&state, 0o755);
    let (result, text) = examine(home.path(), &Scope::Everything, false);
    assert_eq!(result.unwrap(), Exit::Failed);
    insta::with_settings!({ filters => vec![(r"such-program` in the PATH: .*", "such-program` in the PATH: …")] }, {
        insta::assert_snapshot!(text);
    });
}

#[test]
fn one_server_is_looked_at_alone() {
    let home = home(Some(TROUBLE));
    let only = |name: &str| examine(home.path(), &Scope::Server(name.to_owned()), true);
    let (result, text) = only("far");
    assert_eq!(result.unwrap(), Exit::Done, "{text}");
    let (result, text) = only("gone");
    assert_eq!(result.unwrap(), Exit::Failed);
    let value: Json = serde_json::from_str(&text).unwrap();
    assert_eq!(value["ok"], false);
    let checks = value["checks"].as_array().unwrap();
    assert_eq!(checks.len(), 1, "{text}");
    assert_eq!(checks[0]["server"], "gone");
    assert_eq!(checks[0]["level"], "problem");
    let (result, _) = only("gonne");
    assert!(matches!(result, Err(Failure::Told(told)) if told.code == "unknown-server"));
}

#[test]
fn what_a_probe_finds_is_judged_by_state() {
    let level = |state| {
        let mut server = canned::server("x");
        server.state = state;
        probe_finding(&server).map(|finding| finding.level)
    };
    assert_eq!(level(ShownState::Ready), Some(Level::Fine));
    assert_eq!(level(ShownState::NeedsAuth), Some(Level::Problem));
    assert_eq!(level(ShownState::Failed), Some(Level::Problem));
    assert_eq!(level(ShownState::Disabled), None);
}

#[test]
fn names_that_others_chose_do_the_terminal_no_harm() {
    let config = r#"{ mcp: { servers: { x: { command: "no\u001b[41m\u202e\u009b2Jprog" } } } }"#;
    let home = home(Some(config));
    for json in [false, true] {
        let (_, shown) = examine(home.path(), &Scope::Everything, json);
        assert!(shown.contains("prog"), "{shown:?}");
        let is_harmful = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!shown.contains(is_harmful), "{shown:?}");
    }
}

#[test]
fn whoever_is_to_transcribe_is_looked_for() {
    for (settings, level, words) in [
        (
            "provider: 'command', command: 'openclaw-no-such-program'",
            "problem",
            "recordings can't be transcribed: cannot find the program `openclaw-no-such-program`",
        ),
        (
            "provider: 'command', command: './openclaw-no-such-program'",
            "problem",
            "recordings can't be transcribed: there is no program at ",
        ),
        (
            "provider: 'deepgram'",
            "problem",
            "neither `media.transcription.apiKey` nor `DEEPGRAM_API_KEY` is set",
        ),
        (
            "provider: 'openai', baseUrl: 'http://127.0.0.1:9/v1'",
            "ok",
            "recordings are transcribed by a service",
        ),
        (
            "provider: 'deepgram', enabled: false",
            "warning",
            "the transcription of recordings is switched off",
        ),
    ] {
        let home = home(Some(&format!(
            "{{ media: {{ transcription: {{ {settings} }} }} }}"
        )));
        let (_, text) = examine(home.path(), &Scope::Everything, true);
        let report: Json = serde_json::from_str(&text).unwrap();
        let checks = report["checks"].as_array().unwrap();
        let found = checks.iter().find(|it| it["area"] == "media").unwrap();
        assert_eq!(found["level"], level, "{found}");
        let message = found["message"].as_str().unwrap();
        assert!(message.contains(words), "{message}");
        let (_, text) = examine(home.path(), &Scope::Servers, true);
        assert!(!text.contains("transcri"), "{text}");
    }
}
