"""Puts secrets into a Secrets Manager with boto3, and prints what they are known by.

The argument is the address of the service; the answer is a JSON object.
"""

import json
import sys

import boto3


def main() -> None:
    keys = {"aws_access_key_id": "testing", "aws_secret_access_key": "testing"}

    def client(region: str):
        return boto3.client(
            "secretsmanager", region_name=region, endpoint_url=sys.argv[1], **keys
        )

    west = client("eu-west-1")
    text = west.create_secret(Name="prod/text", SecretString="the-first-text-of-moto")
    newer = west.put_secret_value(SecretId="prod/text", SecretString="the-newer-text-of-moto")
    west.put_secret_value(
        SecretId="prod/text", SecretString="the-blue-text-of-moto", VersionStages=["blue"]
    )
    fields = {"user": "admin", "password": "the-password-of-moto"}
    west.create_secret(Name="prod/json", SecretString=json.dumps(fields))
    west.create_secret(Name="prod/binary", SecretBinary=b"the-binary-text-of-moto\n")
    west.create_secret(Name="prod/bytes", SecretBinary=b"\xff\xfe\x00")
    west.create_secret(Name="prod/deleted", SecretString="the-deleted-text-of-moto")
    west.delete_secret(SecretId="prod/deleted", RecoveryWindowInDays=7)
    south = client("ap-south-1").create_secret(
        Name="prod/elsewhere", SecretString="the-text-elsewhere"
    )
    known = {
        "arn": text["ARN"],
        "first": text["VersionId"],
        "newer": newer["VersionId"],
        "elsewhere": south["ARN"],
    }
    print(json.dumps(known))


if __name__ == "__main__":
    main()
