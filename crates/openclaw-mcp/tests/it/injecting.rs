//! Resources beside messages.

use std::time::{Duration, Instant};

use openclaw_content::ModelText;
use openclaw_mcp::{Injection, StartMode};
use openclaw_testkit::FakeServer;
use openclaw_testkit::leaks::eventually;
use serde_json::{Value, json};

use crate::house::{House, config, entry, fake};
use crate::lab::SOON;

const MOST: usize = 1_000_000;

/// A house with a server of which something is beside messages.
fn house(fake: &FakeServer, resources: &Value) -> House {
    let entry = entry(fake, json!({ "resources": resources }));
    let config = json!({ "mcp": { "servers": { "fake": entry } } });
    House::new(StartMode::OnDemand, &config, &[fake])
}

async fn inject(house: &House) -> Injection {
    let agent = house.started().await;
    house.servers.inject(&agent, None, MOST).await
}

fn shown(injection: &Injection) -> String {
    let texts = injection.texts.iter().map(ModelText::as_str);
    texts.collect::<Vec<_>>().join("\n")
}

fn times(fake: &FakeServer, method: &str) -> usize {
    let methods = fake.journal().methods();
    methods.iter().filter(|it| *it == method).count()
}

#[tokio::test]
async fn what_is_named_stands_beside_the_message_in_frames() {
    let fake = fake("--odd-resources 10");
    let house = house(
        &fake,
        &json!({"inject": ["fake/test://te*", "test://blob", "test://numbered/9", "test://forged"]}),
    );
    let injection = inject(&house).await;
    let shown = shown(&injection);
    assert_eq!(injection.problems, [""; 0]);
    assert_eq!(
        shown.matches("<<<EXTERNAL_UNTRUSTED_CONTENT").count(),
        3,
        "{shown}"
    );
    assert_eq!(
        shown.matches("<<<END_EXTERNAL_UNTRUSTED_CONTENT").count(),
        3,
        "{shown}"
    );
    assert!(shown.contains("\nFrom: fake/test://text\n"), "{shown}");
    assert!(
        shown.contains("---\nthe text of a resource\n<<<END"),
        "{shown}"
    );
    assert!(
        shown.contains("---\nnumber 9\n"),
        "an address that no list names: {shown}"
    );
    assert!(
        shown.contains("The resource test://blob of the MCP server fake is not shown"),
        "{shown}"
    );
    assert!(
        !shown.contains("iVBOR") && !shown.contains("touched"),
        "{shown}"
    );
    house.finish().await;
}

#[tokio::test]
async fn agents_name_resources_of_all_their_servers() {
    let (one, other) = (fake(""), fake(""));
    let text = json!({
        "mcp": { "servers": { "one": entry(&one, json!({})), "other": entry(&other, json!({})) } },
        "agents": {
            "defaults": { "resources": { "inject": ["test://text"] } },
            "entries": {
                "some": { "resources": { "inject": ["other/*", "test://nowhere"] } },
                "none": { "resources": { "inject": [] } },
                "denied": { "tools": { "deny": ["one/*"] } },
            },
        },
    });
    let house = House::new(StartMode::OnDemand, &text, &[&one, &other]);
    for (name, expected) in [
        ("main", &["one/test://text", "other/test://text"][..]),
        ("some", &["other/test://changing", "other/test://text"]),
        ("none", &[]),
        ("denied", &["other/test://text"]),
    ] {
        let agent = house.agent(name);
        house.servers.start(&agent, None).await;
        let injection = house.servers.inject(&agent, None, MOST).await;
        let shown = shown(&injection);
        let lines = shown.lines();
        let found: Vec<&str> = lines
            .filter_map(|line| line.strip_prefix("From: "))
            .collect();
        assert_eq!(found, expected, "{name}");
        assert_eq!(injection.problems, [""; 0], "{name}");
    }
    house.finish().await;
}

