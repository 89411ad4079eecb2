//! Nothing of a login is seen anywhere: no token, no code, no verifier, no secret of a client.

use std::cell::RefCell;
use std::fs;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use openclaw_testkit::stand_in::Asked;
use serde_json::{Value as Json, json};
use url::form_urlencoded;

use super::{LoginLab, Running, get, parameter, sent_to};
use crate::canary::{assert_hidden, files_below};
use crate::program::Run;

/// What is secret in forms.
const SECRET_FIELDS: [&str; 6] = [
    "code",
    "code_verifier",
    "refresh_token",
    "client_secret",
    "client_assertion",
    "token",
];

/// Runs of the program that tell all they can, and what they have said.
struct Witness {
    lab: LoginLab,
    runs: RefCell<Vec<(String, Run)>>,
    /// Secrets that the test has seen itself.
    seen: RefCell<Vec<String>>,
}

/// Arguments that make the program tell all it can.
fn loud<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    let trace = ["--log-level", "trace"];
    trace.into_iter().chain(arguments.iter().copied()).collect()
}

impl Witness {
    fn new(flags: &str, more: &Json) -> Self {
        Self {
            lab: LoginLab::with(flags, more),
            runs: RefCell::default(),
            seen: RefCell::default(),
        }
    }

    fn run(&self, arguments: &[&str]) -> Option<i32> {
        let run = self.lab.run(&loud(arguments));
        let code = run.code;
        self.runs.borrow_mut().push((arguments.join(" "), run));
        code
    }

    /// Logs in; `end` is told what the browser brought.
    fn log_in(&self, end: impl FnOnce(&str)) -> String {
        let arguments = loud(&["mcp", "auth", "fake", "--no-browser"]);
        let lab = &self.lab.lab;
        let running = Running::of(lab, lab.home.command(&arguments));
        let back = sent_to(&running.address());
        self.seen.borrow_mut().push(parameter(&back, "code"));
        end(&back);
        let run = running.ended();
        self.runs.borrow_mut().push(("mcp auth".to_owned(), run));
        back
    }

    /// Everything that was secret, as the servers saw it.
    fn secrets(&self) -> Vec<String> {
        let asked = self.lab.server.asked();
        let mut secrets: Vec<String> = asked.iter().flat_map(secrets_of).collect();
        secrets.extend(self.seen.borrow().iter().cloned());
        secrets.sort();
        secrets.dedup();
        secrets
    }

    /// Looks for all secrets everywhere; there must have been some of these kinds.
    fn check(&self, kinds: &[&str]) {
        let secrets = self.secrets();
        for kind in kinds {
            let is_there = secrets.iter().any(|secret| secret.starts_with(kind));
            assert!(is_there, "there was no {kind} to hide: {secrets:?}");
        }
        // What our fake puts before all that is random is in many other words.
        // Lines of a key may hold the same sign, and no `-`.
        let random = |secret: &String| match secret.split_once('/') {
            Some((kind, random)) if kind.contains('-') => random.to_owned(),
            _ => secret.clone(),
        };
        let secrets: Vec<String> = secrets.iter().map(random).collect();
        for (what, run) in self.runs.borrow().iter() {
            assert!(!run.stderr.contains("panicked"), "{what}: {run}");
            assert_hidden(&format!("the output of {what}"), &run.stdout, &secrets);
            assert_hidden(&format!("what {what} says"), &run.stderr, &secrets);
        }
        let mut files = Vec::new();
        files_below(&self.lab.lab.home.path().join(".openclaw"), &mut files);
        let has = |name: &str| {
            files
                .iter()
                .any(|it| it.display().to_string().contains(name))
        };
        assert!(has("openclaw.log") && has("tokens"), "{files:?}");
        for path in files {
            // A configuration says what it was made to say, and a socket has nothing to be read.
            if path.ends_with("openclaw.json") || !path.is_file() {
                continue;
            }
            let bytes = fs::read(&path).unwrap();
            let text = String::from_utf8_lossy(&bytes);
            assert_hidden(&path.display().to_string(), &text, &secrets);
        }
    }
}

/// What is secret in a request.
fn secrets_of(asked: &Asked) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(header) = asked.header("authorization") {
        let (kind, shown) = header.split_once(' ').unwrap();
        let basic = || STANDARD.decode(shown).unwrap();
        let shown = match kind {
            "Basic" => String::from_utf8(basic()).unwrap(),
            _ => shown.to_owned(),
        };
        found.push(shown.rsplit(':').next().unwrap().to_owned());
    }
    if asked.header("content-type") == Some("application/x-www-form-urlencoded") {
        for (name, value) in form_urlencoded::parse(&asked.body) {
            if SECRET_FIELDS.contains(&&*name) {
                found.push(value.into_owned());
            }
        }
    }
    found
}

