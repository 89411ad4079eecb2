use std::time::Duration;

use tokio::time::timeout;

use super::*;

const MOMENT: Duration = Duration::from_millis(50);

fn text(length: usize) -> String {
    "x".repeat(length)
}

#[tokio::test(start_paused = true)]
async fn who_can_not_wait_cuts_off_a_peer_that_does_not_read() {
    let outbox = Outbox::new(Framing::Bare, 1_000, LONGEST_FRAME);
    for _ in 0..10 {
        outbox.tell(&text(98)).unwrap();
    }
    timeout(PATIENCE, outbox.until_cut()).await.unwrap_err();
    assert!(matches!(outbox.tell(&text(1)), Err(NotTaken::Closed)));
    outbox.until_cut().await;
    assert!(outbox.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn much_at_once_cuts_nobody_off_who_reads() {
    let outbox = Outbox::new(Framing::Bare, 1_000, LONGEST_FRAME);
    for _ in 0..30 {
        outbox.tell(&text(98)).unwrap();
    }
    for _ in 0..10 {
        tokio::time::sleep(PATIENCE / 2).await;
        let message = outbox.next().await.unwrap();
        outbox.written(&message);
        outbox.tell(&text(98)).unwrap();
    }
    // There is an end to it nevertheless.
    for _ in 0..10 {
        outbox.tell(&text(98)).unwrap();
    }
    assert!(matches!(outbox.tell(&text(98)), Err(NotTaken::Closed)));
}

#[tokio::test(start_paused = true)]
async fn who_can_wait_waits_until_something_was_written() {
    let outbox = Outbox::new(Framing::Bare, 1_000, LONGEST_FRAME);
    outbox.send(&text(5_000), Vec::new()).unwrap();
    timeout(MOMENT, outbox.room()).await.unwrap_err();
    let message = outbox.next().await.unwrap();
    // It counts until it was written.
    timeout(MOMENT, outbox.room()).await.unwrap_err();
    outbox.written(&message);
    timeout(MOMENT, outbox.room()).await.unwrap();
}

#[tokio::test]
async fn a_long_answer_costs_nobody_an_event() {
    let outbox = Outbox::new(Framing::Bare, 1_000, LONGEST_FRAME);
    outbox.send(&text(5_000), Vec::new()).unwrap();
    outbox.tell(&text(10)).unwrap();
    assert!(outbox.offer(&text(10)).unwrap());
}

#[tokio::test]
async fn what_is_offered_is_not_taken_when_much_waits_and_cuts_nobody_off() {
    let outbox = Outbox::new(Framing::Bare, 1_000, LONGEST_FRAME);
    let mut taken = 0;
    while outbox.offer(&text(98)).unwrap() {
        taken += 1;
    }
    assert_eq!(taken, 5);
    outbox.tell(&text(98)).unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_is_offered_waits_up_to_a_bound_of_its_own_and_for_half_of_it_to_be_read() {
    let outbox = Outbox::new(Framing::Bare, 64 << 20, LONGEST_FRAME);
    let mut taken = 0;
    while outbox.offer(&text(1022)).unwrap() {
        taken += 1;
    }
    assert_eq!(taken, 256);
    // An answer stands behind no more than that.
    outbox.tell(&text(10)).unwrap();
    let mut read = 0;
    while timeout(MOMENT, outbox.calm()).await.is_err() {
        let message = outbox.next().await.unwrap();
        outbox.written(&message);
        read += 1;
    }
    assert!((126..132).contains(&read), "{read}");
}

#[tokio::test]
async fn what_waits_is_still_written_after_the_end() {
    let outbox = Outbox::new(Framing::Length, 1_000, LONGEST_FRAME);
    outbox.tell(&"a").unwrap();
    outbox.finish();
    assert!(matches!(outbox.tell(&"b"), Err(NotTaken::Closed)));
    let message = outbox.next().await.unwrap();
    assert_eq!(message.bytes, b"\0\0\0\x03\"a\"");
    assert!(outbox.next().await.is_none());
}