#[tokio::test]
async fn what_is_watched_is_read_again_only_when_it_has_changed() {
    for era in ["legacy", "modern"] {
        let fake = fake(&format!("--era {era}"));
        let house = house(&fake, &json!({"inject": ["test://changing"]}));
        let is_now = async |text: &str| {
            let injection = inject(&house).await;
            shown(&injection).contains(&format!("---\n{text}\n"))
        };
        assert!(is_now("touched 0 times").await, "{era}");
        // Where the whole subscription is made anew, what was read before it began is not trusted.
        let is_quiet = async || {
            let before = times(&fake, "resources/read");
            assert!(is_now("touched 0 times").await, "{era}");
            times(&fake, "resources/read") == before
        };
        let until = Instant::now() + SOON;
        while !is_quiet().await {
            assert!(Instant::now() < until, "{era}: it is read again and again");
        }
        let before = times(&fake, "resources/read");
        for _ in 0..5 {
            assert!(is_now("touched 0 times").await, "{era}");
        }
        assert_eq!(times(&fake, "resources/read"), before, "{era}");
        house.call("fake/touch_resource", json!({})).await;
        assert!(is_now("touched 1 times").await, "{era}");
        assert!(times(&fake, "resources/read") > before, "{era}");
        house.finish().await;
    }
}

#[tokio::test]
async fn what_is_not_watched_is_read_every_time() {
    for flags in [
        "--no-subscriptions",
        "--refuse-subscriptions --era legacy",
        "--refuse-subscriptions --era modern",
    ] {
        let fake = fake(flags);
        let house = house(&fake, &json!({"inject": ["test://changing"]}));
        for touches in 0..3 {
            let injection = inject(&house).await;
            let expected = format!("touched {touches} times");
            assert!(shown(&injection).contains(&expected), "{flags}");
            house.call("fake/touch_resource", json!({})).await;
        }
        assert_eq!(times(&fake, "resources/read"), 3, "{flags}");
        assert!(times(&fake, "resources/subscribe") <= 1, "{flags}");
        house.finish().await;
    }
}

#[tokio::test]
async fn what_a_server_can_not_tell_of_is_read_every_time() {
    let server = fake("http --era legacy --no-get").start().unwrap();
    let resources = json!({ "inject": ["test://changing"] });
    let entry = json!({ "url": server.url(), "resources": resources });
    let text = json!({ "mcp": { "servers": { "fake": entry } } });
    let house = House::new(StartMode::OnDemand, &text, &[]);
    for touches in 0..3 {
        let shown = shown(&inject(&house).await);
        assert!(
            shown.contains(&format!("touched {touches} times")),
            "{shown}"
        );
        house.call("fake/touch_resource", json!({})).await;
    }
    let methods = server.journal().methods();
    let asked = methods.iter().filter(|it| *it == "resources/subscribe");
    assert_eq!(asked.count(), 1, "it agreed, though its word never arrives");
    house.finish().await;
}

#[tokio::test]
async fn a_server_that_was_started_again_is_asked_again() {
    let fake = fake("--era legacy");
    let house = house(&fake, &json!({"inject": ["test://changing"]}));
    house.started().await;
    house.call("fake/touch_resource", json!({})).await;
    assert!(shown(&inject(&house).await).contains("touched 1 times"));
    let agent = house.main();
    house.servers.connect(agent.server("fake").unwrap()).await;
    assert!(shown(&inject(&house).await).contains("touched 0 times"));
    assert_eq!(times(&fake, "resources/subscribe"), 2);
    house.finish().await;
}

