"""Asks a gateway everything that OpenAI's library for Python is used for, and writes what it found as
JSON. OPENAI_BASE_URL and OPENAI_API_KEY say where.

The plan, in JSON on standard input, has the `agent` to look up, and the message for each step: `say`,
`look` (which gives images), `busy`, `fail`, `called` (which fail), `break` (fails in the middle), `hang`
(never ends). A step without a message is left out.
"""

import json
import sys

import openai

PNG = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9"
    "awAAAABJRU5ErkJggg=="
)
plan = json.load(sys.stdin)
client = openai.OpenAI(max_retries=0, timeout=20)


def create(message, repeated=0, **more):
    """Says something to the default agent."""
    request = {"model": "openclaw", "messages": [{"role": "user", "content": message}]} | more
    return client.with_options(max_retries=repeated).chat.completions.create(**request)


def whole():
    raw = client.chat.completions.with_raw_response.create(
        model="openclaw",
        messages=[{"role": "user", "content": plan["say"]}],
        extra_headers={"x-request-id": "from-the-client"},
    )
    answer = raw.parse()
    choice = answer.choices[0]
    return {
        "content": choice.message.content,
        "role": choice.message.role,
        "finish": choice.finish_reason,
        "tokens": answer.usage.total_tokens,
        "hasKey": bool(raw.headers.get("x-openclaw-session-key")),
        "requestId": answer._request_id,
    }


def streamed():
    found = {"content": "", "finish": None, "tokens": None, "role": None}
    options = {"include_usage": True}
    for chunk in create(plan["say"], stream=True, stream_options=options):
        if chunk.usage:
            found["tokens"] = chunk.usage.total_tokens
        for choice in chunk.choices:
            found["content"] += choice.delta.content or ""
            found["role"] = choice.delta.role or found["role"]
            found["finish"] = choice.finish_reason or found["finish"]
    return found


def images():
    def urls(message):
        # The library keeps what it does not know.
        return [image["image_url"]["url"] for image in getattr(message, "images", None) or []]

    message = create(plan["look"]).choices[0].message
    seen = []
    for chunk in create(plan["look"], stream=True):
        seen += urls(chunk.choices[0].delta)
    # What the library puts together itself.
    messages = [{"role": "user", "content": plan["look"]}]
    with client.chat.completions.stream(model="openclaw", messages=messages) as stream:
        helped = stream.get_final_completion().choices[0].message.content
    return {"content": message.content, "whole": urls(message), "streamed": seen, "helped": helped}


def sent():
    create(
        [
            {"type": "text", "text": "look at this"},
            {"type": "image_url", "image_url": {"url": PNG}},
        ]
    )
    client.chat.completions.create(
        model="openclaw",
        messages=[
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "I am Ann."},
            {"role": "assistant", "content": "Hello."},
            {"role": "user", "content": "and now?"},
        ],
    )


def refused(message, **more):
    try:
        create(message, **more)
    except openai.APIStatusError as error:
        return {
            "kind": type(error).__name__,
            "status": error.status_code,
            "code": error.code,
            "param": error.param,
        }
    return None


def broken():
    content = ""
    try:
        for chunk in create(plan["break"], stream=True):
            content += chunk.choices[0].delta.content or ""
    except openai.APIError as error:
        return {"content": content, "code": error.code}
    return None


def left():
    with create(plan["hang"], stream=True) as stream:
        for chunk in stream:
            if chunk.choices[0].delta.content:
                return chunk.choices[0].delta.content
    return None


def step(name, take):
    """Takes a step that the plan has a message for."""
    return take() if name in plan else None


def main():
    found = {
        "models": [model.id for model in client.models.list()],
        "model": client.models.retrieve(f"openclaw/{plan['agent']}").id,
        "whole": whole(),
        "streamed": streamed(),
        "images": step("look", images),
        "unknown": refused("hello", model="gpt-unknown"),
        "unsupported": refused("hello", n=2),
        "busy": step("busy", lambda: refused(plan["busy"])),
        "failed": step("fail", lambda: refused(plan["fail"], repeated=1)),
        "called": step("called", lambda: refused(plan["called"], repeated=1)),
        "broken": step("break", broken),
        "left": step("hang", left),
    }
    sent()
    json.dump(found, sys.stdout)


main()
