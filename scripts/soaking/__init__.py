"""A gateway under load for a while: `scripts/soak` runs it.

| module | owns | never contains |
|---|---|---|
| `options` | what is typed | |
| `house` | the gateway, its configuration, servers that misbehave | callers |
| `callers` | who asks what, and which answers are right | how bytes travel |
| `wire` | HTTP, event streams and WebSockets as a client | what is asked |
| `changes` | the configuration that changes all the time | |
| `samples` | memory, descriptors, threads and processes over time | judging |
| `verdict` | what must hold in the end | measuring |
"""
