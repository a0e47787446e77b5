# SPDX-License-Identifier: MIT
"""Pools of Azure Batch that a formula scales, as clients see them."""

import re

import pytest
from support.batch import DOCUMENTED
from support.daemon import ROOT
from support.waiting import wait_for
from support.world import fresh

NOTHING = "$TargetDedicatedNodes=0;$TargetLowPriorityNodes=0;$NodeDeallocationOption=requeue"


def body(name, **more):
    return {
        "id": name,
        "vmSize": "STANDARD_D1",
        "virtualMachineConfiguration": {
            "imageReference": {"publisher": "canonical", "offer": "0001-com-ubuntu-server-jammy", "sku": "22_04-lts", "version": "latest"},
            "nodeAgentSKUId": "batch.node.ubuntu 22.04",
        },
        **more,
    }


def steady(plane, name):
    return wait_for(lambda: (p := plane.get(f"/pools/{name}"))["allocationState"] == "steady" and p)


def after_a_run(plane, name, before=None):
    """The pool, once a formula was evaluated after the run `before`."""

    def seen():
        pool = plane.get(f"/pools/{name}")
        return pool if pool.get("autoScaleRun") not in (None, before) else None

    return wait_for(seen)


@pytest.fixture
def pool(plane):
    """A pool without nodes, not scaled by a formula."""
    name = fresh("pool")
    plane.call("POST", "/pools", body(name, targetDedicatedNodes=0), expect=201)
    steady(plane, name)
    yield name
    plane.call("DELETE", f"/pools/{name}", expect=202)


@pytest.fixture
def scaled(plane, pool):
    plane.call("POST", f"/pools/{pool}/enableautoscale", {"autoScaleFormula": "$TargetDedicatedNodes=0"}, expect=200)
    after_a_run(plane, pool)
    return pool


def test_a_pool_is_made_with_a_formula(plane):
    name = fresh("pool")
    formula = "$TargetDedicatedNodes = 1; x = 2.5; $NodeDeallocationOption = taskcompletion;"
    plane.call("POST", "/pools", body(name, enableAutoScale=True, autoScaleFormula=formula, autoScaleEvaluationInterval="PT6M"), expect=201)
    pool = after_a_run(plane, name)
    assert (pool["enableAutoScale"], pool["autoScaleFormula"], pool["autoScaleEvaluationInterval"]) == (True, formula, "PT6M")
    assert pool["autoScaleRun"]["results"] == "$TargetDedicatedNodes=1;$TargetLowPriorityNodes=0;$NodeDeallocationOption=taskcompletion;x=2.5"
    assert "error" not in pool["autoScaleRun"] and "resizeTimeout" not in pool
    wait_for(lambda: plane.get(f"/pools/{name}")["currentDedicatedNodes"] == 1)
    steady(plane, name)
    plane.call("DELETE", f"/pools/{name}", expect=202)


@pytest.mark.parametrize("version", DOCUMENTED)
def test_a_formula_is_enabled_changed_and_disabled(plane, pool, version):
    at = plane.at(version)
    was = at.call("GET", f"/pools/{pool}", expect=200)
    reply = at.call("POST", f"/pools/{pool}/enableautoscale", {"autoScaleFormula": "$TargetDedicatedNodes=0", "autoScaleEvaluationInterval": "PT8M"}, expect=200)
    assert reply.content == b"" and reply.headers["etag"] > was.headers["etag"]
    assert reply.headers["dataserviceid"] == f"{plane.url}/pools/{pool}/enableautoscale"
    seen = after_a_run(at, pool)
    assert (seen["eTag"], seen["autoScaleEvaluationInterval"]) == (reply.headers["etag"], "PT8M")
    assert seen["autoScaleRun"]["results"] == NOTHING
    other = {"autoScaleEvaluationInterval": "PT5M"}
    at.refused(503, "TooManyEnableAutoScaleRequests", "POST", f"/pools/{pool}/enableautoscale", other)
    assert at.get(f"/pools/{pool}")["autoScaleEvaluationInterval"] == "PT8M"
    at.call("POST", f"/pools/{pool}/disableautoscale", expect=200)
    seen = at.get(f"/pools/{pool}")
    assert seen["enableAutoScale"] is False and not {"autoScaleFormula", "autoScaleEvaluationInterval", "autoScaleRun"} & seen.keys()


