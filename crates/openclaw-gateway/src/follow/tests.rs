use std::fs;
use std::path::Path;

use super::*;

/// A file and what follows it, looked at step by step.
struct Looking {
    follower: Follower,
    files: Vec<PathBuf>,
}

impl Looking {
    fn at(file: &Path) -> Self {
        let files = vec![file.to_owned()];
        Self {
            follower: Follower::new(Stamps::of(&files)),
            files,
        }
    }

    fn look(&mut self) -> bool {
        self.follower.is_time(Stamps::of(&self.files))
    }

    /// A change is a reason to read once, when it is seen for the second time.
    fn assert_read_once(&mut self, why: &str) {
        assert!(!self.look(), "{why}: read at the first look");
        assert!(self.look(), "{why}: not read");
        assert!(!self.look(), "{why}: read twice");
    }
}

#[test]
fn a_file_that_is_replaced_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("openclaw.json");
    fs::write(&file, "{}").unwrap();
    let mut looking = Looking::at(&file);
    assert!(!looking.look());
    let other = directory.path().join("new");
    fs::write(&other, "{}").unwrap();
    fs::rename(&other, &file).unwrap();
    looking.assert_read_once("replaced by one of the same size");
}

#[test]
fn a_file_that_is_deleted_is_read_and_so_is_one_that_comes_back() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("openclaw.json");
    fs::write(&file, "{}").unwrap();
    let mut looking = Looking::at(&file);
    fs::remove_file(&file).unwrap();
    looking.assert_read_once("deleted");
    fs::write(&file, "{}").unwrap();
    looking.assert_read_once("back");
}

#[test]
fn one_that_is_gone_for_a_moment_only_is_not_read_while_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("openclaw.json");
    let kept = directory.path().join("kept");
    fs::write(&file, "{}").unwrap();
    let mut looking = Looking::at(&file);
    fs::rename(&file, &kept).unwrap();
    assert!(!looking.look());
    fs::write(&file, "{ }").unwrap();
    looking.assert_read_once("another one in its place");
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_elsewhere_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let (first, second) = (directory.path().join("a"), directory.path().join("b"));
    fs::write(&first, "{}").unwrap();
    fs::write(&second, "{}").unwrap();
    let link = directory.path().join("openclaw.json");
    std::os::unix::fs::symlink(&first, &link).unwrap();
    let mut looking = Looking::at(&link);
    let new = directory.path().join("new");
    std::os::unix::fs::symlink(&second, &new).unwrap();
    fs::rename(&new, &link).unwrap();
    looking.assert_read_once("switched");
    fs::write(&second, "{ }").unwrap();
    looking.assert_read_once("what it leads to has changed");
    fs::write(&first, "{ }").unwrap();
    assert!(
        !looking.look(),
        "what it no longer leads to counts for nothing"
    );
}

#[test]
fn one_that_is_written_in_two_steps_is_read_when_both_are_done() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("openclaw.json");
    fs::write(&file, "{ a }").unwrap();
    let mut looking = Looking::at(&file);
    fs::write(&file, "").unwrap();
    assert!(!looking.look());
    fs::write(&file, "{ a, b }").unwrap();
    looking.assert_read_once("written");
}

#[test]
fn one_that_is_touched_is_read_though_nothing_in_it_changed() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("openclaw.json");
    fs::write(&file, "{}").unwrap();
    let mut looking = Looking::at(&file);
    let later = std::time::SystemTime::now() + Duration::from_secs(5);
    let open = fs::File::options().write(true).open(&file).unwrap();
    open.set_modified(later).unwrap();
    looking.assert_read_once("touched");
}

#[test]
fn a_file_that_joins_the_others_is_a_change() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("openclaw.json");
    let included = directory.path().join("servers.json");
    fs::write(&file, "{}").unwrap();
    fs::write(&included, "{}").unwrap();
    let mut looking = Looking::at(&file);
    looking.files.push(included.clone());
    looking.assert_read_once("one more");
    fs::write(&included, "{ }").unwrap();
    looking.assert_read_once("and it is followed");
}

#[test]
fn what_changed_since_the_files_were_read_is_a_change_and_what_was_not_known_is_none() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("openclaw.json");
    let included = directory.path().join("servers.json");
    fs::write(&file, "{}").unwrap();
    fs::write(&included, "{}").unwrap();
    let both = [file.clone(), included.clone()];
    let gone = directory.path().join("gone");
    let before = || Followed::now(&[file.clone(), gone.clone()]).0;

    let mut follower = Follower::new(before().or_else(Stamps::of(&both)));
    assert!(!follower.is_time(Stamps::of(&both)));
    assert!(!follower.is_changing(), "nothing has changed");

    let before = before();
    fs::write(&file, "{ }").unwrap();
    let mut follower = Follower::new(before.or_else(Stamps::of(&both)));
    assert!(!follower.is_time(Stamps::of(&both)));
    assert!(
        follower.is_time(Stamps::of(&both)),
        "it changed before the first look"
    );
}
