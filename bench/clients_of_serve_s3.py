"""What clients of S3 do at `lanlab serve`, for `clients_of_serve.py`."""
# ruff: noqa: E501 (scripts have long lines)

from __future__ import annotations

BOTO3 = """
import boto3
from botocore.config import Config
c = boto3.client('s3', endpoint_url=f'http://{host}:{port}', aws_access_key_id=name,
    aws_secret_access_key=secret, region_name='us-east-1',
    config=Config(s3={'addressing_style': 'path'}, retries={'max_attempts': 1}))
c.upload_file('up.bin', 'lanlab', 'a.bin'); c.download_file('lanlab', 'a.bin', 'down.bin')
c.put_object(Bucket='lanlab', Key='d/x', Body=b'x')
assert [o['Key'] for o in c.list_objects_v2(Bucket='lanlab', Prefix='d/')['Contents']] == ['d/x']
try: c.put_object(Bucket='lanlab', Key='d/x', Body=b'new', IfNoneMatch='*'); raise SystemExit('not refused')
except c.exceptions.ClientError as error: assert error.response['ResponseMetadata']['HTTPStatusCode'] == 412
assert c.get_object(Bucket='lanlab', Key='d/x')['Body'].read() == b'x'
c.copy_object(Bucket='lanlab', Key='d/y', CopySource='lanlab/d/x'); c.delete_object(Bucket='lanlab', Key='d/x')
c.copy_object(Bucket='lanlab', Key='q?+ z', CopySource={'Bucket': 'lanlab', 'Key': 'd/y'})
c.copy_object(Bucket='lanlab', Key='d/z', CopySource={'Bucket': 'lanlab', 'Key': 'q?+ z'})
keys = [{'Key': key} for key in ('d/y', 'd/z', 'q?+ z')]
assert 'Errors' not in c.delete_objects(Bucket='lanlab', Delete={'Objects': keys})
assert [o['Key'] for o in c.list_objects_v2(Bucket='lanlab')['Contents']] == ['a.bin']
"""

S3CMD = r"""
cat > s3cfg <<C
[default]
access_key = $NAME
secret_key = $SECRET
host_base = $HOST:$PORT
host_bucket = $HOST:$PORT
use_https = False
C
s() { python3 -c 'import runpy, sys; sys.argv[0] = "s3cmd"; runpy.run_path(sys.path[1] + "/bin/s3cmd", run_name="__main__")' -c s3cfg "$@"; }
s --version; s put up.bin s3://lanlab/a.bin; s get s3://lanlab/a.bin down.bin
mkdir tree back; echo x > 'tree/x +&?'; echo y > tree/y; s sync tree/ s3://lanlab/t/; s sync s3://lanlab/t/ back/
diff -r tree back; s mv 's3://lanlab/t/x +&?' 's3://lanlab/t/z#'; s cp s3://lanlab/t/y s3://lanlab/u
s del -r -f s3://lanlab/t/; s del s3://lanlab/u; [ "$(ls $ROOT)" = a.bin ]
"""

MINIO = """
from minio import Minio
from minio.deleteobjects import DeleteObject
from minio.commonconfig import CopySource
c = Minio(endpoint=f'{host}:{port}', access_key=name, secret_key=secret, secure=False)
c.fput_object(bucket_name='lanlab', object_name='a.bin', file_path='up.bin')
c.fget_object(bucket_name='lanlab', object_name='a.bin', file_path='down.bin')
c.copy_object(bucket_name='lanlab', object_name='d/x +', source=CopySource(bucket_name='lanlab', object_name='a.bin'))
assert [o.object_name for o in c.list_objects(bucket_name='lanlab', recursive=True)] == ['a.bin', 'd/x +']
errors = c.remove_objects(bucket_name='lanlab', delete_object_list=[DeleteObject('d/x +'), DeleteObject('none')])
assert not list(errors)
assert [o.object_name for o in c.list_objects(bucket_name='lanlab', recursive=True)] == ['a.bin']
"""

AWS = """
aws --version
export AWS_ACCESS_KEY_ID=$NAME AWS_SECRET_ACCESS_KEY=$SECRET AWS_DEFAULT_REGION=us-east-1
a() { aws --endpoint-url http://$HOST:$PORT s3 "$@"; }
a cp up.bin s3://lanlab/a.bin; a cp s3://lanlab/a.bin down.bin; a ls s3://lanlab/
mkdir tree; echo x > tree/x; a sync tree s3://lanlab/tree; a mv s3://lanlab/tree/x s3://lanlab/tree/y
a rm --recursive s3://lanlab/tree
"""

MINIO_GO = r"""
mkdir go; cat > go/main.go <<'G'
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

func check(err error) {
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func main() {
	ctx := context.Background()
	for _, trailing := range []bool{false, true} {
		c, err := minio.New(os.Getenv("HOST")+":"+os.Getenv("PORT"), &minio.Options{
			Creds:        credentials.NewStaticV4(os.Getenv("NAME"), os.Getenv("SECRET"), ""),
			BucketLookup: minio.BucketLookupPath, TrailingHeaders: trailing})
		check(err)
		_, err = c.FPutObject(ctx, "lanlab", "a.bin", "up.bin", minio.PutObjectOptions{})
		check(err)
		check(c.FGetObject(ctx, "lanlab", "a.bin", "down.bin", minio.GetObjectOptions{}))
		large := bytes.Repeat([]byte("0123456789abcdef"), 1<<20)
		_, err = c.PutObject(ctx, "lanlab", "d/large", bytes.NewReader(large), int64(len(large)), minio.PutObjectOptions{PartSize: 5 << 20})
		check(err)
		found, err := c.StatObject(ctx, "lanlab", "d/large", minio.StatObjectOptions{})
		check(err)
		if found.Size != int64(len(large)) {
			fmt.Println("large object:", found.Size)
			os.Exit(1)
		}
		check(c.RemoveObject(ctx, "lanlab", "d/large", minio.RemoveObjectOptions{}))
	}
}
G
(cd go; go mod init probe; go get github.com/minio/minio-go/v7@v7.4.1; go mod tidy; go build -o ../probe .) >go.log 2>&1 || { cat go.log; exit 1; }
grep 'minio-go' go/go.mod
./probe
"""
