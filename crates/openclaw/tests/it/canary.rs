//! Secrets through every way that leads out, from servers that tell all they know: not one of them
//! may be seen anywhere.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use openclaw_testkit::fake_vault::{FakeVault, Kind};
use serde_json::{Value as Json, json};

use crate::lab::Lab;
use crate::program::Run;

/// How many secrets there are.
const SECRETS: usize = 50;
/// The tools of the servers.
const TOOLS: &str = "echo,add,fail,protocol_error,mixed,image,environment,headers,crash,big";
/// So much of a secret in a row is a secret that was seen.
const WINDOW: usize = 8;

/// A secret that nobody knows, of one of several kinds.
fn secret(number: usize) -> String {
    let mut bytes = [0; 48];
    ring::rand::SecureRandom::fill(&ring::rand::SystemRandom::new(), &mut bytes).unwrap();
    let alphabet: &str = match number % 6 {
        0 => "abcdefghijklmnopqrstuvwxyz0123456789",
        1 => "0123456789abcdef",
        2 => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
        3 => "aZ09!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~",
        4 => "äöüßéèñçøåABCdef012345",
        _ => "abcdef ghijkl mnopqr 0123456789",
    };
    let alphabet: Vec<char> = alphabet.chars().collect();
    let length = 12 + number % 30;
    let text: String = bytes
        .iter()
        .cycle()
        .take(length)
        .map(|byte| alphabet[usize::from(*byte) % alphabet.len()])
        .collect();
    // White space at the ends is not what this is about.
    format!("k{}z", text.trim())
}

/// Whether a text shows a secret: some of it as it is, or all of it in some encoding.
fn shows<'s>(text: &str, secrets: &'s [String]) -> Option<(&'s str, &'static str)> {
    let plain: String = text.to_owned();
    let lower = text.to_lowercase();
    let unescaped = plain
        .replace("\\\"", "\"")
        .replace("\\\\", "\\")
        .replace("\\/", "/");
    let decoded = percent_encoding::percent_decode_str(text).decode_utf8_lossy();
    for secret in secrets {
        let characters: Vec<char> = secret.chars().collect();
        let windows: BTreeSet<String> = characters
            .windows(WINDOW)
            .map(|window| window.iter().collect())
            .collect();
        for (text, how) in [
            (plain.as_str(), "as it is"),
            (unescaped.as_str(), "escaped"),
            (&decoded, "percent-encoded"),
        ] {
            if windows.iter().any(|window| text.contains(window.as_str())) {
                return Some((secret, how));
            }
        }
        let windows = |encoded: &str, length: usize| -> Vec<String> {
            let bytes = encoded.as_bytes().windows(length);
            bytes
                .map(|it| String::from_utf8_lossy(it).into_owned())
                .collect()
        };
        let hex: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
        if windows(&hex, 2 * WINDOW)
            .iter()
            .any(|it| lower.contains(it))
        {
            return Some((secret, "in hexadecimal"));
        }
        // In base64 it looks different after each number of bytes that may stand before it.
        for before in 0..3 {
            let bytes = [vec![b'x'; before], secret.clone().into_bytes()].concat();
            for engine in [&STANDARD, &URL_SAFE] {
                let encoded = engine.encode(&bytes);
                let (start, end) = (if before == 0 { 0 } else { 4 }, encoded.len() - 4);
                let windows = windows(&encoded[start..end], WINDOW + 4);
                if windows.iter().any(|it| decoded.contains(it)) {
                    return Some((secret, "in base64"));
                }
            }
        }
    }
    None
}

#[track_caller]
pub(crate) fn assert_hidden(what: &str, text: &str, secrets: &[String]) {
    if let Some((secret, how)) = shows(text, secrets) {
        let at = text.find(&secret[..secret.floor_char_boundary(WINDOW)]);
        let around = at.map(|at| {
            let start = text.floor_char_boundary(at.saturating_sub(100));
            let end = text.ceil_char_boundary((at + 100).min(text.len()));
            &text[start..end]
        });
        panic!("{what} shows {secret:?} {how}: {around:?}");
    }
}

pub(crate) fn files_below(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files_below(&path, found);
        } else {
            found.push(path);
        }
    }
}

struct Canary {
    lab: Lab,
    /// Holds some of the secrets.
    _vault: FakeVault,
    secrets: Vec<String>,
    /// The variables that hold those secrets that are variables.
    variables: Vec<(String, String)>,
}

