//! The configuration is followed while the gateway runs.

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use openclaw_gateway::Followed;
use tokio::time::Instant;

use crate::harness::{Running, Wanted, until};

#[tokio::test]
async fn a_changed_file_is_read_once_and_a_bad_one_does_not_end_it() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("openclaw.json");
    let environment = directory.path().join(".env");
    fs::write(&file, "{}").unwrap();
    let gateway = Running::with(Wanted {
        files: vec![file.clone(), environment.clone()],
        ..Wanted::default()
    })
    .await;
    let reloads = || gateway.engine.reloads.load(Ordering::SeqCst);
    // It has looked at them when it answers.
    assert_eq!(gateway.ask("GET", "/health", &[], "").await.status, 200);
    fs::write(&file, "{ }").unwrap();
    until("the first reload", || reloads() == 1).await;
    *gateway.engine.reload_fails.lock().unwrap() = true;
    fs::remove_file(&file).unwrap();
    until("the reload after it was deleted", || reloads() == 2).await;
    *gateway.engine.reload_fails.lock().unwrap() = false;
    fs::write(&environment, "A=b").unwrap();
    until("the reload for a file that was not there", || {
        reloads() == 3
    })
    .await;
    gateway.stop().await;
}

#[tokio::test]
async fn what_changes_while_the_gateway_starts_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("openclaw.json");
    fs::write(&file, "{}").unwrap();
    let followed = Followed::now(std::slice::from_ref(&file));
    fs::write(&file, "{ }").unwrap();
    let gateway = Running::with(Wanted {
        files: vec![file],
        followed: Some(followed),
        ..Wanted::default()
    })
    .await;
    until("the reload", || {
        gateway.engine.reloads.load(Ordering::SeqCst) == 1
    })
    .await;
    gateway.stop().await;
}

#[tokio::test(start_paused = true)]
async fn reading_that_failed_is_tried_again_though_the_files_stay_as_they_are() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("openclaw.json");
    fs::write(&file, "{}").unwrap();
    let gateway = Running::with(Wanted {
        files: vec![file.clone()],
        ..Wanted::default()
    })
    .await;
    let reloads = || gateway.engine.reloads.load(Ordering::SeqCst);
    *gateway.engine.reload_fails.lock().unwrap() = true;
    fs::write(&file, "{ }").unwrap();
    until("the first reload", || reloads() == 1).await;
    let mut last = Instant::now();
    for (number, pause) in [(2, 5), (3, 10), (4, 20), (5, 40), (6, 60), (7, 60)] {
        while reloads() < number {
            tokio::time::sleep(Duration::from_millis(50)).await;
            assert!(last.elapsed().as_secs() < 70, "not tried again: {number}");
        }
        let waited = last.elapsed().as_secs();
        assert!(
            (pause - 1..=pause + 1).contains(&waited),
            "{pause}: {waited}"
        );
        last = Instant::now();
    }
    *gateway.engine.reload_fails.lock().unwrap() = false;
    while reloads() < 8 {
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert!(last.elapsed().as_secs() < 70, "not tried again");
    }
    tokio::time::sleep(Duration::from_mins(5)).await;
    assert_eq!(reloads(), 8, "what succeeded is not tried again");
    gateway.stop().await;
}

#[tokio::test]
async fn a_disk_that_does_not_answer_keeps_nobody_from_stopping() {
    let (release, held) = std::sync::mpsc::channel::<()>();
    let held = Mutex::new(held);
    let looks = Arc::new(AtomicUsize::new(0));
    let looked = Arc::clone(&looks);
    let gateway = Running::with(Wanted {
        look: Some(Box::new(move || {
            if looked.fetch_add(1, Ordering::SeqCst) > 0 {
                let _ = held.lock().unwrap().recv();
            }
            Vec::new()
        })),
        ..Wanted::default()
    })
    .await;
    until("the second look", || looks.load(Ordering::SeqCst) == 2).await;
    let took = gateway.stop().await;
    assert!(took.as_millis() < 1_500, "{took:?}");
    drop(release);
}
