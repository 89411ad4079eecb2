//! Whatever a service sends, it is an answer only if it is one.

use openclaw_models::ModelError;
use proptest::prelude::*;

use crate::house::House;
use crate::server::{Answer, Server};
use crate::streams::{APIS, Say, stream};

fn ask(api: &str, bytes: &[u8]) -> Result<String, ModelError> {
    let server = Server::start([Answer::stream(&[bytes]).in_pieces_of(64)]);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let house = House::with_service(api, &server.origin());
    let reply = runtime.block_on(house.hello())?;
    Ok(reply.message.text())
}

/// Pieces of which streams are made, in any order.
fn pieces() -> impl Strategy<Value = String> {
    let words = vec![
        "data: ",
        "event: ",
        "\n",
        "\n\n",
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\"type\"",
        "\"delta\"",
        "\"choices\"",
        "\"content_block\"",
        "\"candidates\"",
        "\"message\"",
        "null",
        "1",
        "\"\"",
        "{\"type\":\"message_start\",\"message\":{}}",
        "{\"choices\":[{\"delta\":{\"content\":5}}]}",
        "{\"type\":\"response.output_text.delta\",\"delta\":{}}",
        "data: {}\n\n",
        "{}\n",
        "{\"candidates\":[{\"content\":{\"parts\":[{}]}}]}",
        "\u{0}",
        "ü",
    ];
    let word = prop::sample::select(words);
    prop::collection::vec(word, 0..40).prop_map(|words| words.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn garbage_is_never_an_answer(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        for api in APIS {
            prop_assert!(ask(api, &bytes).is_err());
        }
    }

    #[test]
    fn neither_are_pieces_of_streams(text in pieces()) {
        for api in APIS {
            prop_assert!(ask(api, text.as_bytes()).is_err());
        }
    }

    #[test]
    fn a_stream_with_one_byte_changed_does_no_harm(
        place in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        for api in APIS {
            let says = [Say::Text("hello"), Say::Call("c", "t", "{\"a\":1}")];
            let mut bytes = stream(api, &says).concat().into_bytes();
            let place = place.index(bytes.len());
            bytes[place] = byte;
            let _ = ask(api, &bytes);
        }
    }
}
