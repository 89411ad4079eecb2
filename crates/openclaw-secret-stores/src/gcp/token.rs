//! Access tokens, and how long they are good.

use std::time::Duration;

use http::header::HeaderValue;
use openclaw_secrets::Secret;
use reqsign_core::time::Timestamp;
use serde_json::Value as Json;
use tokio::time::Instant;

use crate::http::HttpError;

/// How long a token is used at most, whatever is said of it. Where nothing is said, it is this, too:
/// a token that is not accepted is replaced.
pub(super) const LONGEST_LIFE: Duration = Duration::from_hours(1);
/// How long a token must still be good to be used again.
const SLACK: Duration = Duration::from_mins(1);

/// A token, and when it ends.
pub(super) struct Token {
    pub(super) text: Secret,
    pub(super) good_until: Instant,
}

impl Token {
    /// A token that was asked for at `asked`, of whose end this is said. It is never so far away
    /// that there is no such time.
    pub(super) fn new(text: Secret, asked: Instant, life: Duration) -> Self {
        Self {
            text,
            good_until: asked + life.min(LONGEST_LIFE),
        }
    }

    /// The header that shows the token.
    pub(super) fn header(text: &Secret) -> Result<HeaderValue, HttpError> {
        let value = HeaderValue::try_from(format!("Bearer {}", text.expose()));
        // What is wrong with it might be a part of it.
        let unmakeable = |_| HttpError::Unmakeable("the token can't be a header".to_owned());
        let mut value = value.map_err(unmakeable)?;
        value.set_sensitive(true);
        Ok(value)
    }
}

/// Whether a token that ends then is good for long enough.
pub(super) fn is_good(until: Instant) -> bool {
    until > Instant::now() + SLACK
}

/// How long a token is good, from `expires_in` (RFC 6749 §5.1): seconds, which some write as a text.
pub(super) fn life(expires_in: &Json) -> Duration {
    let text = expires_in.as_str().and_then(|text| text.parse().ok());
    match expires_in.as_f64().or(text) {
        // It ended before it came.
        Some(seconds) if seconds <= 0.0 => Duration::ZERO,
        Some(seconds) => {
            Duration::try_from_secs_f64(seconds).map_or(LONGEST_LIFE, |it| it.min(LONGEST_LIFE))
        }
        None => LONGEST_LIFE,
    }
}

/// How long a token is good that ends at a point of time, as Google writes them (RFC 3339).
pub(super) fn life_until(time: &Json) -> Duration {
    let time = time
        .as_str()
        .and_then(|text| text.parse::<Timestamp>().ok());
    let Some(time) = time else {
        return LONGEST_LIFE;
    };
    let left = time
        .as_second()
        .saturating_sub(Timestamp::now().as_second());
    // A negative one ended before it came.
    let left = u64::try_from(left).unwrap_or_default();
    Duration::from_secs(left).min(LONGEST_LIFE)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn no_life_is_too_long_to_be_counted() {
        let seconds = Duration::from_secs;
        for (said, life_is) in [
            (json!(10), seconds(10)),
            (json!("10"), seconds(10)),
            (json!(3599.5), Duration::from_millis(3_599_500)),
            (json!(3601), LONGEST_LIFE),
            (json!(u64::MAX), LONGEST_LIFE),
            (json!(f64::MAX), LONGEST_LIFE),
            (json!("1e400"), LONGEST_LIFE),
            (json!("NaN"), LONGEST_LIFE),
            (json!(null), LONGEST_LIFE),
            (json!("soon"), LONGEST_LIFE),
            (json!([]), LONGEST_LIFE),
            (json!(0), Duration::ZERO),
            (json!(-1), Duration::ZERO),
            (json!(i64::MIN), Duration::ZERO),
            (json!("-1e400"), Duration::ZERO),
        ] {
            assert_eq!(life(&said), life_is, "{said}");
        }
    }

    #[test]
    fn a_point_of_time_is_never_too_far_away() {
        let text = |seconds: i64| {
            let time = Timestamp::now() + Duration::from_secs(seconds.unsigned_abs());
            json!(time.format_rfc3339_zulu())
        };
        let left = life_until(&text(100)).as_secs();
        assert!((95..=100).contains(&left), "{left}");
        for far in [json!("9999-12-31T23:59:59Z"), json!("never"), json!(7)] {
            assert_eq!(life_until(&far), LONGEST_LIFE, "{far}");
        }
        for past in ["2000-01-01T00:00:00Z", "-009999-01-02T01:59:59Z"] {
            assert_eq!(life_until(&json!(past)), Duration::ZERO, "{past}");
        }
    }

    #[test]
    fn what_can_not_be_a_header_is_not_repeated() {
        let error = Token::header(&Secret::new("hunter2\n")).unwrap_err();
        assert!(!error.to_string().contains("hunter2"));
    }
}
