//! The cost of ranking 5,000 tools: `cargo bench -p openclaw-ranking`.

use divan::{Bencher, black_box};
use openclaw_ranking::{Document, Index};

fn main() {
    divan::main();
}

const VERBS: [&str; 10] = [
    "create", "list", "read", "update", "delete", "search", "send", "convert", "count", "merge",
];
const NOUNS: [&str; 20] = [
    "issue",
    "file",
    "directory",
    "message",
    "channel",
    "event",
    "calendar",
    "user",
    "invoice",
    "page",
    "table",
    "row",
    "image",
    "branch",
    "commit",
    "pipeline",
    "secret",
    "topic",
    "note",
    "contact",
];
const PARAMETERS: [&str; 6] = [
    "path",
    "query",
    "limit",
    "cursor",
    "project_id",
    "includeArchived",
];

/// Names and descriptions of so many tools.
fn tools(count: usize) -> Vec<(String, String, String)> {
    let tool = |number: usize| {
        let verb = VERBS[number % VERBS.len()];
        let noun = NOUNS[number / VERBS.len() % NOUNS.len()];
        let server = number / 200;
        let own = format!("{verb}_{noun}");
        let description = format!(
            "{verb} a {noun} in the workspace of server {server}. Takes what identifies the {noun} \
             and gives back the {noun} as it is afterwards, with its author, its time of change and \
             the places that refer to it. Fails if the {noun} is locked by somebody else. \
             Number {number}."
        );
        (format!("mcp_server{server}_{own}"), own, description)
    };
    (0..count).map(tool).collect()
}

fn index(tools: &[(String, String, String)]) -> Index {
    let document = |(name, own_name, description): &'_ (String, String, String)| {
        // The benchmark lives as long as its tools.
        Document {
            name: name.clone().leak(),
            own_name: own_name.clone().leak(),
            aliases: &[],
            description: description.clone().leak(),
            parameters: &PARAMETERS,
        }
    };
    let documents: Vec<_> = tools.iter().map(document).collect();
    Index::new(&documents)
}

#[divan::bench(sample_count = 20)]
fn building_an_index_of_5000_tools(bencher: Bencher<'_, '_>) {
    let tools = tools(5_000);
    bencher.bench_local(|| index(black_box(&tools)));
}

#[divan::bench(args = ["merge two branches", "which invoices did the user send in the calendar, and who locked the file?", "mcp_server3_read_file path=/tmp"])]
fn ranking_5000_tools(bencher: Bencher<'_, '_>, text: &str) {
    let index = index(&tools(5_000));
    bencher.bench_local(|| index.rank(black_box(text), 10));
}

#[divan::bench(sample_count = 20)]
fn ranking_5000_tools_against_a_megabyte(bencher: Bencher<'_, '_>) {
    let index = index(&tools(5_000));
    let text = "please list what mcp_server3 knows of the workspace and its author ".repeat(15_000);
    bencher.bench_local(|| index.rank(black_box(&text), 10));
}
