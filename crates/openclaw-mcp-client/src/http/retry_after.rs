//! When a server wants to be asked again.

use std::time::{Duration, SystemTime};

use http::HeaderMap;
use http::header::RETRY_AFTER;

/// No wait is longer, whatever a server says.
const LONGEST: Duration = Duration::from_hours(24);

/// Reads `Retry-After`, which holds seconds or a date (RFC 9110 §10.2.3).
pub(super) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let wait = if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        // More digits than a number holds are a long wait, too.
        value.parse().map_or(LONGEST, Duration::from_secs)
    } else {
        let date = httpdate::parse_http_date(value).ok()?;
        // A date that has passed means at once.
        date.duration_since(now).unwrap_or_default()
    };
    Some(wait.min(LONGEST))
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn parsed(value: &str) -> Option<Duration> {
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, HeaderValue::from_str(value).unwrap());
        // Sun, 06 Nov 1994 08:49:37 GMT
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        retry_after(&headers, now)
    }

    #[test]
    fn seconds_and_dates_are_understood() {
        assert_eq!(parsed("90"), Some(Duration::from_secs(90)));
        assert_eq!(parsed(" 0 "), Some(Duration::ZERO));
        let later = "Sun, 06 Nov 1994 08:50:07 GMT";
        assert_eq!(parsed(later), Some(Duration::from_secs(30)));
        let earlier = "Sun, 06 Nov 1994 08:49:00 GMT";
        assert_eq!(parsed(earlier), Some(Duration::ZERO));
    }

    #[test]
    fn waits_are_capped() {
        assert_eq!(parsed("99999999999999999999999"), Some(LONGEST));
        assert_eq!(parsed("86401"), Some(LONGEST));
        assert_eq!(parsed("Sat, 06 Nov 2094 08:49:37 GMT"), Some(LONGEST));
    }

    #[test]
    fn nonsense_is_ignored() {
        for value in ["", "soon", "-1", "1.5", "1e3", "Sun, 99 Nov 1994"] {
            assert_eq!(parsed(value), None, "{value}");
        }
        assert_eq!(retry_after(&HeaderMap::new(), SystemTime::UNIX_EPOCH), None);
    }
}
