// SPDX-License-Identifier: MIT
// The life of a secret through @azure/keyvault-secrets and @azure/identity, with their defaults: secrets.js VAULT-URL

const assert = require("node:assert");
const { EnvironmentCredential } = require("@azure/identity");
const { SecretClient } = require("@azure/keyvault-secrets");

(async () => {
  const client = new SecretClient(process.argv[2], new EnvironmentCredential());
  const first = await client.setSecret("node", "one", { tags: { a: "b" } });
  await client.setSecret("node", "two");
  assert.strictEqual((await client.getSecret("node")).value, "two");
  assert.strictEqual((await client.getSecret("node", { version: first.properties.version })).value, "one");
  const names = [];
  for await (const s of client.listPropertiesOfSecrets()) names.push(s.name);
  assert.deepStrictEqual(names, ["node"]);
  const deletion = await client.beginDeleteSecret("node");
  await deletion.pollUntilDone();
  await client.purgeDeletedSecret("node");
  await assert.rejects(client.getSecret("node"), { statusCode: 404 });
})().catch((e) => {
  console.error(e);
  process.exit(1);
});
