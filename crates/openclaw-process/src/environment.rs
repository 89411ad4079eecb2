//! What a program gets to see of our environment: little, unless the configuration says more.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

/// Variables that programs need to run at all and that hold no secrets.
const USUAL: &[&str] = &[
    "PATH",
    "HOME",
    "LANG",
    "LANGUAGE",
    "TERM",
    "USER",
    "LOGNAME",
    "SHELL",
    "TMPDIR",
    "TZ",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
    // Without these a program behind a company's proxy or authority can't reach anything.
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "all_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
];

/// The same for Windows, where names have no case.
const USUAL_ON_WINDOWS: &[&str] = &[
    "APPDATA",
    "COMSPEC",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "NUMBER_OF_PROCESSORS",
    "OS",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "PROGRAMFILES(X86)",
    "PROGRAMW6432",
    "PUBLIC",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "USERDOMAIN",
    "USERNAME",
    "USERPROFILE",
    "WINDIR",
];

/// What a program gets beside the usual variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Inherited {
    /// Nothing.
    #[default]
    Nothing,
    /// Everything.
    All,
    /// The variables of these names.
    Names(Vec<String>),
}

/// The environment of a program: the usual variables of ours, those that are inherited, and on top
/// those that are declared.
pub fn child_environment(
    ours: impl IntoIterator<Item = (OsString, OsString)>,
    inherited: &Inherited,
    declared: impl IntoIterator<Item = (OsString, OsString)>,
) -> BTreeMap<OsString, OsString> {
    let mut environment: BTreeMap<OsString, OsString> = ours
        .into_iter()
        .filter(|(name, _)| is_handed_over(name, inherited))
        .collect();
    environment.extend(declared);
    environment
}

fn is_handed_over(name: &OsStr, inherited: &Inherited) -> bool {
    let named = match inherited {
        Inherited::All => true,
        Inherited::Nothing => false,
        Inherited::Names(names) => names.iter().any(|wanted| is_same(name, wanted)),
    };
    named || is_usual(name)
}

fn is_usual(name: &OsStr) -> bool {
    // The language settings have many names.
    let is_locale = name.to_str().is_some_and(|name| name.starts_with("LC_"));
    is_locale
        || USUAL.iter().any(|usual| is_same(name, usual))
        || (cfg!(windows) && USUAL_ON_WINDOWS.iter().any(|usual| is_same(name, usual)))
}

fn is_same(name: &OsStr, wanted: &str) -> bool {
    if cfg!(windows) {
        name.eq_ignore_ascii_case(wanted)
    } else {
        name == wanted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(names: &[&str]) -> Vec<(OsString, OsString)> {
        names
            .iter()
            .map(|name| ((*name).into(), "ours".into()))
            .collect()
    }

    fn names(inherited: &Inherited) -> Vec<String> {
        let ours = pairs(&[
            "PATH",
            "HOME",
            "LC_ALL",
            "OPENAI_API_KEY",
            "AWS_PROFILE",
            "EXTRA",
        ]);
        child_environment(ours, inherited, [])
            .into_keys()
            .map(|name| name.into_string().unwrap())
            .collect()
    }

    #[test]
    fn keys_of_models_do_not_reach_servers() {
        assert_eq!(names(&Inherited::Nothing), ["HOME", "LC_ALL", "PATH"]);
        let some = Inherited::Names(vec!["EXTRA".to_owned(), "MISSING".to_owned()]);
        assert_eq!(names(&some), ["EXTRA", "HOME", "LC_ALL", "PATH"]);
        assert_eq!(names(&Inherited::All).len(), 6);
    }

    #[test]
    fn declared_variables_win() {
        let declared = [(OsString::from("PATH"), OsString::from("theirs"))];
        let environment = child_environment(pairs(&["PATH"]), &Inherited::Nothing, declared);
        assert_eq!(environment[OsStr::new("PATH")], "theirs");
    }
}