def test_a_pool_with_a_formula_gets_another_interval(plane):
    name = fresh("pool")
    plane.call("POST", "/pools", body(name, enableAutoScale=True, autoScaleFormula="$TargetDedicatedNodes=0"), expect=201)
    steady(plane, name)
    plane.call("POST", f"/pools/{name}/enableautoscale", {"autoScaleEvaluationInterval": "PT5M"}, expect=200)
    seen = plane.get(f"/pools/{name}")
    assert (seen["autoScaleEvaluationInterval"], seen["autoScaleFormula"]) == ("PT5M", "$TargetDedicatedNodes=0")
    plane.call("DELETE", f"/pools/{name}", expect=202)


def test_the_usual_interval(plane, scaled):
    assert plane.get(f"/pools/{scaled}")["autoScaleEvaluationInterval"] == "PT15M"


@pytest.mark.parametrize("version", DOCUMENTED)
def test_a_formula_is_evaluated_without_effect(plane, scaled, version):
    before = plane.get(f"/pools/{scaled}")
    run = plane.at(version).call("POST", f"/pools/{scaled}/evaluateautoscale", {"autoScaleFormula": "$TargetDedicatedNodes=3"}, expect=200).json
    assert run.pop("odata.metadata").endswith("/$metadata#Microsoft.Azure.Batch.Protocol.Entities.AutoScaleRun")
    assert run["results"] == "$TargetDedicatedNodes=3;$TargetLowPriorityNodes=0;$NodeDeallocationOption=requeue"
    assert sorted(run) == ["results", "timestamp"]
    assert plane.get(f"/pools/{scaled}") == before


def test_an_evaluation_without_a_value_says_where(plane, scaled):
    run = plane.call("POST", f"/pools/{scaled}/evaluateautoscale", {"autoScaleFormula": "$something_useless"}, expect=200).json
    assert run["results"] == NOTHING
    assert run["error"] == {
        "code": "AutoScalingFormulaEvaluationError",
        "message": "The specified auto-scaling formula has evaluation error",
        "values": [{"name": "Message", "value": "Line 1, Col 1: Undefined symbol: $something_useless"}],
    }
    formula = "$TargetDedicatedNodes = avg($CPUPercent.GetSample(TimeInterval_Hour, 70))"
    run = plane.call("POST", f"/pools/{scaled}/evaluateautoscale", {"autoScaleFormula": formula}, expect=200).json
    assert run["error"] == {
        "code": "InsufficientSampleData",
        "message": "Autoscale evaluation failed due to insufficient sample data",
        "values": [{"name": "Message", "value": "Line 1, Col 50: Insufficient data from data set: $CPUPercent wanted 70%, received 0%"}],
    }


MACHINES = ["CPUPercent", "MemoryBytes", "DiskBytes", "DiskReadBytes", "DiskWriteBytes", "DiskReadOps", "DiskWriteOps",
            "NetworkInBytes", "NetworkOutBytes", "WallClockSeconds"]  # fmt: skip


def test_what_machines_do_is_sampled_for_formulas_that_ask(plane):
    """The first whole half minute after the node is there has a sample of each metric."""
    name = fresh("pool")
    formula = "p = $CPUPercent.GetSamplePercent(TimeInterval_Minute); $TargetDedicatedNodes = 1"
    plane.call("POST", "/pools", body(name, enableAutoScale=True, autoScaleFormula=formula), expect=201)

    def evaluated(text):
        return plane.call("POST", f"/pools/{name}/evaluateautoscale", {"autoScaleFormula": text}, expect=200).json

    def taken():
        return ";n=0" not in evaluated("n = $CPUPercent.Count()")["results"]

    wait_for(taken, limit=90, what="a sample of the machine")
    run = evaluated("; ".join(f"x{m} = ${m}.GetSample(1)" for m in MACHINES))
    assert "error" not in run
    seen = dict(v.split("=") for v in run["results"].split(";") if v.startswith("x"))
    values = {m: float(seen[f"x{m}"].strip("[]")) for m in MACHINES}
    assert 0 <= values["CPUPercent"] <= 100 and values["WallClockSeconds"] == pytest.approx(30)
    known = plane.get(f"/pools/{name}", **{"$expand": "stats"})["stats"]["resourceStats"]
    assert known["avgMemoryGiB"] > 0 and known["peakDiskGiB"] >= known["avgDiskGiB"] > 0
    assert values["MemoryBytes"] > 1 << 20 and values["DiskBytes"] > 1 << 20 and min(values.values()) >= 0
    assert "error" not in evaluated("x = avg($MemoryBytes.GetSample(TimeInterval_Minute * 0.5, 100))")
    plane.call("DELETE", f"/pools/{name}", expect=202)