#[test]
fn no_login_no_renewal_and_no_error_shows_a_token_or_a_code() {
    let witness = Witness::new("", &json!({}));
    let call = ["mcp", "call", "fake/echo", "message=hi"];
    let server = &witness.lab.server;
    assert_eq!(witness.run(&call), Some(1));
    let back = witness.log_in(|back| assert_eq!(get(back).status, 200));
    assert_eq!(witness.run(&call), Some(0));
    // The same once more, which is an error.
    assert_eq!(
        witness.run(&["mcp", "auth", "fake", "--code", &back]),
        Some(1)
    );
    server.revoke_access();
    assert_eq!(witness.run(&call), Some(0));
    for arguments in [
        &["mcp", "status", "fake", "--json"][..],
        &["mcp", "status"],
        &["mcp", "servers"],
        &["mcp", "call", "fake/headers", "--json"],
        &["mcp", "call", "fake/headers", "--framed"],
        &["config", "show"],
        &["doctor", "--probe", "--json"],
        &["--log-format", "json", "mcp", "tools", "--json"],
    ] {
        assert_eq!(witness.run(arguments), Some(0), "{arguments:?}");
    }
    // It has told what it was shown, and would be seen.
    let told = |run: &Run| run.stdout.contains("[REDACTED]");
    assert!(witness.runs.borrow().iter().any(|(_, run)| told(run)));
    assert_eq!(witness.run(&["mcp", "call", "fake/admin"]), Some(1));
    witness.log_in(|back| {
        let code = ["mcp", "auth", "fake", "--json", "--code", back];
        assert_eq!(witness.run(&code), Some(0));
    });
    assert_eq!(witness.run(&["mcp", "call", "fake/admin"]), Some(0));
    for failure in ["503", "invalid_request", "hang-up", "html", "invalid_grant"] {
        server.revoke_access();
        let flags = format!("--fail-refresh {failure}");
        server.set_flags(&flags).unwrap();
        assert_eq!(witness.run(&call), Some(1));
    }
    server.set_flags("--fail-exchange invalid_grant").unwrap();
    witness.log_in(|back| assert_eq!(get(back).status, 400));
    server.set_flags("").unwrap();
    witness.log_in(|back| assert_eq!(get(back).status, 200));
    assert_eq!(witness.run(&["mcp", "logout", "fake"]), Some(0));
    witness.check(&["access-", "refresh-", "code-"]);
    let verifiers = witness.secrets();
    let verifiers = verifiers.iter().filter(|secret| secret.len() == 43);
    assert!(verifiers.count() >= 3, "the verifiers were looked for");
}

#[test]
fn no_secret_of_a_client_is_shown() {
    let secret = "Zq9kLm2Vw7Xy4Rt8Pb3";
    for method in ["client_secret_basic", "client_secret_post"] {
        for grant in ["client_credentials", "authorization_code"] {
            let auth = json!({
                "grantType": grant,
                "clientId": "mine",
                "clientSecret": "secret://env/CLIENT_SECRET",
            });
            let flags = format!("--client mine:{secret} --authentication {method}");
            let mut witness = Witness::new(&flags, &json!({ "auth": auth }));
            let variables = vec![("CLIENT_SECRET", secret.to_owned())];
            witness.lab.lab.home.set(variables);
            let call = ["mcp", "call", "fake/headers"];
            if grant == "authorization_code" {
                witness.log_in(|back| assert_eq!(get(back).status, 200));
            }
            assert_eq!(witness.run(&call), Some(0));
            witness.lab.server.revoke_access();
            assert_eq!(witness.run(&call), Some(0));
            // From now on it is wrong, and is told so.
            let wrong = format!("--client mine:another --authentication {method}");
            witness.lab.server.set_flags(&wrong).unwrap();
            witness.lab.server.revoke_access();
            assert_eq!(witness.run(&call), Some(1));
            witness.run(&["mcp", "logout", "fake"]);
            witness.check(&["access-", secret]);
        }
    }
}

#[test]
fn no_private_key_and_nothing_that_it_signed_is_shown() {
    let [(private, public), _] = super::clients::keys();
    let auth = json!({
        "grantType": "client_credentials",
        "clientId": "signer",
        "privateKey": "secret://file/~/key.pem",
    });
    let flags = "--authentication private_key_jwt";
    let witness = Witness::new(flags, &json!({ "auth": auth }));
    witness.lab.lab.home.write("key.pem", &private);
    witness.lab.server.add_key("signer", &public).unwrap();
    let lines = private.lines().filter(|line| !line.starts_with("---"));
    // The first of them says what kind of key it is, and is the same for all.
    let lines: Vec<String> = lines.skip(1).map(str::to_owned).collect();
    assert!(!lines.is_empty());
    witness.seen.borrow_mut().extend(lines);
    let call = ["mcp", "call", "fake/headers"];
    assert_eq!(witness.run(&call), Some(0));
    let [(_, public), _] = super::clients::keys();
    witness.lab.server.add_key("signer", &public).unwrap();
    witness.lab.server.revoke_access();
    assert_eq!(witness.run(&call), Some(1));
    witness.check(&["access-", "eyJ"]);
}
