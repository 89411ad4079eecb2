//! Many at once.

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use openclaw_secret_stores::SecretErrorKind;
use openclaw_testkit::leaks::eventually;

use super::*;

/// A program that takes its time to give credentials, and notes that it was asked.
struct Slow {
    home: tempfile::TempDir,
}

impl Slow {
    /// One that ends like this.
    fn new(end: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        let slow = Self { home };
        slow.becomes("first", end);
        slow
    }

    /// Makes another one the program of the profile.
    fn becomes(&self, name: &str, end: &str) {
        let (script, journal) = (self.path(name), self.path("journal"));
        fs::write(
            &script,
            format!("echo run >> '{journal}'\nsleep 0.5\n{end}\n"),
        )
        .unwrap();
        let config = format!("[default]\ncredential_process = /bin/sh '{script}'\n");
        fs::write(self.path("config"), config).unwrap();
    }

    fn path(&self, name: &str) -> String {
        self.home.path().join(name).display().to_string()
    }

    fn runs(&self) -> usize {
        let journal = fs::read_to_string(self.path("journal"));
        journal.unwrap().lines().count()
    }

    /// A machine whose profile it is the program of.
    fn machine(&self, service: &StandIn) -> House {
        let config: &'static str = self.path("config").leak();
        let variables = [("AWS_CONFIG_FILE", config), ("PATH", "/usr/bin:/bin")];
        machine(service, &variables)
    }
}

/// The command that says credentials without an end.
fn says(id: &str) -> String {
    format!(
        r#"echo '{{"Version":1,"AccessKeyId":"{id}","SecretAccessKey":"the-key-of-the-program"}}'"#
    )
}

/// Gets a secret for each of so many servers that start at once.
async fn crowd(house: &House, count: usize) -> Vec<Result<String, String>> {
    let getting = (0..count).map(async |number| {
        let found = house.get(&format!("secret://aws/number-{number}")).await;
        found.map_err(|error| error.to_string())
    });
    join_all(getting).await
}

#[cfg(unix)]
#[tokio::test]
async fn a_program_is_run_once_for_all_who_start_together_and_for_who_comes_soon() {
    let service = keeper("the-secret-of-aws");
    let slow = Slow::new(&says("AKIAONE"));
    let house = slow.machine(&service);
    for found in crowd(&house, 5).await {
        assert_eq!(found.as_deref(), Ok("the-secret-of-aws"));
    }
    assert_eq!(slow.runs(), 1);
    house.get("secret://aws/later").await.unwrap();
    assert_eq!(slow.runs(), 1);
    // Another program is another identity.
    slow.becomes("other", &says("AKIATWO"));
    house.get("secret://aws/last").await.unwrap();
    assert_eq!(slow.runs(), 2);
    let ids: Vec<_> = service.asked().iter().map(key_id).collect();
    assert_eq!(ids[..6], ["AKIAONE"; 6]);
    assert_eq!(ids[6..], ["AKIATWO"]);
}

#[cfg(unix)]
#[tokio::test]
async fn a_program_that_fails_fails_once_for_all_who_start_together() {
    let service = keeper("x");
    let slow = Slow::new("echo 'no finger' >&2; exit 1");
    let house = slow.machine(&service);
    for found in crowd(&house, 5).await {
        let error = found.unwrap_err();
        assert!(error.ends_with("no finger"), "{error}");
    }
    assert_eq!(slow.runs(), 1);
    // Who comes later may be luckier.
    house.get("secret://aws/later").await.unwrap_err();
    assert_eq!(slow.runs(), 2);
    assert!(service.asked().is_empty());
}

#[tokio::test]
async fn nobody_waits_for_others_who_wait_for_a_silent_metadata_service() {
    let service = keeper("x");
    let silent = super::service(|_| Answer::json(200, &json!({})).after(Duration::from_mins(1)));
    let origin: &'static str = silent.origin().leak();
    let house = machine(
        &service,
        &[
            ("AWS_EC2_METADATA_DISABLED", "false"),
            ("AWS_EC2_METADATA_SERVICE_ENDPOINT", origin),
        ],
    );
    for found in crowd(&house, 10).await {
        let error = found.unwrap_err();
        assert!(
            error.starts_with("no AWS credentials were found"),
            "{error}"
        );
    }
    assert_eq!(silent.asked().len(), 1);
}

#[tokio::test]
async fn those_who_are_throttled_leave_their_turns_to_others() {
    // Sixteen are asked for at a time.
    let count = AtomicUsize::new(0);
    let service = service(move |asked| {
        let is_busy = question(asked)["SecretId"] != "quick";
        if is_busy && count.fetch_add(1, Ordering::SeqCst) < 16 {
            return refusal(429, "ThrottlingException", "").header("retry-after", "2");
        }
        answer("the-secret-of-aws")
    });
    let house = machine_with_keys(&service);
    let quick = async {
        let is_full = eventually(Duration::from_secs(30), || service.asked().len() >= 16);
        assert!(is_full.await);
        house.get("secret://aws/quick").await.unwrap();
        service.asked().len()
    };
    let (found, asked) = tokio::join!(crowd(&house, 16), quick);
    assert!(found.iter().all(Result::is_ok), "{found:?}");
    assert_eq!(asked, 17, "nobody came back before it was answered");
}

#[tokio::test]
async fn fields_of_a_secret_are_of_the_same_version() {
    // There is a new version after every look.
    let count = AtomicUsize::new(0);
    let service = service(move |_| {
        let number = count.fetch_add(1, Ordering::SeqCst);
        answer(&format!(
            r#"{{"user":"user-{number}","password":"password-{number}"}}"#
        ))
    });
    let house = machine_with_keys(&service);
    let found = house.resolve(&[
        "secret://aws/db?key=user",
        "secret://aws/db#AWSPREVIOUS?key=password",
        "secret://aws/db?key=password",
        "secret://aws/db?key=port",
        "secret://aws/db#AWSPREVIOUS?key=user",
    ]);
    let found: Vec<_> = found
        .await
        .into_iter()
        .map(|it| it.map(|it| it.value.expose().to_owned()))
        .collect();
    let text = |at: usize| found[at].as_deref().unwrap();
    let (user, password) = (text(0), text(2));
    assert_eq!(
        user.strip_prefix("user-"),
        password.strip_prefix("password-")
    );
    let (user, password) = (text(4), text(1));
    assert_eq!(
        user.strip_prefix("user-"),
        password.strip_prefix("password-")
    );
    let error = found[3].as_ref().unwrap_err();
    assert_eq!(error.kind(), SecretErrorKind::Missing);
    assert_eq!(service.asked().len(), 2);
}
