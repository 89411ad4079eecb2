//! Changes that somebody ceases to wait for.

use super::*;

/// Begins a change that goes on when it is told to, and says when it has begun.
fn begin(
    logins: &ServerLogins,
) -> (
    impl Future<Output = Result<(), OAuthError>> + use<>,
    oneshot::Receiver<()>,
    oneshot::Sender<()>,
) {
    let (begun, has_begun) = oneshot::channel();
    let (go_on, may_go_on) = oneshot::channel::<()>();
    let logins = logins.clone();
    let changing = async move {
        logins
            .change(SOON, |kept| {
                Box::pin(async move {
                    let _ = begun.send(());
                    let _ = may_go_on.await;
                    kept.grant = Some(grant());
                    Ok(())
                })
            })
            .await
    };
    (changing, has_begun, go_on)
}

#[tokio::test]
async fn what_has_begun_is_written_although_nobody_waits_for_it_any_more() {
    let place = Place::new();
    let store = place.store();
    let logins = docs(&store);
    let (changing, has_begun, go_on) = begin(&logins);
    let waiting = tokio::spawn(changing);
    has_begun.await.unwrap();
    waiting.abort();
    assert!(waiting.await.unwrap_err().is_cancelled());
    assert!(logins.stamp().is_absence());
    go_on.send(()).unwrap();
    store.settled().await;
    assert!(has_grant(&logins).await);
}

#[tokio::test]
async fn a_process_that_wants_to_end_does_not_wait_for_ever() {
    let place = Place::new();
    let store = place.store();
    let (changing, has_begun, go_on) = begin(&docs(&store));
    let waiting = tokio::spawn(changing);
    has_begun.await.unwrap();
    tokio::time::pause();
    let begun = tokio::time::Instant::now();
    store.settled().await;
    // A request for a token may take ten seconds.
    assert!((30..60).contains(&begun.elapsed().as_secs()));
    tokio::time::resume();
    go_on.send(()).unwrap();
    waiting.await.unwrap().unwrap();
}

#[tokio::test]
async fn what_has_not_begun_is_given_up_with_whoever_waits() {
    let place = Place::new();
    let store = place.store();
    let logins = docs(&store);
    log_in(&logins).await;
    let lock = FileLock::acquire(&logins.path().with_extension("lock"), SOON).unwrap();
    let (changing, mut has_begun, _go_on) = begin(&logins);
    let given_up = tokio::time::timeout(Duration::from_millis(100), changing).await;
    assert!(given_up.is_err());
    drop(lock);
    store.settled().await;
    assert!(has_begun.try_recv().is_err());
    // And nobody is kept waiting by it.
    log_in(&logins).await;
    assert!(has_begun.try_recv().is_err());
}

#[tokio::test]
async fn who_has_waited_long_enough_for_others_is_told() {
    let place = Place::new();
    let (one, other) = (place.store(), place.store());
    let (changing, has_begun, go_on) = begin(&docs(&one));
    let waiting = tokio::spawn(changing);
    has_begun.await.unwrap();
    // One of them waits within the process, the other as another process would.
    for store in [&one, &other] {
        let patience = Duration::from_millis(50);
        let changing = docs(store);
        let changing = changing.change(patience, |_| Box::pin(async { Ok(()) }));
        let error = changing.await.unwrap_err();
        assert_eq!(error.remedy(), Remedy::Wait);
        assert!(error.to_string().contains("another openclaw"), "{error}");
    }
    // Other servers don't wait for it.
    log_in(&one.of("other", &url())).await;
    go_on.send(()).unwrap();
    waiting.await.unwrap().unwrap();
}

#[test]
fn a_runtime_that_ends_while_a_file_is_written_leaves_it_whole() {
    let place = Place::new();
    let runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = { runtime }.worker_threads(2).enable_all().build().unwrap();
    let logins = docs(&place.store());
    for number in 0..20 {
        let logins = logins.clone();
        runtime.spawn(async move {
            change(&logins, move |kept| {
                kept.wanted_scopes.push(number.to_string());
            })
            .await
        });
    }
    let written = || !logins.stamp().is_absence();
    assert!(openclaw_testkit::leaks::wait_until(SOON, written));
    drop(runtime);
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_all().build().unwrap();
    let (_, kept) = runtime.block_on(docs(&place.store()).read()).unwrap();
    assert!(!kept.wanted_scopes.is_empty());
}
