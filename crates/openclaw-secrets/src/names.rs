//! What the name of a setting says about its value.

/// How plainly a name says that its value is a credential.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Confidence {
    /// The name may speak of other things too: `KEY`, `AUTH`, `SORTING_KEY`.
    Weak,
    /// The name speaks of a credential: `API_KEY`, `DB_PASSWORD`.
    Strong,
}

/// Words that mean a credential wherever they stand.
const CREDENTIAL_WORDS: &str = "
    authorization bearer cookie credential credentials jwt passwords secrets
";

/// Ends of words that mean a credential, also where nothing marks the words: `PGPASSWORD`.
const CREDENTIAL_ENDINGS: &str = "
    accesskey apikey authkey passphrase passwd password privatekey secret secretkey token
";

/// Words before `key` that make it a credential beyond doubt.
const KEY_KINDS: &str = "
    access admin api app auth client encryption license master private secret server service
    shared signing
";

/// Words before `key` that make it something else.
const HARMLESS_KEY_KINDS: &str = "
    cache foreign group hot index object partition primary public publishable registry routing
    sort
";

/// Words before `token` that make it something else: a position in a list, a unit of text.
const HARMLESS_TOKEN_KINDS: &str = "
    cancellation continuation cursor end eos max next page pagination per progress stop sync
";

/// Words that, at the end, say that the value is the place, kind, size or name of something.
const DESCRIPTIVE_ENDINGS: &str = "
    address alg algorithm alias arn audience backend bucket budget class count dir directory
    disabled domain duration email enabled encryption endpoint endpoints env expiration expires
    expiry field file filename folder format host hostname id ids interval issuer label len length
    lifetime limit location max method min mode name names namespace parallelism path paths pattern
    policy port prefix profile project provider realm ref reference region required scope scopes
    secure server size sock socket source store strategy suffix timeout ttl type uri url usage user
    username version window
";

/// Judges a name; `None` means that it does not speak of a credential.
pub(crate) fn credential_confidence(name: &str) -> Option<Confidence> {
    let words = words(name);
    // `API_KEY_2` is the second of its kind.
    let counted = words
        .iter()
        .rposition(|word| !word.bytes().all(|byte| byte.is_ascii_digit()))?;
    let words = &words[..=counted];
    let (last, before) = words.split_last()?;
    let previous = before.last().copied().unwrap_or_default();

    // Vault's AppRole calls its password a secret id; every other id is a name.
    if is_one_of(last, "id") && is_one_of(previous, "secret") {
        return Some(Confidence::Strong);
    }
    if is_one_of(last, DESCRIPTIVE_ENDINGS) {
        return None;
    }
    if is_one_of(last, "key keys") {
        return key_confidence(previous, before);
    }
    if is_one_of(last, "token") && is_one_of(previous, HARMLESS_TOKEN_KINDS) {
        return None;
    }
    // `tokens` counts pieces of text, unless it says otherwise.
    if is_one_of(last, "tokens") {
        return is_one_of(previous, "access api auth bot refresh").then_some(Confidence::Strong);
    }
    if words.iter().any(|word| is_credential_word(word))
        || words
            .windows(2)
            .any(|pair| is_one_of(pair[1], "key") && is_one_of(pair[0], KEY_KINDS))
    {
        return Some(Confidence::Strong);
    }
    // Short words that are credentials only as `DB_PASS`, not as `PWD` or `PASS_THROUGH`.
    if is_one_of(last, "pass pat pwd") && !before.is_empty() {
        return Some(Confidence::Strong);
    }
    let is_auth = |word: &str, previous: &str| {
        // `OAuth` falls into `O` and `Auth`; it names a procedure.
        is_one_of(word, "auth") && !is_one_of(previous, "o")
    };
    let auth_header = is_one_of(last, "header value")
        && is_auth(
            previous,
            before.iter().rev().nth(1).copied().unwrap_or_default(),
        );
    (is_auth(last, previous) || auth_header).then_some(Confidence::Weak)
}

