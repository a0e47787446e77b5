// SPDX-License-Identifier: MIT
// A container and its blobs through azure-storage-blob, with its defaults; the environment is test_newest.py's.

import com.azure.core.util.BinaryData;
import com.azure.storage.blob.BlobContainerClient;
import com.azure.storage.blob.BlobServiceClient;
import com.azure.storage.blob.BlobServiceClientBuilder;
import com.azure.storage.blob.models.BlobItem;
import com.azure.storage.common.StorageSharedKeyCredential;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;

public class Blobs {
    static void check(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }

    public static void main(String[] arguments) {
        var key = new StorageSharedKeyCredential(System.getenv("ACCOUNT"), System.getenv("KEY"));
        BlobServiceClient service =
            new BlobServiceClientBuilder().endpoint(System.getenv("BLOBS")).credential(key).buildClient();
        BlobContainerClient container = service.createBlobContainer("java-newest");
        byte[] large = new byte[20_000_000];
        new Random(1).nextBytes(large);
        container.getBlobClient("large").upload(BinaryData.fromBytes(large), true);
        container.getBlobClient("small").upload(BinaryData.fromString("small"), true);
        check(Arrays.equals(container.getBlobClient("large").downloadContent().toBytes(), large), "the large blob differs");
        container.getBlobClient("small").setTags(Map.of("kind", "small"));
        check(container.getBlobClient("small").getTags().get("kind").equals("small"), "the tag differs");
        int n = 0;
        for (BlobItem item : container.listBlobs()) {
            n++;
        }
        check(n == 2, n + " blobs are listed, not 2");
        container.delete();
    }
}