def test_the_formula_of_the_page(plane, scaled):
    """docs/formulas.md."""
    (formula,) = re.findall(r"^```\n(.*?)^```$", (ROOT / "docs" / "formulas.md").read_text(), re.M | re.S)
    run = plane.call("POST", f"/pools/{scaled}/evaluateautoscale", {"autoScaleFormula": formula}, expect=200).json
    assert "error" not in run
    assert run["results"].startswith("$TargetDedicatedNodes=0;$TargetLowPriorityNodes=0;$NodeDeallocationOption=taskcompletion;")


WRONG = [
    ({"autoScaleFormula": "$TargetDedicatedNodes = (1"}, "AutoScalingFormulaSyntaxError"),
    ({"autoScaleFormula": "x = 1;" * 101}, "AutoScalingFormulaSyntaxError"),
    ({"autoScaleFormula": "x = 1;" + " " * 8192}, "AutoScalingFormulaTooLong"),
    ({"autoScaleFormula": "x=1", "autoScaleEvaluationInterval": "PT4M"}, "InvalidPropertyValue"),
    ({"autoScaleFormula": "x=1", "autoScaleEvaluationInterval": "P8D"}, "InvalidPropertyValue"),
    ({"autoScaleEvaluationInterval": "PT5M"}, "MissingRequiredProperty"),
    ({}, "MissingRequiredProperty"),
]


@pytest.mark.parametrize("wrong, code", WRONG)
def test_what_cannot_be_enabled(plane, pool, wrong, code):
    before = plane.get(f"/pools/{pool}")
    values = plane.refused(400, code, "POST", f"/pools/{pool}/enableautoscale", wrong)
    if code == "AutoScalingFormulaSyntaxError":
        assert values["Reason"].startswith("Line 1, Col ")
    assert plane.get(f"/pools/{pool}") == before


def test_a_pool_with_a_wrong_formula_is_not_made(plane):
    name = fresh("pool")
    wrong = body(name, enableAutoScale=True, autoScaleFormula="x = ;")
    values = plane.refused(400, "AutoScalingFormulaSyntaxError", "POST", "/pools", wrong)
    assert values["Reason"] == "Line 1, Col 5: Unexpected ;, expected an expression"
    plane.call("GET", f"/pools/{name}", expect=404)


def test_what_is_refused(plane, pool, scaled):
    plane.refused(400, "AutoScalingFormulaSyntaxError", "POST", f"/pools/{scaled}/evaluateautoscale", {"autoScaleFormula": "x = ;"})
    plane.refused(412, "ConditionNotMet", "POST", f"/pools/{scaled}/enableautoscale", {"autoScaleFormula": "x=1"}, headers={"If-Match": "0x8D000000000000"})
    plane.call("POST", f"/pools/{scaled}/disableautoscale", expect=200)
    plane.refused(409, "OperationInvalidForCurrentState", "POST", f"/pools/{scaled}/evaluateautoscale", {"autoScaleFormula": "x=1"})
    for action, sent in (("enableautoscale", {"autoScaleFormula": "x=1"}), ("disableautoscale", None), ("evaluateautoscale", {"autoScaleFormula": "x=1"})):
        plane.refused(404, "PoolNotFound", "POST", f"/pools/nosuchpool/{action}", sent)


def test_a_pool_that_a_formula_scales_is_not_resized_by_hand(plane, scaled):
    plane.call("POST", f"/pools/{scaled}/resize", {"targetDedicatedNodes": 1}, expect=409)