fn key_confidence(previous: &str, before: &[&str]) -> Option<Confidence> {
    if is_one_of(previous, HARMLESS_KEY_KINDS) {
        return None;
    }
    let strong =
        is_one_of(previous, KEY_KINDS) || before.iter().any(|word| is_credential_word(word));
    Some(if strong {
        Confidence::Strong
    } else {
        Confidence::Weak
    })
}

fn is_credential_word(word: &str) -> bool {
    let ends_with = |ending: &str| {
        word.len()
            .checked_sub(ending.len())
            .and_then(|start| word.get(start..))
            .is_some_and(|end| end.eq_ignore_ascii_case(ending))
    };
    is_one_of(word, CREDENTIAL_WORDS) || CREDENTIAL_ENDINGS.split_ascii_whitespace().any(ends_with)
}

fn is_one_of(word: &str, list: &str) -> bool {
    list.split_ascii_whitespace()
        .any(|entry| entry.eq_ignore_ascii_case(word))
}

/// Splits a name at everything but letters and digits, and where capitals begin a word.
fn words(name: &str) -> Vec<&str> {
    name.split(|character: char| !character.is_ascii_alphanumeric())
        .flat_map(camel_words)
        .collect()
}

/// Splits `githubAPIKey2` into `github`, `API`, `Key`, `2`.
fn camel_words(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let mut words = Vec::new();
    let mut start = 0;
    for index in 1..=bytes.len() {
        let ends = match (bytes.get(index - 1), bytes.get(index)) {
            (Some(before), Some(after)) => {
                let next_is_lower = bytes.get(index + 1).is_some_and(u8::is_ascii_lowercase);
                (!before.is_ascii_uppercase() && after.is_ascii_uppercase())
                    || (before.is_ascii_uppercase() && after.is_ascii_uppercase() && next_is_lower)
                    || before.is_ascii_digit() != after.is_ascii_digit()
            }
            _ => true,
        };
        if ends {
            words.extend(text.get(start..index).filter(|word| !word.is_empty()));
            start = index;
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_into_words() {
        for (name, expected) in [
            ("GITHUB_TOKEN", &["GITHUB", "TOKEN"][..]),
            ("githubAPIKey2", &["github", "API", "Key", "2"]),
            ("x-api-key", &["x", "api", "key"]),
            ("auth.clientSecret", &["auth", "client", "Secret"]),
            ("OAuthToken", &["O", "Auth", "Token"]),
            ("KEY", &["KEY"]),
            ("", &[]),
            ("__", &[]),
            ("Schlüssel", &["Schl", "ssel"]),
        ] {
            assert_eq!(words(name), expected, "{name}");
        }
    }

    #[test]
    fn credential_names_are_recognised() {
        let names = "
            GITHUB_PERSONAL_ACCESS_TOKEN GITHUB_TOKEN GITHUB_PAT GH_TOKEN
            GITLAB_PERSONAL_ACCESS_TOKEN OPENAI_API_KEY ANTHROPIC_API_KEY BRAVE_API_KEY
            TAVILY_API_KEY EXA_API_KEY FIRECRAWL_API_KEY PERPLEXITY_API_KEY GOOGLE_MAPS_API_KEY
            GEMINI_API_KEY SLACK_BOT_TOKEN SLACK_APP_TOKEN SLACK_MCP_XOXP_TOKEN
            SLACK_SIGNING_SECRET NOTION_TOKEN NOTION_API_KEY LINEAR_API_KEY SENTRY_AUTH_TOKEN
            STRIPE_SECRET_KEY STRIPE_API_KEY AIRTABLE_API_KEY HF_TOKEN HUGGINGFACE_API_KEY
            CLOUDFLARE_API_TOKEN AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AZURE_CLIENT_SECRET
            GOOGLE_CLIENT_SECRET GOOGLE_APPLICATION_CREDENTIALS JIRA_API_TOKEN
            CONFLUENCE_API_TOKEN ATLASSIAN_API_TOKEN DISCORD_TOKEN TELEGRAM_BOT_TOKEN
            SUPABASE_ACCESS_TOKEN SUPABASE_SERVICE_ROLE_KEY NEON_API_KEY PGPASSWORD
            POSTGRES_PASSWORD MYSQL_PASS DB_PWD REDIS_PASSWORD MONGODB_PASSWORD ELASTIC_PASSWORD
            ES_API_KEY QDRANT_API_KEY N8N_API_KEY OBSIDIAN_API_KEY FIGMA_API_KEY
            FIGMA_ACCESS_TOKEN TWILIO_AUTH_TOKEN SPOTIFY_CLIENT_SECRET YOUTUBE_API_KEY
            APIFY_TOKEN BROWSERBASE_API_KEY ELEVENLABS_API_KEY SSH_PRIVATE_KEY ENCRYPTION_KEY
            JWT_SECRET SESSION_COOKIE BASIC_AUTH HASS_TOKEN KUBE_TOKEN VAULT_TOKEN
            VAULT_SECRET_ID SMTP_PASSWORD OAUTH_TOKEN API_KEY_2 OPENAI_API_KEYS Authorization
            X-Api-Key x-goog-api-key Proxy-Authorization PRIVATE-TOKEN Cookie apiKey apikey
            APIKEY accessToken clientSecret auth.clientSecret botToken githubAPIKey passphrase
            AUTH_HEADER BEARER_TOKEN KEY token
        ";
        for name in names.split_ascii_whitespace() {
            assert!(credential_confidence(name).is_some(), "{name}");
        }
    }

    #[test]
    fn other_names_are_left_alone() {
        let names = "
            KEYBOARD MONKEY TOKENIZERS_PARALLELISM MAX_TOKENS MAX_OUTPUT_TOKENS maxTokens
            AUTH_URL PUBLIC_KEY_PATH PUBLIC_KEY SSH_AUTH_SOCK AUTH_TYPE AUTH_METHOD AUTH_MODE
            AUTH_ENABLED OAUTH_SCOPES OAUTH_CLIENT_ID OAuth oauth CLIENT_ID AWS_ACCESS_KEY_ID
            AZURE_TENANT_ID TOKEN_URL TOKEN_ENDPOINT TOKEN_TTL TOKEN_TYPE TOKEN_LIMIT
            TOKEN_COUNT TOKEN_EXPIRY SECRET_NAME SECRETS_DIR PASSWORD_FILE PASSWORD_MIN_LENGTH
            KEY_FILE API_KEY_NAME COOKIE_DOMAIN PWD OLDPWD PATH HOME AUTHOR AUTHORITY COMPASS
            BYPASS PASS_THROUGH DATABASE_URL LOG_LEVEL NODE_ENV PORT NEXT_PAGE_TOKEN pageToken progressToken
            EOS_TOKEN PRIMARY_KEY CACHE_KEY SORT_KEY PATTERN PATIENCE HOTKEYS SECRETARY
            ALLOWED_DIRECTORIES MEMORY_FILE_PATH AWS_REGION GITHUB_HOST SLACK_TEAM_ID
            STRIPE_PUBLISHABLE_KEY TOKENS _ 42
        ";
        for name in names.split_ascii_whitespace() {
            assert_eq!(credential_confidence(name), None, "{name}");
        }
        assert_eq!(credential_confidence(""), None);
    }

    #[test]
    fn confidence_depends_on_what_the_key_opens() {
        assert_eq!(credential_confidence("API_KEY"), Some(Confidence::Strong));
        assert_eq!(credential_confidence("KEY"), Some(Confidence::Weak));
        assert_eq!(credential_confidence("session_key"), Some(Confidence::Weak));
        assert_eq!(credential_confidence("auth"), Some(Confidence::Weak));
        assert_eq!(
            credential_confidence("aws_secret_access_key"),
            Some(Confidence::Strong)
        );
    }
}
