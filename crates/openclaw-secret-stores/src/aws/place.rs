//! Regions and addresses.

use url::Url;

use super::files::Files;
use crate::error::SecretError;
use crate::surroundings::Surroundings;

/// The variables that name a region.
pub(super) const REGION: [&str; 2] = ["AWS_REGION", "AWS_DEFAULT_REGION"];
/// The setting of a profile that is an address.
const ENDPOINT: &str = "endpoint_url";
/// How long the name of a region may be.
const LONGEST_REGION: usize = 32;

/// Which Secrets Manager is asked.
pub(super) struct Place {
    pub(super) region: String,
    pub(super) endpoint: Url,
    /// The variable or setting that the address is from.
    pub(super) set_by: Option<&'static str>,
}

impl Place {
    /// The Secrets Manager of a region, or the one that a variable names instead.
    pub(super) fn new(
        surroundings: &Surroundings,
        files: &Files,
        region: &str,
    ) -> Result<Self, SecretError> {
        let region = checked_region(region)?.to_owned();
        let variables = ["AWS_ENDPOINT_URL_SECRETS_MANAGER", "AWS_ENDPOINT_URL"];
        let configured = configured_endpoint(surroundings, Some(files), &variables);
        let (endpoint, set_by) = match configured {
            Some((set_by, text)) => (text.to_owned(), Some(set_by)),
            None => {
                let suffix = suffix(&region);
                (format!("https://secretsmanager.{region}.{suffix}"), None)
            }
        };
        let endpoint = Url::parse(&endpoint).ok().filter(is_plain);
        let endpoint = endpoint.ok_or_else(|| {
            let set_by = set_by.unwrap_or("the region");
            let reason = format!("{set_by} is not an address such as `https://host:port`");
            SecretError::misconfigured(reason)
        })?;
        Ok(Self {
            region,
            endpoint,
            set_by,
        })
    }

    /// The service for a person.
    pub(super) fn service(&self) -> String {
        format!("AWS Secrets Manager at {}", self.shown())
    }

    /// Host and port, for words to a person.
    fn shown(&self) -> String {
        let host = self.endpoint.host_str().unwrap_or_default();
        match self.endpoint.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        }
    }
}

/// Whether an address is one of a service: a password or a query in it would be nowhere in a request.
fn is_plain(address: &Url) -> bool {
    let is_http = matches!(address.scheme(), "http" | "https");
    let has_password = !address.username().is_empty() || address.password().is_some();
    let has_more = address.query().is_some() || address.fragment().is_some();
    is_http && address.has_host() && !has_password && !has_more
}

/// The address that is set for a service, and what sets it.
pub(super) fn configured_endpoint<'s>(
    surroundings: &'s Surroundings,
    files: Option<&'s Files>,
    variables: &[&'static str],
) -> Option<(&'static str, &'s str)> {
    let ignored = surroundings.variable("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS");
    if ignored.is_some_and(|it| it.eq_ignore_ascii_case("true")) {
        return None;
    }
    surroundings
        .first_variable(variables)
        .or_else(|| Some((ENDPOINT, files?.setting(ENDPOINT)?)))
}

/// The region that an ARN names; nothing if it is not an ARN.
pub(super) fn region_of(name: &str) -> Result<Option<&str>, SecretError> {
    if !name.starts_with("arn:") {
        return Ok(None);
    }
    match *name.splitn(7, ':').collect::<Vec<_>>() {
        [_, _, "secretsmanager", region, _, "secret", secret] if !secret.is_empty() => {
            checked_region(region).map(Some)
        }
        _ => {
            let reason = "its name is an ARN, but not one of a secret";
            let hint =
                "such an ARN begins like `arn:aws:secretsmanager:eu-west-1:123456789012:secret:`";
            Err(SecretError::misconfigured(reason).hint(hint))
        }
    }
}

/// The region that variables or the profile name.
pub(super) fn configured_region<'s>(
    surroundings: &'s Surroundings,
    files: &'s Files,
) -> Option<&'s str> {
    let variable = surroundings.first_variable(&REGION);
    variable
        .map(|(_, region)| region)
        .or_else(|| files.setting("region"))
}

/// A region that can be part of an address: it must not lead anywhere else.
pub(super) fn checked_region(region: &str) -> Result<&str, SecretError> {
    let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if (1..=LONGEST_REGION).contains(&region.len()) && region.bytes().all(is_allowed) {
        Ok(region)
    } else {
        let reason = "the name of its AWS region is not one: it has small letters, digits and `-`";
        Err(SecretError::misconfigured(reason).hint("such as `eu-west-1`"))
    }
}

