//! Traces of MCP clients that give orders, which go on here.

use openclaw_testkit::collector::Collector;
use serde_json::json;

use super::client::Client;
use crate::gateway::Gateway;
use crate::lab::Lab;
use crate::traces::{PARENT, span, traced};

/// Gives an order that belongs to a trace, and says that nothing more comes.
fn order(lab: &Lab) {
    let mut client = Client::start(lab, &["mcp-server"]);
    let id = client.request(
        "tools/call",
        &json!({
            "name": "order_openclaw",
            "arguments": { "message": "echo message=unmistakable" },
            "_meta": { "traceparent": PARENT, "tracestate": "vendor=1", "progressToken": 7 },
        }),
    );
    let answer = client.answer(id);
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    client.end().is_good();
}

fn check(lab: &Lab, collector: &Collector) {
    let spans = collector.spans();
    let turn = span(&spans, "invoke_agent main");
    assert_eq!(turn.trace, "0af7651916cd43dd8448eb211c80319c");
    assert_eq!(turn.parent, "b7ad6b7169203331");
    let messages = lab.journal().messages();
    let call = messages
        .iter()
        .find(|it| it["method"] == "tools/call")
        .unwrap();
    let exchange = span(&spans, "tools/call echo");
    let told = format!("00-{}-{}-01", exchange.trace, exchange.id);
    assert_eq!(call["params"]["_meta"]["traceparent"], told);
    assert_eq!(call["params"]["_meta"]["tracestate"], "vendor=1");
}

#[test]
fn an_order_belongs_to_the_trace_of_the_client() {
    let collector = Collector::start().unwrap();
    let lab = traced(Lab::new(""), &collector);
    order(&lab);
    check(&lab, &collector);
}

#[test]
fn an_order_that_a_gateway_carries_out_belongs_to_it_as_well() {
    let collector = Collector::start().unwrap();
    let lab = traced(Lab::new(""), &collector);
    let gateway = Gateway::start(&lab.home, &[]);
    order(&lab);
    // What is left is exported when it ends.
    drop(gateway);
    check(&lab, &collector);
}
