//! Which strings are taken out of a line, and what becomes of them.

use super::*;

/// The bytes of all attachments of the only message.
fn bytes_of(text: &str) -> Vec<Vec<u8>> {
    let (_, spooled) = message(text);
    spooled.iter().map(|one| kept(one).unwrap()).collect()
}

#[test]
fn attachments_go_to_files_and_their_places_stay() {
    let call = call(
        &json!([attachment(b"one"), attachment(b"")]),
        &json!([attachment(b"three")]),
    );
    let (value, spooled) = message(&call.to_string());
    let arguments = &value["params"]["arguments"];
    assert_eq!(
        arguments["images"],
        json!([{"data": "0", "mimeType": "image/png"}, {"data": "1", "mimeType": "image/png"}])
    );
    assert_eq!(arguments["files"][0]["data"], "2");
    assert_eq!(arguments["message"], "look");
    assert_eq!((&value["id"], spooled.len()), (&json!(7), 3));
    let bytes: Vec<_> = spooled.iter().map(|one| kept(one).unwrap()).collect();
    assert_eq!(bytes, [b"one" as &[u8], b"", b"three"]);
}

#[test]
fn the_same_key_elsewhere_is_left_alone() {
    for text in [
        r#"{"data":"QUJD"}"#,
        r#"{"params":{"data":"QUJD"}}"#,
        r#"{"params":{"arguments":{"data":"QUJD"}}}"#,
        r#"{"params":{"arguments":{"images":{"data":"QUJD"}}}}"#,
        r#"{"params":{"arguments":{"images":["data","QUJD"]}}}"#,
        r#"{"params":{"arguments":{"images":[["data","QUJD"]]}}}"#,
        r#"{"params":{"arguments":{"images":[[{"data":"QUJD"}]]}}}"#,
        r#"{"params":{"arguments":{"images":[{"meta":{"data":"QUJD"}}]}}}"#,
        r#"{"params":{"arguments":{"images":[{"data":{"data":"QUJD"}}]}}}"#,
        r#"{"params":{"arguments":{"images":[{"data":["QUJD"]}]}}}"#,
        r#"{"params":{"arguments":{"images":[{"x":"data","y":"QUJD"}]}}}"#,
        r#"{"params":{"arguments":{"images":[{"Data":"QUJD","data ":"QUJD"}]}}}"#,
        r#"{"params":{"arguments":{"other":{"images":[{"data":"QUJD"}]}}}}"#,
        r#"{"params":{"arguments":{"other":[],"images":5,"x":[{"data":"QUJD"}]}}}"#,
        r#"{"params":{"arguments":[{"images":[{"data":"QUJD"}]}]}}"#,
        r#"{"params":[{"arguments":{"images":[{"data":"QUJD"}]}}]}"#,
        r#"{"x":{"params":{"arguments":{"images":[{"data":"QUJD"}]}}}}"#,
        r#"[[{"params":{"arguments":{"images":[{"data":"QUJD"}]}}}]]"#,
        r#"[{},[{"params":{"arguments":{"images":[{"data":"QUJD"}]}}}]]"#,
        r#"{"params":{"arguments":{"images":[{"data":5}]}}}"#,
    ] {
        let (value, spooled) = message(text);
        assert_eq!(value, serde_json::from_str::<Value>(text).unwrap());
        assert_eq!(spooled.len(), 0, "{text}");
    }
}

#[test]
fn order_escapes_and_spaces_of_keys_do_not_matter() {
    for text in [
        r#"{"params":{"arguments":{"files":[{"data":"QUJD"}]}}}"#,
        r#" { "id" : {"params":1} , "params" : { "x" : [ { } , [ ] ] , "arguments" : { "y" : { } , "files" : [ { "z" : [ ] , "data" : "QUJD" } ] } } } "#,
        r#"{"p\u0061rams":{"\u0061rguments":{"file\u0073":[{"d\u0061t\u0061":"QUJD"}]}}}"#,
        r#"{"params":{"arguments":{"files":[5,"data",{"data":"QUJD"},[{"data":"QUJD"}]]}},"id":1}"#,
        r#"{"params":{"arguments":{"images":[{"data":"QUJD","x":"data"}]}}}"#,
    ] {
        assert_eq!(bytes_of(text), [b"ABC"], "{text}");
    }
}

#[test]
fn base64_may_be_escaped() {
    let text = r#"{"params":{"arguments":{"files":[{"data":"\u0051U\u004aD\/\u002f\u002b\/Pz8\u003d"}]}}}"#;
    assert_eq!(bytes_of(text), [b"ABC\xff\xff\xbf\x3f\x3f"]);
}

