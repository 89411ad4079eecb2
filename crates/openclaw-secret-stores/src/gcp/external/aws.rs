//! The word of AWS: a question about who we are, signed by us, for Google to ask.

use openclaw_secrets::Secret;
use reqsign_core::hash::{hex_hmac_sha256, hex_sha256, hmac_sha256};
use reqsign_core::time::Timestamp;
use secrecy::zeroize::Zeroizing;
use serde_json::json;
use url::{Url, form_urlencoded};

use super::super::asking::Asking;
use super::super::document::Part;
use crate::aws::{Caller, caller};
use crate::error::SecretError;

/// What Google asks if the file does not say so.
const QUESTION: &str =
    "https://sts.{region}.amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15";
/// The name of that in the file.
const QUESTION_NAME: &str = "regional_cred_verification_url";
/// How signatures are made.
const ALGORITHM: &str = "AWS4-HMAC-SHA256";

/// Who we are to AWS. The addresses of the metadata service that the file has, too, are not used:
/// credentials are found in all the ways that AWS's own tools know.
pub(super) struct AwsSubject {
    question: String,
}

impl AwsSubject {
    pub(super) fn new(part: Part<'_>) -> Result<Self, SecretError> {
        let question = part.text(QUESTION_NAME).unwrap_or(QUESTION);
        match address(question, "eu-west-1") {
            Some(_) => Ok(Self {
                question: question.to_owned(),
            }),
            None => Err(part.wrong(QUESTION_NAME, "is not an address with `https://`")),
        }
    }

    /// The question, signed now, for one audience to ask.
    pub(super) async fn token(
        &self,
        asking: &Asking<'_>,
        audience: &str,
    ) -> Result<Secret, SecretError> {
        let caller = caller(asking.surroundings, asking.http, asking.until).await?;
        let token = self.signed(&caller, audience, Timestamp::now());
        let token = token.ok_or_else(|| {
            SecretError::misconfigured(format!("`{QUESTION_NAME}` in {} is wrong", asking.shown))
        })?;
        Ok(asking.surroundings.credential(token))
    }

    /// The request as Google wants it: JSON, encoded as a part of an address. The signature is made
    /// here, as the signer for our own requests would add a header that Google does not know of.
    fn signed(&self, caller: &Caller, audience: &str, now: Timestamp) -> Option<String> {
        let Caller { credential, region } = caller;
        let address = address(&self.question, region)?;
        let time = now.format_iso8601();
        // In the order of their names, as they are signed.
        let mut headers = vec![("host", host(&address)?), ("x-amz-date", time.clone())];
        if let Some(token) = &credential.session_token {
            headers.push(("x-amz-security-token", token.clone()));
        }
        // Only this audience can use it.
        headers.push(("x-goog-cloud-target-resource", audience.to_owned()));
        let names: Vec<&str> = headers.iter().map(|(name, _)| *name).collect();
        let names = names.join(";");
        let lines = headers.iter();
        let lines: String = lines
            .map(|(name, value)| format!("{name}:{}\n", value.trim()))
            .collect();
        let mut query: Vec<_> = address.query_pairs().collect();
        query.sort();
        let query = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(query)
            .finish()
            .replace('+', "%20");
        let (path, body) = (address.path(), hex_sha256(b""));
        let request = format!("POST\n{path}\n{query}\n{lines}\n{names}\n{body}");
        let scope = format!("{}/{region}/sts/aws4_request", now.format_date());
        let signed = format!(
            "{ALGORITHM}\n{time}\n{scope}\n{}",
            hex_sha256(request.as_bytes())
        );
        let key = format!("AWS4{}", credential.secret_access_key).into_bytes();
        let key = scope.split('/').fold(Zeroizing::new(key), |key, part| {
            Zeroizing::new(hmac_sha256(&key, part.as_bytes()))
        });
        let signature = hex_hmac_sha256(&key, signed.as_bytes());
        let id = &credential.access_key_id;
        headers.push((
            "Authorization",
            format!(
                "{ALGORITHM} Credential={id}/{scope}, SignedHeaders={names}, Signature={signature}"
            ),
        ));
        let headers: Vec<_> = headers
            .iter()
            .map(|(key, value)| json!({ "key": key, "value": value }))
            .collect();
        let url = self.question.replace("{region}", region);
        let token = json!({ "url": url, "method": "POST", "headers": headers });
        Some(form_urlencoded::byte_serialize(token.to_string().as_bytes()).collect())
    }
}

/// The address of AWS in a region. Google sends what we sign there.
fn address(question: &str, region: &str) -> Option<Url> {
    let address = Url::parse(&question.replace("{region}", region)).ok()?;
    (address.scheme() == "https" && address.has_host()).then_some(address)
}

fn host(address: &Url) -> Option<String> {
    let host = address.host_str()?;
    Some(match address.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use reqsign_aws_v4::Credential;
    use serde_json::Value as Json;

    use super::*;

    fn signed(question: &str, session_token: Option<&str>) -> Option<Json> {
        let subject = AwsSubject {
            question: question.to_owned(),
        };
        let audience = "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/\
                        pool/providers/test";
        let caller = Caller {
            credential: Credential {
                access_key_id: "AKIDOFTHETEST".to_owned(),
                secret_access_key: "aws-secret-of-the-test".to_owned(),
                session_token: session_token.map(str::to_owned),
                expires_in: None,
            },
            region: "eu-west-1".to_owned(),
        };
        let time = Timestamp::from_second(1_597_456_249).unwrap();
        let token = subject.signed(&caller, audience, time)?;
        let (text, _) = form_urlencoded::parse(token.as_bytes()).next()?;
        serde_json::from_str(&text).ok()
    }

    /// The signatures are those that AWS's own library for Python makes of the same.
    #[test]
    fn the_question_is_signed_as_aws_does_it() {
        for (token, signature) in [
            (
                None,
                "f70bf02fdc67612d4ff0fcd60b563ce5dfc5c219ddc127a17c797be67880622f",
            ),
            (
                Some("session-token"),
                "907a643f134bb86754aaff4648b9854d5f0a6e2b1a9411792e767fb4b7928419",
            ),
        ] {
            let question = signed(QUESTION, token).unwrap();
            assert_eq!(question["method"], "POST");
            let url =
                "https://sts.eu-west-1.amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15";
            assert_eq!(question["url"], url);
            let headers = question["headers"].as_array().unwrap();
            assert_eq!(headers[0]["value"], "sts.eu-west-1.amazonaws.com");
            assert_eq!(headers[1]["value"], "20200815T015049Z");
            let authorization = headers.last().unwrap()["value"].as_str().unwrap();
            assert!(authorization.ends_with(signature), "{authorization}");
        }
    }

    #[test]
    fn nothing_is_signed_for_an_address_that_is_none() {
        for question in [
            "",
            "sts.amazonaws.com",
            "http://sts.amazonaws.com",
            "https://",
        ] {
            assert_eq!(signed(question, None), None, "{question}");
        }
    }
}
