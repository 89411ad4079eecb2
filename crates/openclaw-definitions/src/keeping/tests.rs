use super::*;

#[test]
fn what_is_stored_comes_back_as_it_was() {
    for (value, stored) in [
        ("key", "key"),
        ("key\n", "key\n\n"),
        ("key\r\n", "key\r\n\n"),
        ("one\ntwo", "one\ntwo"),
    ] {
        assert_eq!(lasting(&Secret::new(value)).expose(), stored);
    }
}