#[tokio::test]
async fn what_is_no_longer_named_is_not_watched_any_longer() {
    let fake = fake("--era legacy");
    let text = |inject: &[&str]| {
        let resources = json!({ "resources": { "inject": inject } });
        json!({ "mcp": { "servers": { "fake": entry(&fake, resources) } } })
    };
    let before = text(&["test://changing", "test://text"]);
    let house = House::new(StartMode::OnDemand, &before, &[&fake]);
    inject(&house).await;
    assert_eq!(times(&fake, "resources/subscribe"), 2);
    house
        .servers
        .reload(config(house.path(), &text(&["test://text"])));
    let is_told = || times(&fake, "resources/unsubscribe") == 1;
    assert!(eventually(SOON, is_told).await);
    assert_eq!(house.processes(), 1, "the server was not touched");
    let injection = inject(&house).await;
    assert!(!shown(&injection).contains("touched"));
    assert_eq!(times(&fake, "resources/subscribe"), 2);
    house.finish().await;
}

#[tokio::test]
async fn one_that_never_answers_costs_a_few_seconds_once() {
    let fake = fake("--odd-resources 10");
    let house = house(&fake, &json!({"inject": ["test://silent", "test://text"]}));
    house.started().await;
    let began = Instant::now();
    let injection = inject(&house).await;
    let took = began.elapsed();
    assert!(took < Duration::from_secs(8), "{took:?}");
    assert!(shown(&injection).contains("the text of a resource"));
    assert!(
        shown(&injection).contains(
            "The resource test://silent of the MCP server fake can't be shown: the server took too \
             long."
        ),
        "{}",
        shown(&injection)
    );
    assert_eq!(
        injection.problems,
        ["the resource test://silent of fake is not beside the message: the server took too long"]
    );
    let is_cancelled = || !fake.journal().events("cancelled").is_empty();
    assert!(eventually(SOON, is_cancelled).await);
    let began = Instant::now();
    let injection = inject(&house).await;
    assert!(
        began.elapsed() < Duration::from_secs(1),
        "{:?}",
        began.elapsed()
    );
    assert!(shown(&injection).contains("the server took too long a moment ago"));
    assert_eq!(injection.problems.len(), 1);
    house.finish().await;
}

#[tokio::test]
async fn a_text_takes_its_budget_and_says_how_to_read_on() {
    let fake = fake("--odd-resources 2000000 --resources 3");
    let text = json!({
        "mcp": { "servers": {
            "fake": entry(&fake, json!({"resources": {"inject": ["test://large", "test://numbered/*"]}})),
        } },
        "agents": { "entries": {
            "main": {},
            "small": { "resources": { "maxBytes": 5_000 } },
            "tiny": { "resources": { "maxBytes": 300 } },
            "without": { "resources": { "maxBytes": 5_000 }, "tools": { "deny": ["mcp_read_resource"] } },
        } },
    });
    let house = House::new(StartMode::OnDemand, &text, &[&fake]);
    for (name, budget, line) in [
        (
            "main",
            50_000,
            "of 2000000; read all of it with mcp_read_resource\n",
        ),
        (
            "small",
            5_000,
            "of 2000000; read all of it with mcp_read_resource\n",
        ),
        ("without", 5_000, "of 2000000; the rest was not kept\n"),
    ] {
        let agent = house.agent(name);
        house.servers.start(&agent, None).await;
        let injection = house.servers.inject(&agent, None, MOST).await;
        let bytes: usize = injection.texts.iter().map(ModelText::len).sum();
        assert!(bytes <= budget, "{name}: {bytes}");
        assert!(bytes > budget * 9 / 10, "{name}: the room is used: {bytes}");
        let shown = shown(&injection);
        for whole in ["number 0", "number 1", "number 2"] {
            assert!(
                shown.contains(&format!("---\n{whole}\n")),
                "{name}: {shown}"
            );
        }
        assert!(shown.contains(line), "{name}");
        assert_eq!(injection.problems, [""; 0]);
    }
    let tiny = house.agent("tiny");
    let injection = house.servers.inject(&tiny, None, MOST).await;
    let bytes: usize = injection.texts.iter().map(ModelText::len).sum();
    assert!(bytes <= 300, "{bytes}");
    assert_eq!(injection.problems.len(), 4, "{:?}", injection.problems);
    assert_eq!(
        injection.problems[0],
        "the resource test://large of fake is not beside the message: there is no room for it; \
         `resources.maxBytes` says how much there is"
    );
    assert!(
        shown(&injection).contains(
            "The resource test://large of the MCP server fake is not shown, since there is no room \
             for it"
        ),
        "{}",
        shown(&injection)
    );
    // Whoever asks may have less room than the configuration allows.
    let main = house.agent("main");
    let injection = house.servers.inject(&main, None, 2_000).await;
    let bytes: usize = injection.texts.iter().map(ModelText::len).sum();
    assert!(bytes <= 2_000, "{bytes}");
    house.finish().await;
}

