//! Names of servers that are names here too.

/// How many characters a name has at most.
const LONGEST: usize = 64;

/// The name as it can stand in `openclaw.json`; the same one where it can stay.
///
/// `$include` could be a name, but stands for a file there.
pub(crate) fn cleaned(name: &str) -> String {
    match name {
        "__proto__" => return "proto".to_owned(),
        "$include" => return "include".to_owned(),
        _ => {}
    }
    let cleaned: String = name
        .chars()
        .take(LONGEST)
        .map(|c| if c.is_control() || c == '/' { '-' } else { c })
        .collect();
    if cleaned.is_empty() {
        return "server".to_owned();
    }
    cleaned
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_names_stay_and_others_become_good() {
        for good in ["github", "my server", "Ünï-cødé", "a.b:c@d"] {
            assert_eq!(cleaned(good), good);
        }
        assert_eq!(cleaned("io.github.user/server"), "io.github.user-server");
        assert_eq!(cleaned("a\nb"), "a-b");
        assert_eq!(cleaned(""), "server");
        assert_eq!(cleaned("__proto__"), "proto");
        assert_eq!(cleaned("$include"), "include");
        assert_eq!(cleaned(&"é".repeat(70)).chars().count(), 64);
    }
}
