//! The files of a configuration: which they are, and what becomes of one that is replaced.

use std::os::unix::fs::symlink;

use openclaw_engine::{Engine, OfServer};
use openclaw_runtime::Life;
use serde_json::json;

use crate::house::{House, entry, fake, servers};

const BROKEN: &str = "{ mcp: ";

fn everything() -> OfServer {
    OfServer {
        agent: None,
        server: None,
    }
}

async fn config_error(house: &House) -> Option<String> {
    house.engine.overview().await.unwrap().config_error
}

#[tokio::test]
async fn a_file_that_cannot_be_used_is_an_error_of_the_overview_until_it_can() {
    let house = House::new(&servers(&json!({})));
    assert_eq!(config_error(&house).await, None);
    let good = house.text();
    house.write(BROKEN);
    house.engine.reload().await.unwrap_err();
    let error = config_error(&house).await.unwrap();
    assert!(error.contains("openclaw.json:1:"), "{error}");
    std::fs::remove_file(house.file()).unwrap();
    house.engine.reload().await.unwrap_err();
    let error = config_error(&house).await.unwrap();
    assert!(error.contains("is not there"), "{error}");
    house.write(&good);
    house.engine.reload().await.unwrap();
    assert_eq!(config_error(&house).await, None);
    house.finish(&[]).await;
}

#[tokio::test]
async fn a_reload_is_noted_although_whoever_asked_for_it_is_gone() {
    let house = House::new(&servers(&json!({})));
    house.write(BROKEN);
    let mut reload = house.engine.reload();
    // It has begun, and nobody waits for it any longer. A fast disk may have ended it.
    let _ = futures_util::poll!(&mut reload);
    drop(reload);
    let deadline = std::time::Instant::now() + crate::house::SOON;
    while config_error(&house).await.is_none() {
        assert!(std::time::Instant::now() < deadline);
        tokio::task::yield_now().await;
    }
    house.finish(&[]).await;
}