#[tokio::test]
async fn a_server_has_a_budget_of_its_own_and_not_all_places() {
    let (loud, quiet) = (fake("--resources 100 --odd-resources 9000"), fake(""));
    let text = json!({
        "mcp": { "servers": {
            "loud": entry(&loud, json!({"resources": {"inject": ["test://numbered/*", "test://large"], "maxBytes": 3_000}})),
            "quiet": entry(&quiet, json!({"resources": {"inject": ["test://text"]}})),
        } },
    });
    let house = House::new(StartMode::OnDemand, &text, &[&loud, &quiet]);
    let injection = inject(&house).await;
    let shown = shown(&injection);
    assert!(shown.contains("the text of a resource"), "{shown}");
    assert!(
        shown.contains("82 more resources of the MCP server loud are not shown."),
        "{shown}"
    );
    let of_loud = injection.texts.iter();
    let of_loud = of_loud.filter(|text| text.as_str().contains("\nFrom: loud/"));
    let bytes: usize = of_loud.map(ModelText::len).sum();
    assert!(bytes <= 3_000, "{bytes}");
    assert!(times(&loud, "resources/read") <= 20);
    house.finish().await;
}

/// How much memory this process had at most, in bytes.
fn most_memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let words = line.unwrap().split_whitespace().next();
    words.unwrap().parse::<usize>().unwrap() * 1024
}

#[tokio::test]
async fn one_that_is_larger_than_any_message_does_no_harm() {
    let (large, good) = (fake("--odd-resources 150000000"), fake(""));
    let inject_one = |uri: &str| json!({ "resources": { "inject": [uri] } });
    let text = json!({ "mcp": { "servers": {
        "large": entry(&large, inject_one("test://large")),
        "good": entry(&good, inject_one("test://text")),
    } } });
    let house = House::new(StartMode::OnDemand, &text, &[&large, &good]);
    house.started().await;
    let began = Instant::now();
    let injection = inject(&house).await;
    assert!(
        began.elapsed() < Duration::from_secs(10),
        "{:?}",
        began.elapsed()
    );
    let shown = shown(&injection);
    assert!(
        shown.contains("The resource test://large of the MCP server large can't be shown"),
        "{shown}"
    );
    assert!(shown.contains("the text of a resource"), "{shown}");
    assert_eq!(injection.problems.len(), 1, "{:?}", injection.problems);
    let reads = times(&large, "resources/read");
    inject(&house).await;
    assert_eq!(times(&large, "resources/read"), reads, "it rests");
    assert!(most_memory() < 400_000_000, "{}", most_memory());
    house.finish().await;
}

#[tokio::test]
async fn a_line_without_an_end_does_no_harm() {
    let fake = fake("--at resources/read --endless-line");
    let house = house(&fake, &json!({"inject": ["test://text"]}));
    house.started().await;
    let began = Instant::now();
    let injection = inject(&house).await;
    assert!(
        began.elapsed() < Duration::from_secs(10),
        "{:?}",
        began.elapsed()
    );
    assert_eq!(injection.problems.len(), 1, "{:?}", injection.problems);
    assert!(most_memory() < 400_000_000, "{}", most_memory());
    house.finish().await;
}
