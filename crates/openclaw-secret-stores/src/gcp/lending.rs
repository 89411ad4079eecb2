//! Service accounts that others may borrow: a token of ours is exchanged for one of theirs.

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{Request, Response, StatusCode};
use serde_json::{Value as Json, json};
use tokio::time::Instant;

use super::answer::Problem;
use super::asking::{Asking, GOOGLE, SCOPE, Trouble};
use super::document::Part;
use super::token::{LONGEST_LIFE, Token, life_until};
use crate::error::SecretError;

/// The name of the address that lends an account.
const ADDRESS: &str = "service_account_impersonation_url";
/// How many accounts may stand between ours and the one that is borrowed.
const MOST_DELEGATES: usize = 20;

/// An account that is borrowed.
pub(super) struct Lending {
    address: String,
    /// Accounts between ours and that one, each of which may borrow the next.
    delegates: Vec<String>,
    /// How long the token is to be good, in seconds.
    seconds: u64,
}

impl Lending {
    /// The account that a document names, if it names one.
    pub(super) fn find(part: Part<'_>) -> Result<Option<Self>, SecretError> {
        part.has(ADDRESS).then(|| Self::new(part)).transpose()
    }

    pub(super) fn new(part: Part<'_>) -> Result<Self, SecretError> {
        let asked = part.part("service_account_impersonation");
        let asked = asked.get("token_lifetime_seconds").as_u64();
        Ok(Self {
            address: part.address(ADDRESS)?,
            delegates: delegates(part)?,
            // What Google takes without being told otherwise is an hour at most.
            seconds: asked.unwrap_or(LONGEST_LIFE.as_secs()),
        })
    }

    /// Borrows the account for a token of ours.
    pub(super) async fn borrow(&self, asking: &Asking<'_>, ours: &Token) -> Result<Token, Trouble> {
        let asked = Instant::now();
        let ours = Token::header(&ours.text);
        let ours = ours.map_err(|error| Trouble::Final(SecretError::unusable(error)))?;
        let request = Request::post(&self.address)
            .header(AUTHORIZATION, ours)
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json");
        let mut question = json!({ "scope": [SCOPE], "lifetime": format!("{}s", self.seconds) });
        if !self.delegates.is_empty() {
            question["delegates"] = json!(self.delegates);
        }
        let answer = asking
            .send(GOOGLE, request, question.to_string().into())
            .await?;
        if answer.status().is_success() {
            let life = |json: &Json| life_until(&json["expireTime"]);
            return asking.token(answer, "accessToken", asked, life);
        }
        let error = refused(asking, &answer);
        match answer.status() {
            StatusCode::UNAUTHORIZED => Err(Trouble::UnknownToken(error)),
            _ => Err(Trouble::Final(error)),
        }
    }
}

/// The account that credentials are exchanged for.
pub(super) fn account(part: Part<'_>) -> Option<&str> {
    let (_, account) = part.text(ADDRESS)?.rsplit_once("/serviceAccounts/")?;
    account.strip_suffix(":generateAccessToken")
}

fn delegates(part: Part<'_>) -> Result<Vec<String>, SecretError> {
    let given = match part.get("delegates") {
        Json::Null => return Ok(Vec::new()),
        Json::Array(given) if given.len() <= MOST_DELEGATES => given,
        _ => return Err(part.wrong("delegates", "is not a list of accounts")),
    };
    let texts = given.iter().map(|it| it.as_str().map(str::to_owned));
    let texts: Option<Vec<_>> = texts.collect();
    texts.ok_or_else(|| part.wrong("delegates", "is not a list of accounts"))
}

/// Says why an account is not lent.
fn refused(asking: &Asking<'_>, answer: &Response<Bytes>) -> SecretError {
    let problem = Problem::of(answer.body());
    let (origin, shown) = (asking.origin, asking.shown);
    let status = answer.status().as_u16();
    let error = |reason: &str| {
        SecretError::refused(format!(
            "Google does not let the credentials in {shown} act as {origin} (status {status}{}): \
             {reason}",
            problem.shown()
        ))
    };
    match (answer.status(), problem.reason.as_deref()) {
        (_, Some("SERVICE_DISABLED")) => {
            error("the IAM Service Account Credentials API is not enabled")
                .hint("run `gcloud services enable iamcredentials.googleapis.com`")
        }
        (StatusCode::UNAUTHORIZED, _) => error("their own token is not accepted").hint(asking.hint),
        (StatusCode::FORBIDDEN, _) => error(
            "the permission iam.serviceAccounts.getAccessToken is missing there, or there is no \
             such account",
        )
        .hint(format!(
            "run `gcloud iam service-accounts add-iam-policy-binding {} \
             --role=roles/iam.serviceAccountTokenCreator --member=MEMBER`",
            asking.account.unwrap_or("ACCOUNT")
        )),
        (StatusCode::NOT_FOUND, _) => error("there is no such account"),
        _ => error("the request is not accepted"),
    }
}

#[cfg(test)]
mod tests {
    use openclaw_config::Environment;
    use serde_json::json;

    use super::super::document::Document;
    use super::*;

    fn with<T>(json: &Json, look: impl FnOnce(Part<'_>) -> T) -> T {
        let surroundings = crate::surroundings::Surroundings {
            environment: Environment::default().into(),
            launcher: openclaw_process::Launcher::new(openclaw_process::GuardianProgram::at(
                std::path::Path::new("/"),
            ))
            .into(),
            redactor: openclaw_secrets::Redactor::new(),
        };
        let document = Document::read(json.to_string().as_bytes(), &surroundings).unwrap();
        look(document.whole("the file"))
    }

    #[test]
    fn the_account_is_read_from_the_address_that_exchanges_for_it() {
        let json = json!({ "service_account_impersonation_url":
            "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/a@b:generateAccessToken" });
        with(&json, |part| assert_eq!(account(part), Some("a@b")));
        with(&json!({}), |part| assert_eq!(account(part), None));
    }

    #[test]
    fn delegates_are_a_list_of_texts_that_has_an_end() {
        let many = vec!["a"; MOST_DELEGATES + 1];
        for (given, count) in [
            (json!(null), Some(0)),
            (json!([]), Some(0)),
            (json!(["a", "b"]), Some(2)),
            (json!(["a", 7]), None),
            (json!("a"), None),
            (json!(many), None),
        ] {
            let json = json!({ "delegates": given });
            let found = with(&json, |part| delegates(part).ok().map(|it| it.len()));
            assert_eq!(found, count, "{given}");
        }
    }
}
