//! AWS's own files: profiles and what they say.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use ring::digest::{Context, SHA256};
use secrecy::zeroize::Zeroizing;

use crate::error::SecretError;
use crate::surroundings::Surroundings;

/// The variables that name a profile.
const PROFILE: [&str; 2] = ["AWS_PROFILE", "AWS_DEFAULT_PROFILE"];
/// The profile that is meant where none is named.
const DEFAULT: &str = "default";
/// The settings that are credentials.
const SECRETS: [&str; 2] = ["aws_secret_access_key", "aws_session_token"];

/// How many profiles a digest is about: one may lead to another.
const MOST_PROFILES: usize = 16;

/// What is the same as long as files say the same about who we are.
pub(super) type Digest = [u8; 32];

/// What a section says.
pub(super) type Settings = BTreeMap<String, String>;

/// `~/.aws/config` and `~/.aws/credentials`, or the files that variables name instead.
pub(super) struct Files {
    profiles: BTreeMap<String, Settings>,
    sessions: BTreeMap<String, Settings>,
    chosen: String,
    /// The variable that names the profile.
    chosen_by: Option<&'static str>,
    /// Which of the files can't be read, and why.
    unreadable: Vec<String>,
}

impl Files {
    /// Reads both files. Those that are missing say nothing, and those that can't be read are told of
    /// where they are missed: in a container, the home directory may be somebody else's.
    pub(super) async fn read(surroundings: &Surroundings) -> Self {
        let named = surroundings.first_variable(&PROFILE);
        let mut files = Self {
            profiles: BTreeMap::new(),
            sessions: BTreeMap::new(),
            chosen: named.map_or(DEFAULT, |(_, name)| name).to_owned(),
            chosen_by: named.map(|(variable, _)| variable),
            unreadable: Vec::new(),
        };
        match read(surroundings, "AWS_CONFIG_FILE", ".aws/config").await {
            Ok(text) => files.add_config(&text),
            Err(reason) => files.unreadable.push(reason),
        }
        let variable = "AWS_SHARED_CREDENTIALS_FILE";
        match read(surroundings, variable, ".aws/credentials").await {
            Ok(text) => files.add_credentials(&text),
            Err(reason) => files.unreadable.push(reason),
        }
        for settings in files.profiles.values() {
            for text in SECRETS.iter().filter_map(|name| settings.get(*name)) {
                let _ = surroundings.credential(text.as_str());
            }
        }
        files
    }

    /// What stands behind words about something that is not in the files.
    pub(super) fn remark(&self) -> String {
        if self.unreadable.is_empty() {
            String::new()
        } else {
            format!(" ({})", self.unreadable.join("; "))
        }
    }

    /// The name of the profile that is in use.
    pub(super) fn chosen(&self) -> &str {
        &self.chosen
    }

    /// What the profile in use says. One that a variable names must be there.
    pub(super) fn chosen_profile(&self) -> Result<Option<&Settings>, SecretError> {
        let found = self.profiles.get(&self.chosen);
        match (found, self.chosen_by) {
            (None, Some(variable)) => {
                let reason = format!(
                    "AWS's files have no profile {:?}, which {variable} names{}",
                    self.chosen,
                    self.remark()
                );
                let error = SecretError::misconfigured(reason);
                Err(error.hint("list the profiles with `aws configure list-profiles`"))
            }
            _ => Ok(found),
        }
    }

    /// What a profile says.
    pub(super) fn profile(&self, name: &str) -> Option<&Settings> {
        self.profiles.get(name)
    }

    /// A setting of the profile in use.
    pub(super) fn setting(&self, name: &str) -> Option<&str> {
        set(self.profiles.get(&self.chosen)?, name)
    }

    /// What an `[sso-session NAME]` says.
    pub(super) fn session(&self, name: &str) -> Option<&Settings> {
        self.sessions.get(name)
    }

