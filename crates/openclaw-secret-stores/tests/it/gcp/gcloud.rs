//! The program `gcloud`, by a script of that name.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use openclaw_config::{Environment, Location, Overrides, load};
use openclaw_secret_stores::SecretErrorKind::{
    Misconfigured, Missing, Refused, Unavailable, Unusable,
};
use openclaw_testkit::fake_google::{FakeGoogle, Fault, PROJECT};
use openclaw_testkit::leaks::eventually;
use serde_json::json;

use super::{Cloud, ENDPOINT, KEY, VALUE, assert_says};
use crate::house::House;

/// A directory with a script named `gcloud` in it that writes down what it is asked.
struct Program(tempfile::TempDir);

impl Program {
    /// One that does this after it has written down what it was asked.
    fn that(does: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("gcloud");
        let records = directory.path().display();
        let script = format!(
            "#!/bin/sh\nfor word in \"$@\"; do printf '%s\\n' \"$word\" >> '{records}/asked'; done\n\
             /usr/bin/env > '{records}/environment'\n{does}\n"
        );
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        Self(directory)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// The arguments that it got, each one a line.
    fn asked(&self) -> Vec<String> {
        let text = fs::read_to_string(self.path().join("asked")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    fn environment(&self) -> Vec<String> {
        let text = fs::read_to_string(self.path().join("environment")).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    /// A machine without credentials where it is found.
    fn found(&self, variables: &[(&str, &str)]) -> Cloud {
        let path = self.path().to_str().unwrap();
        let mut all = vec![("PATH", path)];
        all.extend_from_slice(variables);
        Cloud::without_credentials(&all)
    }
}

#[tokio::test]
async fn without_credentials_gcloud_is_asked() {
    let program = Program::that("printf 'from gcloud'");
    let cloud = program.found(&[]);
    assert_eq!(cloud.get(KEY).await.unwrap(), "from gcloud");
    let expected = [
        "secrets",
        "versions",
        "access",
        "latest",
        "--secret=api-key",
        "--quiet",
    ];
    assert_eq!(program.asked(), expected);
    assert_eq!(cloud.google.asked().len(), 0);
}

#[tokio::test]
async fn gcloud_is_told_the_version_and_the_project() {
    let program = Program::that("echo from gcloud");
    let cloud = program.found(&[("GOOGLE_CLOUD_PROJECT", "of-the-variable")]);
    assert_eq!(
        cloud.get("secret://gcp/api-key#3").await.unwrap(),
        "from gcloud"
    );
    assert_eq!(
        program.asked()[3..],
        [
            "3",
            "--secret=api-key",
            "--project=of-the-variable",
            "--quiet"
        ]
    );
    let reference = "secret://gcp/projects/example.com:p/secrets/api-key";
    assert_eq!(cloud.get(reference).await.unwrap(), "from gcloud");
    assert_eq!(program.asked()[12], "--project=example.com:p");
}

#[tokio::test]
async fn gcloud_sees_its_own_variables_and_no_credentials_of_others() {
    let program = Program::that("echo from gcloud");
    let cloud = program.found(&[
        ("CLOUDSDK_ACTIVE_CONFIG_NAME", "work"),
        ("GOOGLE_CLOUD_QUOTA_PROJECT", "charged"),
        ("HTTPS_PROXY", "http://127.0.0.1:9"),
        ("OPENAI_API_KEY", "sk-other"),
    ]);
    assert_eq!(cloud.get(KEY).await.unwrap(), "from gcloud");
    let environment = program.environment();
    for passed in [
        "CLOUDSDK_ACTIVE_CONFIG_NAME=work",
        "GOOGLE_CLOUD_QUOTA_PROJECT=charged",
        "HTTPS_PROXY=http://127.0.0.1:9",
        "CLOUDSDK_CORE_DISABLE_PROMPTS=1",
    ] {
        assert!(
            environment.iter().any(|line| line == passed),
            "{environment:?}"
        );
    }
    assert!(!environment.iter().any(|line| line.contains("sk-other")));
}

/// What is in the current directory says neither which program is run nor what it sees.
#[tokio::test]
async fn a_foreign_dotenv_file_does_not_reach_gcloud() {
    let program = Program::that("echo from gcloud");
    let path = program.path().to_str().unwrap();
    for (process, foreign, is_run) in [
        (Some(path), format!("CLOUDSDK_PYTHON={path}/python\n"), true),
        (None, format!("PATH={path}\n"), false),
    ] {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join(".env"), foreign).unwrap();
        let variables = [("NO_GCE_CHECK", "true")];
        let mut environment = Environment::new(variables, Some(home.path()), home.path());
        if let Some(path) = process {
            environment = environment.with("PATH", path);
        }
        let location = Location::find(&Overrides::default(), &environment).unwrap();
        let config = load(&location, &environment).config.unwrap();
        let house = House::of(home, Environment::clone(&config.environment));
        assert_eq!(house.get(KEY).await.is_ok(), is_run);
    }
    let environment = program.environment();
    assert!(
        !environment
            .iter()
            .any(|line| line.starts_with("CLOUDSDK_PYTHON")),
        "{environment:?}"
    );
}

#[tokio::test]
async fn where_no_token_can_be_had_gcloud_is_asked() {
    let program = Program::that("echo from gcloud");
    let cloud = program.found(&[]);
    cloud.write(&cloud.google.authorized_user());
    cloud.google.fail(Fault::InvalidGrant, 1);
    assert_eq!(cloud.get(KEY).await.unwrap(), "from gcloud");
    // A kind of credentials that only gcloud can use.
    cloud.write(&json!({ "type": "external_account_authorized_user" }));
    assert_eq!(cloud.get(KEY).await.unwrap(), "from gcloud");
}

#[tokio::test]
async fn where_secret_manager_has_answered_gcloud_is_not_asked() {
    let program = Program::that("echo from gcloud");
    let cloud = program.found(&[]);
    cloud.write(&cloud.google.service_account());
    cloud.google.fail(Fault::Forbidden, 1);
    cloud.error(KEY, Refused).await;
    cloud.error("secret://gcp/missing", Missing).await;
    cloud.google.fail(Fault::Throttled(60), 1);
    cloud.error(KEY, Unavailable).await;
    assert_eq!(cloud.get(KEY).await.unwrap(), VALUE);
    // Nor where it is only for now that there is no token.
    cloud.write(&cloud.google.authorized_user());
    cloud.google.fail(Fault::TokensDown, 100);
    cloud.error(KEY, Unavailable).await;
    assert_eq!(program.asked(), Vec::<String>::new());
}

#[tokio::test]
async fn where_somebody_named_other_credentials_gcloud_is_not_asked() {
    let program = Program::that("echo from gcloud");
    let cloud = program.found(&[("GOOGLE_APPLICATION_CREDENTIALS", "/nowhere/key.json")]);
    cloud.error(KEY, Misconfigured).await;
    assert_eq!(program.asked(), Vec::<String>::new());
    // Nor where they are there and not accepted.
    let cloud = program.found(&[("GOOGLE_APPLICATION_CREDENTIALS", "key.json")]);
    let key = cloud.house.path().join("key.json");
    fs::write(&key, cloud.google.authorized_user().to_string()).unwrap();
    cloud.google.fail(Fault::InvalidGrant, 1);
    cloud.error(KEY, Refused).await;
    fs::write(&key, json!({ "type": "gdch_service_account" }).to_string()).unwrap();
    cloud.error(KEY, Misconfigured).await;
    assert_eq!(program.asked(), Vec::<String>::new());
}

#[tokio::test]
async fn names_that_could_be_options_are_not_given_to_gcloud() {
    let program = Program::that("echo from gcloud");
    let cloud = program.found(&[]);
    for reference in ["secret://gcp/-key", "secret://gcp/api-key#--help"] {
        let error = cloud.error(reference, Misconfigured).await;
        assert_says(&error, &["begins with `-`"]);
    }
    assert_eq!(program.asked(), Vec::<String>::new());
}

#[tokio::test]
async fn when_gcloud_fails_its_last_words_are_shown_cleaned() {
    let error = "ERROR: (gcloud.secrets.versions.access) NOT_FOUND: Secret [x] not found";
    let program = Program::that(&format!(
        "echo value-of-the-api-key; printf 'warning\\n{error} value-of-the-api-key \\033[31m\\nadvice\\n' >&2; exit 1"
    ));
    let cloud = program.found(&[]);
    let error = cloud.error(KEY, Missing).await;
    assert_says(
        &error,
        &[
            "there are no credentials for Google Cloud on this machine, and gcloud failed",
            "NOT_FOUND: Secret [x] not found [REDACTED]",
        ],
    );
    assert!(!error.to_string().contains('\u{1b}'));
    let program = Program::that("exit 3");
    let error = program.found(&[]).error(KEY, Unavailable).await;
    let login = "gcloud auth application-default login";
    assert_says(&error, &["gcloud failed (exit status: 3)", login]);
}

#[tokio::test]
async fn what_gcloud_writes_is_bounded_and_must_be_text() {
    for (does, says) in [
        (
            "/usr/bin/yes | /usr/bin/head -c 70000",
            "more than 65537 bytes",
        ),
        ("printf '\\377\\376'", "it is binary"),
        ("exit 0", "it is empty"),
    ] {
        let error = Program::that(does).found(&[]).error(KEY, Unusable).await;
        assert_says(&error, &[says]);
    }
}

#[tokio::test]
async fn a_gcloud_that_hangs_is_ended() {
    let program = Program::that("echo $$ > \"$(/usr/bin/dirname \"$0\")/pid\"; exec /bin/sleep 60");
    let mut cloud = program.found(&[]);
    cloud.house.settings.timeout = Duration::from_secs(3);
    let begin = Instant::now();
    let error = cloud.error(KEY, Unavailable).await;
    assert_says(&error, &["within 3s"]);
    assert!(begin.elapsed() < Duration::from_secs(30));
    let pid = fs::read_to_string(program.path().join("pid")).unwrap();
    let process = Path::new("/proc").join(pid.trim());
    let is_gone = eventually(Duration::from_secs(10), || !process.exists());
    assert!(is_gone.await, "gcloud still runs");
}

#[tokio::test]
async fn a_project_of_the_credentials_is_not_given_to_gcloud() {
    let program = Program::that("echo from gcloud");
    let cloud = program.found(&[]);
    let mut user = cloud.google.authorized_user();
    user["project_id"] = json!(PROJECT);
    cloud.write(&user);
    cloud.google.fail(Fault::InvalidGrant, 1);
    assert_eq!(cloud.get(KEY).await.unwrap(), "from gcloud");
    assert!(
        !program
            .asked()
            .iter()
            .any(|word| word.starts_with("--project"))
    );
}

/// The real program, talking to the stand-in. Whatever else it would like to reach is behind a proxy
/// that is not there.
#[tokio::test]
#[ignore = "needs the real gcloud in /usr/bin"]
async fn the_real_gcloud_gets_a_secret_of_the_stand_in() {
    let google = FakeGoogle::start().unwrap();
    google.add(PROJECT, "api-key", VALUE);
    let home = tempfile::tempdir().unwrap();
    let token = home.path().join("token");
    fs::write(&token, google.give_token()).unwrap();
    let (endpoint, proxy) = (format!("{}/", google.origin()), "http://127.0.0.1:9");
    let variables = [
        ("PATH", "/usr/bin:/bin"),
        ("HOME", home.path().to_str().unwrap()),
        ("CLOUDSDK_CONFIG", home.path().to_str().unwrap()),
        ("CLOUDSDK_AUTH_ACCESS_TOKEN_FILE", token.to_str().unwrap()),
        ("CLOUDSDK_CORE_DISABLE_USAGE_REPORTING", "true"),
        ("CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK", "true"),
        ("CLOUDSDK_CORE_CHECK_GCE_METADATA", "false"),
        (ENDPOINT, &endpoint),
        ("NO_GCE_CHECK", "true"),
        ("NO_PROXY", "127.0.0.1"),
        ("HTTPS_PROXY", proxy),
        ("HTTP_PROXY", proxy),
        ("GOOGLE_CLOUD_PROJECT", PROJECT),
    ];
    let mut house = House::new(&variables);
    house.settings.timeout = Duration::from_mins(1);
    let begin = Instant::now();
    assert_eq!(house.get(KEY).await.unwrap(), VALUE);
    println!("the real gcloud took {:?}", begin.elapsed());
    let asked = google.accesses().remove(0);
    println!(
        "{} {} as {:?}",
        asked.method,
        asked.path,
        asked.header("user-agent")
    );
    let error = house.get("secret://gcp/missing").await.unwrap_err();
    println!("{error}");
    assert_eq!(error.kind(), Missing);
}
