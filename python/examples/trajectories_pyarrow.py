"""Queries a Parquet file of trajectories with PyArrow: scores and belief errors by policy, and actions by step.

    pip install pyarrow
    npx rhythm-vec eval --policies random,heuristic+constant --trajectories episodes.parquet
    python python/examples/trajectories_pyarrow.py episodes.parquet

The column `teacher` has the policy's name. The example reads only the columns that it needs, and the actions in batches of
rows.
"""

import sys

import pyarrow
import pyarrow.compute as pc
import pyarrow.parquet


def scores(path):
    """Returns (teacher, episodes, mean final score, mean error of the last belief), the best teacher first."""
    table = pyarrow.parquet.read_table(path, columns=["teacher", "final_score", "belief_mae"])
    means = table.group_by("teacher").aggregate(
        [("final_score", "count"), ("final_score", "mean"), ("belief_mae", "mean")]
    )
    names = ["teacher", "final_score_count", "final_score_mean", "belief_mae_mean"]
    rows = zip(*(means[name].to_pylist() for name in names))
    return sorted(rows, key=lambda row: (-row[2], row[0]))


def actions(path):
    """Returns (step, action, number of episodes) for each action that was played in a step."""
    counts = {}
    file = pyarrow.parquet.ParquetFile(path)
    for batch in file.iter_batches(columns=["actions"]):
        played = batch.column("actions")
        episode = pc.list_parent_indices(played)
        # An episode has 28 steps.
        steps = pc.subtract(pyarrow.array(range(len(episode))), pc.multiply(episode, 28))
        table = pyarrow.table({"step": steps, "action": pc.list_flatten(played)})
        for row in table.group_by(["step", "action"]).aggregate([([], "count_all")]).to_pylist():
            key = row["step"], row["action"]
            counts[key] = counts.get(key, 0) + row["count_all"]
    return sorted((step, action, count) for (step, action), count in counts.items())


def main():
    path = sys.argv[1]
    print("teacher\tepisodes\tfinal_score\tbelief_error")
    for teacher, episodes, score, error in scores(path):
        print(f"{teacher}\t{episodes}\t{score:.6f}\t{error:.6f}")
    print("\nstep\taction\tepisodes")
    for row in actions(path):
        print(*row, sep="\t")


if __name__ == "__main__":
    main()