    /// A digest of what makes us who we are: the profile in use, and those that it leads to.
    pub(super) fn digest(&self) -> Digest {
        let mut context = Context::new(&SHA256);
        // With its length in front, nothing is taken for a part of something else.
        let mut add = |text: &str| {
            context.update(&text.len().to_be_bytes());
            context.update(text.as_bytes());
        };
        let mut name = Some(self.chosen.as_str());
        for _ in 0..MOST_PROFILES {
            let Some(profile) = name.and_then(|name| self.profiles.get(name)) else {
                break;
            };
            let session = set(profile, "sso_session").and_then(|name| self.sessions.get(name));
            for (name, value) in profile.iter().chain(session.into_iter().flatten()) {
                add(name);
                add(value);
            }
            add("");
            name = set(profile, "source_profile");
        }
        let mut digest = Digest::default();
        digest.copy_from_slice(context.finish().as_ref());
        digest
    }

    fn add_config(&mut self, text: &str) {
        let sections = sections(text);
        // `[profile default]` wins over `[default]`.
        for (name, settings) in &sections {
            if name == DEFAULT {
                self.profiles.insert(DEFAULT.to_owned(), settings.clone());
            }
        }
        for (name, settings) in sections {
            let Some((kind, name)) = name.split_once([' ', '\t']) else {
                continue;
            };
            let name = unquoted(name.trim()).to_owned();
            match kind {
                "profile" => self.profiles.insert(name, settings),
                "sso-session" => self.sessions.insert(name, settings),
                _ => None,
            };
        }
    }

    fn add_credentials(&mut self, text: &str) {
        for (name, settings) in sections(text) {
            self.profiles.entry(name).or_default().extend(settings);
        }
    }
}

/// A setting that is not empty.
pub(super) fn set<'s>(settings: &'s Settings, name: &str) -> Option<&'s str> {
    let value = settings.get(name)?;
    Some(value.as_str()).filter(|value| !value.is_empty())
}

/// A file of AWS as text; nothing if it is not there.
async fn read(
    surroundings: &Surroundings,
    variable: &str,
    below_home: &str,
) -> Result<Zeroizing<String>, String> {
    let path = match surroundings.variable(variable) {
        Some(path) => match path.strip_prefix("~/") {
            Some(rest) => surroundings.below_home(rest),
            None => Some(PathBuf::from(path)),
        },
        None => surroundings.below_home(below_home),
    };
    let Some(path) = path else {
        return Ok(Zeroizing::default());
    };
    match super::context::content(path.clone()).await {
        Ok(bytes) => Ok(Zeroizing::new(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Zeroizing::default()),
        Err(error) => Err(format!("cannot read {}: {error}", path.display())),
    }
}

/// The sections of a file, in their order. Lines that belong to none are left out, and so are
/// settings inside of settings: none of them is ours.
fn sections(text: &str) -> Vec<(String, Settings)> {
    let mut sections: Vec<(String, Settings)> = Vec::new();
    for line in text.lines() {
        let is_indented = line.starts_with([' ', '\t']);
        let line = without_remark(line).trim();
        if let Some(name) = line.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
            sections.push((name.trim().to_owned(), Settings::new()));
            continue;
        }
        let Some((_, settings)) = sections.last_mut() else {
            continue;
        };
        if is_indented && !settings.is_empty() {
            continue;
        }
        if let Some((name, value)) = line.split_once('=') {
            let name = name.trim().to_ascii_lowercase();
            settings.insert(name, value.trim().to_owned());
        }
    }
    sections
}

/// A line without what is only for people: behind `#` or `;` at its beginning or after a space.
fn without_remark(line: &str) -> &str {
    let mut before = ' ';
    for (at, character) in line.char_indices() {
        if matches!(character, '#' | ';') && before.is_whitespace() {
            return line.get(..at).unwrap_or(line);
        }
        before = character;
    }
    line
}

