"""Make a bucket: ENDPOINT BUCKET USER PASSWORD."""

import sys

import boto3

endpoint, bucket, user, password = sys.argv[1:]
boto3.client(
    "s3",
    endpoint_url=endpoint,
    aws_access_key_id=user,
    aws_secret_access_key=password,
    region_name="us-east-1",
).create_bucket(Bucket=bucket)
