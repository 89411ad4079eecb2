use super::*;

#[test]
fn the_place_is_gone_when_it_is_dropped_and_when_it_is_removed() {
    let place = Place::new().unwrap();
    let path = place.environment().directory().to_owned();
    assert!(path.join("openclaw.json").is_file());
    drop(place);
    assert!(!path.exists());
    let path = Place::new().unwrap().remove().unwrap();
    assert!(!path.exists());
}

#[cfg(unix)]
#[test]
fn a_process_that_runs_is_told_from_one_that_does_not() {
    assert!(is_running(std::process::id()));
    let mut child = std::process::Command::new("true").spawn().unwrap();
    let pid = child.id();
    child.wait().unwrap();
    assert!(!is_running(pid));
}
