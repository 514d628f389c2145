"""Queries a Parquet file of trajectories with DuckDB: scores and belief errors by policy, and actions by step.

    pip install duckdb
    npx rhythm-vec eval --policies random,heuristic+constant --trajectories episodes.parquet
    python python/examples/trajectories_duckdb.py episodes.parquet

The column `teacher` has the policy's name.
"""

import sys

import duckdb


def scores(path):
    """Returns (teacher, episodes, mean final score, mean error of the last belief), the best teacher first."""
    return duckdb.sql(
        """
        select teacher, count(*), avg(final_score), avg(belief_mae)
        from read_parquet($path)
        group by teacher
        order by avg(final_score) desc, teacher
        """,
        params={"path": path},
    ).fetchall()


def actions(path):
    """Returns (step, action, number of episodes) for each action that was played in a step."""
    return duckdb.sql(
        """
        select step, action, count(*)
        from (
            select unnest(actions) as action, unnest(range(len(actions))) as step
            from read_parquet($path)
        )
        group by step, action
        order by step, action
        """,
        params={"path": path},
    ).fetchall()


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
