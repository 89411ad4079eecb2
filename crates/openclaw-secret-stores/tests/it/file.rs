//! Files as secrets.

use std::fs;
use std::path::Path;

use openclaw_config::{Definition, FileMode, SecretProviderSettings};
use openclaw_secret_stores::{Remark, SecretErrorKind};

use crate::house::House;

#[cfg(unix)]
fn write(path: &Path, content: &[u8], mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::write(path, content).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn a_file_is_read_below_home_or_at_its_path() {
    let house = House::new(&[]);
    let path = house.path().join("key");
    write(&path, b"the-whole-file\n", 0o600);
    assert_eq!(
        house.get("secret://file/~/key").await.unwrap(),
        "the-whole-file"
    );
    let absolute = format!("secret://file/{}", path.display());
    assert_eq!(house.get(&absolute).await.unwrap(), "the-whole-file");
    // Anew every time.
    write(&path, b"another-file\r\n", 0o600);
    assert_eq!(
        house.get("secret://file/~/key").await.unwrap(),
        "another-file"
    );
}

#[cfg(unix)]
#[tokio::test]
async fn a_value_of_a_json_file_is_found_by_its_pointer() {
    let house = House::new(&[]);
    let path = house.path().join("keys.json");
    write(
        &path,
        br#"{"a": {"b/c": "nested-value"}, "n": 12345678901, "o": {}}"#,
        0o600,
    );
    let get = async |pointer: &str| {
        house
            .get(&format!("secret://file/~/keys.json#{pointer}"))
            .await
    };
    assert_eq!(get("/a/b~1c").await.unwrap(), "nested-value");
    assert_eq!(get("/n").await.unwrap(), "12345678901");
    let error = get("/a/x").await.unwrap_err();
    assert_eq!(error.kind(), SecretErrorKind::Missing);
    assert!(
        error.to_string().ends_with("has no value at `/a/x`"),
        "{error}"
    );
    let error = get("/o").await.unwrap_err();
    assert_eq!(error.kind(), SecretErrorKind::Unusable);
    write(&path, br#"{"a": "hunter2-hunter2" oops}"#, 0o600);
    let error = get("/a").await.unwrap_err().to_string();
    assert!(error.contains("is not JSON at line 1"), "{error}");
    assert!(!error.contains("hunter2"), "{error}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_file_that_others_can_read_is_remarked_on() {
    let house = House::new(&[]);
    let path = house.path().join("open");
    for (mode, remarked) in [(0o600, false), (0o400, false), (0o640, true), (0o604, true)] {
        write(&path, b"some-long-value", mode);
        let resolved = house.resolve(&["secret://file/~/open"]).await.remove(0);
        let remarks = resolved.unwrap().remarks;
        let open = Remark::OpenFile {
            path: path.clone(),
            mode,
        };
        assert_eq!(
            remarks,
            if remarked { vec![open] } else { vec![] },
            "{mode:o}"
        );
    }
    let remark = Remark::OpenFile { path, mode: 0o644 };
    let text = format!("{remark}: {}", remark.fix());
    assert!(
        text.contains("mode 644") && text.contains("chmod 600"),
        "{text}"
    );
}

#[cfg(unix)]
#[tokio::test]
async fn what_is_no_file_of_text_is_refused_in_words() {
    let house = House::new(&[]);
    let home = house.path();
    write(&home.join("binary"), b"\xff\xfe\x00", 0o600);
    write(&home.join("zero"), b"abc\0def", 0o600);
    write(&home.join("large"), &vec![b'x'; 64 * 1024 + 1], 0o600);
    write(&home.join("huge"), &vec![b'x'; 10 * 1024 * 1024], 0o600);
    write(&home.join("empty"), b"", 0o600);
    fs::create_dir(home.join("directory")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        home.join("pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    for (name, kind, words) in [
        ("binary", SecretErrorKind::Unusable, "it is binary"),
        ("zero", SecretErrorKind::Unusable, "it is binary"),
        ("large", SecretErrorKind::Unusable, "it has 65537 bytes"),
        ("huge", SecretErrorKind::Unusable, "more than 1048576 bytes"),
        ("empty", SecretErrorKind::Unusable, "it is empty"),
        ("directory", SecretErrorKind::Unusable, "it is not a file"),
        ("pipe", SecretErrorKind::Unusable, "it is not a file"),
        ("missing", SecretErrorKind::Missing, "cannot read"),
    ] {
        let error = house
            .get(&format!("secret://file/~/{name}"))
            .await
            .unwrap_err();
        assert_eq!(error.kind(), kind, "{name}: {error}");
        assert!(error.to_string().contains(words), "{name}: {error}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_configured_file_has_pointers_or_a_single_value() {
    let mut house = House::new(&[]);
    let (json, single) = (house.path().join("j"), house.path().join("s"));
    write(&json, br#"{"k": "from-the-json"}"#, 0o600);
    write(&single, b"the-only-value", 0o600);
    let entry = |path, mode| Definition::Sound(SecretProviderSettings::File { path, mode }.into());
    let providers = &mut house.settings.providers;
    providers.insert("j".to_owned(), entry(json, FileMode::Json));
    providers.insert("s".to_owned(), entry(single, FileMode::SingleValue));
    let get = async |text| house.get(text).await;
    assert_eq!(get("secret-ref:file/j//k").await.unwrap(), "from-the-json");
    assert_eq!(
        get("secret-ref:file/s/value").await.unwrap(),
        "the-only-value"
    );
    let error = get("secret-ref:file/j/k").await.unwrap_err();
    assert!(error.to_string().contains("not a JSON pointer"), "{error}");
    let error = get("secret-ref:file/s/k").await.unwrap_err();
    assert!(error.to_string().contains("only the id `value`"), "{error}");
    let error = get("secret-ref:env/s/k").await.unwrap_err();
    assert!(
        error.to_string().contains("not of the kind `env`"),
        "{error}"
    );
}
