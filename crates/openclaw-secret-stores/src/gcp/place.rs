//! Which version of which secret, and the address of it.

use std::fmt;

use openclaw_secrets::SecretReference;
use url::Url;

use crate::error::SecretError;
use crate::surroundings::Surroundings;

/// Where Secret Manager is.
const BASE: &str = "https://secretmanager.googleapis.com";
/// The variable that says that it is elsewhere. It is `gcloud`'s own.
const BASE_VARIABLE: &str = "CLOUDSDK_API_ENDPOINT_OVERRIDES_SECRETMANAGER";
/// The variables that name a project, the first that is set being meant.
const PROJECT_VARIABLES: &[&str] = &[
    "GOOGLE_CLOUD_PROJECT",
    "GCLOUD_PROJECT",
    "CLOUDSDK_CORE_PROJECT",
];
/// The version that is meant where none is named.
const LATEST: &str = "latest";

/// What a reference says, and the variables beside it.
pub(super) struct Wanted {
    /// The project, if the reference or a variable names it.
    pub(super) project: Option<String>,
    pub(super) name: String,
    pub(super) version: String,
}

impl Wanted {
    pub(super) fn new(
        reference: &SecretReference,
        surroundings: &Surroundings,
    ) -> Result<Self, SecretError> {
        let SecretReference::Gcp {
            project,
            name,
            version,
            ..
        } = reference
        else {
            return Err(SecretError::misconfigured("it is not in Google Cloud"));
        };
        let project = match project {
            Some(project) => Some(project.clone()),
            None => match surroundings.first_variable(PROJECT_VARIABLES) {
                Some((variable, project)) => Some(checked_project(project, variable)?),
                None => None,
            },
        };
        Ok(Self {
            project,
            name: name.clone(),
            version: version.as_deref().unwrap_or(LATEST).to_owned(),
        })
    }
}

/// A project of which it is certain that it can be a part of an address.
pub(super) fn checked_project(project: &str, origin: &str) -> Result<String, SecretError> {
    // Some old ones are written `example.com:name`.
    let allowed = |character: char| character.is_ascii_alphanumeric() || "-_.:".contains(character);
    let dots_only = project.chars().all(|character| character == '.');
    if !dots_only && project.len() <= 100 && project.chars().all(allowed) {
        return Ok(project.to_owned());
    }
    Err(SecretError::misconfigured(format!(
        "{origin} is not the name of a project: it has letters, digits and `-`"
    )))
}

/// Where Secret Manager is, without a slash at the end.
pub(super) fn base(surroundings: &Surroundings) -> Result<String, SecretError> {
    let Some(base) = surroundings.variable(BASE_VARIABLE) else {
        return Ok(BASE.to_owned());
    };
    match Url::parse(base) {
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.query().is_none() => {
            Ok(base.trim_end_matches('/').to_owned())
        }
        Ok(_) | Err(_) => Err(SecretError::misconfigured(format!(
            "{BASE_VARIABLE} is not an address such as {BASE}/"
        ))),
    }
}

/// One version of one secret.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) project: String,
    pub(super) name: String,
    pub(super) version: String,
    /// What is asked for it.
    pub(super) address: String,
}

impl Place {
    pub(super) fn new(base: &str, project: &str, wanted: &Wanted) -> Self {
        let (name, version) = (wanted.name.clone(), wanted.version.clone());
        // All three are made of letters, digits and few other characters, and need no encoding.
        let address =
            format!("{base}/v1/projects/{project}/secrets/{name}/versions/{version}:access");
        Self {
            project: project.to_owned(),
            name,
            version,
            address,
        }
    }

    /// The version in words.
    pub(super) fn shown_version(&self) -> String {
        match self.version.as_str() {
            LATEST => "the latest version".to_owned(),
            version => format!("the version {version}"),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{} of the secret {} in the project {}",
            self.shown_version(),
            self.name,
            self.project
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn projects_that_would_lead_elsewhere_are_refused() {
        for project in ["prod-1234", "example.com:old", "123456789012"] {
            assert_eq!(checked_project(project, "X").unwrap(), project);
        }
        for project in ["", ".", "..", "a/b", "a b", "$(id)", "p?x", "p#x", "%2e"] {
            let error = checked_project(project, "GOOGLE_CLOUD_PROJECT").unwrap_err();
            assert!(error.to_string().starts_with("GOOGLE_CLOUD_PROJECT is not"));
        }
        assert!(checked_project(&"p".repeat(101), "X").is_err());
    }
}
