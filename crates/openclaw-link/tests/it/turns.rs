//! Turns of an agent: events, questions to the person, files.

use std::fs::File;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use openclaw_engine::*;
use serde_json::{Map, Value, json};
use tokio::time::timeout;

use crate::engine::{server_question, shown, tool_question};
use crate::setup::{DEADLINE, Gateway, Listening, Peer, WAYS, Way, until};

fn message(text: &str) -> ReplyRequest {
    ReplyRequest {
        message: text.to_owned(),
        ..ReplyRequest::default()
    }
}

#[tokio::test]
async fn a_request_arrives_with_everything_that_was_said() {
    for way in WAYS {
        let gateway = Gateway::start(way);
        let remote = gateway.remote().await;
        for can_answer in [true, false] {
            let audience = Listening {
                can_answer,
                ..Listening::new()
            };
            let request = ReplyRequest {
                agent: Some("a".to_owned()),
                session: SessionChoice::Fresh("f".to_owned()),
                earlier: vec![EarlierMessage {
                    speaker: EarlierSpeaker::User,
                    text: "before".to_owned(),
                }],
                instructions: Some("i".to_owned()),
                model: Some("m/n".to_owned()),
                approved: true,
                correlation: "c".to_owned(),
                ..message("show")
            };
            let report = remote.reply(request.clone(), &audience).await.unwrap();
            let local = gateway.engine.reply(request, &audience).await.unwrap();
            assert_eq!(report, local);
            assert!(report.reply.ends_with(&format!("true c {can_answer}")));
        }
    }
}