#[test]
fn what_is_not_base64_is_said_of_the_attachment_and_not_of_the_line() {
    for (data, problem) in [
        (
            "QUJ",
            "base64 of 3 characters is incomplete: the number must be a multiple of four",
        ),
        (
            "QU D",
            "base64 has white space at offset 2: it must be one line without spaces",
        ),
        (
            r"QU\nD",
            "base64 has white space at offset 2: it must be one line without spaces",
        ),
        (r"\u0000AAA", "base64 is malformed at offset 0"),
        ("é==", "base64 is malformed at offset 0"),
        (r"\ud83d\ude00", "base64 is malformed at offset 0"),
        (
            "data:image/png;base64,QUJD",
            "it is a data URI: only what follows `;base64,` belongs here",
        ),
    ] {
        let text = format!(r#"{{"params":{{"arguments":{{"files":[{{"data":"{data}"}}]}}}}}}"#);
        let (value, spooled) = message(&text);
        assert_eq!(value["params"]["arguments"]["files"][0]["data"], "0");
        assert_eq!(kept(&spooled[0]), Err(problem.to_owned()), "{data}");
    }
}

#[test]
fn of_the_same_key_the_last_counts() {
    let text = r#"{"params":{"arguments":{"images":[{"data":"QUFB","data":"QkJC"}],"images":[{"data":"RkZG"}]}},"params":{"arguments":{"images":[{"data":"RERE"},{"data":5,"data":"RUVF"}]}}}"#;
    let (value, spooled) = message(text);
    assert_eq!(
        value,
        json!({"params": {"arguments": {"images": [{"data": "3"}, {"data": "4"}]}}})
    );
    assert_eq!(kept(&spooled[3]).unwrap(), b"DDD");
    assert_eq!(kept(&spooled[4]).unwrap(), b"EEE");
}

#[test]
fn each_message_of_a_batch_has_its_own() {
    let batch = json!([
        call(&json!([attachment(b"one")]), &json!([])),
        5,
        call(&json!([]), &json!([attachment(b"two")])),
    ]);
    let (value, spooled) = message(&batch.to_string());
    assert_eq!(value[0]["params"]["arguments"]["images"][0]["data"], "0");
    assert_eq!(value[2]["params"]["arguments"]["files"][0]["data"], "1");
    assert_eq!(kept(&spooled[1]).unwrap(), b"two");
}

#[test]
fn attachments_beyond_those_of_a_message_are_only_counted() {
    let many = |count| Value::from(vec![attachment(b"bytes"); count]);
    let surplus = |spooled: &[Spooled]| -> Vec<usize> {
        let places = spooled.iter().enumerate();
        let surplus = places.filter(|(_, one)| matches!(one.file, Err(SpoolProblem::Surplus)));
        surplus.map(|(place, _)| place).collect()
    };
    let (_, spooled) = message(&call(&many(10), &many(5)).to_string());
    assert_eq!((spooled.len(), surplus(&spooled).len()), (15, 0));

    let (value, spooled) = message(&call(&many(12), &many(6)).to_string());
    assert_eq!((spooled.len(), surplus(&spooled)), (18, vec![10, 11, 17]));
    let images = value["params"]["arguments"]["images"].as_array().unwrap();
    assert_eq!(images[11]["data"], "11");

    // The next message has room again, and the line as a whole has not.
    let batch = Value::from(vec![call(&many(11), &many(5)); 5]);
    let (_, spooled) = message(&batch.to_string());
    let mut expected = vec![10, 26, 42, 58];
    expected.extend(64..80);
    assert_eq!(surplus(&spooled), expected);
}

#[test]
fn an_attachment_may_be_as_large_as_the_limit() {
    let limits = Limits {
        attachment: 10_000,
        ..Limits::TOOL
    };
    let images = json!([attachment(&[7; 10_000]), attachment(&[7; 10_001])]);
    let text = call(&images, &json!([])).to_string();
    let all = scan_within(&text, &limits);
    let Some(Incoming::Message { spooled, .. }) = all.first() else {
        panic!("{all:?}");
    };
    assert_eq!(kept(&spooled[0]).unwrap().len(), 10_000);
    let problem = kept(&spooled[1]).unwrap_err();
    assert_eq!(problem, "it has 10001 bytes, and 10000 is the most");
    assert_eq!(spooled[1].bytes, 10_001);
}

#[test]
fn a_directory_that_is_gone_costs_only_attachments() {
    let gone = tempfile::tempdir().unwrap().path().join("gone");
    let text = call(&json!([attachment(b"one")]), &json!([])).to_string();
    let all = scan_into([text.as_bytes()], &Limits::TOOL, &gone);
    let [Incoming::Message { value, spooled }] = all.as_slice() else {
        panic!("{all:?}");
    };
    assert_eq!(value["id"], 7);
    assert!(matches!(spooled[0].file, Err(SpoolProblem::Unwritable(_))));
}
