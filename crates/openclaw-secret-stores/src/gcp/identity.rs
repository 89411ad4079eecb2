//! Who a file with credentials says that we are.

use openclaw_content::shown_line;

use super::document::Document;
use super::file::Content;
use super::place::checked_project;
use super::source::Source;
use crate::error::SecretError;
use crate::surroundings::Surroundings;

/// How much of a name in a file is shown.
const SHOWN: usize = 200;

/// What a file says.
pub(super) struct Identity {
    pub(super) source: Source,
    /// The project that the credentials are of.
    pub(super) project: Option<String>,
    /// The project that is charged for requests.
    pub(super) quota_project: Option<String>,
    /// Who this is, in words.
    pub(super) origin: String,
    /// The service account that this is, if it is known.
    pub(super) account: Option<String>,
    /// What to try where the credentials are not accepted.
    pub(super) hint: String,
}

impl Identity {
    /// Understands what is in a file, `shown` being where it is.
    pub(super) fn new(
        shown: &str,
        content: &Content,
        surroundings: &Surroundings,
    ) -> Result<Self, SecretError> {
        // What the parser says about a place that is wrong may be a part of a key.
        let document = Document::read(&content.bytes, surroundings).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            SecretError::misconfigured(format!(
                "{shown} is not JSON at line {line}, column {column}"
            ))
        })?;
        if let Some(name) = document.readable_address() {
            return Err(SecretError::misconfigured(format!(
                "`{name}` in {shown} is an address with `http://`: everybody between could read \
                 the credentials"
            )));
        }
        let part = document.whole(shown);
        let clean = |text: &str| shown_line(&surroundings.redactor.redact(text), SHOWN);
        let source = Source::new(part, &clean)?;
        let project = |name: &str| {
            let project = part.text(name);
            project
                .map(|project| checked_project(project, &format!("`{name}` in {shown}")))
                .transpose()
        };
        let variable = "GOOGLE_CLOUD_QUOTA_PROJECT";
        let quota_project = match surroundings.variable(variable) {
            Some(name) => Some(checked_project(name, variable)?),
            None => project("quota_project_id")?,
        };
        let account = Source::account(part).map(&clean);
        Ok(Self {
            project: match project("project_id")? {
                Some(project) => Some(project),
                None => quota_project.clone(),
            },
            quota_project: quota_project.filter(|_| !source.is_service_account()),
            origin: match &account {
                Some(account) => format!("the service account {account}"),
                None => format!("the credentials in {shown}"),
            },
            account,
            hint: Source::hint(part, &clean),
            source,
        })
    }
}
