"""The operations about classes: opening, joining and leaving one, its answers as a file, deleting."""

from __future__ import annotations

from backend.classes.classes import HOURS, LONGEST_TITLE
from backend.jobs.lessons import HTML
from backend.tasks.names import LONGEST_NAME
from backend.web.openapi.operation import Answer, Operation, Parameter, answer, nothing
from backend.web.openapi.schema import described, maybe, nullable, record, text, whole

TAG = "classes"
CODE = {"code": {"type": "string", "pattern": "^[^/]+$"}}
OPENED = record(
    code=str,
    url=str,
    lead=described(str, "the private link of its leader"),
    expires=described(float, "Unix time in seconds"),
)
SEEN = record(title=str, locked=bool, joined=bool, leads=bool)
MEMBER = record(number=whole(1, 10**9))
PAGE = answer("The page.", kind=HTML)
NOWHERE = {404: Answer("There is no such class, or it is not this browser's to lead.", {HTML: {}})}
MOVED = {
    302: Answer(
        "The page, with a cookie that has the key.", {HTML: {}}, {"Location": {"required": True, "schema": text()}}
    )
}

OPERATIONS: dict[str, Operation] = {
    "classes.show_classes": Operation(TAG, PAGE),
    "classes.show_class": Operation(TAG, PAGE | NOWHERE, path=CODE),
    "classes.show_lead": Operation(
        TAG, PAGE | MOVED | NOWHERE, (Parameter("key", text(), "that of the private link"),), path=CODE, strict=False
    ),
    "classes.open_class": Operation(
        TAG,
        answer("The class.", OPENED, status=201),
        body=record(title=maybe(text(most=LONGEST_TITLE)), hours=maybe(whole(*HOURS, HOURS[1]))),
    ),
    "classes.describe_class": Operation(TAG, answer("The class.", SEEN), path=CODE, refusals=(404,)),
    "classes.join_class": Operation(
        TAG,
        answer("This browser is a member now.", MEMBER, status=201) | answer("It was; the name is changed.", MEMBER),
        path=CODE,
        body=record(name=maybe(nullable(text(most=LONGEST_NAME)))),
        refusals=(404,),
    ),
    "classes.leave_class": Operation(TAG, nothing("It has left."), path=CODE, refusals=(404,)),
    "classes.remove_member": Operation(
        TAG,
        nothing("The member is removed."),
        path={**CODE, "number": {"type": "integer", "minimum": 0}},
        refusals=(404,),
    ),
    "classes.export_answers": Operation(
        TAG, answer("The answers.", kind="text/csv", file=True), path=CODE, refusals=(404,)
    ),
    "classes.show_qr": Operation(TAG, answer("The code.", kind="image/svg+xml"), path=CODE),
    "classes.delete_class": Operation(TAG, nothing("The class is deleted."), path=CODE, refusals=(404,)),
}