/// What the addresses of a region end with.
pub(super) fn suffix(region: &str) -> &'static str {
    let suffixes = [
        ("cn-", "amazonaws.com.cn"),
        ("eusc-", "amazonaws.eu"),
        ("us-isob-", "sc2s.sgov.gov"),
        ("us-isof-", "csp.hci.ic.gov"),
        ("us-iso-", "c2s.ic.gov"),
        ("eu-isoe-", "cloud.adc-e.uk"),
    ];
    let mut suffixes = suffixes.iter();
    let found = suffixes.find(|(beginning, _)| region.starts_with(beginning));
    found.map_or("amazonaws.com", |(_, suffix)| suffix)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use openclaw_config::Environment;
    use openclaw_process::{GuardianProgram, Launcher};
    use openclaw_secrets::Redactor;

    use super::*;

    /// The address that is asked in a region on a machine with these variables.
    async fn endpoint<const N: usize>(variables: [(&str, &str); N], region: &str) -> String {
        let home = tempfile::tempdir().unwrap();
        let config = home.path().join(".aws/config");
        std::fs::create_dir(home.path().join(".aws")).unwrap();
        std::fs::write(config, "[profile p]\nendpoint_url = https://p.example/\n").unwrap();
        let environment = Environment::new(variables, Some(home.path()), home.path());
        let surroundings = Surroundings {
            environment: Arc::new(environment),
            launcher: Arc::new(Launcher::new(GuardianProgram::at(home.path()))),
            redactor: Redactor::new(),
        };
        let files = Files::read(&surroundings).await;
        let place = Place::new(&surroundings, &files, region).unwrap();
        place.endpoint.to_string()
    }

    #[tokio::test]
    async fn the_address_is_that_of_the_region_unless_another_is_set() {
        assert_eq!(
            endpoint([], "eu-west-1").await,
            "https://secretsmanager.eu-west-1.amazonaws.com/"
        );
        assert_eq!(
            endpoint([], "cn-north-1").await,
            "https://secretsmanager.cn-north-1.amazonaws.com.cn/"
        );
        let all = ("AWS_ENDPOINT_URL", "https://all.example:8443");
        let ours = ("AWS_ENDPOINT_URL_SECRETS_MANAGER", "https://ours.example");
        let profile = ("AWS_PROFILE", "p");
        let ignored = ("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "True");
        assert_eq!(endpoint([profile], "x-1").await, "https://p.example/");
        assert_eq!(
            endpoint([profile, all], "x-1").await,
            "https://all.example:8443/"
        );
        assert_eq!(endpoint([all, ours], "x-1").await, "https://ours.example/");
        assert_eq!(
            endpoint([all, ours, profile, ignored], "x-1").await,
            "https://secretsmanager.x-1.amazonaws.com/"
        );
    }

    #[test]
    fn an_arn_names_its_region() {
        let arn = "arn:aws-cn:secretsmanager:cn-north-1:123456789012:secret:prod/db-AbCdEf";
        assert_eq!(region_of(arn).unwrap(), Some("cn-north-1"));
        assert_eq!(region_of("prod/arn:x").unwrap(), None);
        for wrong in [
            "arn:aws:s3:::bucket",
            "arn:aws:secretsmanager:eu-west-1:123456789012:secret:",
            "arn:aws:secretsmanager:evil.example/#:123456789012:secret:x",
            "arn:",
        ] {
            assert!(region_of(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_region_cannot_lead_to_another_host() {
        for good in ["eu-west-1", "us-gov-east-1", "cn-north-1", "eusc-de-east-1"] {
            assert!(checked_region(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "x.example",
            "a/b",
            "a@b",
            "EU-WEST-1",
            &"a".repeat(33),
            "é",
        ] {
            assert!(checked_region(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn china_and_other_partitions_have_their_own_addresses() {
        assert_eq!(suffix("cn-north-1"), "amazonaws.com.cn");
        assert_eq!(suffix("us-iso-east-1"), "c2s.ic.gov");
        assert_eq!(suffix("us-isob-east-1"), "sc2s.sgov.gov");
        assert_eq!(suffix("us-gov-west-1"), "amazonaws.com");
        assert_eq!(suffix("eu-west-1"), "amazonaws.com");
    }
}
