// SPDX-License-Identifier: MIT
// Files up and down through azure-storage, unmodified; ../../test_storage_clients.py says what for.

const fs = require("node:fs");
const path = require("node:path");
const { promisify } = require("node:util");
const storage = require("azure-storage");

const [name, files, out] = process.argv.slice(2);
const { ACCOUNT, KEY, BLOBS, SHARES } = process.env;
const sizes = fs.readdirSync(files).sort((a, b) => a - b);
const largest = sizes.at(-1);
const parallel = { parallelOperationThreadCount: 4 };

// A function of `service` that returns a promise.
const of = (service, method) => promisify(service[method].bind(service));

// The first half, as if the client had been stopped then; and what is missing.
async function resume(kind, download) {
  const to = path.join(out, `${kind}-resumed`);
  await download(fs.createWriteStream(to), { rangeStart: 0, rangeEnd: Math.floor(largest / 2) - 1 });
  const rest = { rangeStart: fs.statSync(to).size, rangeEnd: largest - 1 };
  await download(fs.createWriteStream(to, { flags: "a" }), rest);
}

async function count(page, entries) {
  let n = 0;
  let token = null;
  do {
    const found = await page(token);
    n += entries(found);
    token = found.continuationToken;
  } while (token);
  return n;
}

async function blobs() {
  const service = storage.createBlobService(ACCOUNT, KEY, BLOBS);
  await of(service, "createContainer")(name);
  for (const size of sizes) {
    await of(service, "createBlockBlobFromLocalFile")(name, size, path.join(files, size), parallel);
    await of(service, "getBlobToLocalFile")(name, size, path.join(out, `blob-${size}`), parallel);
  }
  await resume("blob", (stream, range) => of(service, "getBlobToStream")(name, largest, stream, range));
  const page = (token) => of(service, "listBlobsSegmentedWithPrefix")("many", "many/", token);
  return count(page, (found) => found.entries.length);
}

async function shares() {
  const service = storage.createFileService(ACCOUNT, KEY, SHARES);
  await of(service, "createShare")(name);
  for (const size of sizes) {
    await of(service, "createFileFromLocalFile")(name, "", size, path.join(files, size), parallel);
    await of(service, "getFileToLocalFile")(name, "", size, path.join(out, `file-${size}`), parallel);
  }
  await resume("file", (stream, range) => of(service, "getFileToStream")(name, "", largest, stream, range));
  const page = (token) => of(service, "listFilesAndDirectoriesSegmented")("many", "many", token);
  return count(page, (found) => found.entries.files.length + found.entries.directories.length);
}

(async () => console.log("listed", await blobs(), await shares()))();
