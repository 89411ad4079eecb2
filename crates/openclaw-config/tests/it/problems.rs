//! What is said about mistakes.

use openclaw_config::{Definition, Severity};

use crate::fixture::{Fixture, configured};

/// What is said about one server.
fn about(server: &str) -> String {
    let fixture = Fixture::new(&format!("{{ mcp: {{ servers: {{ s: {server} }} }} }}"));
    let loaded = fixture.load();
    let config = loaded.config.as_ref().expect("a server costs only itself");
    let broken = matches!(
        configured(config, "main", "s").definition,
        Definition::Broken(_)
    );
    assert_eq!(broken, loaded.report.errors().count() > 0, "{server}");
    loaded
        .report
        .problems()
        .iter()
        .map(|problem| {
            let word = match problem.severity() {
                Severity::Error => "error",
                Severity::Warning => "warning",
            };
            let help = problem
                .help_text()
                .map(|help| format!(" ({help})"))
                .unwrap_or_default();
            format!("{word}: {}: {}{help}\n", problem.path(), problem.message())
        })
        .collect()
}

#[test]
fn a_misspelt_key_gives_a_warning_and_what_follows_from_it() {
    let fixture = Fixture::new(
        "{\n  mcp: {\n    servers: {\n      github: {\n        comand: \"npx\",\n      },\n    },\n  },\n}\n",
    );
    insta::assert_snapshot!(fixture.rendered(&fixture.load()), @r#"
    error: a server needs `command` (a program to start) or `url` (an address to connect to)
     --> DIR/openclaw.json:4:7
      |
    4 |       github: {
      |       ^^^^^^
      |
      = note: at `mcp.servers.github`

    warning: unknown key `comand`
     --> DIR/openclaw.json:5:9
      |
    5 |         comand: "npx",
      |         ^^^^^^
      |
      = note: at `mcp.servers.github.comand`
      = help: did you mean `command`?
    "#);
}

#[test]
fn rules_between_fields() {
    let cases = [
        "{}",
        "{ command: 'x', url: 'https://x.example' }",
        "{ transport: 'stdio', command: 'x', url: 'https://x.example' }",
        "{ transport: 'sse', command: 'x', url: 'https://x.example' }",
        "{ transport: 'stdio' }",
        "{ transport: 'stdio', url: 'https://x.example' }",
        "{ transport: 'http' }",
        "{ type: 'sse', command: 'x' }",
        "{ transport: 'websocket', url: 'https://x.example' }",
        "{ transport: 'htttp', url: 'https://x.example' }",
        "{ command: '' }",
        "{ url: 'http://example.com/mcp' }",
        "{ url: 'http://192.168.1.5/mcp', allowInsecureHttp: true }",
        "{ url: 'ftp://example.com' }",
        "{ url: 'example.com/mcp' }",
        "{ url: 'https://exa mple.com' }",
        "{ command: 'x', connectionTimeoutMs: 0 }",
        "{ command: 'x', requestTimeoutMs: -5 }",
        "{ command: 'x', requestTimeoutMs: 1.5 }",
        "{ command: 'x', requestTimeoutMs: '5000' }",
        "{ command: 'x', requestTimeoutMs: Infinity }",
        "{ command: 'x', maxRestarts: -1 }",
        "{ command: 'x', timeout: 5, connectionTimeoutMs: 6 }",
        "{ command: 'x', timeout: 5, connectTimeoutMs: 6 }",
        "{ url: 'http://127.1/mcp' }",
        "{ command: 'secret://env/X', cwd: 'secret://env/X' }",
        "{ url: 'https://x.example/mcp?api_key=hunter2swordfish' }",
        "{ command: 'x', args: ['--password=hunter2swordfish'] }",
        "{ command: 'x', args: ['-e', 'GITHUB_TOKEN=hunter2swordfish'] }",
        "{ command: 'x', args: ['token', 'words', '--port', '80'] }",
        "{ command: 'x', roots: ['~/docs', 'file:///srv', 'http://x.example'] }",
        "{ url: 'https://x.example', clientKey: 'k.pem' }",
        "{ url: 'https://x.example', sslVerify: false }",
        "{ url: 'https://x.example', args: ['x'], cwd: '/' }",
        "{ command: 'x', headers: { A: 'b' } }",
        "{ url: 'https://x.example', headers: { 'Bad Name': 'x', 'X-Ok': 'a\\nb', 'x-twice': '1', 'X-Twice': '2' } }",
        "{ url: 'https://x.example', headers: { Authorization: '${PATH_NONE:-}x' }, auth: 'oauth' }",
        "{ url: 'https://x.example', auth: 'basic' }",
        "{ url: 'https://x.example', auth: { callbackHost: '0.0.0.0', callbackPort: 70000, callbackPath: 'cb', clientMetadataUrl: 'http://x.example', authorizationServerUrl: 'http://auth.example' } }",
        "{ command: 'x', env: { NODE_OPTIONS: '--require=x', LD_PRELOAD: 'x', FINE: 1, ALSO: true } }",
        "{ command: 'x', env: { 'A=B': 'x', 'NO\\u0000': 'x' } }",
        "{ command: 'x', toolFilter: { includ: ['x'] } }",
        "{ command: 'x', inheritEnv: 'PATH' }",
        "{ command: 'x', protocol: 'new', pin: 'yes', scope: 'agent' }",
    ];
    let text: String = cases
        .iter()
        .map(|case| format!("{case}\n{}\n", about(case)))
        .collect();
    insta::assert_snapshot!(text);
}

#[test]
fn references_to_secrets() {
    let cases = [
        "{ command: 'x', env: { A: 'secret://gcp/name#3', B: 'secret://vault/kv/app#field' } }",
        "{ command: 'x', env: { A: { source: 'env', provider: 'default', id: 'NAME' } } }",
        "{ url: 'https://x.example', headers: { Authorization: { prefix: 'Bearer ', secret: 'secret://aws/n?key=k' } } }",
        "{ url: 'https://x.example', headers: { Authorization: 'Bearer secret://aws/n' } }",
        "{ command: 'x', env: { A: 'secret://azure/name' } }",
        "{ command: 'x', env: { A: 'secret://gcp/' } }",
        "{ command: 'x', args: ['--key', 'secret://gcp/name'] }",
        "{ command: 'x', env: { A: {} } }",
        "{ command: 'x', env: { A: { secret: 5 } } }",
        "{ command: 'x', env: { A: { source: 'magic', id: 'x' } } }",
        "{ command: 'x', env: { A: null, B: ['x'] } }",
        "{ command: 'x', env: { A: 'secret://exec/nobody/id' } }",
        "{ command: 'x', env: { A: { source: 'file', provider: 'nobody', id: '/x' } } }",
        "{ command: 'x', env: { A: { secret: 'secret-ref:env/default/X' } } }",
    ];
    let text: String = cases
        .iter()
        .map(|case| format!("{case}\n{}\n", about(case)))
        .collect();
    insta::assert_snapshot!(text);
}

#[test]
fn plaintext_credentials_are_pointed_out_once_per_server_and_never_shown() {
    let secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";
    let fixture = Fixture::new(&format!(
        "{{ mcp: {{ servers: {{\n  a: {{ command: 'x', env: {{ GITHUB_TOKEN: '{secret}', OTHER_SECRET: 'hunter2hunter2', PORT: 80 }}, args: ['--api-key', '{secret}'] }},\n  b: {{ url: 'https://x.example', apiKey: 'hunter2hunter2', comand: 1 }},\n  c: {{ command: 'x', env: {{ TOKEN: '${{TOKEN}}' }} }},\n}} }} }}"
    ))
    .variable("TOKEN", "from the environment");
    let rendered = fixture.rendered(&fixture.load());
    assert!(
        !rendered.contains("hunter2") && !rendered.contains("ghp_0123"),
        "{rendered}"
    );
    let warnings: Vec<String> = fixture
        .problems()
        .into_iter()
        .filter(|problem| problem.contains("plaintext"))
        .collect();
    assert_eq!(
        warnings,
        [
            "mcp.servers.a.env.GITHUB_TOKEN: MCP server 'a' has plaintext credentials in config — consider using secret:// references",
            "mcp.servers.b.apiKey: MCP server 'b' has plaintext credentials in config — consider using secret:// references",
        ]
    );
}

#[test]
fn a_credential_in_the_wrong_place_is_not_repeated() {
    for text in [
        "{ mcp: { servers: { s: { url: 'https://x.example', auth: 'hunter2swordfish' } } } }",
        "{ mcp: { servers: { s: { command: 'x', transport: '${MY_API_KEY}' } } } }",
        "{ mcp: { servers: { s: { command: 'x', env: { GITHUB_TOKEN: hunter2swordfish } } } } }",
        "{ mcp: { servers: { s: { command: 'x', env: { API_KEY: ['hunter2swordfish'] } } } } }",
        "{ mcp: { servers: { s: { command: 'x', env: { API_KEY= 'hunter2swordfish' } } } } }",
        "{ mcp: { servers: { s: { command: 'x', env: { PASSWORD:\n'hunter2swordfish' 5 } } } } }",
        "{ mcp: { servers: { s: { command: 'x', env: { PASSWORD: 'hunter2swordfish\nhunter2swordfish' } } } } }",
    ] {
        let fixture = Fixture::new(text).variable("MY_API_KEY", "hunter2swordfish");
        let loaded = fixture.load();
        let rendered = fixture.rendered(&loaded);
        assert!(
            loaded
                .report
                .problems()
                .iter()
                .any(|problem| problem.severity() == Severity::Error),
            "{text}"
        );
        assert!(!rendered.contains("hunter2"), "{rendered}");
        assert!(
            !format!("{:?}", fixture.problems()).contains("hunter2"),
            "{text}"
        );
    }
}

#[test]
fn json5_and_nothing_else() {
    for text in [
        "{ a: 'one\ntwo' }",
        "{ 'a\nb': 1 }",
        "{ a: 'x\\\\\ny' }",
        "{ a: 'x\ry' }",
        "{ foo-bar: 1 }",
        "{ 1: 2 }",
        "{ a: 'x' b: 1 }",
    ] {
        let loaded = Fixture::new(text).load();
        assert!(loaded.config.is_none(), "{text}");
    }
    for text in [
        "{ a: 'one\\\ntwo', $b_1: +.5, 'c d': 0xF, ünï: [1,], /* x */ }",
        "{ a: \"one\\\r\ntwo\" }",
    ] {
        let fixture = Fixture::new(text);
        assert_eq!(fixture.problems(), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn problems_stand_where_they_are() {
    let fixture = Fixture::new(
        "{ mcp: { servers: { s: {\n  command: 'x',\n  env: {\n    FINE: '1',\n    'A=B': 'x',\n  },\n} } },\nagents: { list: [\n  { id: 'a' },\n  { model: 'x/y' },\n] } }",
    );
    let loaded = fixture.load();
    let lines: Vec<usize> = loaded
        .report
        .errors()
        .map(|problem| loaded.report.position(problem).unwrap().line)
        .collect();
    assert_eq!(lines, [5, 10]);
}

#[test]
fn wrong_types_at_every_level_are_all_reported() {
    let fixture = Fixture::new(
        r#"{
    mcp: { servers: {
        a: 5,
        b: { command: ["x"], args: "x", env: [], enabled: "yes", lazy: 1, headers: 3, toolFilter: [], roots: "x" },
        "a/b": { command: "x" },
        __proto__: { command: "x" },
        "": { command: "x" },
        fine: { command: "x" },
    }, toolNaming: "dots", debug: 1, maxConcurrentServers: 0, toolDiscoveryInterval: -1 },
    plugins: { entries: { "mcp-client": { enabled: "no", config: { servers: [] } } } },
    agents: { defaults: [], list: {}, entries: { x: 5 } },
    tools: { allow: "x", approval: "maybe" },
    models: { providers: { p: { baseUrl: "nowhere", models: [{ contextWindow: "big" }] } } },
    secrets: { providers: { p: { source: "exec", command: "relative" }, q: {} } },
    gateway: { port: 99999, auth: { mode: "none?" } },
    env: { vars: { A: {} } },
}"#,
    );
    insta::assert_snapshot!(fixture.problems().join("\n"));
}

#[test]
fn a_root_that_is_no_object() {
    for text in ["[]", "5", "\"x\"", "null", "true"] {
        let fixture = Fixture::new(text);
        assert!(fixture.load().config.is_none(), "{text}");
        assert_eq!(fixture.problems().len(), 1);
    }
}

#[test]
fn syntax_errors_have_their_place() {
    let cases = [
        "",
        "// only a comment",
        "{ mcp: { servers: { a: { command: 'x' } }",
        "{ a: 1 b: 2 }",
        "{ a: npx }",
        "{ a: 'x }",
        "{ a: }",
        "{ 'a' 1 }",
        "{} {}",
        "{ a: 1,, b: 2 }",
        "{ /* never closed ",
        "{ token: 'hunter2hunter2', b: }",
    ];
    let mut text = String::new();
    for case in cases {
        let fixture = Fixture::new(case);
        let loaded = fixture.load();
        assert!(loaded.config.is_none(), "{case}");
        text.push_str(&fixture.rendered(&loaded));
    }
    assert!(!text.contains("hunter2"), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn duplicate_keys_are_errors_with_both_places() {
    let fixture = Fixture::new(
        "{ mcp: { servers: {\n  a: { command: 'x' },\n  'a': { command: 'y' },\n} } }",
    );
    insta::assert_snapshot!(fixture.rendered(&fixture.load()), @r"
    error: `a` stands here twice
     --> DIR/openclaw.json:3:3
      |
    3 |   'a': { command: 'y' },
      |   ^^^
      |
     ::: DIR/openclaw.json:2:3
      |
    2 |   a: { command: 'x' },
      |   - first here
      |
      = note: at `mcp.servers.a`
      = help: remove one of the two
    ");
    let fixture = Fixture::new("{ tools: { deny: ['x'] }, tools: {} }");
    assert!(fixture.load().config.is_none());
}

#[test]
fn hostile_names_cannot_paint_the_terminal() {
    let fixture =
        Fixture::new("{ mcp: { servers: { s: { command: 'x', 'a\u{1b}[31mb\u{202e}': 1 } } } }");
    let rendered = fixture.load().report.render(false);
    assert!(!rendered.contains('\u{1b}'), "{rendered}");
    assert!(!rendered.contains('\u{202e}'), "{rendered}");
}

#[test]
fn a_file_that_is_none() {
    let fixture = Fixture::empty();
    std::fs::create_dir(fixture.location().config).unwrap();
    assert!(fixture.problems()[0].ends_with("is a directory, not a file"));
    let fixture = Fixture::empty();
    assert_eq!(
        fixture.problems(),
        [": there is no such file: defaults apply"]
    );
    let fixture = Fixture::empty();
    fixture.write("openclaw.json", b"{ \"\xff\": 1 }");
    assert!(fixture.problems()[0].contains("is not UTF-8 text: byte 0xff at line 1, column 4"));
    let file = std::fs::File::create(fixture.location().config).unwrap();
    file.set_len(100_000_000).unwrap();
    assert!(fixture.problems()[0].contains("larger than the limit of 8 MB"));
}

#[test]
fn what_is_written_beside_a_variable_counts_as_plaintext_if_it_is_a_credential() {
    let entry = |field: &str| format!("{{ mcp: {{ servers: {{ s: {{ {field} }} }} }} }}");
    let is_warned = |field: &str| {
        let fixture = Fixture::new(&entry(field)).variable("HOST", "h.example");
        let problems = fixture.problems();
        assert_eq!(fixture.load().report.errors().count(), 0, "{problems:?}");
        problems.iter().any(|it| it.contains("plaintext"))
    };
    for field in [
        r#"command: "x", env: { DATABASE_URL: "postgres://app:hunter2hunter2@${HOST}/db" }"#,
        r#"command: "x", env: { MY_TOKEN: "ghp_0123456789abcdefghijABCDEFGHIJ012345-${HOST}" }"#,
        r#"command: "x", env: { MY_TOKEN: "abcdef0123456789-${HOST}" }"#,
        r#"url: "https://u:hunter2hunter2@${HOST}/mcp""#,
        r#"command: "x", args: ["postgres://app:hunter2hunter2@${HOST}/db"]"#,
    ] {
        assert!(is_warned(field), "{field}");
    }
    for field in [
        r#"url: "https://${HOST}/mcp", headers: { Authorization: "Bearer ${HOST}" }"#,
        r#"command: "x", env: { MY_TOKEN: "${HOST}" }"#,
        r#"command: "x", env: { MY_TOKEN: "token:${HOST}" }"#,
        r#"command: "x", env: { CACHE: "abcdef0123456789-${HOST}" }"#,
        r#"url: "https://${HOST}/mcp/v1""#,
    ] {
        assert!(!is_warned(field), "{field}");
    }
}

#[test]
fn a_reference_with_a_slip_of_the_pen_is_not_taken_for_the_secret() {
    for text in [
        "secret:/env/X",
        "secrets://env/X",
        "secret//env/X",
        "SECRET:env/X",
    ] {
        let fixture = Fixture::new(&format!(
            r#"{{ mcp: {{ servers: {{ s: {{ command: "x", env: {{ X_TOKEN: "{text}" }} }} }} }} }}"#
        ));
        let problems = fixture.problems().join("\n");
        assert!(
            problems.contains("looks like a reference to a secret"),
            "{text}: {problems}"
        );
    }
}

#[test]
fn what_belongs_to_a_client_needs_one() {
    let login = |auth: &str| {
        about(&format!(
            "{{ url: 'https://a.example', auth: {{ {auth} }} }}"
        ))
    };
    let secret = "clientSecret: 'secret://env/A'";
    let key = "privateKey: 'secret://file/key.pem'";
    let machine = "grantType: 'client_credentials'";
    for fine in [
        format!("clientId: 'me', {secret}"),
        format!("clientId: 'me', {secret}, {machine}"),
        format!("clientId: 'me', {key}, {machine}, keyId: '1'"),
    ] {
        assert_eq!(login(&fine), "", "{fine}");
    }
    insta::assert_snapshot!(
        login(secret) + &login(&format!("clientId: 'me', {secret}, {key}")) + &login(machine),
        @"
    warning: mcp.servers.s.auth.clientSecret: it has no effect without a `clientId`
    warning: mcp.servers.s.auth.clientSecret: it has no effect beside a `privateKey`
    warning: mcp.servers.s.auth.grantType: a client that logs in by itself needs a `clientId`, and a `clientSecret` or a `privateKey`
    "
    );
}
