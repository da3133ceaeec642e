"""Does `monet serve` answer as the program does, keep what it found, and let nobody else in?"""

from __future__ import annotations

import json
import signal
import subprocess
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

MODELS = Path(__file__).parents[2] / "data" / "models"
QUESTION = {"network": "lenet5", "machine": "edge_tpu", "batch": 4}


@dataclass
class Server:
    process: subprocess.Popen
    url: str

    @property
    def host(self) -> str:
        return urllib.parse.urlsplit(self.url).netloc

    @property
    def token(self) -> str:
        return urllib.parse.urlsplit(self.url).query.removeprefix("token=")

    def ask(self, path: str, body: bytes | str | dict | None = None, **headers: str) -> tuple[int, bytes]:
        if isinstance(body, dict):
            body = json.dumps(body)
        if isinstance(body, str):
            body = body.encode()
        request = urllib.request.Request(f"http://{self.host}{path}", data=body)
        for name, value in {"X-Monet-Token": self.token, **{k.replace("_", "-"): v for k, v in headers.items()}}.items():
            request.add_header(name, value)
        try:
            with urllib.request.urlopen(request, timeout=600) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    def json(self, path: str, body: bytes | str | dict | None = None) -> dict | list:
        status, said = self.ask(path, body)
        assert status == 200, said
        return json.loads(said)


