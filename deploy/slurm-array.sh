#!/usr/bin/env bash
# Plays episodes of a teacher in shards: a Slurm array, one task per shard. Submit it, and merge when all tasks succeeded:
#
#   id=$(sbatch --parsable slurm-array.sh)
#   sbatch --dependency="afterok:$id" --wrap 'rhythm-vec merge shards/part-*.jsonl --output teacher.jsonl'
#
# Slurm sets SLURM_ARRAY_TASK_ID, which is the index of the task's shard (--shard auto/COUNT reads it). A repeated task
# recognises a finished shard by its manifest, and exits with 0. To repeat only tasks 3 and 7:
#
#   sbatch --array=3,7 slurm-array.sh
#
# Lines marked SETTING are yours to change.
#SBATCH --job-name=rhythm-teach
#SBATCH --array=0-99%20         # SETTING: from 0 to SHARDS - 1, 20 at a time
#SBATCH --cpus-per-task=1       # SETTING
#SBATCH --mem=1G                # SETTING
#SBATCH --time=04:00:00         # SETTING
set -euo pipefail

SHARDS=${SHARDS:-100}           # SETTING: the length of the array
SEEDS=${SEEDS:-100-9999}        # SETTING
POLICY=${POLICY:-planner-wellbeing} # SETTING
FOLDER=${FOLDER:-shards}        # SETTING: a folder that all nodes see
# SETTING: modules or a container, if the nodes have no rhythm-vec, such as
# module load nodejs

exec rhythm-vec teach --policy "$POLICY" --seeds "$SEEDS" --threads "${SLURM_CPUS_PER_TASK:-1}" \
  --shard "auto/$SHARDS" --output "$FOLDER/part-$SLURM_ARRAY_TASK_ID.jsonl"
