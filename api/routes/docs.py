"""``/openapi.json`` and ``/docs``: Swagger UI from an installed package, nothing from elsewhere.

The package is flask-swagger-ui, of which only the files are used: the older swagger-ui-bundle
stops at Swagger UI 4, which can't show OpenAPI 3.1.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from api.openapi import document
from api.operations import Operation

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

# Addresses are relative, so that the page also works behind a path prefix.
PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Lastro API</title>
<link rel="icon" href="docs/assets/favicon-32x32.png">
<link rel="stylesheet" href="docs/assets/swagger-ui.css">
<script src="docs/assets/swagger-ui-bundle.js" defer></script>
<script src="docs/start.js" defer></script>
</head>
<body>
<div id="swagger-ui"></div>
<noscript>
This page needs JavaScript. The document itself is <a href="openapi.json">openapi.json</a>.
</noscript>
</body>
</html>
"""

SCRIPT = """\
SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#swagger-ui",
  deepLinking: true,
  validatorUrl: null,
});
"""


def routes(operations: Iterable[Operation]) -> list[BaseRoute]:
    """The pages that describe ``operations``."""
    described = json.dumps(document(operations))

    async def get_document(_request: Request) -> Response:
        return Response(described, media_type="application/json")

    async def get_page(_request: Request) -> Response:
        return HTMLResponse(PAGE, headers={"Content-Security-Policy": POLICY})

    async def get_script(_request: Request) -> Response:
        return Response(SCRIPT, media_type="text/javascript")

    async def get_root(_request: Request) -> Response:
        return RedirectResponse("docs")

    return [
        Route("/", get_root),
        Route("/openapi.json", get_document),
        Route("/docs", get_page),
        Route("/docs/start.js", get_script),
        Mount("/docs/assets", StaticFiles(packages=[("flask_swagger_ui", "dist")])),
    ]
