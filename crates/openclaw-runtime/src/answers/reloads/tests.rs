use std::sync::mpsc;
use std::time::Duration;

use futures_util::future::join_all;
use futures_util::poll;

use super::*;

const SOON: Duration = Duration::from_secs(10);

/// A reading that says when it has begun, and ends when it is told to.
fn held() -> (
    impl FnOnce() -> Done + Send + 'static,
    tokio::sync::oneshot::Receiver<()>,
    mpsc::Sender<()>,
) {
    let (begins, has_begun) = tokio::sync::oneshot::channel();
    let (end, ends) = mpsc::channel();
    let read = move || {
        let _ = begins.send(());
        let _ = ends.recv_timeout(SOON);
        numbered(0)()
    };
    (read, has_begun, end)
}

/// A reading that can be told from others.
fn numbered(number: usize) -> impl FnOnce() -> Done + Send + 'static {
    move || {
        Ok(ReloadReport {
            added: vec![number.to_string()],
            ..ReloadReport::default()
        })
    }
}

#[tokio::test]
async fn all_who_asked_before_one_began_share_it() {
    let reloads = Reloads::default();
    let (read, has_begun, end) = held();
    let mut first = Box::pin(reloads.ask(read));
    assert!(poll!(&mut first).is_pending());
    has_begun.await.unwrap();
    let others: Vec<_> = (1..=1_000)
        .map(|number| Box::pin(reloads.ask(numbered(number))))
        .collect();
    let mut others = Box::pin(join_all(others));
    assert!(poll!(&mut others).is_pending());
    end.send(()).unwrap();
    assert_eq!(first.await.unwrap().added, ["0"]);
    for shared in others.await {
        // The file may have changed after the first one began.
        assert_eq!(shared.unwrap().added, ["1"]);
    }
    assert_eq!(reloads.begun.load(Ordering::Acquire), 2);
    // Whoever asks later wants what is written then.
    assert_eq!(reloads.ask(numbered(7)).await.unwrap().added, ["7"]);
}

#[tokio::test]
async fn whoever_hangs_up_while_it_waits_withdraws_its_wish() {
    let reloads = Reloads::default();
    let (read, has_begun, end) = held();
    let mut first = Box::pin(reloads.ask(read));
    assert!(poll!(&mut first).is_pending());
    has_begun.await.unwrap();
    let mut second = Box::pin(reloads.ask(numbered(1)));
    assert!(poll!(&mut second).is_pending());
    drop(second);
    end.send(()).unwrap();
    first.await.unwrap();
    assert_eq!(reloads.begun.load(Ordering::Acquire), 1);
}

#[tokio::test]
async fn one_that_has_begun_is_waited_for_although_nobody_wants_it_any_longer() {
    let reloads = Reloads::default();
    let (read, has_begun, end) = held();
    let mut first = Box::pin(reloads.ask(read));
    assert!(poll!(&mut first).is_pending());
    drop(first);
    has_begun.await.unwrap();
    let mut second = Box::pin(reloads.ask(numbered(1)));
    assert!(poll!(&mut second).is_pending(), "one at a time");
    end.send(()).unwrap();
    assert_eq!(second.await.unwrap().added, ["1"]);
}
