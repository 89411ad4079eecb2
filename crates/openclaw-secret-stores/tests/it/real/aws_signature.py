"""Signs a request with botocore, and prints the header `Authorization`.

Standard input holds a JSON object: `method`, `url`, `headers` (those that are signed, without
`host`, `x-amz-date` and `x-amz-security-token`), `body`, `date` (the value of `X-Amz-Date`),
`region`, `service`, `key_id`, `secret_key` and `token`, which may be null.
"""

import datetime
import hashlib
import json
import sys

import botocore.auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials


def main() -> None:
    asked = json.load(sys.stdin)
    now = datetime.datetime.strptime(asked["date"], "%Y%m%dT%H%M%SZ")

    # Newer versions ask a function of their own for the time, older ones `datetime`.
    if hasattr(botocore.auth, "get_current_datetime"):
        botocore.auth.get_current_datetime = lambda remove_tzinfo=True: now
    else:

        class Frozen(datetime.datetime):
            @classmethod
            def utcnow(cls):
                return now

        datetime.datetime = Frozen
    # Botocore would believe whatever the header says, for S3 has requests without a digest.
    digest = hashlib.sha256(asked["body"].encode()).hexdigest()
    if asked["headers"].get("x-amz-content-sha256") != digest:
        sys.exit("the digest is not that of the body")
    credentials = Credentials(asked["key_id"], asked["secret_key"], asked["token"])
    request = AWSRequest(
        method=asked["method"],
        url=asked["url"],
        headers=asked["headers"],
        data=asked["body"].encode(),
    )
    signer = botocore.auth.SigV4Auth(credentials, asked["service"], asked["region"])
    signer.add_auth(request)
    # A clock that was not frozen would make the comparison depend on the second.
    if request.headers["X-Amz-Date"] != asked["date"]:
        sys.exit("the clock of botocore is not frozen")
    print(request.headers["Authorization"])


if __name__ == "__main__":
    main()