impl Canary {
    /// Servers on every transport, with secrets from every kind of place.
    fn new() -> Self {
        let secrets: Vec<String> = (0..SECRETS).map(secret).collect();
        let mut lab = Lab::empty();
        let vault = FakeVault::start().unwrap();
        let token = secret(SECRETS);
        {
            let mut world = vault.world();
            world.mount("kv", Kind::Two);
            world.allow(&token, &["*"]);
        }
        let mut variables = vec![
            ("VAULT_ADDR".to_owned(), vault.origin()),
            ("VAULT_TOKEN".to_owned(), token.clone()),
        ];
        let mut references = Vec::new();
        for (number, secret) in secrets.iter().enumerate() {
            references.push(match number % 5 {
                0 => {
                    let name = format!("CANARY_{number}");
                    variables.push((name.clone(), secret.clone()));
                    json!(format!("secret://env/{name}"))
                }
                1 => {
                    lab.home
                        .write(&format!("secrets/{number}"), &format!("{secret}\n"));
                    json!(format!("secret://file/~/secrets/{number}"))
                }
                2 => {
                    let file = json!({ "deep": { "key": secret } }).to_string();
                    lab.home.write(&format!("secrets/{number}.json"), &file);
                    let place = format!("secret://file/~/secrets/{number}.json#/deep/key");
                    json!({ "prefix": "Bearer ", "secret": place })
                }
                3 => {
                    let fields = json!({ "key": secret, "user": "somebody" });
                    vault.world().put("kv", &format!("app/{number}"), fields);
                    json!(format!("secret://vault/kv/app/{number}#key"))
                }
                _ => {
                    let name = format!("p{number}");
                    lab.home.write(&format!("secrets/{number}"), secret);
                    let path = lab.home.path().join(format!("secrets/{number}"));
                    lab = lab.settings(json!({ "secrets": { "providers": { &name: {
                        "source": "exec", "command": "/bin/cat", "args": [path],
                    }}}}));
                    json!({ "source": "exec", "provider": name, "id": "only" })
                }
            });
        }
        // Headers hold ASCII only.
        let fits = |number: &usize| secrets[*number].is_ascii();
        let (headers, variables_of): (Vec<usize>, Vec<usize>) =
            (0..SECRETS).partition(|number| number % 7 == 0 && fits(number));
        let environment: Vec<Json> = variables_of
            .chunks(variables_of.len().div_ceil(3))
            .map(|numbers| {
                let pairs = numbers.iter();
                pairs
                    .map(|it| (format!("SECRET_{it}"), references[*it].clone()))
                    .collect()
            })
            .collect();
        let header: Json = headers
            .iter()
            .map(|it| (format!("Secret-{it}"), references[*it].clone()))
            .collect();
        // Fewer tools, since each is one more listing of everything.
        let flags = |flags: &str| format!("{flags} --leak --only-tools {TOOLS}");
        let lab = lab
            .server(
                "teller",
                &flags("--instructions told"),
                json!({ "env": environment[0] }),
            )
            .server(
                "second",
                &flags("--era modern"),
                json!({ "env": environment[1] }),
            )
            .server(
                "dying",
                &flags("--exit-after 1"),
                json!({ "env": environment[2] }),
            )
            .address("remote", &flags("http"), json!({ "headers": header }))
            .settings(json!({ "mcp": { "servers": { "missing": {
                "command": "/bin/cat", "env": { "X": "secret://env/NOT_THERE" },
            }}}}));
        // What opens a store is a secret, too.
        let secrets = secrets.into_iter().chain([token]).collect();
        Self {
            lab,
            _vault: vault,
            secrets,
            variables,
        }
    }

    fn run(&self, arguments: &[&str]) -> Run {
        let mut command = self.lab.home.command(arguments);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        self.lab.home.finish(command.output().unwrap())
    }

    fn check(&self, arguments: &[&str]) -> Run {
        let run = self.run(arguments);
        let what = arguments.join(" ");
        assert_hidden(&format!("the output of {what}"), &run.stdout, &self.secrets);
        assert_hidden(&format!("what {what} says"), &run.stderr, &self.secrets);
        run
    }
}

impl Canary {
    /// Looks through everything that is kept; these are among it.
    fn check_files(&self, expected: &[&str]) {
        let mut files = Vec::new();
        files_below(&self.lab.home.path().join(".openclaw"), &mut files);
        let names: Vec<String> = files.iter().map(|it| it.display().to_string()).collect();
        for expected in expected {
            assert!(
                names.iter().any(|it| it.contains(expected)),
                "{expected}: {names:?}"
            );
        }
        for path in files {
            let bytes = fs::read(&path).unwrap();
            let text = String::from_utf8_lossy(&bytes);
            assert_hidden(&path.display().to_string(), &text, &self.secrets);
        }
    }
}

#[test]
fn the_search_finds_a_secret_in_every_form() {
    let secrets = [secret(0), secret(2), secret(3)];
    for secret in &secrets {
        let hex: String = secret.bytes().map(|byte| format!("{byte:02X}")).collect();
        for text in [
            format!("some {} more", &secret[2..12]),
            format!("x{hex}y"),
            STANDARD.encode(format!("a{secret}b")),
            URL_SAFE.encode(format!("ab{secret}")),
            secret.bytes().map(|byte| format!("%{byte:02x}")).collect(),
            json!({ "k": secret }).to_string(),
        ] {
            assert!(shows(&text, &secrets).is_some(), "{text}");
        }
    }
    assert_eq!(shows("nothing [REDACTED] here", &secrets), None);
}

