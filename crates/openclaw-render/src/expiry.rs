//! Moments, as people say them.

use std::time::{SystemTime, UNIX_EPOCH};

/// How long it is until a moment that is written as in RFC 3339; nothing if it is not.
///
/// A moment that has passed is `expired`.
pub(crate) fn until(moment: &str, now: SystemTime) -> Option<String> {
    let moment = seconds(moment)?;
    let now = i64::try_from(now.duration_since(UNIX_EPOCH).ok()?.as_secs()).ok()?;
    let left = moment - now;
    Some(match left {
        ..=0 => "expired".to_owned(),
        1..60 => format!("expires {left}s"),
        60..3_600 => format!("expires {}m", left / 60),
        3_600..172_800 => format!("expires {}h", left / 3_600),
        _ => format!("expires {}d", left / 86_400),
    })
}

/// How long ago a moment was that is written as in RFC 3339; nothing if it is not.
pub(crate) fn ago(moment: &str, now: SystemTime) -> Option<String> {
    let moment = seconds(moment)?;
    let now = i64::try_from(now.duration_since(UNIX_EPOCH).ok()?.as_secs()).ok()?;
    Some(match now - moment {
        // Clocks differ a little.
        ..10 => "just now".to_owned(),
        passed @ 10..60 => format!("{passed}s ago"),
        passed @ 60..3_600 => format!("{}m ago", passed / 60),
        passed @ 3_600..172_800 => format!("{}h ago", passed / 3_600),
        passed => format!("{}d ago", passed / 86_400),
    })
}

/// A moment to the second, with a space in the middle; as it is if it is none.
pub(crate) fn plain(moment: &str) -> String {
    let shown = openclaw_content::shown_line(moment, 40);
    if seconds(&shown).is_none() {
        return shown;
    }
    match (shown.get(..10), shown.get(11..19), shown.strip_suffix('Z')) {
        (Some(date), Some(time), Some(_)) => format!("{date} {time} UTC"),
        _ => shown,
    }
}

/// Seconds since 1970; fractions are left out.
fn seconds(moment: &str) -> Option<i64> {
    let (date, time) = moment.split_once(['T', 't', ' '])?;
    let mut date = date.splitn(3, '-').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (date.next()??, date.next()??, date.next()??);
    let zone = time.rfind(['Z', 'z', '+', '-'])?;
    let (clock, zone) = (time.get(..zone)?, time.get(zone..)?);
    let clock = clock.split('.').next()?;
    let mut clock = clock.splitn(3, ':').map(|part| part.parse::<i64>().ok());
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    let in_range = (1970..10_000).contains(&year)
        && (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && (0..24).contains(&hour)
        && (0..60).contains(&minute)
        && (0..=60).contains(&second);
    in_range.then_some(())?;
    let local = days(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second;
    Some(local - offset(zone)?)
}

/// The seconds by which a zone is ahead.
fn offset(zone: &str) -> Option<i64> {
    if zone.eq_ignore_ascii_case("z") {
        return Some(0);
    }
    let (hours, minutes) = zone.get(1..)?.split_once(':')?;
    let ahead = hours.parse::<i64>().ok()? * 3_600 + minutes.parse::<i64>().ok()? * 60;
    (ahead.abs() <= 86_400).then_some(if zone.starts_with('-') { -ahead } else { ahead })
}

/// Days since 1970, counted in years that begin in March, so that the leap day is the last.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let month = (month + 9) % 12;
    let in_year = (153 * month + 2) / 5 + day - 1;
    year * 365 + year / 4 - year / 100 + year / 400 + in_year - 719_468
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn moments_are_seconds() {
        assert_eq!(seconds("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(seconds("2000-02-29T12:30:00.123Z"), Some(951_827_400));
        assert_eq!(seconds("2026-03-01T01:00:00+01:00"), Some(1_772_323_200));
        for nonsense in ["", "soon", "2026-13-01T00:00:00Z", "2026-01-01", "1e9"] {
            assert_eq!(seconds(nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn the_largest_unit_is_said() {
        let now = UNIX_EPOCH + Duration::from_mins(15_863_790);
        let said = |moment| until(moment, now).unwrap();
        assert_eq!(said("2000-02-29T12:30:00Z"), "expired");
        assert_eq!(said("2000-02-29T12:30:20Z"), "expires 20s");
        assert_eq!(said("2000-02-29T13:00:00Z"), "expires 30m");
        assert_eq!(said("2000-02-29T15:00:00Z"), "expires 2h");
        assert_eq!(said("2000-03-30T12:30:00Z"), "expires 30d");
    }

    #[test]
    fn the_past_is_said_in_its_largest_unit() {
        let now = UNIX_EPOCH + Duration::from_mins(15_863_790);
        let said = |moment| ago(moment, now).unwrap();
        assert_eq!(said("2000-02-29T12:30:00Z"), "just now");
        assert_eq!(said("2000-02-29T12:31:00Z"), "just now");
        assert_eq!(said("2000-02-29T12:29:30Z"), "30s ago");
        assert_eq!(said("2000-02-29T12:00:00Z"), "30m ago");
        assert_eq!(said("2000-02-28T12:30:00Z"), "24h ago");
        assert_eq!(said("2000-01-30T12:30:00Z"), "30d ago");
    }

    #[test]
    fn a_moment_is_shown_to_the_second() {
        assert_eq!(plain("2000-02-29T12:30:00.123Z"), "2000-02-29 12:30:00 UTC");
        assert_eq!(
            plain("2000-02-29T12:30:00+01:00"),
            "2000-02-29T12:30:00+01:00"
        );
        assert_eq!(plain("\u{1b}[2Jsoon"), "soon");
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in "\\PC{0,40}") {
            let _ = until(&text, UNIX_EPOCH);
            let _ = ago(&text, UNIX_EPOCH);
            let _ = plain(&text);
        }
    }
}