fn unquoted(name: &str) -> &str {
    let inside = |mark| name.strip_prefix(mark)?.strip_suffix(mark);
    inside('"').or_else(|| inside('\'')).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(config: &str, credentials: &str, chosen: &str) -> Files {
        let mut files = Files {
            profiles: BTreeMap::new(),
            sessions: BTreeMap::new(),
            chosen: chosen.to_owned(),
            chosen_by: Some("AWS_PROFILE"),
            unreadable: Vec::new(),
        };
        files.add_config(config);
        files.add_credentials(credentials);
        files
    }

    #[test]
    fn profiles_are_found_by_name_in_both_files() {
        let config = "\
            ignored = line\n\
            [default]\n\
            region=eu-west-1 # the near one\n\
            # a remark\n\
            s3 =\n  region = nested\n\
            [profile \"two words\"]\n\
            Region = us-east-1\r\n\
            credential_process = a;b --tag #c\n\
            [ sso-session work ]\n\
            sso_region = eu-north-1\n\
            [preview]\n\
            region = not-a-profile\n";
        let credentials = "[default]\naws_secret_access_key = a=b#c;d==\n[plain]\nregion = x\n";
        let default = files(config, credentials, "default");
        assert_eq!(default.setting("region"), Some("eu-west-1"));
        assert_eq!(default.setting("aws_secret_access_key"), Some("a=b#c;d=="));
        assert_eq!(default.setting("s3"), None, "it says nothing itself");
        let session = default.session("work").unwrap();
        assert_eq!(set(session, "sso_region"), Some("eu-north-1"));
        assert!(default.profile("preview").is_none());
        assert!(default.profile("plain").is_some());
        let other = files(config, credentials, "two words");
        assert_eq!(other.setting("region"), Some("us-east-1"));
        assert_eq!(other.setting("credential_process"), Some("a;b --tag"));
    }

    #[test]
    fn the_credentials_file_wins_and_so_does_a_profile_that_says_it_is_one() {
        let config = "[profile default]\nregion = a\n[default]\nregion = b\n[profile p]\nx = c\n";
        let credentials = "[p]\nx = d\n";
        assert_eq!(
            files(config, credentials, "default").setting("region"),
            Some("a")
        );
        assert_eq!(files(config, credentials, "p").setting("x"), Some("d"));
    }

    #[test]
    fn a_digest_is_about_the_profiles_that_make_us_who_we_are() {
        let config = "[profile p]\nrole_arn = r\nsource_profile = base\n\
                      [profile base]\nsso_session = s\n[profile other]\nx = y\n\
                      [sso-session s]\nsso_region = a\n";
        let digest = |config: &str, credentials: &str| files(config, credentials, "p").digest();
        let first = digest(config, "");
        assert_eq!(digest(&format!("{config}# remark\n"), ""), first);
        assert_eq!(digest(&config.replace("x = y", "x = z"), ""), first);
        for changed in [
            config.replace("role_arn = r", "role_arn = s"),
            config.replace("source_profile = base", "source_profile = other"),
            config.replace("sso_region = a", "sso_region = b"),
            config.replace("role_arn = r\n", ""),
        ] {
            assert_ne!(digest(&changed, ""), first, "{changed}");
        }
        assert_ne!(digest(config, "[base]\naws_access_key_id = k\n"), first);
        // In a circle, too.
        digest("[profile p]\nsource_profile = p\n", "");
    }

    #[test]
    fn a_profile_that_a_variable_names_has_to_be_there() {
        let error = files("[default]\n", "", "gone").chosen_profile().err();
        let error = error.unwrap().to_string();
        assert!(error.contains("\"gone\"") && error.contains("AWS_PROFILE"));
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "[\\[\\]=#; \\t\\r\\na-c\"é]{0,80}") {
            let files = files(&text, &text, "default");
            proptest::prop_assert!(files.profiles.len() <= 2 * text.len());
        }
    }
}
