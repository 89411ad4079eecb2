//! Many processes at once, and processes that are killed.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use super::*;

/// Names the state directory to a process that a test starts.
const STATE: &str = "OPENCLAW_TEST_STATE";
/// What such a process is called.
const NAME: &str = "OPENCLAW_TEST_NAME";

/// The state directory and the name of this process, if a test started it.
fn of_parent() -> Option<(PathBuf, String)> {
    let state = std::env::var_os(STATE)?;
    Some((state.into(), std::env::var(NAME).unwrap()))
}

/// Runs a test of this module once more, in another process.
fn again(test: &str, place: &Place, name: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--nocapture"])
        .arg(format!("kept::tests::crowd::{test}"))
        .env(STATE, place.state())
        .env(NAME, name)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[tokio::test]
async fn fifty_processes_that_begin_at_once_make_one_key_and_lose_nothing() {
    if let Some((state, name)) = of_parent() {
        let store = store_at(&state, no_keyring());
        // The lock of its own server does not keep it from making a key when others do.
        log_in(&store.of(&name, &url())).await;
        change(&docs(&store), move |kept| kept.pending.push(pending(&name)))
            .await
            .unwrap();
        return;
    }
    let test = "fifty_processes_that_begin_at_once_make_one_key_and_lose_nothing";
    let place = Place::new();
    let names: Vec<String> = (10..60).map(|number: usize| number.to_string()).collect();
    let children: Vec<Child> = names.iter().map(|it| again(test, &place, it)).collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.contains("1 passed"), "{said}");
    }
    let store = place.store();
    for name in &names {
        assert!(has_grant(&store.of(name, &url())).await);
    }
    let (_, kept) = docs(&store).read().await.unwrap();
    let mut found: Vec<&str> = kept.pending.iter().map(|it| it.login.as_str()).collect();
    found.sort_unstable();
    assert_eq!(found, names);
    // The key, its lock, and two for each server.
    assert_eq!(place.files().len(), 2 + 51 * 2, "{:?}", place.files());
}

/// Says after every change that it is made.
async fn write_for_ever(state: &Path) {
    let logins = docs(&store_at(state, no_keyring()));
    loop {
        let written = change(&logins, |kept| {
            let number = kept.wanted_scopes.len();
            // So large that writing takes a while, and of another size each time.
            let last = kept.pending.last().map_or(0, |it| it.scopes.len());
            kept.wanted_scopes.push(number.to_string());
            let mut login = pending(&number.to_string());
            login.scopes = vec!["scope".repeat(8); (last * 7 + 13) % 1_000];
            kept.begin(login);
            kept.grant = Some(grant());
            number
        });
        println!("written {}", written.await.unwrap());
    }
}

#[tokio::test]
async fn a_writer_that_is_killed_leaves_what_it_said_it_wrote() {
    const KILLS: u64 = 100;
    if let Some((state, _)) = of_parent() {
        return write_for_ever(&state).await;
    }
    let test = "a_writer_that_is_killed_leaves_what_it_said_it_wrote";
    let place = Place::new();
    for kill in 0..KILLS {
        let mut child = again(test, &place, "writer");
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut said = lines.map_while(Result::ok).filter_map(|line| {
            let (_, number) = line.split_once("written ")?;
            number.parse::<usize>().ok()
        });
        let mut last = said.next().unwrap();
        // At another moment each time: a write takes about as long.
        std::thread::sleep(Duration::from_micros(kill * 7_919 % 12_000));
        child.kill().unwrap();
        child.wait().unwrap();
        last = said.last().unwrap_or(last);
        let (_, kept) = docs(&place.store()).read().await.unwrap();
        assert!(kept.wanted_scopes.len() > last, "after kill {kill}");
        let in_order = kept.wanted_scopes.iter().enumerate();
        assert!(
            in_order
                .clone()
                .all(|(number, it)| *it == number.to_string())
        );
        assert_eq!(kept.grant, Some(grant()));
        let newest = kept.pending.last().unwrap();
        assert_eq!(newest.login, *kept.wanted_scopes.last().unwrap());
    }
}

#[tokio::test]
async fn a_full_disk_leaves_what_was_there() {
    if let Some((state, _)) = of_parent() {
        let store = store_at(&state, no_keyring());
        for error in [
            store.probe().await.unwrap_err(),
            change(&docs(&store), |_| ()).await.unwrap_err(),
        ] {
            let text = error.to_string();
            assert!(text.contains("the login can't be saved"), "{text}");
            assert!(error.hint_text().unwrap().contains("disk is not full"));
        }
        assert!(has_grant(&docs(&store)).await);
        return;
    }
    let place = Place::new();
    log_in(&docs(&place.store())).await;
    // No file may be larger than nothing: the nearest thing to a full disk.
    let output = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\""])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "--nocapture"])
        .arg("kept::tests::crowd::a_full_disk_leaves_what_was_there")
        .env(STATE, place.state())
        .env(NAME, "full")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("1 passed"), "{output:?}");
    assert!(has_grant(&docs(&place.store())).await);
    assert_eq!(place.files().len(), 4, "{:?}", place.files());
}
