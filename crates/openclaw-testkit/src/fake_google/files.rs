//! The files that credentials are kept in.

use std::path::Path;

use serde_json::{Value as Json, json};

use super::assertion::KEY;
use super::{ACCOUNT, BORROWED_ACCOUNT, FakeGoogle, PROJECT};

/// The credentials of the user that the stand-in knows.
pub(super) const CLIENT: &str = "client.apps.googleusercontent.com";
pub(super) const CLIENT_SECRET: &str = "client-secret-of-the-test";
pub(super) const REFRESH_TOKEN: &str = "refresh-token-of-the-test";
/// The provider of identities that the stand-in knows.
pub(super) const AUDIENCE: &str =
    "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/pool/providers/test";
/// The types of what another provider of identities says (RFC 8693 §3).
pub(super) const JWT: &str = "urn:ietf:params:oauth:token-type:jwt";
pub(super) const AWS_REQUEST: &str = "urn:ietf:params:aws:token-type:aws4_request";
/// What another provider of identities says about us, in a way that the stand-in believes.
pub const SUBJECT_TOKEN: &str = "subject-token-of-the-test";
/// The header that the other provider wants to see.
pub(super) const SUBJECT_HEADER: (&str, &str) = ("metadata", "header-of-the-test");
/// The key of AWS that the stand-in knows.
pub const AWS_KEY: (&str, &str) = ("AKIDOFTHETEST", "aws-secret-of-the-test");

impl FakeGoogle {
    /// The key of a service account.
    pub fn service_account(&self) -> Json {
        json!({
            "type": "service_account",
            "project_id": PROJECT,
            "private_key_id": "test-only",
            "private_key": KEY,
            "client_email": ACCOUNT,
            "client_id": "1",
            "token_uri": format!("{}/token", self.origin()),
            "universe_domain": "googleapis.com",
        })
    }

    /// What `gcloud auth application-default login` writes.
    pub fn authorized_user(&self) -> Json {
        json!({
            "type": "authorized_user",
            "client_id": CLIENT,
            "client_secret": CLIENT_SECRET,
            "refresh_token": REFRESH_TOKEN,
            "quota_project_id": PROJECT,
            "token_uri": format!("{}/token", self.origin()),
        })
    }

    /// An identity of another provider, which it writes into a file.
    pub fn external_account(&self, subject_token: &Path) -> Json {
        self.external_account_from(&json!({ "file": subject_token }))
    }

    /// An identity of another provider, which is asked for it.
    pub fn external_account_at_address(&self) -> Json {
        self.external_account_from(&json!({
            "url": format!("{}/subject", self.origin()),
            "headers": { SUBJECT_HEADER.0: SUBJECT_HEADER.1 },
        }))
    }

    /// An identity of AWS.
    pub fn external_account_of_aws(&self) -> Json {
        let mut json = self.external_account_from(&json!({
            "environment_id": "aws1",
            "region_url": "http://169.254.169.254/latest/meta-data/placement/availability-zone",
            "url": "http://169.254.169.254/latest/meta-data/iam/security-credentials",
            "regional_cred_verification_url":
                "https://sts.{region}.amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15",
        }));
        json["subject_token_type"] = json!(AWS_REQUEST);
        json
    }

    fn external_account_from(&self, source: &Json) -> Json {
        json!({
            "type": "external_account",
            "audience": AUDIENCE,
            "subject_token_type": JWT,
            "token_url": format!("{}/v1/token", self.origin()),
            "credential_source": source,
        })
    }

    /// Where an account is borrowed.
    pub fn lending_address(&self) -> String {
        format!(
            "{}/v1/projects/-/serviceAccounts/{BORROWED_ACCOUNT}:generateAccessToken",
            self.origin()
        )
    }

    /// An account that is borrowed by whoever `source` is.
    pub fn impersonated(&self, source: &Json) -> Json {
        json!({
            "type": "impersonated_service_account",
            "service_account_impersonation_url": self.lending_address(),
            "source_credentials": source,
        })
    }
}
