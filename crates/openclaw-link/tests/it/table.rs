//! Every question with a query and a report.

/// What is answered where there is nothing to say.
pub(crate) type Nothing = ();

macro_rules! each_question {
    ($callback:ident) => {
        $callback! {
            agent(query: AgentQuery {"agent": "a"}) -> KnownAgent {"id": "a1"};
            servers(query: ServersQuery {"agent": "a", "wait": true, "servers": ["s"]})
                -> ServersReport {"servers": [], "warnings": ["w"]};
            server(query: OneServer {"agent": null, "server": "s1"})
                -> ServerDetails (crate::table::details("d1"));
            connect(query: OneServer {"agent": "b", "server": "s2"})
                -> ServerDetails (crate::table::details("d2"));
            disconnect(query: OneServer {"agent": "c", "server": "s3"})
                -> ServerDetails (crate::table::details("d3"));
            refresh(query: OfServer {"agent": "d", "server": "s4"})
                -> ServersReport {"servers": []};
            logs(query: LogsQuery {"agent": "e", "server": "s5", "after": 6})
                -> LogsReport {"server": "s5", "lines": ["one", "tüe \u{1b}"], "last": 7};
            tools(query: OfServer {"agent": "f", "server": null})
                -> ToolsReport {"tools": [{
                    "name": "mcp_s_t", "server": "s", "tool": "t", "title": null,
                    "description": "does", "inputSchema": {"type": "object", "z": 1, "a": 2},
                    "annotations": {}, "changed": true
                }], "problems": ["p"]};
            call(request: CallRequest {
                "agent": "g", "tool": "s/t", "arguments": {"object": {"n": 1.5}, "words": [["a", "b"]]},
                "approved": true, "framed": true, "correlation": "c1"
            }) -> CallReport {
                "tool": "mcp_s_t", "server": "s", "isError": false, "content": [{"type": "text"}],
                "structuredContent": {"a": [null]}, "durationMs": 12, "framed": "<<<>>>"
            };
            approve(request: ApprovalRequest {"agent": "h", "tool": "s/t"})
                -> ApprovalReport {"tool": "mcp_s_t", "server": "s", "changed": true};
            resources(query: OfServer {"agent": "i", "server": "s6"})
                -> ResourcesReport {"resources": [], "templates": [], "problems": ["r"]};
            read(request: ReadRequest {"agent": "j", "server": "s", "uri": "file:///x"})
                -> ReadReport {"server": "s", "uri": "file:///x", "contents": [
                    {"uri": "file:///x", "mimeType": null, "blob": "AA=="}
                ]};
            prompts(query: OfServer {"agent": "k", "server": null})
                -> PromptsReport {"prompts": [], "problems": ["q"]};
            prompt(request: PromptRequest {
                "agent": "l", "server": "s", "name": "n", "arguments": {"a": "1"}
            }) -> PromptReport {"server": "s", "name": "n", "description": null, "messages": [
                {"role": "user", "content": {"type": "text", "text": "hi"}}
            ]};
            commands(query: CommandsQuery {"agent": "m"})
                -> CommandsReport {"commands": [
                    {"name": "mcp", "description": "d", "usage": null, "origin": "builtin"}
                ]};
            skills(query: SkillsQuery {"agent": "n"})
                -> SkillsReport {"skills": [], "problems": ["s"]};
            complete(query: CompletionQuery {"agent": "o", "text": "/mc"})
                -> CompletionReport {"start": 1, "candidates": []};
            definitions(query: OfServer {"agent": "p", "server": "s7"})
                -> DefinitionsReport {"servers": {"s7": {"command": "x"}}};
            add_server(request: AddServer {
                "name": "n1", "entry": {"command": "x", "env": {"A": "b"}}, "check": true,
                "replace": false, "keyring": true
            }) -> AddedServer {
                "name": "n1", "config": "/c", "server": null, "stored": [], "deleted": [],
                "warnings": ["a"]
            };
            set_server(request: SetServer {"name": "n2", "entry": {"url": "https://x"}})
                -> AddedServer {
                    "name": "n2", "config": "/c", "server": null, "stored": [], "deleted": [],
                    "warnings": ["b"]
                };
            remove_server(query: OneServer {"agent": null, "server": "s8"})
                -> RemovedServer {
                    "name": "s8", "config": "/c", "deleted": [], "loggedOut": ["l"], "warnings": []
                };
            import(request: ImportRequest {
                "servers": ["s9"], "rehearse": true, "replace": false, "keyring": true
            })
                -> ImportReport {
                    "files": [{
                        "client": "Cursor", "path": "/p", "servers": [
                            {
                                "name": "s9", "outcome": "taken", "target": "t", "notes": ["n"],
                                "stored": [{"field": "env.A", "reference": "secret://keyring/a/b"}],
                                "present": true, "written": false
                            },
                            {"name": "s10", "outcome": "skipped", "reason": "r"}
                        ],
                        "problems": ["p"]
                    }],
                    "warnings": ["w"]
                };
            configuration(query: ConfigurationQuery {"agent": "p2"})
                -> ConfigurationReport {
                    "file": "/c", "exists": true, "configuration": {"mcp": {"servers": {}}},
                    "problems": [
                        {
                            "severity": "error", "file": "/c", "path": "mcp.servers.x",
                            "message": "m", "line": 3, "column": 4, "suggestion": "s", "help": "h",
                            "source": "  x: ***"
                        },
                        {
                            "severity": "warning", "file": null, "path": "", "message": "n",
                            "line": null, "column": null
                        }
                    ],
                    "omitted": 2, "error": "e"
                };
            reload()
                -> ReloadReport {"added": ["a"], "changed": [], "removed": ["r"], "warnings": []};
            sessions(query: SessionsQuery {"agent": "q"})
                -> SessionsReport {"sessions": [], "problems": ["p"], "setAside": ["x"]};
            lend(request: LendServers {
                "lender": {"id": "l1"}, "agent": "q", "session": {"editor": "e1"}, "directory": "/d",
                "servers": [
                    {"name": "one", "launch": {
                        "type": "stdio", "command": "x", "args": ["y"],
                        "env": [{"name": "A", "value": "b"}]
                    }},
                    {"name": "two", "launch": {"type": "sse", "url": "https://x", "headers": []}}
                ]
            }) -> LoanReport {"sessionKey": "agent:q:acp:e1", "servers": [
                {"asked": "one", "name": "one", "problem": null}
            ]};
            lending(lender: Lender {"id": "l2"})
                -> Nothing (serde_json::Value::Null);
            session(query: OneSession {"agent": "r", "key": "k1"})
                -> SessionTranscript {"key": "k1", "messages": [
                    {"role": "user", "text": "hi", "time": "2026-01-01T00:00:00Z"}
                ]};
            delete_session(query: OneSession {"agent": "s", "key": "k2"})
                -> DeletedSession {"key": "k2"};
            models(query: ModelsQuery {"ask": true})
                -> ModelsReport {"models": [{
                    "agent": "main", "model": "builtin/offline", "isFallback": false,
                    "credentials": "builtin"
                }]};
            overview()
                -> Overview {
                    "version": "1", "servers": [], "agents": [], "sessions": 3, "configError": "e",
                    "gateway": {"running": true, "pid": 1, "uptimeMs": 2, "address": "a"}
                };
            statistics()
                -> StatisticsReport {
                    "servers": [], "turns": 1, "failedTurns": 2, "cancelledTurns": 5, "reloads": 3,
                    "failedReloads": 4
                };
            look(query: LookQuery {"agent": "s2", "server": "s11", "after": 3, "tools": true})
                -> LookReport {
                    "servers": [],
                    "log": {"server": "s11", "lines": ["l"], "last": 4},
                    "tools": {"tools": [], "problems": ["p"]}
                };
            activity(query: ActivityQuery {"limit": 3})
                -> ActivityReport {"entries": [
                    {
                        "time": "2026-01-01T00:00:00.000Z", "type": "call", "agent": "main",
                        "server": "s", "tool": "t", "outcome": "tool-error", "durationMs": 12,
                        "correlation": "c"
                    },
                    {
                        "time": "2026-01-01T00:00:00.001Z", "type": "server", "server": "s",
                        "state": "needs-auth", "error": null
                    },
                    {"time": "2026-01-01T00:00:00.002Z", "type": "restarted", "server": "s"}
                ]};
            secrets(query: SecretsQuery {"server": "s9"})
                -> SecretsReport {"secrets": []};
            logins(query: LoginsQuery {"agent": "t", "server": "s10"})
                -> LoginsReport {"logins": [], "remarks": ["r"]};
            begin_login(request: LoginRequest {"agent": "u", "server": "s11", "byHand": true})
                -> LoginOffer {
                    "server": "s11", "login": "l1", "url": "https://x", "issuer": "i", "found": "f",
                    "registration": "dynamic", "clientId": "c", "why": "w", "scopes": ["a"],
                    "redirectUrl": "http://localhost", "listening": true, "endsAt": "e",
                    "remarks": []
                };
            await_login(query: OneLogin {"login": "l1"})
                -> LoginReport {
                    "server": "s12", "issuer": "i", "scopes": [], "tokenExpiresAt": null,
                    "renewable": true
                };
            finish_login(answer: LoginAnswer {"agent": "v", "server": "s13", "answer": "code"})
                -> LoginReport {
                    "server": "s13", "issuer": "i", "scopes": [], "tokenExpiresAt": "t",
                    "renewable": false
                };
            logout(query: OneServer {"agent": "w", "server": "s14"})
                -> LogoutReport {
                    "server": "s14", "wasLoggedIn": true, "revoked": false, "reason": "r"
                };
            client_metadata(query: ClientMetadataQuery {"agent": "x", "server": null, "url": "u"})
                -> ClientMetadata {"document": {"client_id": "u"}};
        }
    };
}

/// How a server is, in detail.
pub(crate) fn details(name: &str) -> serde_json::Value {
    serde_json::json!({
        "name": name, "transport": "stdio", "target": "x", "enabled": true, "state": "needs-auth",
        "auth": "oauth", "tools": 1, "resources": 2, "prompts": 3, "pid": 4,
        "protocolVersion": "2025-11-25", "restarts": 5, "error": "e", "serverInfo": "i",
        "sessionId": null, "tokenExpiresAt": null, "tokenRenewable": true, "scopes": ["a"],
        "issuer": "iss", "lastHeartbeat": null, "stderr": ["l"], "resolvedCommand": "/x",
        "passedOver": 6
    })
}