@contextmanager
def serving(monet: Path, folder: Path, *arguments: str) -> Iterator[Server]:
    command = [monet, "serve", "--port", "0", "--folder", folder, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            url = process.stdout.readline().strip()
            assert url.startswith("http://127.0.0.1:"), process.stderr.read()
            yield Server(process, url)
        finally:
            process.kill()


@pytest.fixture
def server(monet: Path, tmp_path: Path) -> Iterator[Server]:
    with serving(monet, tmp_path / "runs") as running:
        yield running


def test_the_url_is_a_page(server: Server) -> None:
    with urllib.request.urlopen(server.url) as answer:
        page = answer.read().decode()
    assert answer.status == 200 and page.startswith("<!doctype html>") and not answer.headers.get("Set-Cookie")
    assert "frame-ancestors" in answer.headers["Content-Security-Policy"] or "default-src" in answer.headers["Content-Security-Policy"]


@pytest.mark.parametrize("path", ["/", "/api/networks", "/api/runs/1", "/api/nothing", "/../etc/passwd"])
def test_nobody_without_the_token(server: Server, path: str) -> None:
    for token in ("", "0" * 32, server.token[:-1]):
        status, said = server.ask(path, X_Monet_Token=token)
        assert status == 401 and "token" in json.loads(said)["error"]["message"]


def test_other_hosts_and_origins(server: Server) -> None:
    assert server.ask("/api/networks", Host="example.org")[0] == 421
    assert server.ask("/api/networks", Origin="http://example.org")[0] == 403
    assert server.ask("/api/networks", Origin=f"http://{server.host}")[0] == 200


def test_lists(server: Server) -> None:
    assert "resnet18" in {network["name"] for network in server.json("/api/networks")}
    assert "edge_tpu" in {machine["name"] for machine in server.json("/api/machines")}
    machine = server.json("/api/machines/edge_tpu")
    assert machine["parameters"]["x"] == "4" and "name: edge_tpu" in machine["text"]
    assert server.ask("/api/machines/nothing")[0] == 404
    assert "edge_tpu" in {space["name"] for space in server.json("/api/spaces")}
    assert {"bf16", "mixed", "mxfp8"} <= set(server.json("/api/recipes"))


def test_an_evaluation_is_that_of_the_program(server: Server, monet: Path) -> None:
    answer = server.json("/api/evaluate", QUESTION)
    assert answer["words"] == "monet evaluate lenet5 --hardware edge_tpu --batch 4"
    by_hand = subprocess.run([monet, *answer["words"].split()[1:], "--json", "-q"], check=True, capture_output=True, text=True)
    one = json.loads(by_hand.stdout)
    for figure in ("latency_cycles", "energy_pj", "peak_bytes", "operators", "diagnosis", "recipe"):
        assert answer["result"][figure] == one[figure]
    runs = server.json("/api/runs")
    assert [run["id"] for run in runs] == [answer["run"]] and runs[0]["question"] == QUESTION
    status, page = server.ask(f"/api/runs/{answer['run']}/page")
    assert status == 200 and b"lenet5" in page
    status, plan = server.ask(f"/api/runs/{answer['run']}/plan")
    assert status == 200
    again = server.json("/api/evaluate?keep=no", {**QUESTION, "plan": plan.decode()})
    assert again["run"] == 0 and again["result"]["latency_cycles"] == one["latency_cycles"]
    assert len(server.json("/api/runs")) == 1


def test_a_network_and_a_machine_of_ones_own(server: Server) -> None:
    kept = server.json("/api/networks?name=../my%20net.onnx", (MODELS / "mlp_robotics.onnx").read_bytes())
    assert kept["network"].startswith("upload:") and kept["network"].endswith("/mynet.onnx")
    text = server.json("/api/machines/edge_tpu")["text"]
    own = server.json("/api/machines", text.replace("name: edge_tpu", "name: mine"))
    assert own["name"] == "mine"
    answer = server.json("/api/evaluate", {"network": kept["network"], "machine_yaml": text, "set": {"x": 2}})
    assert answer["result"]["fits"] and "x=2" in answer["words"]


@pytest.mark.parametrize(
    ("path", "body", "words"),
    [
        ("/api/evaluate", "{", "no JSON"),
        ("/api/evaluate", "[]", "no JSON object"),
        ("/api/evaluate", {**QUESTION, "colour": "red"}, "is not known"),
        ("/api/evaluate", {**QUESTION, "batch": 0}, "no whole number"),
        ("/api/evaluate", {**QUESTION, "batch": "many"}, "no whole number"),
        ("/api/evaluate", {**QUESTION, "network": "/etc/passwd"}, "there is no network"),
        ("/api/evaluate", {**QUESTION, "network": "upload:" + "0" * 32 + "/x"}, "there is no network"),
        ("/api/evaluate", {**QUESTION, "network": "upload:../../../../etc/passwd"}, "there is no network"),
        ("/api/evaluate", {**QUESTION, "machine": "../edge_tpu"}, "there is no preset"),
        ("/api/evaluate", {"network": "lenet5"}, "give a preset"),
        ("/api/evaluate", {**QUESTION, "precision": "/etc/recipe.yaml"}, "looks like a file"),
        ("/api/evaluate", {**QUESTION, "set": {"x": [1]}}, "has no value"),
        ("/api/evaluate", {**QUESTION, "plan": "stacks: ["}, ""),
        ("/api/evaluate", {**QUESTION, "command": "optimize"}, "takes long"),
        ("/api/jobs", {**QUESTION, "command": "format"}, "there is no 'format'"),
        ("/api/jobs", {"command": "explore", "space": "../space.yaml"}, "not the name of a space"),
        ("/api/networks", b"this is no network", ""),
        ("/api/machines", "name: [", ""),
        ("/api/machines", "monet: 1\ninclude: ../../secret.yaml\n", "is no preset"),
        ("/api/machines", "monet: 1\ncores: {a: {include: [edge_tpu, /etc/passwd]}}\n", "is no preset"),
    ],
)
def test_mistakes_are_told(server: Server, path: str, body: bytes | str | dict, words: str) -> None:
    status, said = server.ask(path, body)
    error = json.loads(said)["error"]
    assert status == 400 and error["message"] and words in error["message"]


def test_an_upload_that_is_too_large(monet: Path, tmp_path: Path) -> None:
    with serving(monet, tmp_path / "runs", "--most-upload", "1KiB") as server:
        try:
            status, _ = server.ask("/api/networks", b"x" * 5000)
        except (urllib.error.URLError, ConnectionError):
            return  # it hung up before all was sent
        assert status == 413


def until(condition: Callable[[], bool]) -> None:
    for _ in range(1200):
        if condition():
            return
        time.sleep(0.1)
    pytest.fail("it does not come about")


def test_a_search_in_the_background(server: Server) -> None:
    job = server.json("/api/jobs", {**QUESTION, "command": "fuse"})["job"]
    until(lambda: server.json("/api/jobs")[0]["state"] in ("done", "failed"))
    report = server.json("/api/jobs")[0]
    assert report["id"] == job and report["state"] == "done", report
    run = server.json(f"/api/runs/{report['run']}")
    assert run["run"]["command"] == "fuse" and run["result"]["stacks"]
    assert server.ask("/api/jobs/99/stop", "")[0] == 404


def job_state(server: Server, job: int) -> str:
    return server.json(f"/api/jobs/{job}")["state"]


def progress(server: Server, job: int) -> tuple[str, int]:
    report = server.json(f"/api/jobs/{job}")
    return report["what"], report["done"]


def test_plans_are_shown_as_they_are_found(server: Server) -> None:
    job = server.json("/api/jobs", {**QUESTION, "command": "optimize", "evaluations": 20})["job"]
    until(lambda: job_state(server, job) == "done")
    front = server.json(f"/api/jobs/{job}")["front"]
    assert front and all(plan["latency_s"] > 0 and plan["peak_bytes"] > 0 for plan in front)
    for a in front:
        assert not any(b != a and all(b[key] <= a[key] for key in a) for b in front), "one of a front beats another"
    run = server.json(f"/api/runs/{server.json(f'/api/jobs/{job}')['run']}")["run"]
    assert run["latency_s"] >= min(plan["latency_s"] for plan in front) * (1 - 1e-9)


def test_a_job_is_paused_and_goes_on(server: Server) -> None:
    asked = {"network": "resnet18-cifar", "machine": "edge_tpu", "command": "optimize", "evaluations": 100000}
    first = server.json("/api/jobs", asked)["job"]
    until(lambda: server.json(f"/api/jobs/{first}")["done"] > 0)
    server.json(f"/api/jobs/{first}/pause", "")
    until(lambda: job_state(server, first) == "paused")
    second = server.json("/api/jobs", {**QUESTION, "command": "fuse"})["job"]
    until(lambda: job_state(server, second) == "done")
    before = progress(server, first)
    assert job_state(server, first) == "paused" and server.json(f"/api/jobs/{first}/resume", "")["job"] == first
    until(lambda: job_state(server, first) == "running" and progress(server, first) != before)
    server.json(f"/api/jobs/{first}/stop", "")
    until(lambda: job_state(server, first) == "stopped")
    assert server.ask(f"/api/jobs/{second}/resume", "")[0] == 400 and server.ask("/api/jobs/77/pause", "")[0] == 404


def test_an_exploration_goes_on_where_it_was_stopped(server: Server) -> None:
    asked = {"command": "explore", "space": "mcu", "network": "mlp-robotics", "batch": 4}
    job = server.json("/api/jobs", asked)["job"]
    until(lambda: len(server.json(f"/api/jobs/{job}")["front"]) > 0)
    server.json(f"/api/jobs/{job}/stop", "")
    until(lambda: job_state(server, job) in ("stopped", "done"))
    report = server.json(f"/api/jobs/{job}")
    assert report["words"] == "monet explore mcu --network mlp-robotics --batch 4" and "parameters" in report["front"][0]
    seen = server.json(f"/api/runs/{report['run']}")["result"]["seen"]
    assert server.ask(f"/api/runs/{report['run']}/page")[0] == 200
    if report["state"] == "stopped":
        job = server.json(f"/api/jobs/{job}/resume", "")["job"]
        until(lambda: job_state(server, job) == "done")
        result = server.json(f"/api/runs/{server.json(f'/api/jobs/{job}')['run']}")["result"]
        assert result["seen"] == 588 and result["fresh"] == 588 - seen


def test_runs_side_by_side(server: Server) -> None:
    a = server.json("/api/evaluate", QUESTION)
    b = server.json("/api/evaluate", {**QUESTION, "set": {"x": 2}})
    found = server.json(f"/api/compare?a={a['run']}&b={b['run']}")
    (latency,) = [row for row in found["comparison"]["rows"] if row["part"] == "latency"]
    assert latency["a"] == a["result"]["latency_cycles"] and latency["b"] == b["result"]["latency_cycles"]
    assert found["a"]["energy_pj"] == a["result"]["energy_pj"] and found["b"]["energy_pj"] == b["result"]["energy_pj"]
    assert server.ask("/api/compare?a=1&b=99")[0] == 404 and server.ask("/api/compare")[0] == 404


def test_what_was_not_finished_is_there_again(monet: Path, tmp_path: Path) -> None:
    asked = {"network": "resnet18-cifar", "machine": "edge_tpu", "command": "optimize", "evaluations": 100000}
    with serving(monet, tmp_path / "runs") as server:
        job = server.json("/api/jobs", asked)["job"]
        until(lambda: job_state(server, job) == "running")
        server.process.kill()
    with serving(monet, tmp_path / "runs") as server:
        report = server.json(f"/api/jobs/{job}")
        assert report["state"] == "interrupted" and report["question"] == asked
        again = server.json(f"/api/jobs/{job}/resume", "")["job"]
        until(lambda: job_state(server, again) == "running")
        server.json(f"/api/jobs/{again}/stop", "")
        until(lambda: job_state(server, again) == "stopped")
    with serving(monet, tmp_path / "runs") as server:
        assert server.json("/api/jobs") == []


def test_other_names_that_it_was_told(monet: Path, tmp_path: Path) -> None:
    with serving(monet, tmp_path / "runs", "--name", "monet.example:80") as server:
        assert server.ask("/api/spaces", Host="monet.example:80")[0] == 200
        assert server.ask("/api/spaces", Host="monet.example:80", Origin="https://monet.example:80")[0] == 200
        assert server.ask("/api/spaces", Host="other.example:80")[0] == 421


def test_a_search_is_stopped(server: Server) -> None:
    job = server.json("/api/jobs", {"network": "resnet18-cifar", "machine": "edge_tpu", "command": "optimize", "evaluations": 100000})["job"]
    waiting = server.json("/api/jobs", {**QUESTION, "command": "fuse"})["job"]
    until(lambda: server.json("/api/jobs")[1]["state"] == "running")
    server.json(f"/api/jobs/{waiting}/stop", "")
    server.json(f"/api/jobs/{job}/stop", "")
    until(lambda: all(one["state"] == "stopped" for one in server.json("/api/jobs")))


def test_fifty_at_once(server: Server) -> None:
    answers: list[int] = []

    def ask(batch: int) -> None:
        answers.append(server.ask("/api/evaluate?keep=no", {**QUESTION, "batch": 1 + batch % 3})[0])

    threads = [threading.Thread(target=ask, args=(k,)) for k in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [200] * 50


def test_what_is_done_survives_a_kill(monet: Path, tmp_path: Path) -> None:
    with serving(monet, tmp_path / "runs") as server:
        first = server.json("/api/evaluate", QUESTION)
        server.process.kill()
    with serving(monet, tmp_path / "runs") as server:
        assert [run["id"] for run in server.json("/api/runs")] == [first["run"]]
        assert server.json(f"/api/runs/{first['run']}")["result"]["latency_cycles"] == first["result"]["latency_cycles"]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_when_it_is_told(server: Server, how: signal.Signals) -> None:
    server.json("/api/networks")
    begin = time.monotonic()
    server.process.send_signal(how)
    assert server.process.wait(timeout=60) == 0
    assert time.monotonic() - begin < 30


def test_a_port_that_is_taken(server: Server, monet: Path, tmp_path: Path) -> None:
    port = server.host.split(":")[1]
    done = subprocess.run([monet, "serve", "--port", port, "--folder", tmp_path / "other"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "cannot listen" in done.stderr and "--port 0" in done.stderr
