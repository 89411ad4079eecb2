//! Secrets from a stand-in for Google's Secret Manager.

mod borrowed;
mod credentials;
mod errors;
mod federation;
mod files;
mod gcloud;
mod projects;
mod service_accounts;
mod tokens;

use std::fs;
use std::path::PathBuf;

use openclaw_secret_stores::{SecretError, SecretErrorKind};
use openclaw_testkit::fake_google::{FakeGoogle, PROJECT};
use serde_json::Value as Json;

use crate::house::House;

/// The variable for the address of Secret Manager.
const ENDPOINT: &str = "CLOUDSDK_API_ENDPOINT_OVERRIDES_SECRETMANAGER";
/// A secret that is there.
const KEY: &str = "secret://gcp/api-key";
/// Its value.
const VALUE: &str = "value-of-the-api-key";

/// A machine, and the cloud that it asks.
struct Cloud {
    google: FakeGoogle,
    house: House,
}

impl Cloud {
    /// A machine without credentials that is not one of Google's. There is no program on it.
    fn without_credentials(variables: &[(&str, &str)]) -> Self {
        let google = FakeGoogle::start().unwrap();
        google.add(PROJECT, "api-key", VALUE);
        let origin = google.origin();
        // The machine that the test runs on may be one of Google's.
        let mut all = vec![(ENDPOINT, origin.as_str()), ("NO_GCE_CHECK", "true")];
        all.extend_from_slice(variables);
        let house = House::new(&all);
        Self { google, house }
    }

    /// A machine where a user has logged in.
    fn of_user(variables: &[(&str, &str)]) -> Self {
        let cloud = Self::without_credentials(variables);
        cloud.write(&cloud.google.authorized_user());
        cloud
    }

    /// A machine with the key of a service account.
    fn of_service(variables: &[(&str, &str)]) -> Self {
        let cloud = Self::without_credentials(variables);
        cloud.write(&cloud.google.service_account());
        cloud
    }

    /// Writes the file that is looked for without being told.
    fn write(&self, credentials: &Json) {
        self.write_text(&credentials.to_string());
    }

    fn write_text(&self, credentials: &str) {
        let path = self.usual_path();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, credentials).unwrap();
    }

    fn usual_path(&self) -> PathBuf {
        let name = ".config/gcloud/application_default_credentials.json";
        self.house.path().join(name)
    }

    /// The requests for tokens so far.
    fn token_requests(&self) -> usize {
        let asked = self.google.asked().into_iter();
        asked.filter(|asked| asked.path.ends_with("/token")).count()
    }

    async fn get(&self, reference: &str) -> Result<String, SecretError> {
        self.house.get(reference).await
    }

    /// The error that a reference leads to, of this kind, with nothing in it that must not be shown.
    async fn error(&self, reference: &str, kind: SecretErrorKind) -> SecretError {
        let error = self.get(reference).await.unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        let all = format!("{error} {:?}", error.hint_text());
        for hidden in [
            "may-hold-a-secret",
            VALUE,
            "PRIVATE KEY",
            "of-the-test",
            "ya29",
        ] {
            assert!(!all.contains(hidden), "{all}");
        }
        error
    }
}

/// A text that holds all of these.
#[track_caller]
fn assert_says(error: &SecretError, parts: &[&str]) {
    let all = format!("{error}; {}", error.hint_text().unwrap_or_default());
    for part in parts {
        assert!(all.contains(part), "no {part:?} in: {all}");
    }
}
