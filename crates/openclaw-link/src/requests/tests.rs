use openclaw_engine::EarlierSpeaker;

use super::*;

fn everything() -> ReplyRequest {
    ReplyRequest {
        agent: Some("main".to_owned()),
        session: SessionChoice::Key("work".to_owned()),
        message: "hello".to_owned(),
        attachments: vec![
            Attachment {
                name: Some("a.txt".to_owned()),
                mime_type: "text/plain".to_owned(),
                data: AttachmentData::Base64("aGk=".to_owned()),
            },
            Attachment {
                name: None,
                mime_type: "image/png".to_owned(),
                data: AttachmentData::File(Arc::new(tempfile::tempfile().unwrap())),
            },
        ],
        earlier: vec![EarlierMessage {
            speaker: EarlierSpeaker::Assistant,
            text: "before".to_owned(),
        }],
        instructions: Some("be brief".to_owned()),
        model: Some("builtin/offline".to_owned()),
        approved: true,
        correlation: "c-1".to_owned(),
    }
}

#[test]
fn a_request_arrives_with_everything() {
    let (travelling, files) = TravellingRequest::pack(everything(), true).unwrap();
    let text = serde_json::to_string(&travelling).unwrap();
    let read: TravellingRequest = serde_json::from_str(&text).unwrap();
    assert!(read.can_answer);
    let arrived = read.unpack(&files).unwrap();
    let (before, after) = (everything(), arrived);
    // Files differ in their descriptors.
    let shown = |request: &ReplyRequest| {
        let mut request = request.clone();
        let file = request.attachments.pop().unwrap();
        assert!(matches!(file.data, AttachmentData::File(_)));
        format!("{request:?}{:?}{}", file.name, file.mime_type)
    };
    assert_eq!(shown(&after), shown(&before));
}

#[test]
fn what_is_left_out_is_what_nobody_said() {
    let read: TravellingRequest = serde_json::from_str(r#"{"message":"hi","later":1}"#).unwrap();
    assert!(!read.can_answer);
    let request = read.unpack(&[]).unwrap();
    assert_eq!(request.message, "hi");
    assert_eq!(request.session, SessionChoice::Main);
    assert!(!request.approved);
}

fn refusal(attachment: &str, files: &[Arc<File>]) -> String {
    let text = format!(r#"{{"message":"hi","attachments":[{attachment}]}}"#);
    let read: TravellingRequest = serde_json::from_str(&text).unwrap();
    read.unpack(files).unwrap_err().message
}

#[test]
fn an_attachment_without_usable_bytes_is_refused() {
    let file = Arc::new(tempfile::tempfile().unwrap());
    let none = refusal(r#"{"mimeType":"a/b"}"#, &[]);
    assert!(none.ends_with("it has no `data`"), "{none}");
    let both = refusal(
        r#"{"mimeType":"a/b","data":"","file":0}"#,
        std::slice::from_ref(&file),
    );
    assert!(both.ends_with("both `data` and `file`"), "{both}");
    let missing = refusal(r#"{"mimeType":"a/b","file":1}"#, &[file]);
    assert!(missing.ends_with("did not come with it"), "{missing}");
}

#[cfg(unix)]
#[test]
fn only_regular_files_are_taken_for_files() {
    let directory = Arc::new(File::open("/").unwrap());
    let refused = refusal(r#"{"mimeType":"a/b","file":0}"#, &[directory]);
    assert!(refused.ends_with("it is not a file"), "{refused}");
}

#[test]
fn more_files_than_can_travel_are_refused() {
    let file = Arc::new(tempfile::tempfile().unwrap());
    let attachment = Attachment {
        name: None,
        mime_type: "a/b".to_owned(),
        data: AttachmentData::File(file),
    };
    let request = ReplyRequest {
        attachments: vec![attachment; MOST_FILES + 1],
        ..ReplyRequest::default()
    };
    let failure = TravellingRequest::pack(request, false).unwrap_err();
    assert_eq!(failure.code, "too-many-files");
}