#[tokio::test]
async fn all_files_that_count_are_known_whether_or_not_they_can_be_used() {
    let house = House::new(&servers(&json!({})));
    let files = || {
        let files = house.engine.configuration_files().into_iter();
        let here = std::fs::canonicalize(house.path()).unwrap();
        let short = |file: std::path::PathBuf| {
            let file = file.strip_prefix(&here).map(ToOwned::to_owned);
            file.unwrap().display().to_string()
        };
        files.map(short).collect::<Vec<_>>()
    };
    let usual = [".env", "openclaw.json", "state/.env"];
    assert_eq!(files(), usual);
    std::fs::create_dir(house.path().join("parts")).unwrap();
    let write = |name: &str, text: &str| std::fs::write(house.path().join(name), text).unwrap();
    write("parts/one.json", r#"{ "$include": "two.json" }"#);
    write("parts/two.json", "{}");
    house.write(r#"{ mcp: { servers: { $include: ["parts/one.json"] } } }"#);
    house.engine.reload().await.unwrap();
    let all = [
        ".env",
        "openclaw.json",
        "parts/one.json",
        "parts/two.json",
        "state/.env",
    ];
    assert_eq!(files(), all);
    // One that is missing, and one that is broken: both may be mended.
    std::fs::remove_file(house.path().join("parts/two.json")).unwrap();
    house.engine.reload().await.unwrap_err();
    assert_eq!(files(), all);
    write("parts/two.json", BROKEN);
    house.engine.reload().await.unwrap_err();
    assert_eq!(files(), all);
    // One that says nothing of what it includes: what counted before still does.
    house.write(BROKEN);
    house.engine.reload().await.unwrap_err();
    assert_eq!(files(), all);
    house.write(r#"{ mcp: { servers: { $include: "absent.json" } } }"#);
    house.engine.reload().await.unwrap_err();
    let with_absent = [&["absent.json"], &all[..]].concat();
    let mut with_absent: Vec<_> = with_absent.into_iter().map(str::to_owned).collect();
    with_absent.sort_unstable();
    assert_eq!(files(), with_absent);
    house.write("{}");
    house.engine.reload().await.unwrap();
    assert_eq!(files(), usual);
    house.finish(&[]).await;
}

#[tokio::test]
async fn a_file_that_is_replaced_or_a_link_that_leads_elsewhere_comes_into_force() {
    let house = House::new(&servers(&json!({})));
    let with = |name: &str| {
        let mut all = json!({});
        all[name] = json!({ "command": "never-started" });
        servers(&all).to_string()
    };
    let place = |name: &str| house.path().join(name);
    // As editors write: another file takes its name.
    std::fs::write(place("new"), with("renamed")).unwrap();
    std::fs::rename(place("new"), house.file()).unwrap();
    house.engine.reload().await.unwrap();
    assert_eq!(house.names().await, ["renamed"]);
    for name in ["first", "second"] {
        std::fs::create_dir(place(name)).unwrap();
        std::fs::write(place(name).join("openclaw.json"), with(name)).unwrap();
    }
    std::fs::remove_file(house.file()).unwrap();
    symlink("first/openclaw.json", house.file()).unwrap();
    house.engine.reload().await.unwrap();
    assert_eq!(house.names().await, ["first"]);
    let real = std::fs::canonicalize(place("first/openclaw.json")).unwrap();
    let files = house.engine.configuration_files();
    assert!(
        files.contains(&real) && files.contains(&house.file()),
        "{files:?}"
    );
    symlink("second/openclaw.json", place("link")).unwrap();
    std::fs::rename(place("link"), house.file()).unwrap();
    house.engine.reload().await.unwrap();
    assert_eq!(house.names().await, ["second"]);
    house.finish(&[]).await;
}

#[tokio::test]
async fn asking_for_everything_again_reads_the_file_and_goes_on_without_it() {
    let (mine, other) = (fake("--only-tools echo"), fake("--only-tools echo"));
    let house = House::new(&servers(&json!({ "mine": entry(&mine) })));
    let both = servers(&json!({ "mine": entry(&mine), "other": entry(&other) }));
    house.write(&both.to_string());
    let report = house.engine.refresh(everything()).await.unwrap();
    let tools: Vec<_> = report
        .servers
        .iter()
        .map(|it| (&*it.name, it.tools))
        .collect();
    assert_eq!(tools, [("mine", 1), ("other", 1)]);
    assert_eq!(report.warnings, Vec::<String>::new());
    house.write(BROKEN);
    let report = house.engine.refresh(everything()).await.unwrap();
    assert_eq!(report.servers.len(), 2);
    let [warning] = &report.warnings[..] else {
        panic!("{:?}", report.warnings);
    };
    assert!(warning.contains("openclaw.json:1:"), "{warning}");
    let reply = house.reply("/mcp refresh").await.unwrap().reply;
    assert!(
        reply.contains("warning: ") && reply.contains("openclaw.json:1:"),
        "{reply}"
    );
    // Whoever asks for one server means that one.
    let one = OfServer {
        server: Some("mine".to_owned()),
        ..everything()
    };
    let report = house.engine.refresh(one).await.unwrap();
    assert_eq!(report.warnings, Vec::<String>::new());
    house.finish(&[&mine, &other]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reloads_at_the_same_time_end_with_what_is_written_last() {
    let house = House::new(&servers(&json!({})));
    for number in 0..20 {
        let mut all = json!({});
        all[format!("server{number}")] = json!({ "command": "never-started" });
        house.write(&servers(&all).to_string());
        let engine = &house.engine;
        let (one, two, three) = tokio::join!(engine.reload(), engine.reload(), engine.reload());
        let reports = [one.unwrap(), two.unwrap(), three.unwrap()];
        let added: usize = reports.iter().map(|it| it.added.len()).sum();
        assert_eq!(added, 1, "only the first changes anything: {reports:?}");
        assert_eq!(house.names().await, [format!("server{number}")]);
    }
    house.finish(&[]).await;
}

/// How many threads this process has.
fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_reloads_at_once_are_few_readings_on_few_threads() {
    let house = House::new(&servers(&json!({})));
    house.write(&servers(&json!({ "mine": { "command": "never-started" } })).to_string());
    let before = threads();
    let all = (0..1_000).map(|_| house.engine.reload());
    for done in futures_util::future::join_all(all).await {
        done.unwrap();
    }
    let statistics = house.engine.statistics().await.unwrap();
    // Two if all have asked before the first reading ends, which is up to the machine: one that is under way
    // serves nobody who asks after it began. Each takes so long that they can't be many.
    assert!((1..=50).contains(&statistics.reloads), "{statistics:?}");
    assert!(
        threads() <= before + 4,
        "{before} threads, now {}",
        threads()
    );
    assert_eq!(house.names().await, ["mine"]);
    house.finish(&[]).await;
}

#[tokio::test]
async fn a_file_that_was_never_there_is_no_error_and_other_files_count() {
    let house = House::without_file(Life::Gateway);
    house.engine.reload().await.unwrap();
    assert_eq!(config_error(&house).await, None);
    let report = house.engine.refresh(everything()).await.unwrap();
    assert_eq!(report.warnings, Vec::<String>::new());
    // It may come, and then it may not go.
    house.write(&servers(&json!({ "mine": { "command": "never-started" } })).to_string());
    house.engine.reload().await.unwrap();
    assert_eq!(house.names().await, ["mine"]);
    std::fs::remove_file(house.file()).unwrap();
    for _ in 0..2 {
        let failure = house.engine.reload().await.unwrap_err();
        assert!(failure.message.contains("is not there"), "{failure}");
    }
    assert_eq!(house.names().await, ["mine"]);
    house.finish(&[]).await;
}
