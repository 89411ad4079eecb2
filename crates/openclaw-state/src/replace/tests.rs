use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_new_file_is_private_and_an_old_one_keeps_its_mode() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    replace(&path, b"one", Access::AsBefore).unwrap();
    assert_eq!(mode(&path), 0o600);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    replace(&path, b"two", Access::AsBefore).unwrap();
    assert_eq!(
        (mode(&path), fs::read(&path).unwrap()),
        (0o644, b"two".to_vec())
    );
    replace(&path, b"three", Access::Private).unwrap();
    assert_eq!(mode(&path), 0o600);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[test]
fn a_symbolic_link_stays_a_link() {
    let directory = tempfile::tempdir().unwrap();
    let (target, link) = (
        directory.path().join("target"),
        directory.path().join("link"),
    );
    fs::write(&target, "old").unwrap();
    symlink("target", &link).unwrap();
    replace(&link, b"new", Access::AsBefore).unwrap();
    assert_eq!(fs::read_link(&link).unwrap(), Path::new("target"));
    assert_eq!(fs::read(&target).unwrap(), b"new");
}

#[test]
fn a_read_only_file_is_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    fs::write(&path, "old").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o400)).unwrap();
    let error = replace(&path, b"new", Access::Private).unwrap_err();
    assert!(error.to_string().ends_with("the file is read-only"));
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[test]
fn a_rehearsal_meets_what_writing_would_meet_and_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    rehearse(&path, 100_000).unwrap();
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    fs::write(&path, "old").unwrap();
    rehearse(&path, 100_000).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o400)).unwrap();
    let error = rehearse(&path, 1).unwrap_err().to_string();
    assert!(error.ends_with("the file is read-only"), "{error}");
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    let error = rehearse(&directory.path().join("none/file"), 1).unwrap_err();
    assert!(error.to_string().ends_with("does not exist"), "{error}");
}

#[test]
fn a_link_to_nothing_stays_a_link_and_its_file_is_created() {
    let directory = tempfile::tempdir().unwrap();
    let (dotfiles, home) = (
        directory.path().join("dotfiles"),
        directory.path().join("home"),
    );
    fs::create_dir(&dotfiles).unwrap();
    fs::create_dir(&home).unwrap();
    // One link of each kind, and each relative to where it stands itself.
    symlink("second", home.join("first")).unwrap();
    symlink("../dotfiles/third", home.join("second")).unwrap();
    symlink(dotfiles.join("file"), dotfiles.join("third")).unwrap();
    replace(&home.join("first"), b"new", Access::AsBefore).unwrap();
    assert_eq!(
        fs::read_link(home.join("first")).unwrap(),
        Path::new("second")
    );
    assert_eq!(fs::read(home.join("first")).unwrap(), b"new");
    let file = dotfiles.join("file");
    assert!(fs::symlink_metadata(&file).unwrap().is_file());
    assert_eq!(mode(&file), 0o600);
}

#[test]
fn a_link_into_a_missing_directory_is_a_clear_error() {
    let directory = tempfile::tempdir().unwrap();
    let link = directory.path().join("link");
    symlink("missing/file", &link).unwrap();
    let error = replace(&link, b"new", Access::AsBefore).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("the symbolic link leads to"), "{text}");
    assert!(text.ends_with("missing does not exist"), "{text}");
    assert_eq!(check_replaceable(&link).unwrap_err().to_string(), text);
    assert_eq!(fs::read_link(&link).unwrap(), Path::new("missing/file"));
}

#[test]
fn links_in_a_circle_are_refused_and_stay() {
    let directory = tempfile::tempdir().unwrap();
    let (one, two) = (directory.path().join("one"), directory.path().join("two"));
    symlink("two", &one).unwrap();
    symlink("one", &two).unwrap();
    replace(&one, b"new", Access::AsBefore).unwrap_err();
    // The system counts as well, and usually first.
    let error = target::follow(&one).unwrap_err();
    assert!(error.to_string().contains("40 symbolic links"), "{error}");
    assert_eq!(fs::read_link(&one).unwrap(), Path::new("two"));
    assert_eq!(fs::read_link(&two).unwrap(), Path::new("one"));
}

#[test]
fn a_missing_directory_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("missing/file");
    let error = replace(&path, b"new", Access::Private).unwrap_err();
    assert_eq!(error.source.kind(), io::ErrorKind::NotFound);
    assert!(
        error.to_string().ends_with("missing does not exist"),
        "{error}"
    );
    // Whoever asks first may still create the directory.
    check_replaceable(&path).unwrap();
}

#[test]
fn a_link_to_a_device_does_not_replace_the_device() {
    use std::os::unix::fs::FileTypeExt;
    let directory = tempfile::tempdir().unwrap();
    let (pipe, link) = (directory.path().join("pipe"), directory.path().join("link"));
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    )
    .unwrap();
    symlink(&pipe, &link).unwrap();
    let error = replace(&link, b"new", Access::Private).unwrap_err();
    assert!(error.to_string().ends_with("not a file"), "{error}");
    assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());
}

#[test]
fn whether_a_file_can_be_replaced_is_told_beforehand() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    check_replaceable(&path).unwrap();
    fs::write(&path, "old").unwrap();
    check_replaceable(&path).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    let told = check_replaceable(&path).unwrap_err();
    let failed = replace(&path, b"new", Access::AsBefore).unwrap_err();
    assert_eq!(told.to_string(), failed.to_string());
    assert!(
        told.to_string().ends_with("the file is read-only"),
        "{told}"
    );
    assert!(!told.is_replaced());
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[test]
fn a_directory_that_cannot_be_synced_is_not_called_an_untouched_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    fs::write(&path, "old").unwrap();
    let confirm = |_: &Path| Err(io::Error::from_raw_os_error(5));
    let source = write(&path, b"new", Access::Private, confirm).unwrap_err();
    let error = WriteError {
        path: path.clone(),
        source,
    };
    assert!(error.is_replaced());
    assert_eq!(fs::read(&path).unwrap(), b"new");
    let text = error.to_string();
    assert!(text.contains("file has its new contents"), "{text}");
    assert!(text.contains("os error 5"), "{text}");
    assert!(!text.contains("cannot write"), "{text}");
}
