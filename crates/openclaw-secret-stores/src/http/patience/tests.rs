use std::cell::Cell;

use super::*;

/// What is said of a store that says nothing.
fn nothing_said() -> SecretError {
    silent("the store")
}

/// Asks a store that answers like this, one after another, and says how long it took.
async fn ask(
    patience: Duration,
    answers: &[(&'static str, Option<u64>)],
) -> (Result<usize, String>, Duration) {
    let begin = Instant::now();
    let count = Cell::new(0);
    let result = patiently(begin + patience, nothing_said, async || {
        let number = count.get();
        count.set(number + 1);
        match answers.get(number) {
            Some((reason, asked)) => {
                let asked = asked.map(Duration::from_secs);
                Attempt::Again(SecretError::unavailable(reason), asked)
            }
            None => Attempt::Done(Ok(count.get())),
        }
    });
    let result = result.await.map_err(|error| error.to_string());
    (result, begin.elapsed())
}

#[tokio::test(start_paused = true)]
async fn what_is_decided_is_not_asked_again() {
    let (answer, elapsed) = ask(Duration::from_mins(1), &[]).await;
    assert_eq!((answer, elapsed), (Ok(1), Duration::ZERO));
    let count = Cell::new(0);
    let until = Instant::now() + Duration::from_mins(1);
    let refused = patiently(until, nothing_said, async || {
        count.set(count.get() + 1);
        Attempt::<(), _>::Done(Err(SecretError::refused("no")))
    });
    assert_eq!(refused.await.unwrap_err().to_string(), "no");
    assert_eq!(count.get(), 1);
}

#[tokio::test(start_paused = true)]
async fn waits_double_and_are_scattered() {
    let busy = [("busy", None); 3];
    let (answer, elapsed) = ask(Duration::from_mins(1), &busy).await;
    assert_eq!(answer, Ok(4));
    // 200, 400 and 800 ms, each between a half and the whole.
    assert!(elapsed >= Duration::from_millis(700), "{elapsed:?}");
    assert!(elapsed <= Duration::from_millis(1403), "{elapsed:?}");
}

#[tokio::test(start_paused = true)]
async fn those_refused_together_do_not_come_back_together() {
    let mut waits: Vec<Duration> = (0..64).map(|_| scattered(FIRST_WAIT)).collect();
    assert!(waits.iter().all(|wait| *wait >= FIRST_WAIT / 2));
    assert!(waits.iter().all(|wait| *wait <= FIRST_WAIT));
    waits.sort_unstable();
    waits.dedup();
    assert!(waits.len() > 8, "{waits:?}");
}

#[tokio::test(start_paused = true)]
async fn a_store_says_how_long_to_wait() {
    let (answer, elapsed) = ask(Duration::from_mins(1), &[("busy", Some(7))]).await;
    assert_eq!(answer, Ok(2));
    assert!(elapsed >= Duration::from_secs(7), "{elapsed:?}");
    assert!(elapsed < Duration::from_millis(7010), "{elapsed:?}");
    // It can't make us ask faster.
    let (_, elapsed) = ask(Duration::from_mins(1), &[("busy", Some(0))]).await;
    assert!(elapsed >= FIRST_WAIT / 2, "{elapsed:?}");
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_for_an_attempt_that_comes_too_late() {
    let patience = Duration::from_secs(5);
    let (answer, elapsed) = ask(patience, &[("busy", None), ("too busy", Some(60))]).await;
    assert_eq!(answer, Err("too busy".to_owned()));
    assert!(elapsed < Duration::from_millis(210), "{elapsed:?}");
    let (answer, elapsed) = ask(patience, &[("for ever", Some(u64::from(u32::MAX)))]).await;
    assert_eq!(answer, Err("for ever".to_owned()));
    assert_eq!(elapsed, Duration::ZERO);
}

/// Asks a store that takes this long for each attempt, and says what is wrong with its number.
async fn ask_slow(patience: Duration, attempt: Duration) -> (String, Duration) {
    let begin = Instant::now();
    let count = Cell::new(0);
    let asked = patiently(begin + patience, nothing_said, async || {
        count.set(count.get() + 1);
        sleep(attempt).await;
        Attempt::<(), _>::Again(SecretError::unavailable(count.get()), None)
    });
    (asked.await.unwrap_err().to_string(), begin.elapsed())
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_takes_too_long_is_cut_off_and_the_one_before_says_why() {
    let patience = Duration::from_secs(5);
    for (attempt, expected) in [
        (Duration::from_secs(2), "2"),
        (Duration::from_secs(4), "1"),
        (Duration::from_secs(5), "the store did not answer in time"),
        (Duration::from_hours(1), "the store did not answer in time"),
    ] {
        let (answer, elapsed) = ask_slow(patience, attempt).await;
        assert_eq!(answer, expected, "{attempt:?}");
        // Whoever waits gives up then, and would not hear it.
        assert!(elapsed < patience, "{attempt:?}: {elapsed:?}");
        assert!(
            elapsed >= Duration::from_millis(4900),
            "{attempt:?}: {elapsed:?}"
        );
    }
    // There was no time to begin with.
    let (answer, elapsed) = ask_slow(Duration::ZERO, patience).await;
    assert_eq!(answer, "the store did not answer in time");
    assert_eq!(elapsed, Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn the_last_of_six_attempts_says_why() {
    let reasons = ["1", "2", "3", "4", "5", "6", "7"].map(|reason| (reason, None));
    let (answer, elapsed) = ask(Duration::from_mins(10), &reasons).await;
    assert_eq!(answer, Err("6".to_owned()));
    assert!(elapsed <= Duration::from_millis(6210), "{elapsed:?}");
}

#[test]
fn seconds_are_read_and_dates_are_not() {
    for (value, expected) in [
        ("3", Some(3)),
        (" 10 ", Some(10)),
        ("0", Some(0)),
        ("4294967295", Some(4_294_967_295)),
        ("4294967296", None),
        ("-1", None),
        ("1.5", None),
        ("", None),
        ("Wed, 21 Oct 2026 07:28:00 GMT", None),
    ] {
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, value.parse().unwrap());
        let expected = expected.map(Duration::from_secs);
        assert_eq!(retry_after(&headers), expected, "{value:?}");
    }
    assert_eq!(retry_after(&HeaderMap::new()), None);
}
