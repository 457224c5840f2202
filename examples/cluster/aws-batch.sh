#!/usr/bin/env bash
# Seals s3://SOURCE/ to s3://TARGET/ with an array job of 8 tasks: aws-batch.sh QUEUE
#
# Replace all words in capitals in aws-batch.json first. RECIPIENT is a public key as text (age1…), because a task has
# no files; or put the file into the image. AWS Batch hands secrets over as variables: the command there reads the job's
# key from JOB_KEY, and takes it out of the environment of `deadpan`. The role `deadpan` has the rights in policy.json,
# and `deadpan-execution` may read the secret (secretsmanager:GetSecretValue).
set -euo pipefail

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
queue="${1:?name the queue: aws-batch.sh QUEUE}"
if ! [[ -e job.key ]]; then
    deadpan cluster key -o job.key
    aws secretsmanager create-secret --name deadpan-job --secret-string file://job.key
fi
aws batch register-job-definition --cli-input-json "file://$here/aws-batch.json"
aws batch submit-job --job-name deadpan-seal --job-queue "$queue" --job-definition deadpan-seal \
    --array-properties size=8
