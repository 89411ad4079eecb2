//! Waiting for the browser, here and elsewhere.

use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::*;

fn wait(running: RunningLogin) -> JoinHandle<Result<LoggedIn, OAuthError>> {
    tokio::spawn(Box::pin(running.wait()))
}

async fn ended(waiting: JoinHandle<Result<LoggedIn, OAuthError>>) -> Result<LoggedIn, OAuthError> {
    timeout(SOON, waiting).await.unwrap().unwrap()
}

#[tokio::test]
async fn the_browser_ends_the_login_and_is_told_so() {
    let place = Place::new("");
    let process = place.process();
    let running = process.begin().await;
    assert!(running.is_listening());
    let url = running.begun().url.clone();
    let waiting = wait(running);
    let page = get(&visit(&url).await).await;
    assert_eq!(page.status(), 200);
    let logged_in = ended(waiting).await.unwrap();
    assert_eq!(logged_in.issuer, place.fake.issuer());
    assert!(place.takes(&process.token().await).await);
}

#[tokio::test]
async fn whoever_waits_learns_that_another_process_has_ended_the_login() {
    let place = Place::new("");
    let process = place.process();
    let running = process.begin().await;
    let url = running.begun().url.clone();
    let waiting = wait(running);
    let brought = visit(&url).await;
    let elsewhere = place.process().finish(&brought).await.unwrap();
    assert_eq!(ended(waiting).await.unwrap(), elsewhere);
    // Also if it went wrong there.
    let running = process.begin().await;
    let url = running.begun().url.clone();
    let waiting = wait(running);
    place.fake.set_flags("--deny").unwrap();
    let brought = visit(&url).await;
    place.process().finish(&brought).await.unwrap_err();
    let error = ended(waiting).await.unwrap_err();
    assert!(error.to_string().contains("another process"), "{error}");
    assert!(process.kept().await.grant.is_some());
}

#[tokio::test]
async fn strangers_at_the_door_do_not_end_the_wait() {
    let place = Place::new("");
    let process = place.process();
    let running = process.begin().await;
    let begun = running.begun().clone();
    let waiting = wait(running);
    let brought = visit(&begun.url).await;
    let strangers = [
        with(&brought, "state", "a-state-that-nobody-has-ever-sent"),
        with(&brought, "iss", "https://somebody.example"),
        format!("{}?code=stolen", begun.redirect_uri)
            .parse()
            .unwrap(),
        format!("{}?error=access_denied", begun.redirect_uri)
            .parse()
            .unwrap(),
    ];
    for stranger in strangers {
        get(&stranger).await;
        assert!(!waiting.is_finished(), "{stranger}");
    }
    assert_eq!(place.token_requests(), 0);
    get(&brought).await;
    ended(waiting).await.unwrap();
}

#[tokio::test]
async fn of_two_who_wait_each_gets_its_own() {
    let place = Place::new("");
    let process = place.process();
    let (one, two) = (process.begin().await, process.begin().await);
    let urls = [one.begun().url.clone(), two.begun().url.clone()];
    let waiting = [wait(one), wait(two)];
    let brought = [visit(&urls[0]).await, visit(&urls[1]).await];
    let [first, second] = waiting;
    get(&brought[1]).await;
    ended(second).await.unwrap();
    assert!(!first.is_finished());
    get(&brought[0]).await;
    ended(first).await.unwrap();
    assert!(place.takes(&process.token().await).await);
}

#[tokio::test]
async fn a_denied_login_ends_the_wait_with_the_reason() {
    let place = Place::new("--deny");
    let process = place.process();
    let running = process.begin().await;
    let url = running.begun().url.clone();
    let waiting = wait(running);
    get(&visit(&url).await).await;
    let error = ended(waiting).await.unwrap_err();
    assert!(error.to_string().contains("access_denied"), "{error}");
}

#[tokio::test]
async fn a_page_that_is_loaded_again_after_a_passing_failure_ends_the_login() {
    let place = Place::new("--fail-exchange 503");
    let process = place.process();
    let running = process.begin().await;
    let url = running.begun().url.clone();
    let waiting = wait(running);
    let brought = visit(&url).await;
    let page = get(&brought).await;
    let words = String::from_utf8_lossy(page.body()).into_owned();
    assert!(words.contains("load this page again"), "{words}");
    assert!(!waiting.is_finished());
    place.fake.set_flags("").unwrap();
    get(&brought).await;
    ended(waiting).await.unwrap();
}

#[tokio::test]
async fn nobody_waits_for_ever() {
    let place = Place::new("");
    let process = place.process();
    let running = process.begin().await;
    let taken = port(&running);
    tokio::time::pause();
    let begun = tokio::time::Instant::now();
    let error = Box::pin(running.wait()).await.unwrap_err();
    assert_eq!(begun.elapsed().as_secs() / 60, 10);
    assert!(error.to_string().contains("10 minutes"), "{error}");
    tokio::time::resume();
    // The listener is gone: the port can be taken at once.
    assert_eq!(port(&process.begin().await), taken);
}
