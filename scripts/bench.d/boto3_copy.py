"""Copies an object through this machine with boto3: boto3_copy.py BUCKET KEY NEW."""

import sys

import boto3

bucket, key, new = sys.argv[1:]
store = boto3.client("s3")
store.upload_fileobj(store.get_object(Bucket=bucket, Key=key)["Body"], bucket, new)
