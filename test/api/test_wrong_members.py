# SPDX-License-Identifier: MIT
"""What a newcomer mistypes in a body: the answer names the member, shows its value, and says what would be right."""
import pytest
from support.refusals import refused

INVALID, MISSING = "InvalidParameter", "MissingRequiredProperty"
FAULTS, RESET, EXPECT, RULES, CLOCK = "testing/faults", "testing/reset", "testing/requests/expect", "testing/rules", "clock"
LONG = "x" * 4000


@pytest.mark.parametrize(
    "path, body, code, said",
    [
        (FAULTS, {"hold": "yes"}, INVALID, 'hold is "yes"; it must be true or false'),
        (FAULTS, {"hold": None}, INVALID, "hold is null; it must be true or false"),
        (FAULTS, {"times": 1.5}, INVALID, "times is 1.5; it must be an integer from 0 to 1000000"),
        (FAULTS, {"times": "2"}, INVALID, 'times is "2"; it must be an integer from 0 to 1000000'),
        (FAULTS, {"times": 2**32}, INVALID, "times is 4294967296; it must be an integer from 0 to 1000000"),
        (FAULTS, {"cut": True}, INVALID, "cut is true; it must be the string before (nothing is carried out) or after"),
        (FAULTS, {"hold": True, "match": []}, INVALID, "match is an array; it must be an object"),
        (FAULTS, {"hold": True, "match": {"path": {}}}, INVALID, "match.path is an object; it must be a string"),
        (FAULTS, {"mach": {}}, INVALID, "mach is not known; there are: match, skip, times, delayMilliseconds, hold, "
         "reply, cut, node, allocation, mustExist"),
        (FAULTS, {"reply": {"code": "X"}}, MISSING, "reply.status is missing; it must be an integer from 400 to 599"),
        (FAULTS, {"reply": {"status": 429, "message": LONG}}, INVALID, 'reply.message is "' + "x" * 60 + '..."; it must be a string of at most 1000 bytes'),
        (FAULTS, {"cut": LONG}, INVALID, 'cut is "' + "x" * 60 + '..."; it must be before'),
        (FAULTS, {"hold": True, "match": {"method": "PUT", "stat": 1}}, INVALID, "match.stat is not known; there are: operation,"),
        (RESET, {"force": 1}, INVALID, "force is 1; it must be true or false"),
        (RESET, {"group": "lab"}, INVALID, "group is not known; there are: subscription, resourceGroup, force"),
        (EXPECT, {"timeoutSeconds": -0.5}, INVALID, "timeoutSeconds is -0.5; it must be a number from 0 to 600"),
        (EXPECT, {"timeoutSeconds": "1"}, INVALID, 'timeoutSeconds is "1"; it must be a number from 0 to 600'),
        (EXPECT, {"count": 0}, INVALID, "count is 0; it must be an integer from 1 to 10000"),
        (EXPECT, {"after": -1}, INVALID, "after is -1; it must be an integer from 0 to"),
        (CLOCK, {"advance": 6}, INVALID, "advance is 6; it must be a duration of ISO 8601, such as PT6H, or next"),
        (CLOCK, {"real": "true"}, INVALID, 'real is "true"; it must be true or false'),
        (CLOCK, {"speed": 2}, INVALID, "speed is not known; there are: rate, advance, advanceTo, real"),
        (RULES, {"duration": "2s"}, INVALID, 'duration is "2s"; it must be an ISO 8601 duration of at most P36500D, such as PT1H30M or PT0.5S'),
        (RULES, {"exitCode": 256}, INVALID, "exitCode is 256; it must be an integer from 0 to 255"),
        (RULES, {"match": {"role": "cook"}}, INVALID, 'match.role is "cook"; it must be job, preparation or setup'),
        (RULES, {"rules": [None]}, INVALID, "rules[0] is null; it must be an object"),
        (RULES, {"rules": [{"stdout": [{"text": "", "at": 3}]}]}, INVALID, "rules[0].stdout[0].at is 3; it must be an ISO 8601 duration"),
        (RULES, {"rules": [{"stderr": [{"at": "PT0S"}]}]}, MISSING, "rules[0].stderr[0].text is missing; it must be a string"),
        (RULES, {"stdout": [5]}, INVALID, "stdout[0] is an integer; it must be a string or an object"),
        (RULES, {"files": {}}, INVALID, "files is an object; it must be an array of objects"),
    ],
    ids=lambda v: None if not isinstance(v, dict) else "-".join(map(str, v))[:40],
)
def test_a_wrong_member_is_named_with_its_value_and_what_would_be_right(t, path, body, code, said):  # noqa: F811
    reply = t.daemon.call("POST", f"/batchaid/{path}", body, headers={"x-batchaid-testing-key": t.key}, token=None)
    refused(reply, 400, code)
    assert said in reply.error["message"], reply.error
    assert t.get("/faults")["value"] == [] and t.get("/rules")["value"] == []


@pytest.mark.parametrize(
    "path, body, said",
    [
        ("users", {"nam": "ada"}, "nam is not known; there are: name, displayName, role, scope, password"),
        ("users", {"name": 3}, "name is 3; it must be a string"),
        ("subscriptions", {"displayName": ["lab"]}, "displayName is an array; it must be a string of 1 to 64 bytes"),
        ("storage/shares", {"account": "acct", "kind": "files"}, "name is missing; it must be a string"),
    ],
)
def test_so_are_those_of_who_runs_the_daemon(daemon, path, body, said):
    reply = daemon.call("POST", f"/batchaid/{path}", body)
    assert reply.status == 400 and said in reply.error["message"], reply
