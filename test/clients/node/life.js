// SPDX-License-Identifier: MIT
// The life of a cluster and a job through @azure/arm-batchai, unmodified.

const assert = require("node:assert");
const { BatchAIManagementClient } = require("@azure/arm-batchai");

const endpoint = process.env.BATCHAID_ENDPOINT;
const credential = {
  async getToken() {
    const reply = await fetch(`${endpoint}/adfs/oauth2/token`, {
      method: "POST",
      body: new URLSearchParams({
        grant_type: "client_credentials",
        client_id: process.env.AZURE_CLIENT_ID,
        client_secret: process.env.AZURE_CLIENT_SECRET,
      }),
    });
    const { access_token, expires_in } = await reply.json();
    return { token: access_token, expiresOnTimestamp: Date.now() + expires_in * 1000 };
  },
};
const client = new BatchAIManagementClient(credential, process.env.AZURE_SUBSCRIPTION_ID, {
  baseUri: endpoint,
  longRunningOperationRetryTimeout: 1, // seconds; 30 unless told, whatever Retry-After says
});

const [group, workspace, experiment] = [process.argv[2], "node", "first"];

async function until(get, done) {
  for (;;) {
    const seen = await get();
    if (done(seen)) return seen;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function steady(nodes) {
  const ready = (c) => c.nodeStateCounts.idleNodeCount === nodes && c.currentNodeCount === nodes;
  return until(() => client.clusters.get(group, workspace, "nodes"), ready);
}

async function makeCluster() {
  await client.workspaces.create(group, workspace, { location: "northeurope" });
  const cluster = await client.clusters.create(group, workspace, "nodes", {
    vmSize: "Standard_D1",
    scaleSettings: { manual: { targetNodeCount: 1 } },
    userAccountSettings: { adminUserName: "demo", adminUserPassword: "pw-never-shown" },
  });
  assert.strictEqual(cluster.provisioningState, "succeeded");
  assert.ok(cluster.creationTime instanceof Date);
  await steady(1);
  const listed = await client.clusters.listByWorkspace(group, workspace);
  assert.deepStrictEqual(listed.map((c) => c.name), ["nodes"]);
  return cluster;
}

async function runJob(cluster) {
  await client.experiments.create(group, workspace, experiment);
  await client.jobs.create(group, workspace, experiment, "hello", {
    cluster: { id: cluster.id },
    nodeCount: 1,
    stdOutErrPathPrefix: "$AZ_BATCHAI_JOB_MOUNT_ROOT/out",
    mountVolumes: {
      azureFileShares: [
        {
          accountName: "acct",
          azureFileUrl: "https://acct.file.core.windows.net/out",
          credentials: { accountKey: "c2VjcmV0IGtleQ==" },
          relativeMountPath: "out",
        },
      ],
    },
    customToolkitSettings: { commandLine: "echo hello from a job" },
  });
  const ended = (j) => ["succeeded", "failed"].includes(j.executionState);
  const job = await until(() => client.jobs.get(group, workspace, experiment, "hello"), ended);
  assert.strictEqual(job.executionState, "succeeded");
  assert.strictEqual(job.executionInfo.exitCode, 0);
}

async function readOutput() {
  const files = await client.jobs.listOutputFiles(group, workspace, experiment, "hello", {
    outputdirectoryid: "stdouterr",
  });
  const stdout = files.find((f) => f.name === "stdout.txt");
  assert.strictEqual(stdout.fileType, "file");
  assert.strictEqual(await (await fetch(stdout.downloadUrl)).text(), "hello from a job\n");
}

async function cleanUp() {
  await client.clusters.update(group, workspace, "nodes", {
    scaleSettings: { manual: { targetNodeCount: 0 } },
  });
  await steady(0);
  await client.jobs.deleteMethod(group, workspace, experiment, "hello");
  await client.clusters.deleteMethod(group, workspace, "nodes");
  assert.strictEqual((await client.clusters.listByWorkspace(group, workspace)).length, 0);
  const gone = client.clusters.get(group, workspace, "nodes");
  await assert.rejects(gone, (e) => e.statusCode === 404 && e.code === "ClusterNotFound");
}

async function main() {
  const cluster = await makeCluster();
  await runJob(cluster);
  await readOutput();
  await cleanUp();
  console.log("ok node 2018-05-01");
}

main().catch((e) => {
  console.error(e);
  process.exit(1);
});