/// Calls every tool of a server, in every way to show a result.
fn call_all(server: &str) {
    let canary = Canary::new();
    let call = |tool: &str, more: &[&str]| {
        let tool = format!("{server}/{tool}");
        let line = [&["--log-level", "trace", "mcp", "call", &tool], more].concat();
        canary.check(&line)
    };
    // It has something to tell, and would if it were not hidden.
    let told = call("echo", &["message=hello"]);
    assert!(
        told.stdout.contains("hello") && told.stdout.contains("[REDACTED]"),
        "{told}"
    );
    call("echo", &["message=hello", "--framed"]);
    call("add", &["a=1", "b=2", "--json"]);
    let tools = [
        "fail",
        "protocol_error",
        "mixed",
        "image",
        "environment",
        "headers",
    ];
    for tool in tools {
        call(tool, &["--json"]);
    }
    call("big", &["bytes=150000", "--framed"]);
    // The last one, since a server at an address does not come back.
    call("crash", &["--json"]);
    canary.check_files(&["openclaw.log", "audit.jsonl", "results/"]);
}

#[test]
fn no_result_of_a_server_with_secrets_in_its_environment_shows_them() {
    call_all("teller");
}

#[test]
fn no_result_of_a_server_of_the_second_era_shows_them() {
    call_all("second");
}

#[test]
fn no_result_of_a_server_with_secrets_in_headers_shows_them() {
    call_all("remote");
}

#[test]
fn no_listing_and_no_report_shows_them() {
    let canary = Canary::new();
    // All but the one that dies and the one whose secret is missing work: the secrets were there.
    let servers = canary.check(&["mcp", "servers", "--json"]).json();
    for server in servers["servers"].as_array().unwrap() {
        let expected = match server["name"].as_str().unwrap() {
            "dying" | "missing" => "failed",
            _ => "ready",
        };
        assert_eq!(server["state"], expected, "{server:#}");
    }
    let told = [
        &["mcp", "status", "teller"][..],
        &["mcp", "tools", "--json"],
        &["mcp", "logs", "teller"],
    ];
    for line in told {
        let run = canary.check(line);
        assert_eq!(run.code, Some(0), "{line:?}: {run}");
        assert!(
            run.stdout.contains("[REDACTED]"),
            "{line:?} had nothing to hide: {run}"
        );
    }
    for line in [
        &["mcp", "servers"][..],
        &["--log-level", "trace", "mcp", "tools"],
        &[
            "--log-level",
            "trace",
            "--log-format",
            "json",
            "mcp",
            "status",
        ],
        &["mcp", "status", "dying", "--json"],
        &["--log-level", "debug", "mcp", "status", "remote", "--json"],
        &["mcp", "status", "missing"],
        &["mcp", "logs", "dying"],
        &["mcp", "refresh", "second"],
        &["status", "--json"],
    ] {
        canary.check(line);
    }
    canary.check_files(&["openclaw.log"]);
}

#[test]
fn nothing_that_is_read_or_checked_shows_them() {
    let canary = Canary::new();
    for line in [
        &["mcp", "resources", "--json"][..],
        &["mcp", "read", "teller", "test://text", "--json"],
        &["mcp", "prompts", "--json"],
        &["mcp", "prompt", "teller", "plain", "--json"],
    ] {
        let run = canary.check(line);
        assert_eq!(run.code, Some(0), "{line:?}: {run}");
        assert!(
            run.stdout.contains("[REDACTED]"),
            "{line:?} had nothing to hide: {run}"
        );
    }
    let blob = canary.check(&["mcp", "read", "teller", "test://blob", "--json"]);
    assert!(blob.stdout.contains("binary content is left out"), "{blob}");
    for line in [
        &["mcp", "read", "teller", "test://missing", "--json"][..],
        &["--log-level", "trace", "mcp", "prompt", "remote", "picture"],
        &["config", "show"],
        &["--log-level", "trace", "config", "validate", "--json"],
        &["--log-level", "trace", "doctor", "--json"],
        &["doctor", "--probe"],
    ] {
        canary.check(line);
    }
    canary.check_files(&["openclaw.log"]);
}

#[test]
fn a_text_that_is_cut_in_the_middle_of_a_secret_shows_none_of_it() {
    let secret = "Zq9#kLm2-Vw7+Xy4";
    let lab = Lab::empty();
    lab.home.write("secret", secret);
    // Texts are cut at several lengths, so the secret begins at every place in turn.
    for before in (270..300).chain([4090, 1990]) {
        let script = format!("printf '%{before}s %s\\n' x \"$KEY\" >&2; exit 3");
        let config = json!({ "mcp": { "servers": { "s": {
            "command": "/bin/sh", "args": ["-c", script],
            "env": { "KEY": "secret://file/~/secret" },
        }}}});
        lab.home
            .write(".openclaw/openclaw.json", &config.to_string());
        for line in [&["mcp", "status", "s", "--json"][..], &["mcp", "logs", "s"]] {
            let run = lab.run(line);
            for length in 3..=secret.len() {
                let part = &secret[..length];
                assert!(
                    !run.to_string().contains(part),
                    "{before} {line:?} {part}: {run}"
                );
            }
        }
    }
    let log = fs::read_to_string(lab.home.path().join(".openclaw/logs/openclaw.log")).unwrap();
    assert!(log.contains("[REDACTED]"), "{log}");
    assert!(!log.contains(&secret[..3]), "{log}");
}
