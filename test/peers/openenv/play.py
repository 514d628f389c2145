"""Plays an episode with the client of python/rhythm_vec_env, and validates the server and the folder with OpenEnv's code.

Reads {"play": arguments of play, "tools": arguments of call_tools, "environment": arguments of
play_in_process, "harness": arguments of run_harness, "validate": URL of a server}, each optional. Prints an answer for each.
"""

import json
import sys
from pathlib import Path

from openenv.cli._cli_utils import validate_env_structure
from openenv.cli._validation import get_deployment_modes, validate_multi_mode_deployment, validate_running_environment
from openenv.core.client_types import StepResult
from openenv.core.mcp_client import MCPToolClient

from rhythm_vec_env import RhythmVecAction, RhythmVecEnv, RhythmVecState

FOLDER = Path(__file__).resolve().parents[3] / "python" / "rhythm_vec_env"


def plain(result: StepResult) -> dict:
    """Converts a result to JSON."""
    observation = result.observation.model_dump(exclude={"metadata"})
    return {"observation": observation, "reward": result.reward, "done": result.done}


def play(url: str, reset: dict, actions: list) -> dict:
    """Plays an episode. Returns its results, the states before and after it, and the error or result of a further step."""
    with RhythmVecEnv(base_url=url).sync() as env:
        fresh = env.state()
        results = [env.reset(**reset)]
        for action in actions:
            results.append(env.step(RhythmVecAction(**action)))
        states = [state.model_dump() for state in (fresh, env.state()) if isinstance(state, RhythmVecState)]
        try:
            refused = plain(env.step(RhythmVecAction(action_type="sleep")))
        except RuntimeError as error:
            refused = str(error)
    return {"results": [plain(result) for result in results], "states": states, "refused": refused}


def call_tools(url: str, reset: dict, calls: list) -> dict:
    """Calls tools, over a WebSocket after a reset and over HTTP after `start`. Returns their names and results."""
    answers = {}
    for kind in ("socket", "http"):
        with MCPToolClient(base_url=url).sync() as env:
            env.async_client.use_production_mode = kind == "http"
            if kind == "socket":
                env.reset(**reset)
            else:
                env.call_tool("start", **reset)
            names = [tool.name for tool in env.list_tools()]
            answers[kind] = [names, *(env.call_tool(name, **arguments) for name, arguments in calls)]
    return answers


def play_in_process(seed: int, answers: list) -> list:
    """Plays an episode of the environment in OpenEnv's form. Returns its observations."""
    from rhythm_vec_env.environment import RhythmVecEnvironment

    env = RhythmVecEnvironment(reward="both")
    observations = [env.reset(seed=seed), *(env.step(RhythmVecAction(message=answer)) for answer in answers)]
    steps = env.state.step_count
    env.close()
    return [steps, *(each.model_dump(exclude={"metadata"}) for each in observations)]


def run_harness(url: str, seed: int, calls: list) -> dict:
    """Plays an episode by OpenEnv's harness, with scripted calls of the tool. Returns what the model saw, and the reward."""
    from openenv.core.harness import HarnessRunLimits, MCPHarnessAdapter, ModelStepResult
    from openenv.core.llm_client import LLMResponse, ToolCall

    from rhythm_vec_env.harness import RhythmVecSessionFactory

    session = RhythmVecSessionFactory(lambda: RhythmVecEnv(base_url=url)).create(seed=seed)
    left = list(calls)

    def model_step(messages, tools, sampling):
        call = [ToolCall(id=str(len(left)), name=tools[0].name, args=left.pop(0))] if left else []
        return ModelStepResult(response=LLMResponse(content="", tool_calls=call))

    result = MCPHarnessAdapter().run_white_box(model_step, session, HarnessRunLimits(max_turns=40))
    reward = session.verify(result.messages).env_reward
    session.close()
    return {"messages": [message["content"] for message in result.messages if message["role"] != "assistant"], "reward": reward}


def validate(url: str) -> dict:
    report = validate_running_environment(url)
    return {
        "passed": report["passed"],
        "failed": report["summary"]["failed_criteria"],
        "warnings": validate_env_structure(FOLDER),
        "issues": validate_multi_mode_deployment(FOLDER)[1],
        "docker": get_deployment_modes(FOLDER)["docker"],
    }


request = json.load(sys.stdin)
answer = {}
if "play" in request:
    answer["played"] = play(**request["play"])
if "tools" in request:
    answer["called"] = call_tools(**request["tools"])
if "environment" in request:
    answer["environment"] = play_in_process(**request["environment"])
if "harness" in request:
    answer["harness"] = run_harness(**request["harness"])
if "validate" in request:
    answer["validated"] = validate(request["validate"])
json.dump(answer, sys.stdout)