#[tokio::test]
async fn events_are_heard_in_their_order_and_before_the_end() {
    for way in WAYS {
        let gateway = Gateway::start(way);
        let remote = gateway.remote().await;
        let audience = Listening::new();
        remote
            .reply(message("events 2000"), &audience)
            .await
            .unwrap();
        let expected = (0..2000).map(|number| ReplyEvent::Partial {
            text: number.to_string(),
        });
        let heard = audience.heard.into_inner().unwrap();
        assert_eq!(heard, expected.collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn the_person_is_asked_and_answers() {
    for way in WAYS {
        let gateway = Gateway::start(way);
        let remote = gateway.remote().await;
        let fields = json!({"name": "x", "n": 1}).as_object().cloned();
        let says = ServerAnswer::Accept(fields.unwrap_or_else(Map::new));
        let audience = Listening {
            says: says.clone(),
            ..Listening::new()
        };
        for (tool, consent) in [("yes", "Once"), ("no", "No"), ("two", "Always")] {
            let asked = message(&format!("approve {tool}"));
            let report = remote.reply(asked, &audience).await.unwrap();
            assert_eq!(report.reply, consent);
            let asked = audience.asked.lock().unwrap().pop();
            assert_eq!(asked, Some(tool_question(tool)));
        }
        let report = remote.reply(message("answer"), &audience).await.unwrap();
        assert_eq!(report.reply, format!("{says:?}"));
        let asked = audience.asked_by_servers.lock().unwrap().pop();
        assert_eq!(asked, Some(server_question()));
        assert_eq!(audience.withdrawn.load(Ordering::SeqCst), 0);
    }
}

#[tokio::test]
async fn the_person_can_be_asked_two_things_and_answer_the_second_first() {
    for way in WAYS {
        let gateway = Gateway::start(way);
        let remote = gateway.remote().await;
        let audience = Listening::new();
        let report = remote.reply(message("both"), &audience).await.unwrap();
        assert_eq!(report.reply, "Once Always");
    }
}

#[tokio::test]
async fn a_question_to_the_person_is_withdrawn_when_the_engine_drops_it() {
    for way in WAYS {
        let gateway = Gateway::start(way);
        let remote = gateway.remote().await;
        let audience = Listening::new();
        let turn = remote.reply(message("withdraw"), &audience);
        let report = timeout(DEADLINE, turn).await.unwrap().unwrap();
        assert_eq!(report.reply, "Once");
        assert_eq!(audience.withdrawn.load(Ordering::SeqCst), 1);
        assert_eq!(gateway.engine.dropped.load(Ordering::SeqCst), 1);
    }
}

#[tokio::test]
async fn a_turn_that_is_dropped_stops() {
    for way in WAYS {
        let gateway = Gateway::start(way);
        let remote = gateway.remote().await;
        let audience = Listening::new();
        {
            let turn = remote.reply(message("wait"), &audience);
            tokio::select! {
                _ = turn => panic!("it never ends"),
                () = until("the turn", || !audience.heard.lock().unwrap().is_empty()) => {}
            }
        }
        gateway.until_waiting(0).await;
    }
}

#[tokio::test]
async fn an_answer_that_does_not_fit_is_refused_and_the_question_stays() {
    let gateway = Gateway::start(Way::Socket);
    let mut peer = Peer::greeted(gateway.state.path()).await;
    let with = json!({"message": "approve x", "canAnswer": true});
    peer.say(&json!({"type": "ask", "id": 5, "question": "reply", "with": with}))
        .await;
    let asked = peer.hear().await.unwrap();
    assert_eq!(
        (&asked["type"], &asked["question"]),
        (&json!("question"), &json!(1))
    );
    let answers: [Value; 3] = [
        json!({"type": "answer", "id": 5, "question": 1, "approve": "perhaps"}),
        json!({"type": "answer", "id": 5, "question": 1, "answer": {"type": "decline"}}),
        json!({"type": "answer", "id": 5, "question": "x", "approve": "no"}),
    ];
    for answer in &answers {
        peer.say(answer).await;
        let heard = peer.hear().await.unwrap();
        assert_eq!((&heard["type"], &heard["id"]), (&json!("error"), &json!(5)));
        assert_eq!(heard["failure"]["code"], "bad-answer");
    }
    // Those to what nobody asked come too late, and harm nobody.
    peer.say(&json!({"type": "answer", "id": 5, "question": 9, "approve": "no"}))
        .await;
    peer.say(&json!({"type": "answer", "id": 99, "question": 1, "approve": "no"}))
        .await;
    peer.say(&json!({"type": "answer", "id": 5, "question": 1, "approve": "always"}))
        .await;
    let done = peer.hear().await.unwrap();
    assert_eq!(done["report"]["reply"], "Always");
}

fn file(bytes: &[u8]) -> Arc<File> {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    Arc::new(file)
}

fn attachment(name: &str, data: AttachmentData) -> Attachment {
    Attachment {
        name: Some(name.to_owned()),
        mime_type: "image/png".to_owned(),
        data,
    }
}

#[tokio::test]
async fn files_arrive_byte_for_byte_and_in_their_order() {
    let gateway = Gateway::start(Way::Socket);
    let remote = gateway.remote().await;
    let bytes: Vec<u8> = (0..10_000_000_u32).map(|at| at.to_le_bytes()[1]).collect();
    let request = ReplyRequest {
        attachments: vec![
            attachment("small", AttachmentData::File(file(b"abc"))),
            attachment("text", AttachmentData::Base64("aGk=".to_owned())),
            attachment("large", AttachmentData::File(file(&bytes))),
        ],
        ..message("files")
    };
    let expected: String = request.attachments.iter().map(shown).collect();
    let audience = Listening::new();
    let report = remote.reply(request, &audience).await.unwrap();
    assert_eq!(report.reply, expected);
    assert!(report.reply.contains("10000000"), "{}", report.reply);
}

#[tokio::test]
async fn files_stay_with_their_messages_when_many_are_under_way() {
    let gateway = Gateway::start(Way::Socket);
    let remote = gateway.remote().await;
    let audience = Listening::new();
    let turns = (0..50_u8).map(|number| {
        let bytes = vec![number; usize::from(number) * 100];
        let data = AttachmentData::File(file(&bytes));
        let mut request = message("files");
        // Some come without.
        if number % 3 > 0 {
            let count = usize::from(number % 5) + 1;
            request.attachments = vec![attachment("f", data); count];
        }
        let expected: String = request.attachments.iter().map(shown).collect();
        let turn = remote.reply(request, &audience);
        async move { assert_eq!(turn.await.unwrap().reply, expected) }
    });
    let mut turns: Vec<_> = turns.map(Box::pin).collect();
    // All are sent before the first is answered.
    std::future::poll_fn(|context| {
        turns.retain_mut(|turn| turn.as_mut().poll(context).is_pending());
        if turns.is_empty() {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    })
    .await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn no_descriptor_is_left_behind() {
    let gateway = Gateway::start(Way::Socket);
    let remote = gateway.remote().await;
    let open = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let audience = Listening::new();
    remote.reply(message("files"), &audience).await.unwrap();
    let before = open();
    for text in ["files", "fails", "wait"] {
        for _ in 0..20 {
            let data = AttachmentData::File(file(b"abc"));
            let request = ReplyRequest {
                attachments: vec![attachment("f", data); 10],
                ..message(text)
            };
            let turn = remote.reply(request, &audience);
            if text == "wait" {
                tokio::select! {
                    _ = turn => panic!("it never ends"),
                    () = gateway.until_waiting(1) => {}
                }
                gateway.until_waiting(0).await;
            } else {
                turn.await.unwrap();
            }
        }
    }
    until("descriptors to be closed", || open() == before).await;
}

#[tokio::test]
async fn descriptors_that_nobody_speaks_of_are_closed_with_the_caller() {
    use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
    use std::os::fd::AsFd;

    let gateway = Gateway::start(Way::Socket);
    let mut peer = Peer::greeted(gateway.state.path()).await;
    let open = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let before = open();
    let file = file(b"abc");
    let text = crate::setup::framed(br#"{"type":"later"}"#);
    let mut refused = false;
    for _ in 0..40 {
        let descriptors = [file.as_fd(); 3];
        let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        assert!(control.push(SendAncillaryMessage::ScmRights(&descriptors)));
        let pieces = [std::io::IoSlice::new(&text)];
        let sent = sendmsg(&peer.0, &pieces, &mut control, SendFlags::NOSIGNAL);
        refused |= sent.is_err();
        tokio::task::yield_now().await;
    }
    if !refused {
        assert_eq!(peer.hear().await.unwrap()["type"], "error");
    }
    drop(file);
    until("descriptors to be closed", || open() <= before).await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn files_that_find_no_room_are_missed_and_later_ones_are_not() {
    use rustix::process::{Resource, getrlimit, setrlimit};

    let gateway = Gateway::start(Way::Socket);
    let remote = gateway.remote().await;
    let audience = Listening::new();
    let data = AttachmentData::File(file(b"abc"));
    let request = ReplyRequest {
        attachments: vec![attachment("f", data); 10],
        ..message("files")
    };
    let next = File::open("/dev/null").unwrap();
    let next = u64::try_from(std::os::fd::AsRawFd::as_raw_fd(&next)).unwrap();
    let before = getrlimit(Resource::Nofile);
    let mut few = before;
    few.current = Some(next + 5);
    setrlimit(Resource::Nofile, few).unwrap();
    let failed = remote.reply(request.clone(), &audience).await;
    setrlimit(Resource::Nofile, before).unwrap();
    assert_eq!(failed.unwrap_err().code, "lost-files");
    let expected: String = request.attachments.iter().map(shown).collect();
    let report = remote.reply(request, &audience).await.unwrap();
    assert_eq!(report.reply, expected);
}

#[tokio::test]
async fn texts_carry_base64_and_no_files() {
    let gateway = Gateway::start(Way::Texts);
    let remote = gateway.remote().await;
    let audience = Listening::new();
    let request = ReplyRequest {
        attachments: vec![attachment(
            "text",
            AttachmentData::Base64("aGk=".to_owned()),
        )],
        ..message("files")
    };
    let expected: String = request.attachments.iter().map(shown).collect();
    let report = remote.reply(request, &audience).await.unwrap();
    assert_eq!(report.reply, expected);

    let request = ReplyRequest {
        attachments: vec![attachment("f", AttachmentData::File(file(b"abc")))],
        ..message("files")
    };
    let failure = remote.reply(request, &audience).await.unwrap_err();
    assert_eq!(failure.code, "lost-files");
}
