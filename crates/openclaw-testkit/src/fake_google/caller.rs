//! What those sign who are known to AWS: the question who they are, for others to ask (AWS's
//! Signature Version 4).

use std::collections::BTreeMap;

use ring::digest::{SHA256, digest};
use ring::hmac;
use serde_json::Value as Json;
use url::Url;
use url::form_urlencoded::parse;

use super::files::{AUDIENCE, AWS_KEY};

/// How old a question may be, in seconds.
const LONGEST_LIFE: i64 = 15 * 60;

/// Whether AWS would know who asks this.
pub(super) fn is_known(subject: &str, now: i64) -> bool {
    check(subject, now).is_some()
}

fn check(subject: &str, now: i64) -> Option<()> {
    // The document as a part of an address has it: a name without a value.
    let (text, _) = parse(subject.as_bytes()).next()?;
    let question: Json = serde_json::from_str(&text).ok()?;
    let mut headers = BTreeMap::new();
    for header in question["headers"].as_array()? {
        let name = header["key"].as_str()?.to_lowercase();
        headers.insert(name, header["value"].as_str()?.to_owned());
    }
    let authorization = headers.remove("authorization")?;
    let rest = authorization.strip_prefix("AWS4-HMAC-SHA256 Credential=")?;
    let (credential, rest) = rest.split_once(", SignedHeaders=")?;
    let (names, signature) = rest.split_once(", Signature=")?;
    let (id, scope) = credential.split_once('/')?;
    let [date, region, "sts", "aws4_request"] = scope.split('/').collect::<Vec<_>>()[..] else {
        return None;
    };
    let address = Url::parse(question["url"].as_str()?).ok()?;
    let host = format!("sts.{region}.amazonaws.com");
    let query = "Action=GetCallerIdentity&Version=2011-06-15";
    let time = headers.get("x-amz-date")?;
    let is_right = question["method"] == "POST"
        && id == AWS_KEY.0
        && address.scheme() == "https"
        && address.host_str() == Some(&host)
        && address.query() == Some(query)
        && headers.get("host") == Some(&host)
        && headers.get("x-goog-cloud-target-resource")? == AUDIENCE
        // Nothing that is sent may be changed on the way.
        && names == headers.keys().map(String::as_str).collect::<Vec<_>>().join(";")
        && time.starts_with(date)
        && (now - seconds(time)?).abs() < LONGEST_LIFE;
    let lines = headers.iter();
    let lines: String = lines
        .map(|(name, value)| format!("{name}:{value}\n"))
        .collect();
    let request = format!("POST\n/\n{query}\n{lines}\n{names}\n{}", hash(""));
    let signed = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{}", hash(&request));
    let key = format!("AWS4{}", AWS_KEY.1).into_bytes();
    let key = scope.split('/').fold(key, |key, part| sign(&key, part));
    (is_right && hex(&sign(&key, &signed)) == signature).then_some(())
}

/// The seconds since 1970 at a time that is written like `20200815T015049Z`.
fn seconds(time: &str) -> Option<i64> {
    let number = |from: usize, to: usize| time.get(from..to)?.parse::<i64>().ok();
    let (year, month, day) = (number(0, 4)?, number(4, 6)?, number(6, 8)?);
    let (hour, minute, second) = (number(9, 11)?, number(11, 13)?, number(13, 15)?);
    let lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let is_leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let before: i64 = (1970..year)
        .map(|year| if is_leap(year) { 366 } else { 365 })
        .sum();
    let months = usize::try_from(month - 1).ok()?;
    let months = lengths.get(..months).filter(|_| month <= 12)?;
    let leap = i64::from(month > 2 && is_leap(year));
    let days = before + months.iter().sum::<i64>() + leap + day - 1;
    Some(((days * 24 + hour) * 60 + minute) * 60 + second)
}

fn sign(key: &[u8], text: &str) -> Vec<u8> {
    let key = hmac::Key::new(hmac::HMAC_SHA256, key);
    hmac::sign(&key, text.as_bytes()).as_ref().to_vec()
}

fn hash(text: &str) -> String {
    hex(digest(&SHA256, text.as_bytes()).as_ref())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_counted_from_1970() {
        assert_eq!(seconds("19700101T000000Z"), Some(0));
        assert_eq!(seconds("20200229T123456Z"), Some(1_582_979_696));
        assert_eq!(seconds("20240301T000000Z"), Some(1_709_251_200));
        assert_eq!(seconds("2024"), None);
        assert_eq!(seconds("20241301T000000Z"), None);
    }
}
