// SPDX-License-Identifier: MIT
// Files up and down through @azure/storage-*, unmodified; ../../test_storage_clients.py says what for.

const fs = require("node:fs");
const path = require("node:path");
const { pipeline } = require("node:stream/promises");
const { BlobServiceClient, StorageSharedKeyCredential } = require("@azure/storage-blob");
const share = require("@azure/storage-file-share");

const [name, files, out] = process.argv.slice(2);
const { ACCOUNT, KEY, BLOBS, SHARES } = process.env;
const sizes = fs.readdirSync(files).sort((a, b) => a - b);
const largest = sizes.at(-1);

// The first half, as if the client had been stopped then; and what is missing.
async function resume(kind, download) {
  const to = path.join(out, `${kind}-resumed`);
  await pipeline((await download(0, Math.floor(largest / 2))).readableStreamBody, fs.createWriteStream(to));
  const got = fs.statSync(to).size;
  await pipeline((await download(got)).readableStreamBody, fs.createWriteStream(to, { flags: "a" }));
}

async function count(items) {
  let n = 0;
  for await (const _ of items) n++;
  return n;
}

async function blobs() {
  const service = new BlobServiceClient(BLOBS, new StorageSharedKeyCredential(ACCOUNT, KEY));
  const container = service.getContainerClient(name);
  await container.create();
  for (const size of sizes) {
    const blob = container.getBlockBlobClient(size);
    await blob.uploadFile(path.join(files, size), { concurrency: 4, blockSize: 8 << 20, maxSingleShotSize: 4 << 20 });
    await blob.downloadToFile(path.join(out, `blob-${size}`));
  }
  await resume("blob", (at, n) => container.getBlobClient(largest).download(at, n));
  return count(service.getContainerClient("many").listBlobsFlat({ prefix: "many/" }));
}

async function shares() {
  const service = new share.ShareServiceClient(SHARES, new share.StorageSharedKeyCredential(ACCOUNT, KEY));
  const one = service.getShareClient(name);
  await one.create();
  for (const size of sizes) {
    const file = one.rootDirectoryClient.getFileClient(size);
    await file.uploadFile(path.join(files, size), { concurrency: 4 });
    await file.downloadToFile(path.join(out, `file-${size}`));
  }
  await resume("file", (at, n) => one.rootDirectoryClient.getFileClient(largest).download(at, n));
  return count(service.getShareClient("many").getDirectoryClient("many").listFilesAndDirectories());
}

(async () => console.log("listed", await blobs(), await shares()))();
