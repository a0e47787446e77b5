// SPDX-License-Identifier: MIT
// The life of a pool, a job and its tasks through azure-batch 9 and @azure/batch 10, unmodified:
// life.js PACKAGE, with the variables of `batchaid env ACCOUNT` and PACKAGE, a package of the account, and BLOB_URL.

const assert = require("node:assert");

const which = process.argv[2];
const sdk = require(which);
const newer = which === "@azure/batch";
const Credentials = newer ? sdk.BatchSharedKeyCredentials : sdk.SharedKeyCredentials;
const Client = newer ? sdk.BatchServiceClient : sdk.ServiceClient;
const key = new Credentials(process.env.AZURE_BATCH_ACCOUNT, process.env.AZURE_BATCH_ACCESS_KEY);
const client = new Client(key, process.env.AZURE_BATCH_ENDPOINT);
const nodes = client.computeNode ?? client.computeNodeOperations;
const name = newer ? "node-new" : "node-old";
const label = newer ? "node-@azure/batch-10.2.0" : "node-azure-batch-9.0.0";
const [POOL, JOB] = [`${name}-pool`, `${name}-job`];

async function until(get, done) {
  for (const end = Date.now() + 60000; ; ) {
    const seen = await get();
    if (done(seen)) return seen;
    assert.ok(Date.now() < end, `${done}; at last: ${JSON.stringify(seen)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function refused(code, call) {
  try {
    await call();
  } catch (e) {
    assert.strictEqual(e.body?.code ?? e.code, code);
    return;
  }
  assert.fail(`${call} was not refused`);
}

async function text(reply) {
  const pieces = [];
  for await (const piece of newer ? reply.readableStreamBody : reply) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces).toString();
}

async function makePool() {
  const images = await client.account.listSupportedImages();
  const image = images.find((i) => i.imageReference.offer.toLowerCase() === "ubuntuserver");
  await client.pool.add({
    id: POOL,
    vmSize: "Standard_D2_v2",
    targetDedicatedNodes: 1,
    virtualMachineConfiguration: { imageReference: image.imageReference, nodeAgentSKUId: image.nodeAgentSKUId },
    startTask: { commandLine: "/bin/sh -c 'echo $AZ_BATCH_NODE_ID'", waitForSuccess: true },
    metadata: [{ name: "made by", value: name }],
  });
  await steady();
  await client.pool.resize(POOL, { targetDedicatedNodes: 2 });
  const idle = (seen) => seen.length === 2 && seen.every((n) => n.state === "idle");
  await until(() => nodes.list(POOL), idle);
  const pool = await steady();
  assert.strictEqual(pool.currentDedicatedNodes, 2);
  assert.ok(pool.creationTime instanceof Date);
  await client.pool.patch(POOL, { metadata: [{ name: "a", value: "b" }] });
  assert.strictEqual((await client.pool.get(POOL)).metadata[0].value, "b");
  const listed = await client.pool.list({ poolListOptions: { filter: `id eq '${POOL}'`, select: "id" } });
  assert.deepStrictEqual(listed.map((p) => p.id), [POOL]);
  const { id, vmSize, virtualMachineConfiguration } = pool;
  await refused("PoolExists", () => client.pool.add({ id, vmSize, virtualMachineConfiguration }));
}

async function steady() {
  return until(() => client.pool.get(POOL), (p) => p.allocationState === "steady");
}

async function addTasks() {
  await client.job.add({ id: JOB, poolInfo: { poolId: POOL }, usesTaskDependencies: true });
  const [applicationId, version] = process.env.PACKAGE.split("#");
  const variable = `AZ_BATCH_APP_PACKAGE_${applicationId}_${version.replaceAll(".", "_")}`;
  await client.task.add(JOB, {
    id: "first",
    commandLine: `/bin/sh -c '$${variable}/bin/say.sh; cat blob.txt; echo $GREETING'`,
    environmentSettings: [{ name: "GREETING", value: name }],
    applicationPackageReferences: [{ applicationId, version }],
    resourceFiles: [{ httpUrl: process.env.BLOB_URL, filePath: "blob.txt" }],
    constraints: { maxWallClockTime: newer ? "PT10M" : require("moment").duration(10, "minutes"), maxTaskRetryCount: 1 },
  });
  const more = Array.from({ length: 100 }, (_, n) => ({ id: `more${n}`, commandLine: "/bin/true" }));
  more[0].commandLine = "/bin/sh -c 'exit 3'";
  more[99].dependsOn = { taskIds: ["first"] };
  const added = await client.task.addCollection(JOB, more);
  assert.strictEqual(added.value.length, 100);
  assert.ok(added.value.every((t) => t.status.toLowerCase() === "success"));
  await refused("TaskExists", () => client.task.add(JOB, { id: "first", commandLine: "/bin/true" }));
}

async function runJob() {
  await addTasks();
  const open = { taskListOptions: { filter: "state ne 'completed'" } };
  await until(() => client.task.list(JOB, open), (tasks) => tasks.length === 0);
  const said = await client.job.getTaskCounts(JOB);
  const { completed, succeeded, failed } = said.taskCounts ?? said;
  assert.deepStrictEqual([completed, succeeded, failed], [101, 100, 1]);
  const [first, bad] = [await client.task.get(JOB, "first"), await client.task.get(JOB, "more0")];
  assert.deepStrictEqual([first.executionInfo.exitCode, first.executionInfo.result.toLowerCase()], [0, "success"]);
  assert.deepStrictEqual([bad.executionInfo.exitCode, bad.executionInfo.failureInfo.code], [3, "FailureExitCode"]);
  return first;
}

async function readFiles(task) {
  const wanted = `from a package\nfrom a blob\n${name}\n`;
  assert.strictEqual(await text(await client.file.getFromTask(JOB, task.id, "stdout.txt")), wanted);
  const range = { fileGetFromTaskOptions: { ocpRange: "bytes=0-3" } };
  assert.strictEqual(await text(await client.file.getFromTask(JOB, task.id, "stdout.txt", range)), "from");
  const names = (await client.file.listFromTask(JOB, task.id, { recursive: true })).map((f) => f.name);
  for (const one of ["stdout.txt", "stderr.txt", "wd/blob.txt"]) assert.ok(names.includes(one), `${names}`);
  const path = `${task.nodeInfo.taskRootDirectory}/stdout.txt`;
  const again = await client.file.getFromComputeNode(POOL, task.nodeInfo.nodeId, path);
  assert.strictEqual(await text(again), wanted);
  await client.file.getPropertiesFromTask(JOB, task.id, "stdout.txt");
  await client.file.deleteFromTask(JOB, task.id, "wd/blob.txt");
}

async function useANode(task) {
  const node = task.nodeInfo.nodeId;
  await nodes.addUser(POOL, node, { name: "ada", password: "pw-never-Shown1" });
  assert.ok((await nodes.getRemoteLoginSettings(POOL, node)).remoteLoginPort > 0);
  await nodes.deleteUser(POOL, node, "ada");
  await nodes.disableScheduling(POOL, node);
  assert.strictEqual((await nodes.get(POOL, node)).schedulingState, "disabled");
  await nodes.enableScheduling(POOL, node);
}

async function end() {
  await client.job.patch(JOB, { priority: 100 });
  await client.job.disable(JOB, "requeue");
  await until(() => client.job.get(JOB), (j) => j.state === "disabled");
  await client.job.enable(JOB);
  await client.job.terminate(JOB, { terminateReason: "enough" });
  const job = await until(() => client.job.get(JOB), (j) => j.state === "completed");
  assert.deepStrictEqual([job.priority, job.executionInfo.terminateReason], [100, "enough"]);
  await client.task.deleteMethod(JOB, "more1");
  await client.job.deleteMethod(JOB);
  await until(() => client.job.list(), (jobs) => jobs.every((j) => j.id !== JOB));
  await refused("JobNotFound", () => client.job.get(JOB));
  await client.pool.deleteMethod(POOL);
  await until(() => client.pool.list(), (pools) => pools.every((p) => p.id !== POOL));
}

(async () => {
  await makePool();
  const first = await runJob();
  await readFiles(first);
  await useANode(first);
  await end();
  console.log(`ok ${label} ${client.apiVersion}`);
})().catch((e) => {
  console.error(e);
  process.exit(1);
});
